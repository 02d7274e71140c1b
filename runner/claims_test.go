package runner

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
)

// An earlier transcript that is gone says nothing about claims, and keeps no
// action out of the queue.
func TestClaimsThatCannotBeJudgedKeepNothingOutOfTheQueue(t *testing.T) {
	n := newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{"*": {
		Steps: []sim.Step{sim.Bash("gh issue comment 1 --body '41200 slugs per second'", "")},
	}}}, "first")
	snap := n.run(t.Context())
	if len(snap.Actions) != 1 || len(snap.Actions[0].Claims) != 1 {
		t.Fatalf("%+v", snap.Actions)
	}
	a := snap.Attempts[0]
	gone := a
	gone.ID, gone.Number, gone.Dir = "01a22c5b-2384-7815-b76d-3072899de7af", a.Number-1, filepath.Join(t.TempDir(), "gone")
	if err := n.store.PutAttempt(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	n.o.Log = slog.New(slog.DiscardHandler)
	if err := claimed(t.Context(), &n.o, &a, snap.Actions); err == nil {
		t.Error("nothing is said of a transcript that is gone")
	}
	if err := scan(t.Context(), &n.o, &a, earlier{}); err != nil {
		t.Error(err)
	}
}
