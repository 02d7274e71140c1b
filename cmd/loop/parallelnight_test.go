//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// parallelNight is a night with three stories at the same time. Story i writes
// si.txt; the events come before that.
func parallelNight(t *testing.T, count int, events map[int][]sim.Step) *longNight {
	t.Helper()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	var titles []string
	for i := range count {
		titles = append(titles, fmt.Sprintf("Write file %d", i+1))
	}
	script := sim.Script{Schema: 1, Stories: map[string]sim.Part{}}
	n := newLongNight(t, script, titles)
	for i := 1; i <= count; i++ {
		steps := append(slices.Clone(events[i]), sim.Bash(fmt.Sprintf("echo work > s%d.txt; echo 'story %d' >> progress.txt", i, i), ""), sim.Step{Text: "done"})
		for k := range steps {
			steps[k].Input = []byte(strings.ReplaceAll(string(steps[k].Input), "MARKS", n.mark))
		}
		script.Stories[fmt.Sprint(i)] = sim.Part{Steps: steps}
	}
	played, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(n.root, "script.json"), played, 0o600),
		os.WriteFile(filepath.Join(n.repo, "loop.toml"), []byte("parallel = 3\n"+longNightConfig), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "parallel"}} {
		if code, out := n.do("git", args...); code != 0 {
			t.Fatalf("git %q: %s", args, out)
		}
	}
	return n
}

// killed starts a run and kills loop itself when the time has come.
func (n *longNight) killed(when func() bool) (ended bool) {
	n.t.Helper()
	run, out := n.command("loop", "run")
	if err := run.Start(); err != nil {
		n.t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- run.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !when() {
		select {
		case err := <-over:
			if err != nil {
				n.t.Fatalf("the run ended: %v\n%s", err, out)
			}
			return true
		case <-tick.C:
		}
	}
	if err := run.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.t.Fatal(err)
	}
	<-over
	return false
}

// whole fails unless every story is on the branch of the last session, once, and
// nothing else of the night is left. own are commits that agents made
// themselves: those of an attempt that was cut short are kept elsewhere.
func (n *longNight) whole(count int, own ...string) {
	n.t.Helper()
	docs := n.sessions()
	last := docs[len(docs)-1]
	branch := last.Session.Work.Branch
	_, log := n.do("git", "log", "--format=%s", "main.."+branch)
	var got, want []string
	for line := range strings.Lines(log) {
		got = append(got, strings.TrimSpace(line))
	}
	want = append(want, own...)
	for i := range count {
		want = append(want, fmt.Sprintf("%d: Write file %d", i+1, i+1))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		n.t.Errorf("commits (-want +got)\n%s", diff)
	}
	_, files := n.do("git", "ls-tree", "--name-only", branch)
	_, prd := n.do("git", "show", branch+":prd.json")
	_, progress := n.do("git", "show", branch+":progress.txt")
	if strings.Count(files, ".txt\n") != count+1 || strings.Count(prd, `"passes": true`) != count || strings.Count(progress, "story ") != count {
		n.t.Errorf("on the branch:\n%s%s%s", files, prd, progress)
	}
	done := map[string]int{}
	for _, d := range docs {
		for _, s := range d.Stories {
			for _, a := range s.Attempts {
				if a.Ended.IsZero() {
					n.t.Errorf("an attempt at %s has no end", s.ID)
				}
				if a.Outcome == queue.Done {
					done[s.ID]++
				}
			}
		}
		if len(d.Session.Work.Lanes) != 0 {
			n.t.Errorf("lanes are left: %+v", d.Session.Work.Lanes)
		}
	}
	for i := range count {
		if id := fmt.Sprint(i + 1); done[id] != 1 {
			n.t.Errorf("story %s was done %d times", id, done[id])
		}
	}
	if _, out := n.do("git", "branch", "--format=%(refname:short)"); len(strings.Fields(out)) != 2 {
		n.t.Errorf("branches %q", out)
	}
	if _, out := n.do("git", "worktree", "list"); strings.Count(out, "\n") != 2 {
		n.t.Errorf("work trees\n%s", out)
	}
	_, refs := n.do("git", "for-each-ref", "--format=%(refname)", "refs/loop")
	for ref := range strings.FieldsSeq(refs) {
		if !strings.HasPrefix(ref, "refs/loop/parked/") {
			n.t.Errorf("%s is left", ref)
		}
	}
	if _, out := n.do("git", "-C", last.Session.Work.Dir, "status", "--porcelain"); out != "" {
		n.t.Errorf("the session's work tree: %s", out)
	}
	if _, out := n.do("git", "status", "--porcelain"); out != "" {
		n.t.Errorf("the checkout: %s", out)
	}
	if left := n.left(); len(left) > 0 {
		n.t.Errorf("left behind: %q", left)
	}
}

