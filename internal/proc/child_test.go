//go:build linux

package proc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestExitCode(t *testing.T) {
	c, left := child(t, "exit", Options{})
	if s := c.Wait(); s.ExitCode != 3 || s.Signal != "" || len(s.Leftovers) != 0 {
		t.Fatalf("state %+v", s)
	}
	if b, err := io.ReadAll(c.Stdout()); err != nil || len(b) != 0 {
		t.Fatalf("stdout %q, %v", b, err)
	}
	mustBeGone(t, left)
}

func TestTerminate(t *testing.T) {
	c, left := child(t, "wait", Options{})
	waitReady(t, c.Stdout())
	s, err := c.Terminate()
	if err != nil || s.ExitCode != 143 || s.Signal != "terminated" {
		t.Fatalf("state %+v, %v", s, err)
	}
	mustBeGone(t, left)
}

func TestTerminateKillsAfterGrace(t *testing.T) {
	c, left := child(t, "ignore-term", Options{Grace: 50 * time.Millisecond})
	waitReady(t, c.Stdout())
	s, err := c.Terminate()
	if err != nil || s.ExitCode != 137 || s.Signal != "killed" {
		t.Fatalf("state %+v, %v", s, err)
	}
	mustBeGone(t, left)
}

func TestTerminateWakesAStoppedChild(t *testing.T) {
	c, left := child(t, "wait", Options{Grace: 20 * time.Second})
	waitReady(t, c.Stdout())
	if err := syscall.Kill(c.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Terminate(); err != nil || s.Signal != "terminated" {
		t.Fatalf("state %+v, %v", s, err)
	}
	mustBeGone(t, left)
}

// A second Ctrl-C while the first one's grace runs.
func TestKillDuringTerminate(t *testing.T) {
	c, left := child(t, "ignore-term", Options{Grace: time.Hour})
	waitReady(t, c.Stdout())
	ended := make(chan State, 1)
	go func() {
		s, _ := c.Terminate()
		ended <- s
	}()
	if s, err := c.Kill(); err != nil || s.Signal != "killed" {
		t.Fatalf("state %+v, %v", s, err)
	}
	if s := <-ended; s.Signal != "killed" {
		t.Fatalf("Terminate saw %+v", s)
	}
	mustBeGone(t, left)
}

func TestWhatOutlivesTheLeaderIsEndedAndNamed(t *testing.T) {
	for _, mode := range []string{"hold", "daemon", "daemon-clean"} {
		t.Run(mode, func(t *testing.T) {
			c, left := child(t, mode, Options{})
			out, err := io.ReadAll(c.Stdout())
			if err != nil || !bytes.HasPrefix(out, []byte("ready")) {
				t.Fatalf("stdout %q, %v", out, err)
			}
			s := c.Wait()
			named := false
			for _, l := range s.Leftovers { // on a busy machine one that is still on its way out, too
				named = named || strings.Contains(l.Command, modeArg+" wait ") || strings.Contains(l.Command, modeArg+" ignore-term ")
			}
			if s.ExitCode != 0 || !named || anyStuck(s.Leftovers) {
				t.Fatalf("state %+v", s)
			}
			mustBeGone(t, left)
		})
	}
}

func TestKillTakesTheTree(t *testing.T) {
	for _, mode := range []string{"tree", "bush", "chain"} {
		t.Run(mode, func(t *testing.T) {
			c, left := child(t, mode, Options{})
			waitReady(t, c.Stdout())
			if _, err := c.Kill(); err != nil {
				t.Fatal(err)
			}
			mustBeGone(t, left)
		})
	}
}

// Orphans that end while their child lives on must not pile up as zombies.
func TestOrphansAreReaped(t *testing.T) {
	c, _ := child(t, "tree", Options{})
	waitReady(t, c.Stdout())
	orphan := waitOrphan(t, c)
	if err := syscall.Kill(orphan, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.After(10 * time.Second); ; {
		children.observe(c)
		if _, ok := readEntry(orphan); !ok {
			return
		}
		select {
		case <-deadline:
			t.Fatal("zombie still there")
		default:
		}
	}
}

// waitOrphan waits for a process of c's tree to become our child.
func waitOrphan(t *testing.T, c *Child) int {
	t.Helper()
	for deadline := time.After(10 * time.Second); ; {
		for pid, e := range readTable().byPid {
			if e.ppid == os.Getpid() && pid != c.Pid() && !e.dead {
				return pid
			}
		}
		select {
		case <-deadline:
			t.Fatal("the daemon did not come to us")
		default:
		}
	}
}

func TestStdin(t *testing.T) {
	in := bytes.Repeat([]byte("a line of the prompt\n"), 100_000) // far over a pipe's buffer
	c, left := child(t, "cat", Options{Stdin: in})
	out, err := io.ReadAll(c.Stdout())
	if err != nil || !bytes.Equal(in, out) {
		t.Fatalf("%d bytes back of %d, %v", len(out), len(in), err)
	}
	c.Wait()
	mustBeGone(t, left)
}

// A child that dies without reading must not leave the writer hanging, nor
// kill us with SIGPIPE.
func TestStdinNobodyReads(t *testing.T) {
	c, left := child(t, "exit", Options{Stdin: make([]byte, 4<<20)})
	if s := c.Wait(); s.ExitCode != 3 {
		t.Fatalf("state %+v", s)
	}
	mustBeGone(t, left)
}

// 100 MB arrive whole, also when they are read only after the end.
func TestSpam(t *testing.T) {
	c, left := child(t, "spam", Options{})
	n, err := io.Copy(io.Discard, c.Stdout())
	if err != nil || n != 100<<20 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	c.Wait()
	mustBeGone(t, left)
}

func TestSpamForeverIsKilled(t *testing.T) {
	c, left := child(t, "spam-forever", Options{Grace: 50 * time.Millisecond})
	if _, err := io.CopyN(io.Discard, c.Stdout(), 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Terminate(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c.Stdout()); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, left)
}

// What was written before the end is read after the drain time too.
func TestLateReaderLosesNothing(t *testing.T) {
	c, _ := child(t, "cat", Options{Stdin: []byte("all of it\n"), Drain: time.Nanosecond})
	c.Wait()
	c.out.over()
	if b, err := io.ReadAll(c.Stdout()); err != nil || string(b) != "all of it\n" {
		t.Fatalf("read %q, %v", b, err)
	}
}

// A holder that we cannot end must not keep the reader.
func TestReaderEndsUnderAHolder(t *testing.T) {
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if _, err := theirs.WriteString("last words\n"); err != nil {
		t.Fatal(err)
	}
	s := &stream{f: ours}
	s.over()
	if b, err := io.ReadAll(s); err != nil || string(b) != "last words\n" {
		t.Fatalf("read %q, %v", b, err)
	}
}

// A forged line cannot be written into our stream through /proc.
func TestStdoutCannotBeOpenedThroughProc(t *testing.T) {
	c, _ := child(t, "wait", Options{})
	waitReady(t, c.Stdout())
	f, err := os.OpenFile("/proc/"+strconv.Itoa(c.Pid())+"/fd/1", os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	if !errors.Is(err, syscall.ENXIO) {
		t.Fatalf("open gave %v, want ENXIO", err)
	}
}

func TestEnvironmentIsExplicit(t *testing.T) {
	t.Setenv("LOOP_TEST_SECRET", "x")
	c, _ := child(t, "wait", Options{Env: []string{"A=b", MarkVar + "=outer"}, Mark: "inner"})
	waitReady(t, c.Stdout())
	b, err := os.ReadFile("/proc/" + strconv.Itoa(c.Pid()) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), "GORACE=atexit_sleep_ms=0\x00A=b\x00LOOP_MARK=inner\x00"; got != want {
		t.Fatalf("environment %q, want %q", got, want)
	}
}

func TestStartFails(t *testing.T) {
	for _, argv := range [][]string{nil, {"no-such-program"}, {"/no/such/program"}} {
		if _, err := Start(Options{Argv: argv}); err == nil {
			t.Errorf("%q started", argv)
		}
	}
	if len(children.live) != 0 {
		t.Errorf("register holds %d", len(children.live))
	}
}

// Children of several goroutines at once: each keeps its exit code, and no
// sweep of one touches another's daemon while that one lives.
func TestManyAtOnceStealNothing(t *testing.T) {
	keeper, keeperLeft := child(t, "tree", Options{})
	waitReady(t, keeper.Stdout())
	waitOrphan(t, keeper)
	before := len(keeperLeft())
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for range 4 {
		wg.Go(func() {
			for _, mode := range []string{"exit", "daemon", "hold", "exit"} {
				token := "token-" + rand.Text()
				o := Run(context.Background(), RunOptions{
					Argv: []string{"/proc/self/exe", modeArg, mode, token},
					Env:  []string{"GORACE=atexit_sleep_ms=0"},
				})
				want := 0
				if mode == "exit" {
					want = 3
				}
				if o.ExitCode != want || o.Err != nil {
					errs <- fmt.Errorf("%s: %+v", mode, o)
				}
				if l := withToken(token); len(l) > 0 {
					pid, _ := strconv.Atoi(strings.Fields(l[0])[0])
					e, _ := readEntry(pid)
					errs <- fmt.Errorf("%s left %q %+v mark %q out %+v", mode, l, e, markOf(pid), o)
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if n := len(keeperLeft()); n != before {
		t.Errorf("%d processes of the other child are left, want %d", n, before)
	}
	if _, err := keeper.Kill(); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, keeperLeft)
}

// Nothing below a child can reach the terminal we were started from.
func TestOwnSession(t *testing.T) {
	c, _ := child(t, "wait", Options{})
	waitReady(t, c.Stdout())
	sid, err := unix.Getsid(c.Pid())
	if err != nil || sid != c.Pid() {
		t.Fatalf("session %d, %v", sid, err)
	}
	if g, err := unix.Getpgid(c.Pid()); err != nil || g != c.Pid() {
		t.Fatalf("group %d, %v", g, err)
	}
}

// For some programs the second TERM means "at once".
func TestTermComesOnce(t *testing.T) {
	c, left := child(t, "count-term", Options{Grace: time.Hour})
	out := bufio.NewReader(c.Stdout())
	if line, err := out.ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready") {
		t.Fatalf("%q, %v", line, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.Terminate()
	}()
	if line, err := out.ReadString('\n'); err != nil || line != "term\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if rest, err := io.ReadAll(out); err != nil || len(rest) != 0 {
		t.Fatalf("child saw more: %q, %v", rest, err)
	}
	mustBeGone(t, left)
}

// A child that something else in this process started is not ours to end.
func TestSparesChildrenOfOthers(t *testing.T) {
	other := exec.Command("/proc/self/exe", modeArg, "cat", "other")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"daemon", "exit"} {
		c, left := child(t, mode, Options{})
		c.Wait()
		mustBeGone(t, left)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err != nil {
		t.Fatalf("the other's child: %v", err)
	}
}

// A daemon without our mark, born while two children live, cannot be told to
// be the one's or the other's. It must not outlive both.
func TestUnmarkedDaemonGoesWithTheLastChild(t *testing.T) {
	keeper, _ := child(t, "wait", Options{})
	waitReady(t, keeper.Stdout())
	c, left := child(t, "daemon-clean", Options{})
	c.Wait()
	if _, err := keeper.Kill(); err != nil {
		t.Fatal(err)
	}
	mustBeGone(t, left)
}
