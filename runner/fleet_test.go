package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// fleetNight is a night in which two stories are worked on at the same time,
// and a folder for what they tell each other.
func fleetNight(t *testing.T, parts map[string]sim.Part, titles ...string) (*night, string) {
	t.Helper()
	marks := t.TempDir()
	for id, p := range parts {
		for i := range p.Steps {
			p.Steps[i].Input = []byte(strings.ReplaceAll(string(p.Steps[i].Input), "MARKS", marks))
		}
		for i := range p.Retry {
			p.Retry[i].Input = []byte(strings.ReplaceAll(string(p.Retry[i].Input), "MARKS", marks))
		}
		parts[id] = p
	}
	n := gitNight(t, each(parts), titles...)
	n.o.Parallel, n.o.Git.Work = 2, queue.WorkWorktree
	return n, marks
}

// meet is a command that goes on when the other one has come to its own.
func meet(own, other string) string {
	return fmt.Sprintf("touch MARKS/%s; n=0; until [ -e MARKS/%s ] || [ $n -gt 600 ]; do n=$((n+1)); sleep 0.05; done; test -e MARKS/%s", own, other, other)
}

// tidy fails when anything of the lanes is left.
func (n *night) tidy(snap queue.Snapshot) {
	n.t.Helper()
	w := snap.Session.Work
	if got := n.ask("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 2 {
		n.t.Errorf("work trees: %s", got)
	}
	if got, want := n.ask("branch", "--format=%(refname:short)"), w.Branch+"\nmain"; got != want {
		n.t.Errorf("branches %q, want %q", got, want)
	}
	if len(w.Lanes) != 0 {
		n.t.Errorf("lanes %+v", w.Lanes)
	}
	for ref := range strings.FieldsSeq(n.ask("for-each-ref", "--format=%(refname)", "refs/loop")) {
		if !strings.HasPrefix(ref, "refs/loop/parked/") {
			n.t.Errorf("%s is left", ref)
		}
	}
	if got := gitIn(n.t, w.Dir, "status", "--porcelain"); got != "" {
		n.t.Errorf("the session's work tree: %q", got)
	}
	if got, err := filepath.Glob(filepath.Join(n.o.State, "*gate-files.json")); err != nil || len(got) != 0 {
		n.t.Errorf("%q, %v", got, err)
	}
	for _, a := range snap.Attempts {
		if a.Ended.IsZero() {
			n.t.Errorf("attempt %d at %s has no end", a.Number, a.Story)
		}
		nothingLeft(n.t, a.ID)
	}
}

func (n *night) byStory(snap queue.Snapshot) map[string][]queue.Attempt {
	out := map[string][]queue.Attempt{}
	for _, a := range snap.Attempts {
		out[a.Story] = append(out[a.Story], a)
	}
	return out
}

// Two stories really run at the same time: each goes on only when the other has
// begun. Both come to the session's branch, in a line, with their marks, and the
// person's checkout is not touched.
func TestTwoStoriesAtTheSameTime(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": steps(meet("a", "b"), "echo one > one.txt; echo 'one' >> progress.txt"),
		"2": steps(meet("b", "a"), "echo two > two.txt; echo 'two' >> progress.txt"),
	}, "first", "second")
	n.o.Gates = []string{"cat *.txt > /dev/null"}
	n.o.Baseline = true
	snap := n.run(t.Context())
	for _, a := range snap.Attempts {
		if a.Outcome != queue.Done || a.Number != 1 || a.Merged == nil || a.Commit == "" || a.Commits != 1 {
			t.Errorf("story %s: %s (%s), merged %+v, %d commits\n%s", a.Story, a.Outcome, a.Reason, a.Merged, a.Commits, n.log.String())
		}
	}
	w := snap.Session.Work
	if got := n.ask("log", "--format=%s", "--reverse", w.Base+".."+w.Branch); got != "1: first\n2: second" && got != "2: second\n1: first" {
		t.Errorf("history %q", got)
	}
	if w.Commits != 2 || w.Parallel != 2 {
		t.Errorf("%+v", w)
	}
	for name, want := range map[string]string{"one.txt": "one", "two.txt": "two"} {
		if got := n.ask("show", w.Branch+":"+name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := strings.Count(n.ask("show", w.Branch+":prd.json"), `"passes": true`); got != 2 {
		t.Errorf("%d stories are marked", got)
	}
	if got := n.ask("show", w.Branch+":progress.txt"); !strings.Contains(got, "one") || !strings.Contains(got, "two") {
		t.Errorf("progress.txt: %q", got)
	}
	if n.status() != "" || n.ask("branch", "--show-current") != "main" {
		t.Errorf("the person's checkout: %q on %s", n.status(), n.ask("branch", "--show-current"))
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "two.txt")); err != nil {
		t.Error(err)
	}
	n.tidy(snap)
}

