package runner

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// A push publishes the messages of commits: what they claim is judged, also
// against what was measured for an earlier story.
func TestAPushClaimsWhatItsCommitsSay(t *testing.T) {
	bench := "echo throughput: 9120 requests per second\n"
	n := newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{
		"1": {Steps: []sim.Step{sim.Bash("sh bench.sh", "")}},
		"2": {Steps: []sim.Step{
			sim.Bash("git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -F message.txt", ""),
			sim.Bash("git push origin main", ""),
		}},
	}}, "first", "second")
	for name, text := range map[string]string{"bench.sh": bench, "message.txt": "Serve 9120 requests per second\n\nIt takes 12 ms."} {
		if err := os.WriteFile(filepath.Join(n.o.Root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", n.o.Root, "init", "-q", "-b", "main").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	snap := n.run(t.Context())
	if len(snap.Actions) != 1 {
		t.Fatalf("%+v", snap.Actions)
	}
	got := map[string]string{}
	for _, c := range snap.Actions[0].Claims {
		got[c.Text] = c.Basis()
	}
	want := map[string]string{
		"9120 requests per second": "a result of an earlier attempt in this session",
		"12 ms":                    "no source in this session",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
