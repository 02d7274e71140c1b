package runner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Every result gets its receipt, failures and refusals are recorded without
// one, and the trail is signed at the end of each story.
func TestReceiptsOfANight(t *testing.T) {
	n := newNight(t, sim.Any(
		sim.Bash("echo one", ""), sim.Bash("exit 3", ""), sim.Bash("git push origin main", ""),
		sim.Call("Write", map[string]string{"file_path": "x.txt", "content": "x"}),
		say("ok"),
	), "first", "second")
	snap := n.run(t.Context())
	for _, a := range snap.Attempts {
		if diff := cmp.Diff(&queue.Receipts{Results: 2, Receipted: 2}, a.Receipts); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	for _, f := range snap.Findings {
		t.Errorf("finding %s: %s", f.Kind, f.Text)
	}
	trail, err := n.store.Audit(t.Context(), snap.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	log, err := receipt.Resume(trail.Records)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, line := range trail.Records {
		r, err := receipt.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, string(r.Event))
		if (r.Event == receipt.CallOK) == r.Receipt.IsZero() {
			t.Errorf("%s with receipt %q", r.Event, r.Receipt)
		}
	}
	story := "story_open call_ok call_fail deferred call_ok final_text story_close"
	if got := strings.Join(events, " "); got != story+" "+story {
		t.Errorf("%s", got)
	}
	if len(trail.Checkpoints) != 2 {
		t.Fatalf("%d checkpoints", len(trail.Checkpoints))
	}
	for i, signed := range trail.Checkpoints {
		c, err := receipt.OpenCheckpoint(signed, snap.Session.AuditKey)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := log.TreeAt(c.Size)
		if err != nil || tree.Root != c.Root || c.Root.String() != snap.Attempts[i].AuditRoot {
			t.Errorf("checkpoint %d: %v, %v", i, c, err)
		}
	}
}
