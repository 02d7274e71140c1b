//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/scanner"
	"github.com/seed-b23e517c/loop/stories"
)

// killedNight is a night of one story in which loop is killed.
type killedNight struct {
	steps, retry func(n *longNight) []sim.Step
	flags        []string
	dirty        bool // the person has uncommitted work
}

// mark is a step that leaves a line in a file, for the test.
func (n *longNight) marked(name string) sim.Step {
	return sim.Bash("echo x >> "+filepath.Join(n.mark, name), "")
}

// marks is how many lines are there.
func (n *longNight) marks(name string) int {
	b, _ := os.ReadFile(filepath.Join(n.mark, name)) // no file, no lines
	return strings.Count(string(b), "\n")
}

func write(name, text string) sim.Step {
	return sim.Call("Write", map[string]string{"file_path": name, "content": text})
}

func killedNights() map[string]killedNight {
	passes := func(n *longNight) []sim.Step {
		push := sim.Bash("git push origin HEAD:refs/heads/night", "")
		push.IfDenied = []sim.Step{n.marked("refused")}
		return []sim.Step{n.marked("started"), push, write("s1.txt", "work\n"), {Text: "done"}}
	}
	return map[string]killedNight{
		"passes":    {steps: passes},
		"stash":     {steps: passes, flags: []string{"--stash"}, dirty: true},
		"dirty":     {steps: passes, flags: []string{"--allow-dirty"}, dirty: true},
		"no branch": {steps: passes, flags: []string{"--no-branch"}},
		"worktree":  {steps: passes, flags: []string{"--worktree"}},
		// The first try breaks the gate and changes what it runs.
		"parked": {
			steps: func(n *longNight) []sim.Step {
				return []sim.Step{n.marked("started"), write("s1.txt", "BROKEN\n"), sim.Bash("echo '# looser' >> gate.sh", ""), n.marked("broken"), {Text: "done"}}
			},
			retry: func(n *longNight) []sim.Step {
				return []sim.Step{n.marked("started"), write("s1.txt", "work\n"), {Text: "done"}}
			},
		},
	}
}

func (k killedNight) make(t testing.TB) *longNight {
	n := newLongNight(t, sim.Script{}, []string{"First"})
	part := sim.Part{Steps: k.steps(n)}
	if k.retry != nil {
		part.Retry = k.retry(n)
	}
	n.play(sim.Script{Schema: 1, Stories: map[string]sim.Part{"1": part}})
	if k.dirty {
		n.write("gate.sh", "! grep -l BROKEN s*.txt # mine\n")
		n.write("mine.txt", "mine\n")
	}
	return n
}

func (n *longNight) write(name, text string) {
	if err := os.WriteFile(filepath.Join(n.repo, name), []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

// loop is killed at each of its writes, and at each of the git that it runs, and
// started again: nothing is lost, nothing is there twice, nothing is left over.
func TestKilledAtEveryWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	nights, seen := killedNights(), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(nights)) {
		night, whole := nights[name], &killer{}
		night.killAt(t, whole)
		for i, what := range whole.log {
			kind := whole.kind(i)
			if (kind == "" || seen[kind]) && os.Getenv("LOOP_EVERY") == "" {
				continue // make crash takes all
			}
			seen[kind] = true
			t.Run(fmt.Sprintf("%s/%d %s", name, i+1, class(what)), func(t *testing.T) {
				t.Parallel()
				night.killAt(t, &killer{at: i + 1})
			})
		}
	}
}

// What comes after a kill is killed in its turn, at each of its writes: while it
// finds out what there is, scans, parks and puts back, and in what follows.
func TestKilledWhileItRecovers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	night, whole, seen := killedNights()["parked"], &killer{}, map[string]bool{}
	night.killAt(t, whole)
	for i := range whole.log {
		seen[whole.kind(i)] = true // TestKilledAtEveryWrite is about them
	}
	for _, first := range []string{
		"write .*/transcript.jsonl",       // while the agent works
		"git: .*/refs/loop/parked/.*",     // while what it did is kept
		"(rename|link) .*/prd.json( .*)?", // while the story is marked
	} {
		is := regexp.MustCompile("^" + first + "$")
		at := slices.IndexFunc(whole.log, is.MatchString)
		if at < 0 {
			t.Fatalf("nothing is %s among %q", first, whole.log)
		}
		next := &killer{}
		night.killAt(t, &killer{at: at + 1}, next)
		for i, what := range next.log {
			kind := next.kind(i)
			if (kind == "" || seen[kind]) && os.Getenv("LOOP_EVERY") == "" {
				continue
			}
			seen[kind] = true
			t.Run(fmt.Sprintf("%d/%d %s", at+1, i+1, class(what)), func(t *testing.T) {
				t.Parallel()
				night.killAt(t, &killer{at: at + 1}, &killer{at: i + 1})
			})
		}
	}
}

