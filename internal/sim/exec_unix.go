//go:build unix

package sim

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownSession puts a tool call into a session of its own, as the client does.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func killSession(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func exitCode(err *exec.ExitError) int {
	if ws, ok := err.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return err.ExitCode()
}

// crash dies of SIGKILL.
func crash() error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return err
	}
	select {}
}

// leaveBehind starts a process that outlives us and holds our output.
func leaveBehind(argv, env []string, dir string) error {
	if len(argv) == 0 {
		return errors.New("nothing to leave behind")
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = env, dir
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	ownSession(cmd)
	return cmd.Start()
}