// A story begins when what it depends on is on the branch, and finds it there.
func TestAStoryWaitsForWhatItDependsOn(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": steps("echo one > one.txt"),
		"2": steps("cat one.txt > two.txt"),
		"3": steps("echo three > three.txt"),
		"4": steps("cat two.txt > four.txt"),
	}, "first", "after 1", "third", "after 2")
	snap := n.run(t.Context())
	w := snap.Session.Work
	if got := n.ask("show", w.Branch+":four.txt"); got != "one" {
		t.Errorf("%q\n%s", got, n.log.String())
	}
	ended := map[string]queue.Attempt{}
	for _, a := range snap.Attempts {
		ended[a.Story] = a
	}
	if len(ended) != 4 || ended["2"].Started.Before(ended["1"].Ended) || ended["4"].Started.Before(ended["2"].Ended) {
		t.Errorf("began before what it depends on was on the branch\n%s", n.log.String())
	}
	if d := cmp.Diff(4, w.Commits); d != "" {
		t.Error(d)
	}
	n.tidy(snap)
}

// Work that does not go together with what came meanwhile is a conflict: it is
// put aside and named, and the story is tried once more from what is there.
func TestAConflictIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": {
			Steps: steps(meet("a", "landed"), "echo one > kept.txt; git commit -qam own").Steps,
			Retry: steps("test \"$(cat kept.txt)\" = two && echo both > kept.txt").Steps,
		},
		"2": steps("echo two > kept.txt; echo x > x.txt"),
		"3": steps("touch MARKS/landed; echo 3 > 3.txt"),
	}, "first", "second", "after 2")
	n.o.Tries = 1 // a conflict costs none
	snap := n.run(t.Context())
	w, list := snap.Session.Work, n.byStory(snap)["1"]
	if len(list) != 2 || list[0].Outcome != queue.Conflict {
		t.Fatalf("%d attempts, the first %s\n%s", len(list), list[0].Outcome, n.log.String())
	}
	a := list[0]
	if d := cmp.Diff([]string{"kept.txt"}, a.Merged.Conflicts); d != "" || !strings.Contains(a.Reason, `"kept.txt"`) {
		t.Error(d, a.Reason)
	}
	if a.Parked == nil || n.ask("show", a.Parked.Ref+":kept.txt") != "one" || !strings.Contains(n.ask("log", "--format=%s", a.Parked.Ref), "own") {
		t.Errorf("parked %+v", a.Parked)
	}
	prompt, _ := os.ReadFile(filepath.Join(list[1].Dir, "prompt.md"))
	if !strings.Contains(string(prompt), a.Parked.Ref) || !strings.Contains(string(prompt), "- \"kept.txt\"") {
		t.Errorf("the next attempt is told\n%s", prompt)
	}
	if got := n.ask("show", w.Branch+":kept.txt"); got != "both" || list[1].Outcome != queue.Done {
		t.Errorf("kept.txt: %q (%s: %s)\n%s", got, list[1].Outcome, list[1].Reason, n.log.String())
	}
	n.tidy(snap)
}

