package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// What the agent writes beside its results is held against what happened.
func TestCitedReceiptsAreJudged(t *testing.T) {
	forged := "zc-receipt-1771834500-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	foreign := "zc-receipt-1771834500-BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"
	n := newNight(t, sim.Any(
		sim.Bash("echo 7 passed", ""),
		sim.Bash("cat page.txt", ""),
		sim.Call("Write", map[string]string{"file_path": "notes.md", "content": "All 41 passed [receipt: " + forged + "]\n"}),
		say("The suite passed, 41 of 41 [receipt: "+forged+"]. The page says [receipt: "+foreign+"]."),
	), "first")
	if err := os.WriteFile(filepath.Join(n.o.Root, "page.txt"), []byte("measured [receipt: "+foreign+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	snap := n.run(t.Context())
	var got []string
	for _, c := range snap.Attempts[0].Receipts.Judged {
		got = append(got, c.Verdict+" "+c.Severity)
	}
	slices.Sort(got)
	// Once in the file and once in words; the result record, which says the
	// words again, counts for nothing.
	want := []string{"foreign high", "forged high", "forged high"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%+v", diff, snap.Attempts[0].Receipts.Judged)
	}
	said := 0
	for _, f := range snap.Findings {
		if f.Kind == "receipt" && strings.Contains(f.Text, "forged") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("%d findings of forged receipts: %+v", said, snap.Findings)
	}
}

// A subagent that reports without having done anything is named; one that did
// is not.
func TestIdleSubagentIsNamed(t *testing.T) {
	idle := sim.Call("Agent", map[string]string{"description": "a", "prompt": "measure it", "subagent_type": "general-purpose"})
	idle.Steps = []sim.Step{say("I measured 41200 per second.")}
	busy := sim.Call("Agent", map[string]string{"description": "b", "prompt": "look at it", "subagent_type": "general-purpose"})
	busy.Steps = []sim.Step{sim.Bash("echo 1", ""), say("It says 1.")}
	snap := newNight(t, sim.Any(idle, busy, say("ok")), "first").run(t.Context())
	var got []string
	for _, f := range snap.Findings {
		got = append(got, f.Kind+" "+f.Text)
	}
	if len(got) != 1 || !strings.Contains(got[0], "receipt a subagent reported") || !strings.Contains(got[0], "measure it") {
		t.Errorf("%q", got)
	}
}

// The other format has one token for the same call twice in a second; both
// results have it, and it may be cited.
func TestReceiptsInTheOtherFormat(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("echo one", ""), sim.Bash("echo one", ""), sim.Bash("exit 3", ""), say("ok")), "first")
	at := time.Now()
	n.o.Now = func() time.Time { return at }
	n.o.Receipts.Format = receipt.ZCv1
	snap := n.run(t.Context())
	if diff := cmp.Diff(&queue.Receipts{Results: 2, Receipted: 2}, snap.Attempts[0].Receipts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	issued, err := n.store.Issued(t.Context())
	if err != nil || len(issued) != 1 || len(snap.Findings) != 0 {
		t.Errorf("%v, %v, %+v", issued, err, snap.Findings)
	}
}