func (n *longNight) reached(name string) func() bool {
	return func() bool { _, err := os.Stat(filepath.Join(n.mark, name)); return err == nil }
}

// Killed with several attempts under way, and in the gates on what is to be
// integrated: every one of them has its end, what they did is kept, and nothing
// is done twice.
func TestKilledWithSeveralUnderWay(t *testing.T) {
	hang := sim.Bash("mkdir MARKS/hang-1 && echo half > half.txt && touch MARKS/half-1", "")
	hang.IfOK = []sim.Step{{Hang: true}}
	other := sim.Bash("mkdir MARKS/hang-2 && echo half > half.txt && until [ -e MARKS/half-1 ]; do sleep 0.02; done && touch MARKS/both", "")
	other.IfOK = []sim.Step{{Hang: true}}
	n := parallelNight(t, 5, map[int][]sim.Step{2: {hang}, 3: {other}})
	gate := fmt.Sprintf("n=$(ls s*.txt 2>/dev/null | wc -l); if [ $n -gt 1 ] && mkdir '%s/gate' 2>/dev/null; then touch '%s/in-gate'; sleep 600; fi\n", n.mark, n.mark)
	if err := os.WriteFile(filepath.Join(n.repo, "gate.sh"), []byte(gate), 0o600); err != nil {
		t.Fatal(err)
	}
	n.do("git", "commit", "-q", "-a", "-m", "gate")
	if n.killed(n.reached("both")) {
		t.Fatal("it ended before it could be killed")
	}
	if n.killed(n.reached("in-gate")) {
		t.Fatal("it ended before it could be killed in the gate")
	}
	if code, out := n.do("loop", "run"); code != exitDone {
		t.Errorf("exit %d\n%s", code, out)
	}
	docs := n.sessions()
	halves := 0
	for _, s := range docs[0].Stories {
		for _, a := range s.Attempts {
			if (s.ID == "2" || s.ID == "3") && (a.Outcome != queue.Interrupted || a.Parked == nil) {
				t.Errorf("story %s: %s, parked %+v", s.ID, a.Outcome, a.Parked)
				continue
			}
			if a.Parked != nil {
				if _, out := n.do("git", "show", a.Parked.Ref+":half.txt"); out == "half\n" {
					halves++
				}
			}
		}
	}
	if halves != 2 {
		t.Errorf("%d of the two halves are kept", halves)
	}
	n.whole(5)
}

// Killed again and again at any time, until there is nothing more to do.
func TestKilledAgainAndAgain(t *testing.T) {
	const count = 6
	n := parallelNight(t, count, nil)
	random := rand.New(rand.NewPCG(1, 2))
	rounds, over := 0, false
	for ; rounds < 40 && !over; rounds++ {
		after := time.Duration(200+random.IntN(900+200*rounds)) * time.Millisecond
		began := time.Now()
		over = n.killed(func() bool { return time.Since(began) > after })
	}
	t.Logf("ended in round %d", rounds)
	if !over {
		t.Fatal("it came to no end")
	}
	n.whole(count)
}