// killAt runs a night that is killed as often as there are killers, and the one
// after them.
func (k killedNight) killAt(t *testing.T, killers ...*killer) {
	t.Helper()
	n := k.make(t)
	var killed *killer
	for _, killed = range killers {
		killed.root = n.root
		cmd, out := n.command("loop", append([]string{"run"}, k.flags...)...)
		if err := killed.run(cmd); err != nil {
			t.Fatal(err)
		}
		n.t.Cleanup(func() {
			if t.Failed() {
				t.Logf("a killed run:\n%s", out)
			}
		})
	}
	verified, started := n.verified(), n.marks("started")
	code, again := n.do("loop", append([]string{"run"}, k.flags...)...)
	defer func() {
		if t.Failed() {
			t.Logf("killed at %q; the next run, exit %d:\n%s", killed.log[len(killed.log)-1], code, again)
		}
	}()
	if code != exitDone && code != exitWaiting {
		t.Errorf("the next run: exit %d", code)
	}
	if verified && n.marks("started") != started {
		t.Error("a story that had passed its gates was worked on again")
	}
	n.checkRecords()
	n.checkWork(k)
	if slices.Contains(k.flags, "--worktree") {
		n.checkFiles(ofTheTree)
	} else {
		n.checkFiles()
	}
	if left := n.left(); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
}

// store is the queue, nil when there is none yet.
func (n *longNight) store() *queue.Store {
	dirs, err := filepath.Glob(filepath.Join(n.root, "state", "repo-*"))
	if err != nil || len(dirs) > 1 {
		n.t.Fatalf("%q, %v", dirs, err)
	}
	if len(dirs) == 0 {
		return nil
	}
	s, err := queue.Open(dirs[0], queue.Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		n.t.Fatal(err)
	}
	return s
}

// verified reports whether a gate's verdict is on record.
func (n *longNight) verified() bool {
	passed := false
	if s := n.store(); s != nil {
		n.eachAttempt(s, func(a queue.Attempt) { passed = passed || a.Verified })
	}
	return passed
}