// A second conflict leaves the story; the others go on, and nothing is lost.
func TestASecondConflictBlocksTheStory(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": {
			Steps: steps(meet("a", "landed"), "echo one > kept.txt").Steps,
			Retry: steps(meet("retry", "landed2"), "echo again > kept.txt").Steps,
		},
		"2": steps("echo two > kept.txt"),
		"3": steps(meet("landed", "retry"), "echo three > kept.txt"),
		"4": steps("touch MARKS/landed2; echo 4 > 4.txt"),
	}, "first", "second", "after 2", "after 3", "after 1")
	snap := n.run(t.Context())
	w, list := snap.Session.Work, n.byStory(snap)["1"]
	if len(list) != 2 || list[1].Outcome != queue.Conflict || !strings.Contains(list[1].Blocked, "2 times") {
		t.Fatalf("%+v\n%s", list, n.log.String())
	}
	for i, want := range []string{"one", "again"} {
		if p := list[i].Parked; p == nil || n.ask("show", p.Ref+":kept.txt") != want {
			t.Errorf("attempt %d: parked %+v", i+1, p)
		}
	}
	if got := n.ask("show", w.Branch+":kept.txt"); got != "three" || w.Commits != 3 || len(n.byStory(snap)["5"]) != 0 {
		t.Errorf("kept.txt: %q, %d commits\n%s", got, w.Commits, n.log.String())
	}
	n.tidy(snap)
}

// What passes alone and not with what others brought is not done: the next
// attempt is told why, and finds both in its work tree.
func TestGatesRunOnWhatIsIntegrated(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": {
			Steps: steps(meet("a", "landed"), "echo one > a.txt").Steps,
			Retry: steps("cat a.txt b.txt > seen.txt; rm a.txt").Steps,
		},
		"2": steps("echo two > b.txt"),
		"3": steps("touch MARKS/landed; echo 3 > 3.txt"),
	}, "first", "second", "after 2")
	n.o.Gates, n.o.Tries = []string{"if [ -e a.txt ] && [ -e b.txt ]; then echo 'not both'; exit 1; fi"}, 2
	snap := n.run(t.Context())
	w, list := snap.Session.Work, n.byStory(snap)["1"]
	if len(list) != 2 || list[0].Outcome != queue.GateFailed || !strings.HasPrefix(list[0].Reason, "it passed alone; with what other stories brought") {
		t.Fatalf("%d attempts, %s (%s)\n%s", len(list), list[0].Outcome, list[0].Reason, n.log.String())
	}
	if g := list[0].Gates; len(g) != 1 || !g[0].Merged || g[0].Passed || list[0].Verified {
		t.Errorf("gates %+v", g)
	}
	prompt, _ := os.ReadFile(filepath.Join(list[1].Dir, "prompt.md"))
	if !strings.Contains(string(prompt), "not both") || !strings.Contains(string(prompt), "It had passed before the work of other stories came in") {
		t.Errorf("the next attempt is told\n%s", prompt)
	}
	if list[1].Outcome != queue.Done || n.ask("show", w.Branch+":seen.txt") != "one\ntwo" || n.ask("ls-tree", "--name-only", w.Branch, "a.txt") != "" {
		t.Errorf("%s (%s)\n%s", list[1].Outcome, list[1].Reason, n.log.String())
	}
	if p := list[0].Parked; p == nil || n.ask("diff", "--name-only", p.Base, p.Ref) != "a.txt" {
		t.Errorf("parked %+v", p)
	}
	n.tidy(snap)
}

