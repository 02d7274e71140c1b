package runner

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// awayNight is a night that has done story 1, and not 2, in a work tree of its
// own, with the person's checkout as it was.
func awayNight(t *testing.T, titles ...string) (*night, queue.Snapshot) {
	t.Helper()
	n := gitNight(t, each(map[string]sim.Part{"1": steps("echo x > one.txt"), "*": steps("echo y >> two.txt")}), titles...)
	n.o.Gates = []string{"test -e one.txt"}
	n.o.Git.Work, n.o.Only = queue.WorkWorktree, "1"
	snap := n.run(t.Context())
	n.o.Only = ""
	if n.done()["1"] || !snap.Attempts[0].Outcome.Passed() {
		t.Fatalf("%s, mark %v", snap.Attempts[0].Outcome, n.done())
	}
	return n, snap
}

// What a night in a work tree of its own has done is known to the next one,
// whose checkout has neither the mark nor the work; once it is merged, the
// file decides again.
func TestWhatIsDoneOnAnotherBranchIsNotDoneAgain(t *testing.T) {
	n, first := awayNight(t, "one", "two")
	branch := first.Session.Work.Branch
	for _, work := range []string{queue.WorkWorktree, queue.WorkBranch} {
		n.o.Git.Work = work
		n.o.Gates = []string{"false"}
		snap := n.run(t.Context())
		if !slices.Equal(storiesOf(snap), []string{"2"}) {
			t.Fatalf("%s: worked on %v\n%s", work, storiesOf(snap), n.log.String())
		}
		if got := findings(snap, "away"); len(got) != 1 || got[0] != "not worked on again: 1: done on the branch "+branch+", which is not merged here" {
			t.Errorf("%s: %q", work, got)
		}
	}
	n.o.Only = "1"
	if _, err := Run(t.Context(), n.o); err == nil || !strings.Contains(err.Error(), "is done on the branch "+branch) {
		t.Errorf("%v", err)
	}
	n.o.Only = ""
	n.ask("merge", "-q", branch)
	if !n.done()["1"] {
		t.Error("merged, and no mark")
	}
	n.flag("1", "passes", false)
	n.ask("commit", "-qam", "again")
	if snap := n.run(t.Context()); !slices.Equal(storiesOf(snap), []string{"1", "2"}) || len(findings(snap, "away")) != 0 {
		t.Errorf("a person took the mark away: worked on %v", storiesOf(snap))
	}
}

// Work that was thrown away with its branch is to be done; and where the night
// has done all there is nothing to do.
func TestWorkThatWasGivenUpIsDoneAnew(t *testing.T) {
	n, first := awayNight(t, "one")
	_, err := Run(t.Context(), n.o)
	if !errors.Is(err, ErrNoOpen) || !strings.Contains(err.Error(), "1: done on the branch") {
		t.Fatalf("%v", err)
	}
	n.ask("worktree", "remove", first.Session.Work.Dir)
	n.ask("branch", "-qD", first.Session.Work.Branch)
	if snap := n.run(t.Context()); !slices.Equal(storiesOf(snap), []string{"1"}) {
		t.Errorf("worked on %v", storiesOf(snap))
	}
}

// What depends on work that is not here is held, and says so.
func TestWhatBuildsOnAnotherBranchWaits(t *testing.T) {
	n, _ := awayNight(t, "one", "after 1", "after 2", "four")
	n.o.Gates = []string{"false"}
	n.flag("2", "description", "new text")
	n.flag("3", "description", "new text")
	n.flag("4", "description", "new text")
	n.ask("commit", "-qam", "new texts")
	plan, f, err := Plan(t.Context(), &n.o)
	if err != nil || len(plan) != 1 || plan[0].ID != "4" {
		t.Fatalf("%v, %v", plan, err)
	}
	for _, s := range f.Stories[1:3] {
		if !strings.Contains(s.Held, "whose work is on a branch that is not merged here") {
			t.Errorf("%s: held %q", s.ID, s.Held)
		}
	}
}

// A story file that git does not know has the marks itself: one that is not
// there was taken away by a person.
func TestAMarkOfAnUntrackedFileIsItsOwn(t *testing.T) {
	n := gitNight(t, sim.Any(sim.Bash("date >> x.txt", ""), say("ok")), "one")
	n.ask("rm", "-q", "--cached", "prd.json")
	n.ask("commit", "-qm", "untracked stories")
	n.run(t.Context())
	n.ask("switch", "-q", "main")
	if !n.done()["1"] {
		t.Fatal("no mark")
	}
	n.flag("1", "passes", false)
	if snap := n.run(t.Context()); len(snap.Attempts) != 1 {
		t.Errorf("%d attempts", len(snap.Attempts))
	}
}