func (n *longNight) eachAttempt(s *queue.Store, do func(queue.Attempt)) {
	list, err := s.Sessions(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	for _, session := range list {
		attempts, err := s.Attempts(n.t.Context(), session.ID)
		if err != nil {
			n.t.Fatal(err)
		}
		for _, a := range attempts {
			do(a)
		}
	}
}

// checkRecords: everything has ended, the story is done once, and each refusal
// is in the queue once.
func (n *longNight) checkRecords() {
	n.t.Helper()
	s := n.store()
	if s == nil {
		n.t.Fatal("no queue")
	}
	sessions, err := s.Sessions(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	for _, x := range sessions {
		if x.Ended.IsZero() {
			n.t.Errorf("session %s has no end", x.ID)
		}
	}
	done := 0
	n.eachAttempt(s, func(a queue.Attempt) {
		if a.Ended.IsZero() {
			n.t.Errorf("attempt %s has no end", a.ID)
		}
		if a.Outcome.Passed() {
			done++
		}
	})
	if done != 1 {
		n.t.Errorf("the story passed %d times", done)
	}
	actions, err := s.Actions(n.t.Context(), queue.Filter{})
	if err != nil {
		n.t.Fatal(err)
	}
	by := map[string]int{}
	for _, a := range actions {
		// A call of which loop noted neither refusal nor result is taken to have run.
		refused := a.Evidence == policy.Blocked || a.FoundBy == queue.ByScan && a.Outcome == scanner.OutcomeUnknown
		if by[a.Attempt]++; by[a.Attempt] > 1 || !refused || a.Status != queue.Pending {
			n.t.Errorf("action %d: %s, %s, the %d. of its attempt", a.Number, a.Evidence, a.Status, by[a.Attempt])
		}
	}
	if refused := n.marks("refused"); len(actions) < refused || len(actions) > max(n.marks("started"), refused) {
		n.t.Errorf("%d actions for %d refusals", len(actions), refused)
	}
}

// workTree takes out, into a folder of its own, the one branch that a run with a
// work tree has left, and gives its name.
func (n *longNight) workTree() (dir, branch string) {
	n.t.Helper()
	_, names := n.do("git", "for-each-ref", "--format=%(refname:short)", "--no-merged", "main", "refs/heads/loop")
	branches := strings.Fields(names)
	if len(branches) != 1 {
		n.t.Fatalf("branches with work: %q", branches)
	}
	dir = n.t.TempDir()
	if code, out := n.do("git", "--work-tree="+dir, "checkout", "--ignore-other-worktrees", branches[0], "--", "."); code != 0 {
		n.t.Fatal(out)
	}
	if code, out := n.do("git", "reset", "-q"); code != 0 {
		n.t.Fatal(out)
	}
	return dir, branches[0]
}

// checkWork: the work is where it belongs, and the person's own is as it was.
func (n *longNight) checkWork(k killedNight) {
	n.t.Helper()
	dir, at := n.repo, "HEAD"
	if slices.Contains(k.flags, "--worktree") {
		dir, at = n.workTree()
		if _, err := os.Stat(filepath.Join(n.repo, "s1.txt")); err == nil {
			n.t.Error("the work is in the person's checkout")
		}
	}
	f, err := stories.Read(filepath.Join(dir, "prd.json"))
	if err != nil || len(f.Stories) != 1 || !f.Stories[0].Done {
		n.t.Errorf("the story is not done: %+v, %v", f, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "s1.txt")); err != nil || string(b) != "work\n" {
		n.t.Errorf("its work is %q, %v", b, err)
	}
	if _, out := n.do("git", "log", "--format=%s", "main"); out != "start\n" {
		n.t.Errorf("main: %s", out)
	}
	want := ""
	if k.dirty {
		want = " M gate.sh\n?? mine.txt\n"
	}
	branch := !slices.Contains(k.flags, "--no-branch")
	if !branch {
		want = " M prd.json\n?? s1.txt\n"
	}
	if _, out := n.do("git", "status", "--porcelain"); out != want {
		n.t.Errorf("status %q, want %q", out, want)
	}
	if _, out := n.do("git", "log", "--format=%(trailers:key=Loop-Story,valueonly,separator=%x2c)", "main.."+at); branch && out != "1\n" {
		n.t.Errorf("commits of stories: %q", out)
	}
	// What failed is kept.
	kept := 0
	_, refs := n.do("git", "for-each-ref", "--format=%(refname)", "refs/loop/parked")
	for ref := range strings.Lines(refs) {
		if _, text := n.do("git", "show", strings.TrimSpace(ref)+":s1.txt"); text == "BROKEN\n" {
			kept++
		}
	}
	if broken := n.marks("broken"); branch && kept < broken {
		n.t.Errorf("%d tries failed, %d are kept: %s", broken, kept, refs)
	}
}

// whatStays are the files of a state folder in which nothing goes on.
var whatStays = regexp.MustCompile(`^(queue\.db|queue\.db\.lock|numbers|run\.lock|spool\.lock|status\.json|gate-files-left\.json|audit(/.*)?|runs|runs/[^/]+|runs/[^/]+/[^/]+-[0-9]+(/(prompt\.md|rules\.md|transcript\.jsonl|stderr\.log|index|gate-file-\d+-as-left))?)$`)

// ofTheTree are the files of a session's work tree, which stays for the next run.
var ofTheTree = regexp.MustCompile(`^worktrees(/[0-9a-f]{8}(/(\.git|gate\.sh|loop\.toml|prd\.json|s1\.txt))?)?$`)

// checkFiles: nothing lies about that was only there for a moment. more is what
// else may stay.
func (n *longNight) checkFiles(more ...*regexp.Regexp) {
	n.t.Helper()
	stays := append(more, whatStays)
	dirs, _ := filepath.Glob(filepath.Join(n.root, "state", "repo-*"))
	state := os.DirFS(dirs[0])
	err := fs.WalkDir(state, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != "." && !slices.ContainsFunc(stays, func(x *regexp.Regexp) bool { return x.MatchString(name) }) {
			n.t.Errorf("left in the state folder: %s", name)
		}
		return err
	})
	if err != nil {
		n.t.Error(err)
	}
	err = filepath.WalkDir(n.repo, func(name string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(name, ".lock") || strings.Contains(d.Name(), "loop-")) {
			n.t.Errorf("left in the repository: %s", name)
		}
		return err
	})
	if err != nil {
		n.t.Error(err)
	}
	if _, out := n.do("git", "for-each-ref", "--format=%(refname)", "refs/loop/before", "refs/loop/stash"); out != "" {
		n.t.Errorf("refs left: %s", out)
	}
	if code, out := n.do("git", "fsck", "--no-dangling", "--no-progress"); code != 0 {
		n.t.Errorf("the repository is damaged: %s", out)
	}
	_, out := n.do("git", "for-each-ref", "--format=%(refname:short)", "refs/heads/loop")
	s := n.store()
	sessions, err := s.Sessions(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	for name := range strings.Lines(out) {
		known := slices.ContainsFunc(sessions, func(x queue.Session) bool { return x.Work != nil && x.Work.Branch == strings.TrimSpace(name) })
		if !known {
			n.t.Errorf("a branch that no session knows: %s", name)
		}
	}
}
