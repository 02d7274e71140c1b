package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// pruned is what PruneWork does to a session: what is gone, and why the rest
// stays.
func (n *night) pruned(s queue.Session, p Prune) (gone []string, kept string) {
	n.t.Helper()
	list, err := PruneWork(n.t.Context(), &n.o, []queue.Session{s}, p)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, x := range list {
		if x.Kept == "" {
			gone = append(gone, x.Name)
		}
		kept += x.Kept
	}
	return gone, kept
}

func (n *night) parkedRefs() int {
	return len(strings.Fields(n.ask("for-each-ref", "--format=%(refname)", "refs/loop/parked")))
}

// Parked work that is nowhere else goes only when the person says so, and in
// two steps: that of stories which have passed since, and all.
func TestPruneKeepsTheOnlyCopy(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{"1": {Steps: steps("echo half > half.txt").Steps, Retry: steps("echo whole > half.txt").Steps}}), "first")
	n.o.Gates = []string{"grep -q whole half.txt"}
	first := n.run(t.Context()).Session
	for _, how := range []string{ParkedSafe, ParkedDone} {
		if gone, kept := n.pruned(first, Prune{Parked: how}); len(gone) != 0 || !strings.Contains(kept, `story "1" has not passed since (--parked all`) {
			t.Errorf("%q: gone %v, kept %q", how, gone, kept)
		}
	}
	if gone, _ := n.pruned(first, Prune{Parked: ParkedAll, DryRun: true}); len(gone) != 1 || n.parkedRefs() != 1 {
		t.Errorf("a dry run: %v, %d refs", gone, n.parkedRefs())
	}
	second := n.run(t.Context())
	if !second.Attempts[0].Outcome.Passed() {
		t.Fatalf("%+v", second.Attempts[0])
	}
	if gone, kept := n.pruned(first, Prune{}); len(gone) != 0 || !strings.Contains(kept, `story "1" has passed since (--parked done`) {
		t.Errorf("gone %v, kept %q", gone, kept)
	}
	if gone, kept := n.pruned(first, Prune{Parked: ParkedDone}); len(gone) != 1 || kept != "" || n.parkedRefs() != 0 {
		t.Errorf("gone %v, kept %q, %d refs", gone, kept, n.parkedRefs())
	}
}

// Parked work that a person has taken over is elsewhere, and goes without a
// flag; not so an agent's own commit whose files are, because of its message.
func TestPruneTakesWhatIsElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		command string
		gone    int
	}{"uncommitted": {"echo x > new.txt", 1}, "changed since": {"echo y > new.txt", 1}, "the agent's commit": {"echo x > new.txt; git add new.txt; git commit -qm why", 0}} {
		t.Run(name, func(t *testing.T) {
			n := gitNight(t, each(map[string]sim.Part{"1": steps(tt.command)}), "first")
			n.o.Gates = []string{"false"}
			snap := n.run(t.Context())
			ref := snap.Attempts[0].Parked.Ref
			n.ask("checkout", ref, "--", "new.txt")
			n.ask("commit", "-qm", "taken over")
			if name == "changed since" {
				n.write("new.txt", "z")
				n.ask("commit", "-qam", "changed")
			}
			if gone, kept := n.pruned(snap.Session, Prune{}); len(gone) != tt.gone || (kept == "") != (tt.gone == 1) {
				t.Errorf("gone %v, kept %q", gone, kept)
			}
		})
	}
}

// A session's work tree goes when its branch is merged and nothing lies
// uncommitted in it; the branch stays.
func TestPruneTakesMergedWorkTrees(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{"1": steps("echo x > new.txt")}), "first")
	root := n.o.Root
	n.o.Git.Work = queue.WorkWorktree
	s := n.run(t.Context()).Session
	n.o.Root = root
	if gone, kept := n.pruned(s, Prune{}); len(gone) != 0 || !strings.Contains(kept, "is not merged anywhere") {
		t.Errorf("gone %v, kept %q", gone, kept)
	}
	n.ask("merge", "-q", s.Work.Branch)
	stray := filepath.Join(s.Work.Dir, "stray.txt")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if gone, kept := n.pruned(s, Prune{}); len(gone) != 0 || kept != "it has uncommitted changes" {
		t.Errorf("gone %v, kept %q", gone, kept)
	}
	if err := os.Remove(stray); err != nil {
		t.Fatal(err)
	}
	if gone, _ := n.pruned(s, Prune{DryRun: true}); len(gone) != 1 {
		t.Errorf("a dry run: %v", gone)
	}
	if _, err := os.Stat(s.Work.Dir); err != nil {
		t.Error("a dry run has removed it")
	}
	if gone, kept := n.pruned(s, Prune{}); len(gone) != 1 || kept != "" {
		t.Errorf("gone %v, kept %q", gone, kept)
	}
	if _, err := os.Stat(s.Work.Dir); err == nil || n.ask("rev-parse", "--verify", s.Work.Branch) == "" {
		t.Errorf("the folder is there (%v), or the branch is not", err)
	}
	if gone, kept := n.pruned(s, Prune{}); len(gone) != 0 || kept != "" {
		t.Errorf("twice: gone %v, kept %q", gone, kept)
	}
}
