//go:build linux

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// needScope leaves a test out where this process may make no group.
func needScope(t *testing.T) {
	t.Helper()
	s := openScope()
	if s == nil {
		t.Skip("NOT RUN: no control group of version 2 can be made here")
	}
	s.end()
}

func scopes(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(ownGroup(), fmt.Sprintf("%s%s-%d-*", scopePrefix, pidNamespace(), os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// Of two children at work, each is told what it left behind, even by a process
// that has nothing of ours in its environment and no living parent.
func TestTheGroupTellsWhoseALeftoverIs(t *testing.T) {
	needScope(t)
	long := fmt.Sprintf("86397.%09d", time.Now().UnixNano()%1e9)
	other, err := Start(Options{Argv: []string{"sh", "-c", "echo ready; exec sleep " + long + "1"}, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stdout().Close()
	c, err := Start(Options{
		Argv: []string{"sh", "-c", "env -i PATH=$PATH setsid sh -c 'sleep " + long + "2 >/dev/null & exit'; exit 3"},
		Env:  []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stdout().Close()
	state := c.Wait()
	if len(state.Leftovers) != 1 || state.Leftovers[0].Stuck {
		t.Errorf("%+v", state.Leftovers)
	}
	if left := withToken(long + "2"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if left := withToken(long + "1"); len(left) != 1 {
		t.Errorf("the other child's: %q", left)
	}
	if state, err := other.Kill(); err != nil || len(state.Leftovers) > 0 {
		t.Errorf("%+v, %v", state, err)
	}
	if dirs := scopes(t); len(dirs) > 0 {
		t.Errorf("groups are left: %q", dirs)
	}
}

// What a dead process of ours has left in its group ends with the next one, and
// so does what something in it has put into a group below.
func TestGroupsOfTheDeadAreEnded(t *testing.T) {
	needScope(t)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(ownGroup(), fmt.Sprintf("%s%s-%d-1-x", scopePrefix, pidNamespace(), dead.Process.Pid))
	below := filepath.Join(dir, filepath.Base(dir), "another")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sleep", "86396")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(below, "cgroup.procs"), fmt.Append(nil, sleeper.Process.Pid), 0); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sleeper.Wait() }()
	mine := openScope()
	defer mine.end()
	sweepScopes(ownGroup())
	if err := <-ended; err == nil {
		t.Error("it ended by itself")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the group is still there")
	}
	if _, err := os.Stat(mine.dir); err != nil {
		t.Errorf("the group of a living process is gone: %v", err)
	}
}