// No two integrated trees are the same, and each was seen by the gates: what the
// gates saw last of a story is what was committed.
func TestEveryIntegratedTreeWasSeenByTheGates(t *testing.T) {
	t.Parallel()
	parts, titles := map[string]sim.Part{}, []string{}
	for i := range 6 {
		parts[fmt.Sprint(i+1)] = steps(fmt.Sprintf("echo %d > s%d.txt", i, i))
		titles = append(titles, fmt.Sprint("story ", i))
	}
	n, marks := fleetNight(t, parts, titles...)
	n.o.Parallel = 3
	n.o.Gates = []string{"ls s*.txt | tr '\\n' ' ' >> " + marks + "/seen; echo >> " + marks + "/seen"}
	snap := n.run(t.Context())
	w := snap.Session.Work
	seen, err := os.ReadFile(filepath.Join(marks, "seen"))
	if err != nil || w.Commits != 6 {
		t.Fatalf("%v, %d commits\n%s", err, w.Commits, n.log.String())
	}
	for c := range strings.FieldsSeq(n.ask("rev-list", w.Base+".."+w.Branch)) {
		var files []string
		for name := range strings.FieldsSeq(n.ask("ls-tree", "--name-only", c)) {
			if strings.HasPrefix(name, "s") && strings.HasSuffix(name, ".txt") {
				files = append(files, name)
			}
		}
		if !strings.Contains("\n"+string(seen), "\n"+strings.Join(files, " ")+" \n") {
			t.Errorf("no gate has seen %q:\n%s", files, seen)
		}
		if n.ask("show", "-s", "--format=%(trailers:key=Loop-Session,valueonly)", c) != snap.Session.ID+"\n" {
			t.Errorf("no trailer: %s", n.ask("show", "-s", "--format=%B", c))
		}
	}
	n.tidy(snap)
}

// nightClock puts the clock forward instead of sleeping, for whoever asks at the
// same time.
func (n *night) nightClock(slept func(times int)) {
	var mu sync.Mutex
	ahead, times := time.Duration(0), 0
	n.o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}
	n.o.Sleep = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		ahead += d
		times++
		now := times
		mu.Unlock()
		slept(now)
		return ctx.Err()
	}
	n.o.Jitter = func(time.Duration) time.Duration { return 0 }
	n.o.Wait, n.o.Log = 12*time.Hour, slog.New(slog.DiscardHandler)
	n.o.Wall, n.o.Silence = 24*time.Hour, 24*time.Hour
}

