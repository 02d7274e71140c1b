//go:build !unix

package sim

import (
	"errors"
	"os/exec"
)

var errUnix = errors.New("only on Unix")

func ownSession(*exec.Cmd) {}

func killSession(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func exitCode(err *exec.ExitError) int { return err.ExitCode() }

func crash() error { return errUnix }

func leaveBehind([]string, []string, string) error { return errUnix }
