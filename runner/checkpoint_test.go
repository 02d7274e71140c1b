package runner

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// flag sets a field of one story of the prd.json.
func (n *night) flag(id, field string, value any) {
	n.t.Helper()
	b, err := os.ReadFile(n.o.Stories)
	if err != nil {
		n.t.Fatal(err)
	}
	var file map[string][]map[string]any
	if err := json.Unmarshal(b, &file); err != nil {
		n.t.Fatal(err)
	}
	for _, s := range file["userStories"] {
		if s["id"] == id {
			s[field] = value
		}
	}
	writeJSON(n.t, n.o.Stories, file)
}

// storiesOf are the stories of a session's attempts.
func storiesOf(snap queue.Snapshot) []string {
	var out []string
	for _, a := range snap.Attempts {
		out = append(out, a.Story)
	}
	return out
}

// asked are the stories that a session did not work on because a person is to
// say something first.
func asked(snap queue.Snapshot) []string {
	var out []string
	for _, f := range snap.Findings {
		if f.Kind == "asked" {
			out = append(out, f.Story)
		}
	}
	return out
}

func (n *night) answer(number, text string) {
	n.t.Helper()
	if _, err := n.store.Answer(n.t.Context(), number, queue.Decision{Who: "t", Reason: text}); err != nil {
		n.t.Fatal(err)
	}
}

// A checkpoint in a file that knows nothing but its order holds back all that
// comes after it, night after night, until a person has looked; the file of an
// agent that takes the flag away changes nothing.
func TestACheckpointHoldsWhatComesAfter(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "one", "two", "three", "four")
	n.flag("2", "checkpoint", true)
	var told []string
	n.o.Tell = func(e Event) { told = append(told, string(e.What)+" "+e.Story) }
	snap := n.run(t.Context())
	if diff := cmp.Diff([]string{"1", "2"}, storiesOf(snap)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if !n.done()["2"] || snap.Attempts[1].Outcome != queue.Done {
		t.Errorf("the checkpoint itself has passed: %+v", snap.Attempts[1])
	}
	if diff := cmp.Diff([]string{"3", "4"}, asked(snap)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(snap.Actions) != 1 || snap.Actions[0].Checkpoint != queue.CheckpointAfter || !strings.Contains(snap.Actions[0].Command, "3, 4") {
		t.Fatalf("%+v", snap.Actions)
	}
	if want := []string{"question 2", "end "}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	n.flag("2", "checkpoint", false)
	if snap = n.run(t.Context()); len(snap.Attempts) != 0 || len(snap.Actions) != 0 || len(asked(snap)) != 2 {
		t.Fatalf("the second night: %+v", snap)
	}
	n.answer("1", "fine; call the table users")
	snap = n.run(t.Context())
	if diff := cmp.Diff([]string{"3", "4"}, storiesOf(snap)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if got := n.promptOf(snap.Attempts[0]); !strings.Contains(got, "## A person looked at story 2 and said\n\nfine; call the table users\n") {
		t.Errorf("not told:\n%s", got)
	}
}

// Where stories name what they depend on, the others go on; a rejected look
// holds on, also when what it holds is another text by now.
func TestACheckpointLetsOthersGoOn(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "one", "after 1", "three", "after 2")
	n.flag("1", "checkpoint", true)
	snap := n.run(t.Context())
	if diff := cmp.Diff([]string{"1", "3"}, storiesOf(snap)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2", "4"}, asked(snap)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := n.store.Decide(t.Context(), "1", queue.Decision{Verb: queue.Reject, Who: "t"}); err != nil {
		t.Fatal(err)
	}
	n.flag("2", "description", "something else")
	if snap = n.run(t.Context()); len(snap.Attempts) != 0 || !strings.Contains(n.log.String(), `was not approved (#1; loop approve 1 lets it go on)`) {
		t.Fatalf("%v\n%s", storiesOf(snap), n.log.String())
	}
	// The person has it done anew, and looks again.
	n.flag("1", "passes", false)
	if snap = n.run(t.Context()); !slices.Equal(storiesOf(snap), []string{"1"}) || len(snap.Actions) != 1 {
		t.Fatalf("%v %+v", storiesOf(snap), snap.Actions)
	}
	n.answer("2", "")
	if snap = n.run(t.Context()); !slices.Equal(storiesOf(snap), []string{"2", "4"}) {
		t.Errorf("%v", storiesOf(snap))
	}
}

// A step with [approval] is not begun, nor what comes after it, until a person
// agrees; it is asked for once, and not before its turn.
func TestAnApprovalComesFirst(t *testing.T) {
	n := planNight(t, sim.Any(say("ok")), "## Phase 1\n- [ ] T001 build\n- [ ] T002 deploy [approval]\n- [ ] T003 smoke tests\n")
	n.o.Gates = []string{"test ! -e red"}
	snap := n.run(t.Context())
	if diff := cmp.Diff([]string{"T001"}, storiesOf(snap)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"T002", "T003"}, asked(snap)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(snap.Actions) != 1 || snap.Actions[0].Checkpoint != queue.CheckpointBefore {
		t.Fatalf("%+v", snap.Actions)
	}
	if snap = n.run(t.Context()); len(snap.Attempts)+len(snap.Actions) != 0 {
		t.Fatalf("asked again: %+v", snap)
	}
	n.answer("1", "")
	if snap = n.run(t.Context()); !slices.Equal(storiesOf(snap), []string{"T002", "T003"}) {
		t.Errorf("%v", storiesOf(snap))
	}
}

// The loop dies when a checkpoint has passed and is marked, and nobody was
// asked yet: the next one asks.
func TestACheckpointSurvivesACrash(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "one", "two")
	n.flag("1", "checkpoint", true)
	n.died(func(a *queue.Attempt) { a.Scanned, a.Verified, a.Outcome = true, true, queue.Done })
	n.flag("1", "passes", true)
	snap := n.run(t.Context())
	if len(snap.Attempts) != 0 || !slices.Equal(asked(snap), []string{"2"}) {
		t.Errorf("%v %v", storiesOf(snap), asked(snap))
	}
	actions, err := n.store.Actions(t.Context(), queue.Filter{Kind: queue.KindQuestion})
	if err != nil || len(actions) != 1 || time.Since(actions[0].DetectedAt) > time.Hour {
		t.Errorf("%+v, %v", actions, err)
	}
}