// A limit that one attempt meets holds for all: nothing begins until it is
// over, and then both go on. What is under way meanwhile is not stopped.
func TestALimitHoldsForAll(t *testing.T) {
	t.Parallel()
	limit := sim.Bash("mkdir MARKS/limit-1", "")
	limit.IfOK = []sim.Step{{Fail: "usage-limit"}}
	n, marks := fleetNight(t, map[string]sim.Part{
		"1": {Steps: append([]sim.Step{sim.Bash(meet("a", "b"), ""), limit}, steps("echo one > one.txt").Steps...)},
		"2": steps(meet("b", "a"), meet("c", "slept"), "echo two > two.txt"),
		"3": steps("echo three > three.txt"),
	}, "first", "second", "third")
	n.nightClock(func(times int) {
		if times != 20 {
			return
		}
		if err := os.WriteFile(filepath.Join(marks, "slept"), nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	snap := n.run(t.Context())
	got := map[string]string{}
	for _, a := range snap.Attempts {
		got[a.Story] += fmt.Sprintf("%s ", a.Outcome)
	}
	if d := cmp.Diff(map[string]string{"1": "limit done ", "2": "done ", "3": "done "}, got); d != "" {
		t.Errorf("%s\n%s", d, n.log.String())
	}
	waits := snap.Session.Waits
	if len(waits) != 1 || waits[0].Story != "1" || waits[0].Ended.Before(waits[0].Until) {
		t.Fatalf("waits %+v", waits)
	}
	for _, a := range snap.Attempts {
		if a.Started.After(waits[0].From) && a.Started.Before(waits[0].Until) {
			t.Errorf("attempt %d at %s began during the wait", a.Number, a.Story)
		}
	}
	n.tidy(snap)
}

// A signal ends what is under way and what waits, and all of it has its end.
func TestASignalEndsAllThatIsUnderWay(t *testing.T) {
	t.Parallel()
	limit := sim.Bash("mkdir MARKS/limit-1 && "+meet("a", "b"), "")
	limit.IfOK = []sim.Step{{Fail: "usage-limit"}}
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": {Steps: []sim.Step{limit}},
		"2": {Steps: []sim.Step{sim.Bash(meet("b", "a")+"; echo half > half.txt", ""), {Hang: true}}},
		"3": steps("echo three > three.txt"),
	}, "first", "second", "third")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n.nightClock(func(int) {})
	n.o.Sleep = func(ctx context.Context, _ time.Duration) error {
		// The other one has come as far as it goes.
		for {
			found, err := filepath.Glob(filepath.Join(n.o.State, "worktrees", "*-2", "half.txt"))
			if err != nil || len(found) == 1 {
				break
			}
			runtime.Gosched()
		}
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	snap := n.run(ctx)
	list := n.byStory(snap)
	if len(snap.Attempts) != 2 || list["1"][0].Outcome != queue.Limit || list["2"][0].Outcome != queue.Interrupted || snap.Session.StopKind != queue.Interrupted {
		t.Errorf("%v, stopped as %q: %s\n%s", outcomesOf(snap), snap.Session.StopKind, snap.Session.Stopped, n.log.String())
	}
	if p := list["2"][0].Parked; p == nil || n.ask("show", p.Ref+":half.txt") != "half" {
		t.Errorf("parked %+v", p)
	}
	if w := snap.Session.Waits; len(w) != 1 || w[0].Ended.IsZero() {
		t.Errorf("waits %+v", w)
	}
	if got := n.ask("worktree", "list"); strings.Count(got, "\n") != 0 {
		t.Errorf("nothing came of it, and yet there is: %s", got)
	}
}

// What is in flight is reserved: no attempt begins beside others that could
// take the session over its cap.
func TestWhatIsInFlightIsReserved(t *testing.T) {
	t.Parallel()
	type caps struct {
		attempt, session float64
		story, all       int64 // tokens
	}
	for _, tt := range []struct {
		caps
		together bool
	}{
		{caps{attempt: 5, session: 10}, true}, {caps{attempt: 5, session: 9.99}, false}, {caps{session: 10}, false}, {caps{attempt: 5}, true}, {caps{}, true},
		{caps{story: 5000, all: 10000}, true}, {caps{story: 5000, all: 9999}, false}, {caps{all: 10000}, false}, {caps{story: 5000}, true},
	} {
		t.Run(fmt.Sprint(tt.caps), func(t *testing.T) {
			t.Parallel()
			parts := map[string]sim.Part{"1": steps("echo 1 > 1.txt"), "2": steps("echo 2 > 2.txt")}
			if tt.together {
				parts["1"], parts["2"] = steps(meet("a", "b")), steps(meet("b", "a"))
			}
			n, _ := fleetNight(t, parts, "first", "second")
			n.o.CostUSD, n.o.Caps = tt.attempt, Caps{SessionUSD: tt.session, StoryTokens: tt.story, SessionTokens: tt.all}
			n.flag("1", "check", true)
			n.flag("2", "check", true)
			n.ask("commit", "-qam", "checks")
			snap := n.run(t.Context())
			if len(snap.Attempts) != 2 || !snap.Attempts[0].Outcome.Passed() || !snap.Attempts[1].Outcome.Passed() {
				t.Fatalf("%v\n%s", outcomesOf(snap), n.log.String())
			}
			// Gates run when the client has ended, and told what it cost.
			if log := n.log.String(); !tt.together && strings.Index(log, "start 2") < strings.Index(log, `"1": gate`) {
				t.Errorf("two attempts at the same time can cost more than the session may\n%s", log)
			}
		})
	}
}

// A push that no call shows is told once, whichever of the attempts at that time
// made it; one that a call shows is not told a second time as another's.
func TestAPushIsPutDownToOneOfThem(t *testing.T) {
	t.Parallel()
	noted := func(lines ...string) map[string]bool {
		m := map[string]bool{}
		for _, l := range lines {
			m[l] = true
		}
		return m
	}
	fresh := func() *pushesBeside {
		p := &pushesBeside{under: map[string]map[string]bool{}, told: map[string]bool{}}
		p.begin("a", noted())
		p.begin("b", noted())
		return p
	}
	mine := func(p *pushesBeside, attempt string, shown bool) int {
		m := noted("line")
		p.settle(attempt, m, shown)
		return len(m)
	}
	p := fresh()
	if a, b := mine(p, "a", false), mine(p, "b", false); a != 0 || b != 1 {
		t.Errorf("shown by none: %d, %d", a, b)
	}
	p = fresh()
	if a, b := mine(p, "a", false), mine(p, "b", true); a != 0 || b != 1 {
		t.Errorf("shown by the second: %d, %d", a, b)
	}
	p = fresh()
	if a, b := mine(p, "a", true), mine(p, "b", false); a != 1 || b != 0 {
		t.Errorf("shown by the first: %d, %d", a, b)
	}
	p = fresh()
	p.begin("c", noted("line")) // it began after the push
	if a, b, c := mine(p, "a", false), mine(p, "b", false), mine(p, "c", false); a != 0 || b != 1 || c != 0 {
		t.Errorf("with one that came later: %d, %d, %d", a, b, c)
	}
}

// An attempt that does nothing is not done because others do something.
func TestNothingDoneBesideOthersIsNotDone(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": steps(meet("a", "landed")),
		"2": steps("echo two > two.txt; git add two.txt; git commit -qm two; git tag two"),
		"3": steps("touch MARKS/landed; echo 3 > 3.txt"),
	}, "first", "second", "after 2")
	snap := n.run(t.Context())
	if a := n.byStory(snap)["1"][0]; a.Outcome != queue.Unchanged {
		t.Errorf("%s (%s)\n%s", a.Outcome, a.Reason, n.log.String())
	}
	n.tidy(snap)
}

