package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// A new work tree has nothing of what git ignores: the setup brings it, out of
// the person's checkout, into the session's and into each lane's, before a gate
// or an agent needs it.
func TestANewWorkTreeIsSetUp(t *testing.T) {
	for _, parallel := range []int{1, 2} {
		t.Run(map[int]string{1: "one after the other", 2: "beside each other"}[parallel], func(t *testing.T) {
			t.Parallel()
			n, marks := fleetNight(t, map[string]sim.Part{
				"1": steps("cat deps/lib > 1.txt"), "2": steps("cat deps/lib > 2.txt"),
			}, "first", "second")
			n.o.Parallel = parallel
			n.ignored()
			n.o.Baseline, n.o.Gates = true, []string{"grep -q lib deps/lib"}
			n.o.Git.Setup = []string{`cp -r "$LOOP_CHECKOUT/deps" .`, "pwd >> " + filepath.Join(marks, "where")}
			snap := n.run(t.Context())
			for _, a := range snap.Attempts {
				if a.Outcome != queue.Done || a.Commits != 1 {
					t.Errorf("story %s: %s (%s)\n%s", a.Story, a.Outcome, a.Reason, n.log.String())
				}
			}
			for _, g := range snap.Session.Baseline {
				if !g.Passed {
					t.Errorf("the baseline: %+v", g)
				}
			}
			b, err := os.ReadFile(filepath.Join(marks, "where"))
			if want := map[int]int{1: 1, 2: 3}[parallel]; err != nil || strings.Count(string(b), "\n") != want {
				t.Errorf("set up in, want %d: %s %v", want, b, err)
			}
			if files := n.ask("ls-tree", "-r", "--name-only", snap.Session.Work.Branch); strings.Contains(files, "deps") {
				t.Errorf("committed: %s", files)
			}
		})
	}
}

// ignored puts a file into the person's checkout that git ignores.
func (n *night) ignored() {
	n.t.Helper()
	n.write("deps/lib", "lib\n")
	n.write(".gitignore", "deps\n")
	n.ask("add", ".gitignore")
	n.ask("commit", "-qm", "ignore")
}

// A setup that fails in the session's work tree ends the run before anything is
// started, and says how; in a lane it costs its story alone, and no try.
func TestASetupThatFails(t *testing.T) {
	t.Parallel()
	parts := map[string]sim.Part{"1": steps("echo 1 > 1.txt"), "2": steps("echo 2 > 2.txt")}
	n, _ := fleetNight(t, parts, "first", "second")
	n.o.Git.Setup = []string{"echo installing; echo no network >&2; exit 7"}
	snap := n.run(t.Context())
	s := snap.Session
	if len(snap.Attempts) > 0 || s.StopKind != queue.CouldNotStart || s.StopCause != queue.SetupFailed || !strings.HasSuffix(s.Stopped, "did not pass: exit 7: no network") {
		t.Errorf("%d attempts, %s %s: %s", len(snap.Attempts), s.StopKind, s.StopCause, s.Stopped)
	}
	if !s.Work.Gone || strings.Contains(n.log.String(), "start ") {
		t.Errorf("%+v\n%s", s.Work, n.log.String())
	}

	n, _ = fleetNight(t, parts, "first", "second")
	n.o.Tries, n.o.Git.Setup = 3, []string{`case $PWD in *-1) echo broken; exit 7;; esac`}
	snap = n.run(t.Context())
	by := n.byStory(snap)
	if a := by["1"]; len(a) != 1 || a[0].Cause != queue.SetupFailed || !strings.HasSuffix(a[0].Reason, "exit 7: broken") || a[0].Blocked == "" {
		t.Errorf("%+v", a)
	}
	if a := by["2"]; len(a) != 1 || !a[0].Outcome.Passed() {
		t.Errorf("%+v", a)
	}
	n.tidy(snap)
}
