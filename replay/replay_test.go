package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/selftest"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

var testTime = time.Date(2026, 2, 23, 8, 15, 0, 0, time.UTC)

// childVar makes the test binary replay one action and nothing else.
const childVar = "LOOP_TEST_REPLAY"

func TestMain(m *testing.M) {
	// The server is a child of the child, and has its environment.
	if file, how := os.Getenv(serverVar), os.Getenv(howVar); file != "" && how != "" {
		os.Exit(playServer(file, how))
	} else if file != "" {
		if err := selftest.ServeMCP(file, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(childVar); dir != "" {
		os.Exit(replayInChild(dir))
	}
	os.Exit(m.Run())
}

func replayInChild(dir string) int {
	s, err := queue.Open(dir, storeOptions())
	if err == nil {
		_, err = Run(context.Background(), Request{
			Store: s, Ref: "1", Out: os.Stdout, Yes: true, Now: killedNow(), Env: os.Environ(),
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func storeOptions() queue.Options {
	self := proc.Self()
	return queue.Options{
		Now:   func() time.Time { return testTime },
		Self:  queue.Owner{Pid: self.Pid, Start: self.Start, Boot: proc.BootID()},
		Alive: func(o queue.Owner) bool { return proc.Running(o.Pid, o.Start, o.Boot) },
	}
}

// bench is a queue, a repository with one commit, and what a request needs.
type bench struct {
	t     *testing.T
	store *queue.Store
	state string
	repo  string
	head  string
	env   []string
	out   bytes.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	b := &bench{t: t, state: filepath.Join(dir, "state"), repo: filepath.Join(dir, "repo")}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_AUTHOR_DATE=2026-02-23T08:00:00Z", "GIT_COMMITTER_DATE=2026-02-23T08:00:00Z", "MINE=yes",
	}
	var err error
	if b.store, err = queue.Open(b.state, storeOptions()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	b.git("init", "-q", "-b", "main")
	b.git("commit", "-q", "--allow-empty", "-m", "first")
	b.head = b.git("rev-parse", "HEAD")
	return b
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	out := proc.Run(b.t.Context(), proc.RunOptions{Argv: append([]string{"git"}, args...), Dir: b.repo, Env: b.env})
	if !out.OK() {
		b.t.Fatalf("git %v: %s %v", args, out.Tail, out.Err)
	}
	return strings.TrimSpace(string(out.Tail))
}

// action is a blocked command in the repository.
func (b *bench) action(command string) queue.Action {
	input := fmt.Sprintf(`{"command":%s}`, strconv.Quote(command))
	return queue.Action{
		Session: "s", Story: "3", StoryTitle: "Ship it", Tool: "Bash", ToolUseID: "t-" + command, Input: []byte(input),
		Command: command, Cwd: b.repo, GitHead: b.head, GitBranch: "main", Rules: []string{"git-push"},
		Why: "Publishes commits.", Tier: policy.External, Evidence: policy.Blocked, DetectedAt: testTime.Add(-3 * time.Hour),
	}
}

func (b *bench) add(a queue.Action) queue.Action {
	b.t.Helper()
	a, _, err := b.store.Add(b.t.Context(), a)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func (b *bench) request(a queue.Action) Request {
	return Request{
		Store: b.store, Ref: fmt.Sprint(a.Number), In: strings.NewReader(""), Out: &b.out, Yes: true, Who: "ann",
		Now: func() time.Time { return testTime }, Env: b.env,
	}
}

func (b *bench) stored(a queue.Action) queue.Action {
	b.t.Helper()
	a, err := b.store.Get(b.t.Context(), a.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func TestReplayRunsTheSameBytesInTheSamePlace(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("pwd; echo \"$MINE $0\"; printf '%s\\n' 'a  b\tc' >&2; cat; exit 0"))
	res, err := Run(t.Context(), b.request(a))
	if err != nil || !res.Ran || res.ExitCode != 0 {
		t.Fatalf("Run = %+v, %v", res, err)
	}
	real, err := filepath.EvalSymlinks(b.repo)
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	got := b.stored(a)
	want := real + "\nyes " + shell + "\na  b\tc\n"
	if got.Status != queue.Replayed || got.Replay.Output != want {
		t.Errorf("status %s, output %q; want %q", got.Status, got.Replay.Output, want)
	}
	if d := got.Decisions; len(d) != 1 || d[0].Verb != queue.Approve || d[0].Who != "ann" {
		t.Errorf("decisions %+v", d)
	}
	if !strings.Contains(b.out.String(), "| yes "+shell+"\n| a  b    c\n#1: exit 0, after 0s\n") {
		t.Errorf("screen:\n%s", b.out.String())
	}
}

// The whole screen of one approval, from the first line to the outcome.
func TestReplayScreen(t *testing.T) {
	b := newBench(t)
	a := b.action("git push origin main")
	a.ID = "0192d3c4-0000-7000-8000-000000000001"
	a = b.add(a)
	r := b.request(a)
	r.Yes, r.IsTerminal, r.In, r.Shell = false, true, strings.NewReader("y\n"), "/bin/sh"
	bare := filepath.Join(filepath.Dir(b.repo), "bare")
	b.git("init", "-q", "--bare", bare)
	b.git("remote", "add", "origin", bare)
	b.git("commit", "-q", "--allow-empty", "-m", "second")
	if _, err := Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	screen := strings.NewReplacer(filepath.Dir(b.repo), "/tmp/x").Replace(b.out.String())
	golden(t, "replay.txt", regexp.MustCompile(`after \d+(\.\d+)?(ms|s)`).ReplaceAllString(screen, "after 0s"))
	if got := strings.Fields(b.git("ls-remote", bare, "main"))[0]; got != b.git("rev-parse", "HEAD") {
		t.Errorf("the push did not arrive: %s", got)
	}
}

// A view asks in its own way, and is given what was shown.
func TestReplayAsksInAnotherWay(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo ran > ran"))
	yes := false
	r := b.request(a)
	r.Yes = false
	r.Agree = func(_ context.Context, got queue.Action, since Since) (bool, error) {
		if got.ID != a.ID || since.Head != b.head || !strings.Contains(b.out.String(), "1 | echo ran > ran") {
			t.Errorf("asked about #%d at %s, when this was shown:\n%s", got.Number, since.Head, b.out.String())
		}
		return yes, nil
	}
	if res, err := Run(t.Context(), r); err != nil || !res.Declined || res.Ran {
		t.Errorf("after a no: %+v, %v", res, err)
	}
	yes = true
	if res, err := Run(t.Context(), r); err != nil || res.Action.Status != queue.Replayed {
		t.Errorf("after a yes: %s, %v", res.Action.Status, err)
	}
	refused := errors.New("somebody else was quicker")
	b.add(b.action("true"))
	r.Ref, r.Agree = "2", func(context.Context, queue.Action, Since) (bool, error) { return true, refused }
	if res, err := Run(t.Context(), r); !errors.Is(err, refused) || res.Ran {
		t.Errorf("after an error: %+v, %v", res, err)
	}
}

func TestReplayIsOneShot(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo once >> log"))
	for i := range 2 {
		_, err := Run(t.Context(), b.request(a))
		if i == 0 && err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			wantRefused(t, err, "it was replayed already")
		}
	}
	if got, err := os.ReadFile(filepath.Join(b.repo, "log")); err != nil || string(got) != "once\n" {
		t.Errorf("log %q, %v", got, err)
	}
}

// Two approvals at once: one replays, the other is told.
func TestReplayOfTwoAtOnceIsOneShot(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo once >> log"))
	errs := make(chan error)
	for range 2 {
		r := b.request(a)
		r.Out = io.Discard
		go func() { _, err := Run(t.Context(), r); errs <- err }()
	}
	one, two := <-errs, <-errs
	if one != nil {
		one, two = two, one
	}
	var refused *RefusedError
	if one != nil || !errors.As(two, &refused) {
		t.Errorf("Run: %v and %v; want one nil and one RefusedError", one, two)
	}
	if got, err := os.ReadFile(filepath.Join(b.repo, "log")); err != nil || string(got) != "once\n" {
		t.Errorf("log %q, %v", got, err)
	}
}

func TestReplayFails(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo out; echo err >&2; exit 7"))
	res, err := Run(t.Context(), b.request(a))
	var failed *FailedError
	if !errors.As(err, &failed) || failed.ExitCode != 7 || res.ExitCode != 7 || !res.Ran {
		t.Fatalf("Run = %+v, %v; want exit 7", res, err)
	}
	got := b.stored(a)
	if got.Status != queue.Failed || got.Replay.ExitCode != 7 || got.Replay.Output != "out\nerr\n" {
		t.Errorf("stored %s, %+v", got.Status, got.Replay)
	}
	_, err = Run(t.Context(), b.request(a))
	wantRefused(t, err, "it was replayed already, and failed")
	r := b.request(a)
	r.Again = true
	if _, err := Run(t.Context(), r); !errors.As(err, &failed) {
		t.Errorf("Run again: %v, want a FailedError", err)
	}
	if got := b.stored(a); len(got.Earlier) != 1 || len(got.Decisions) != 2 {
		t.Errorf("after the second: %d earlier, %d decisions", len(got.Earlier), len(got.Decisions))
	}
}

func TestReplayKeepsTheEndOfLongOutput(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"))
	if _, err := Run(t.Context(), b.request(a)); err != nil {
		t.Fatal(err)
	}
	got := b.stored(a).Replay
	if !got.Cut || len(got.Output) > 64<<10 || !strings.HasSuffix(got.Output, "line 19999\n") {
		t.Errorf("kept %d bytes, cut %v", len(got.Output), got.Cut)
	}
}

// cancelOn ends a context when it sees a text go by.
type cancelOn struct {
	text   string
	cancel func()
	seen   bytes.Buffer
}

func (c *cancelOn) Write(p []byte) (int, error) {
	c.seen.Write(p)
	if strings.Contains(c.seen.String(), c.text) {
		c.cancel()
	}
	return len(p), nil
}

func TestReplayInterrupted(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo begun; sleep 300; echo never"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := b.request(a)
	r.Out = &cancelOn{text: "| begun", cancel: cancel}
	_, err := Run(ctx, r)
	var failed *FailedError
	if !errors.As(err, &failed) || !errors.Is(err, context.Canceled) {
		t.Fatalf("Run: %v, want a FailedError that is context.Canceled", err)
	}
	got := b.stored(a)
	if got.Status != queue.Failed || got.Replay.Output != "begun\n" || got.Replay.Error != "interrupted" {
		t.Errorf("stored %s, %+v", got.Status, got.Replay)
	}
}

func TestReplayTimesOut(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo begun; sleep 300 & wait"))
	r := b.request(a)
	r.Timeout = 300 * time.Millisecond
	_, err := Run(t.Context(), r)
	var failed *FailedError
	if !errors.As(err, &failed) || failed.Reason != "ended after 300ms" {
		t.Fatalf("Run: %v", err)
	}
	if got := b.stored(a); got.Status != queue.Failed || got.Replay.Output != "begun\n" {
		t.Errorf("stored %s, %+v", got.Status, got.Replay)
	}
}

// kill -9 of the replaying process: the next one finds the replay and says that
// its outcome is unknown.
func TestReplayKilled(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo ready $$; exec sleep 300"))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(b.env, childVar+"="+b.state, "GORACE=atexit_sleep_ms=0")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitFor(t, pipe, "| ready ")
	if n, err := Recover(t.Context(), b.store); n != 0 || err != nil {
		t.Errorf("Recover while it runs = %d, %v", n, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	command, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	started := startOf(t, command)
	if runtime.GOOS == "linux" && !proc.Alive(command, started) {
		t.Error("the command died with its supervisor: nothing to recover")
	}
	if got := b.stored(a); got.Status != queue.Replaying {
		t.Fatalf("status %s after the kill, want replaying", got.Status)
	}
	if n, err := Recover(t.Context(), b.store); n != 1 || err != nil {
		t.Errorf("Recover = %d, %v", n, err)
	}
	if runtime.GOOS == "linux" && proc.Alive(command, started) {
		t.Error("the command still runs after Recover")
	}
	if got := b.stored(a); got.Status != queue.Unknown || got.Replay.Error == "" {
		t.Errorf("stored %s, %+v", got.Status, got.Replay)
	}
	_, err = Run(t.Context(), b.request(a))
	wantRefused(t, err, "a replay of it died, and may have taken effect")
}

// startOf is when a process started, as Linux has it; "" elsewhere.
func startOf(t *testing.T, pid int) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return ""
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name in brackets may hold anything; the start is field 22.
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), " ")
	return strings.Fields(rest)[19]
}

// waitFor returns what follows prefix on the first line that begins with it.
func waitFor(t *testing.T, r io.Reader, prefix string) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for in := bufio.NewScanner(r); in.Scan(); {
			if rest, ok := strings.CutPrefix(in.Text(), prefix); ok {
				found <- rest
				return
			}
		}
	}()
	select {
	case rest, ok := <-found:
		if !ok {
			t.Fatalf("the child ended without %q", prefix)
		}
		return rest
	case <-time.After(30 * time.Second):
		t.Fatalf("no %q from the child", prefix)
	}
	return ""
}

func wantRefused(t *testing.T, err error, reason string) {
	t.Helper()
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, reason) || refused.Hint() == "" {
		t.Errorf("error %v, want a RefusedError with %q and a hint", err, reason)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("LOOP_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (LOOP_UPDATE=1 rewrites it):\n%s", path, d)
	}
}

func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.repo, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}
