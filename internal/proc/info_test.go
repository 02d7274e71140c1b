//go:build linux

package proc

import (
	"bufio"
	"crypto/rand"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAliveAndStartTime(t *testing.T) {
	c, _ := child(t, "wait", Options{})
	waitReady(t, c.Stdout())
	start := startOf(c.Pid())
	if start == "" || start != c.StartTime() || !Alive(c.Pid(), start) || Alive(c.Pid(), start+"0") {
		t.Fatalf("start %q of %q", start, c.StartTime())
	}
	if _, err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if Alive(c.Pid(), start) || startOf(c.Pid()) != "" {
		t.Fatal("alive after its end")
	}
	if BootID() == "" {
		t.Fatal("no boot id")
	}
}

func TestAncestors(t *testing.T) {
	c, _ := child(t, "wait", Options{})
	waitReady(t, c.Stdout())
	line := Ancestors(c.Pid())
	if len(line) == 0 || !cmp.Equal(line[0], Self()) {
		t.Fatalf("ancestors %+v, want %+v first", line, Self())
	}
	if line[0].Start == "" || line[0].Comm == "" || len(line[0].Cmdline) == 0 {
		t.Fatalf("%+v", line[0])
	}
	if n := len(Ancestors(os.Getpid())); n != len(line)-1 {
		t.Fatalf("%d above us, %d above the child", n, len(line))
	}
}

// A process may call itself what it likes.
func TestStatOfAHostileName(t *testing.T) {
	exe, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip(err)
	}
	path := t.TempDir() + "/a) R 1 (b"
	if err := os.WriteFile(path, exe, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := Start(Options{Argv: []string{path, "300"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Kill()
	e, ok := readEntry(c.Pid())
	if !ok || e.ppid != os.Getpid() || e.comm != "a) R 1 (b" || e.pgrp != c.Pid() {
		t.Fatalf("%+v", e)
	}
}

// foreign starts a tree that this package knows nothing of, as one that an
// earlier run left: its root is below us, in a group of its own.
func foreign(t *testing.T, mode, mark string) (pid int, left func() []string) {
	t.Helper()
	token := "token-" + rand.Text()
	c := exec.Command("/proc/self/exe", modeArg, mode, token)
	c.Env = []string{MarkVar + "=" + mark}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready") {
		t.Fatalf("%q, %v", line, err)
	}
	return c.Process.Pid, func() []string { return withToken(token) }
}

func TestEndStale(t *testing.T) {
	// What is surely there when it is ended: a bush has just begun to fork.
	for mode, least := range map[string]int{"tree": 3, "bush": 2} {
		t.Run(mode, func(t *testing.T) {
			pid, left := foreign(t, mode, rand.Text())
			start := startOf(pid)
			if l, err := EndStale(pid, start+"1"); err != nil || len(l) != 0 || !Alive(pid, start) {
				t.Fatalf("another process was ended: %v, %v", l, err)
			}
			l, err := EndStale(pid, start)
			if err != nil || len(l) < least {
				t.Fatalf("ended %v, %v", l, err)
			}
			mustBeGone(t, left)
			if l, err := EndStale(pid, start); err != nil || len(l) != 0 {
				t.Fatalf("ended twice: %v, %v", l, err)
			}
		})
	}
}

func TestEndStaleSparesUs(t *testing.T) {
	for _, p := range append(Ancestors(os.Getpid()), Self()) {
		if l, err := EndStale(p.Pid, p.Start); err == nil || len(l) != 0 {
			t.Fatalf("%+v: %v, %v", p, l, err)
		}
	}
}

// The supervisor is dead and so is its child; only the mark is left.
func TestEndMarked(t *testing.T) {
	mark := rand.Text()
	_, left := foreign(t, "daemon", mark)
	if len(left()) == 0 {
		t.Fatal("no daemon")
	}
	l, err := EndMarked(mark)
	if err != nil || len(l) == 0 {
		t.Fatalf("%v, %v", l, err)
	}
	mustBeGone(t, left)
	if l, err := EndMarked(""); err != nil || len(l) != 0 {
		t.Fatalf("an empty mark ended %v, %v", l, err)
	}
}

func TestSweepEndsOrphansOfNobody(t *testing.T) {
	pid, left := foreign(t, "tree", "")
	// Younger by more than the grain of the start times: an orphan is never
	// taken for the child of something that started after it.
	keeper, keeperLeft := childAfter(t, youngest(pid))
	waitReady(t, keeper.Stdout())
	if l := Sweep(); len(l) == 0 {
		t.Fatalf("swept %+v", l)
	}
	mustBeGone(t, left)
	if len(keeperLeft()) != 1 {
		t.Fatal("the living child was swept")
	}
}

// childAfter starts a child whose start time is later than born. One that is not
// would end what was born with it as its own when it is ended itself.
func childAfter(t *testing.T, born uint64) (*Child, func() []string) {
	t.Helper()
	for {
		c := exec.Command("/proc/self/exe", modeArg, "wait", "clock")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		e, ok := readEntry(c.Process.Pid)
		_ = c.Process.Kill()
		_ = c.Wait()
		if ok && e.start > born {
			return child(t, "wait", Options{})
		}
	}
}

// youngest is the last start time below pid.
func youngest(pid int) uint64 {
	t := readTable()
	born := t.byPid[pid].start
	for _, e := range t.byPid {
		if e.ppid == pid {
			born = max(born, youngest(e.pid))
		}
	}
	return born
}

// startOf is when pid started; "" when there is no such process.
func startOf(pid int) string {
	if e, ok := readEntry(pid); ok {
		return formatStart(e.start)
	}
	return ""
}

// A supervisor that is killed takes a bound child with it, so that nobody can
// take its place in front of a client that still works.
func TestBoundChildDiesWithItsSupervisor(t *testing.T) {
	c := exec.Command("/proc/self/exe", modeArg, "supervise", "token-"+rand.Text())
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "ready")))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := readEntry(pid)
	if !ok {
		t.Fatalf("no process %d", pid)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	for end := time.Now().Add(20 * time.Second); Alive(pid, formatStart(e.start)); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("it lives on")
		}
	}
}

// A process with a key in its memory gives that to nobody, and writes no core.
func TestSecretProcessCannotBeRead(t *testing.T) {
	for mode, want := range map[string]int{"secret": 0, "dumpable": 1} {
		c, _ := child(t, mode, Options{})
		if got := c.Wait().ExitCode; got != want {
			t.Errorf("%s: %d, want %d", mode, got, want)
		}
	}
}