// Whoever moves the session's branch moves nothing: loop puts it back, keeps
// where it was, and says so. Marks, refs and work trees of others are theirs.
func TestTheSessionsBranchIsLoopsOwn(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": steps("echo one > one.txt; b=$(git branch --show-current); git update-ref refs/heads/${b%-1} $(git commit-tree -m evil HEAD^{tree})"),
		"2": steps("echo two > two.txt", `sed -i 's/"passes": false/"passes": true/' prd.json`),
	}, "first", "second")
	snap := n.run(t.Context())
	w := snap.Session.Work
	if got := n.ask("log", "--format=%s", w.Base+".."+w.Branch); strings.Contains(got, "evil") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q\n%s", got, n.log.String())
	}
	texts := findings(snap, "git")
	if len(texts) != 1 || !strings.Contains(texts[0], "was moved, and not by loop") {
		t.Fatalf("%q", texts)
	}
	ref := texts[0][strings.LastIndex(texts[0], "refs/"):]
	if n.ask("show", "-s", "--format=%s", ref) != "evil" {
		t.Errorf("%s: %s", ref, n.ask("show", "-s", ref))
	}
	if len(findings(snap, "claim")) != 2 {
		t.Errorf("claims %q", findings(snap, "claim"))
	}
	n.tidy(snap)
}

