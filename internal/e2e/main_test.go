//go:build e2e

// Package e2e runs the built program with the real client, which talks to a
// scripted Messages API on loopback.
//
// Each test is a whole night in small: a home, a repository and a remote of
// its own, an environment with nothing of the machine's in it but PATH, and
// where the system permits it no network but loopback. The one invariant: no
// test can reach the real service or use a real account.
package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-b23e517c/loop/internal/trap"
)

// Variables between the runs of this binary, and from the Makefile.
const (
	envClient = "LOOP_E2E_CLAUDE" // path of the pinned client
	envLoop   = "LOOP_E2E_LOOP"   // path of the program; "" = build it
	envBuilt  = "LOOP_E2E_BUILT"  // folder that the first run built it in, to be removed
	envCut    = "LOOP_E2E_CUT"    // set when the network has been cut off, or cannot be
)

func TestMain(m *testing.M) {
	if os.Args[0] == trap.Command {
		fmt.Fprintln(os.Stderr, trap.Become(os.Args[1:]))
		os.Exit(1)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "act-as-hook":
			os.Exit(hookMain(os.Args[2:], os.Stdin, os.Stdout))
		case "act-as-mcp":
			os.Exit(mcpMain(os.Args[2:], os.Stdin, os.Stdout))
		}
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// What nohup has ignored would be ignored in all that is started from here;
	// what is listened for is not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if p := os.Getenv(envClient); p == "" {
		fmt.Fprintf(os.Stderr, "e2e: %s is not set: type `make e2e`\n", envClient)
		return 1
	} else if _, err := os.Stat(p); err != nil {
		fmt.Fprintf(os.Stderr, "e2e: client: %v\n", err)
		return 1
	}
	if os.Getenv(envLoop) == "" {
		if err := build(); err != nil {
			fmt.Fprintf(os.Stderr, "e2e: %v\n", err)
			return 1
		}
	}
	defer os.RemoveAll(os.Getenv(envBuilt)) // nothing, when it is ""
	if os.Getenv(envCut) == "" {
		// Comes back only where the system does not let us.
		if err := errors.Join(os.Setenv(envCut, "1"), reexecOnLoopback()); err != nil {
			fmt.Fprintf(os.Stderr, "e2e: the network is not cut off: %v\n", err)
		}
	}
	return m.Run()
}

func build() error {
	dir, err := os.MkdirTemp("", "loop-e2e-bin")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "loop")
	cmd := exec.Command("go", "build", "-o", path, "github.com/seed-b23e517c/loop/cmd/loop")
	if out, err := cmd.CombinedOutput(); err != nil {
		_ = os.RemoveAll(dir)
		return fmt.Errorf("build loop: %w\n%s", err, out)
	}
	return errors.Join(os.Setenv(envLoop, path), os.Setenv(envBuilt, dir))
}