// A work tree in which a call waits stays until a person has decided, and is
// taken away by the next run then.
func TestALaneInWhichSomethingWaitsStays(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": steps("echo one > one.txt", "git push origin HEAD", "echo evil > ../evil.txt"),
		"2": steps("echo two > two.txt"), "3": steps("echo three > three.txt"),
	}, "first", "second", "third")
	n.o.Max = 2
	snap := n.run(t.Context())
	w := snap.Session.Work
	if len(w.Lanes) != 1 || len(snap.Actions) == 0 {
		t.Fatalf("lanes %+v, %d actions", w.Lanes, len(snap.Actions))
	}
	lane := w.Lanes[0]
	if gitIn(t, lane.Dir, "branch", "--show-current") != lane.Branch || gitIn(t, lane.Dir, "status", "--porcelain") != "" || snap.Actions[0].GitBranch != lane.Branch {
		t.Errorf("%+v, %+v", lane, snap.Actions[0])
	}
	if got, err := filepath.Glob(filepath.Join(n.o.State, "worktrees", "evil.txt")); err != nil || len(got) != 0 {
		t.Errorf("beside its own work tree: %q, %v", got, err)
	}
	if len(snap.Actions) != 2 || !snap.Actions[1].Tampering {
		t.Errorf("%+v", snap.Actions)
	}
	for _, x := range snap.Actions {
		if _, err := n.store.Decide(t.Context(), fmt.Sprint(x.Number), queue.Decision{Verb: "reject", Who: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	n.o.Git.Branch = w.Branch
	again := n.run(t.Context())
	if again.Session.Work.Branch != w.Branch || again.Session.Work.Dir != w.Dir || len(again.Attempts) != 1 || again.Attempts[0].Story != "3" {
		t.Errorf("%+v, %v\n%s", again.Session.Work, outcomesOf(again), n.log.String())
	}
	n.tidy(again)
	n.flag("2", "title", "second, and more") // another text: there is work again
	n.ask("commit", "-qam", "more")
	var refused *PlaceError
	if _, err := Run(t.Context(), n.o); !errors.As(err, &refused) || !strings.Contains(refused.Hint(), "git -C "+w.Dir+" merge main") {
		t.Errorf("got %v", err)
	}
	if old, err := n.store.Session(t.Context(), snap.Session.ID); err != nil || len(old.Work.Lanes) != 0 {
		t.Errorf("%v, %+v", err, old.Work.Lanes)
	}
}

// What cannot work is refused before anything is begun.
func TestParallelIsRefusedWhereItCannotWork(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*night){
		"no branch":   func(n *night) { n.o.Git.Work = "" },
		"no commit":   func(n *night) { n.ask("update-ref", "-d", "HEAD") },
		"not tracked": func(n *night) { n.ask("rm", "-q", "--cached", "prd.json"); n.ask("commit", "-qm", "x") },
		"old git": func(n *night) {
			bin := n.t.TempDir()
			git, err := exec.LookPath("git")
			if err != nil {
				n.t.Fatal(err)
			}
			text := "#!/bin/sh\nfor a; do [ \"$a\" != --write-tree ] || { echo 'usage: git merge-tree' >&2; exit 129; }; done\nexec " + git + " \"$@\"\n"
			if err := os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o700); err != nil {
				n.t.Fatal(err)
			}
			n.o.Env = append(n.o.Env, "PATH="+bin+":"+os.Getenv("PATH"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, _ := fleetNight(t, map[string]sim.Part{"1": steps("echo one > one.txt")}, "first")
			change(n)
			_, err := Run(t.Context(), n.o)
			var refused *PlaceError
			if !errors.As(err, &refused) || refused.Hint() == "" {
				t.Errorf("got %v", err)
			}
			if name == "old git" && !strings.Contains(err.Error(), "2.38") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What a run says of itself while two are under way: both, in the order of the
// plan, each with what it does; and no longer when they have ended.
func TestStatusOfTwoAtTheSameTime(t *testing.T) {
	t.Parallel()
	n, marks := fleetNight(t, map[string]sim.Part{
		"1": steps(meet("a", "seen"), "echo one > one.txt"),
		"2": steps(meet("b", "seen"), "echo two > two.txt"),
	}, "first", "second")
	var mu sync.Mutex
	var both []StoryStatus
	n.o.Progress = &lively{night: n, on: func() {
		st, _, err := ReadStatus(n.o.State)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(st.InFlight) == 2 && st.InFlight[0].Calls*st.InFlight[1].Calls > 0 && both == nil {
			both = st.InFlight
			if err := os.WriteFile(filepath.Join(marks, "seen"), nil, 0o600); err != nil {
				t.Error(err)
			}
			if st.Story != st.InFlight[0].Story || st.Dir != st.InFlight[0].Dir {
				t.Errorf("the first is %q in %q: %+v", st.Story, st.Dir, st.InFlight)
			}
		}
	}}
	snap := n.run(t.Context())
	if len(both) != 2 || both[0].Story != "1" || both[1].Story != "2" || both[1].Number != 2 || both[1].Title != "second" || both[0].Dir == both[1].Dir {
		t.Errorf("%+v", both)
	}
	st, _, err := ReadStatus(n.o.State)
	if err != nil || len(st.InFlight) != 0 || st.Phase != PhaseEnded || st.Passed != 2 {
		t.Errorf("%v, %+v", err, st)
	}
	n.tidy(snap)
}

// lively calls on at each sign of life.
type lively struct {
	*night

	on func()
}

func (l *lively) Live(Live) { l.on() }

// A merge driver that an agent makes up is not run, and what it was to merge is
// a conflict, not one of the sides.
func TestAMergeDriverOfTheAgentsIsNotRun(t *testing.T) {
	t.Parallel()
	n, marks := fleetNight(t, map[string]sim.Part{
		"1": steps(meet("a", "landed"), "echo one >> kept.txt"),
		"2": steps("echo 'kept.txt merge=evil' > .gitattributes; echo zero > zero; cat kept.txt >> zero; cp zero kept.txt; rm zero"),
		"3": steps("echo 3 > 3.txt; touch MARKS/landed"),
	}, "first", "second", "after 2")
	n.o.Tries = 1
	n.o.Progress = &hooked{night: n, onStart: func() {
		n.ask("config", "merge.evil.driver", "touch "+marks+"/ran; true") // as an agent would by a way that nobody sees
	}}
	snap := n.run(t.Context())
	if _, err := os.Stat(filepath.Join(marks, "ran")); err == nil {
		t.Error("it ran")
	}
	if a := n.byStory(snap)["1"][0]; a.Outcome != queue.Conflict {
		t.Errorf("%s (%s)\n%s", a.Outcome, a.Reason, n.log.String())
	}
}

// A story whose text changed after it was done is open again in every lane, and
// the mark that was taken back is in the history.
func TestAReopenedStoryIsOpenInItsLane(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": steps("grep -c '\"passes\": false' prd.json >> one.txt"),
		"2": steps("echo two > two.txt"),
	}, "first", "second")
	n.o.Max = 1
	n.ask("merge", "-q", "--ff-only", n.run(t.Context()).Session.Work.Branch)
	n.write("prd.json", strings.Replace(n.ask("show", "HEAD:prd.json"), `"first"`, `"first, and more"`, 1))
	n.ask("commit", "-qam", "more of it")
	n.o.Max = 0
	snap := n.run(t.Context())
	w := snap.Session.Work
	if got := n.ask("show", w.Branch+":one.txt"); got != "2\n2" || strings.Count(n.ask("show", w.Branch+":prd.json"), `"passes": true`) != 2 {
		t.Errorf("%q\n%s", got, n.log.String())
	}
	if got := n.ask("log", "--format=%s", "--reverse", w.Base+".."+w.Branch); !strings.HasPrefix(got, "stories that are open again\n") {
		t.Errorf("%q", got)
	}
}

// Attempts that work at the same time write into one trail, each signs it, and
// none takes the other's records for somebody else's.
func TestReceiptsOfStoriesSideBySide(t *testing.T) {
	t.Parallel()
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": {Steps: []sim.Step{sim.Bash(meet("a", "b"), ""), sim.Bash("echo one > one; exit 0", ""), say("ok")}},
		"2": {Steps: []sim.Step{sim.Bash(meet("b", "a"), ""), sim.Bash("echo two > two", ""), say("ok")}},
	}, "first", "second")
	snap := n.run(t.Context())
	for _, a := range snap.Attempts {
		if a.AuditRoot == "" || a.Receipts == nil || a.Receipts.Results != 2 || a.Receipts.Receipted != 2 {
			t.Errorf("%s: root %q, %+v", a.Story, a.AuditRoot, a.Receipts)
		}
	}
	for _, f := range snap.Findings {
		if f.Kind == "tampered" || f.Kind == "receipt" {
			t.Errorf("%s: %s", f.Kind, f.Text)
		}
	}
	trail, err := n.store.Audit(t.Context(), snap.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.Resume(trail.Records); err != nil || len(trail.Checkpoints) != 2 {
		t.Errorf("%d states, %v", len(trail.Checkpoints), err)
	}
}
