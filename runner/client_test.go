package runner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

func twoStories(t *testing.T) *night {
	t.Helper()
	return newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{"*": {Steps: []sim.Step{{Text: "Done."}}}}}, "one", "two")
}

// A client that may not work begins no session.
func TestVetRefuses(t *testing.T) {
	n := twoStories(t)
	n.o.Vet = func(context.Context, string) (Vetted, error) { return Vetted{}, errors.New("not this one") }
	s, err := Run(t.Context(), n.o)
	if err == nil || s.ID != "" {
		t.Fatalf("%q, %v", s.ID, err)
	}
	if _, err := n.store.LastSession(t.Context()); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("a session was kept: %v", err)
	}
}

// What is noted is in the report, and a client that is replaced between two
// stories is vetted again.
func TestVetNotesAndIsAskedAgain(t *testing.T) {
	n := twoStories(t)
	var asked []string
	n.o.Vet = func(_ context.Context, version string) (Vetted, error) {
		asked = append(asked, version)
		return Vetted{Notes: []Note{{"untested", "not tested"}}, Old: len(asked) == 2}, nil
	}
	marks := []string{"a", "a", "b"} // at the start, and before each story
	n.o.ClientMark = func() string {
		m := marks[0]
		marks = marks[1:]
		return m
	}
	snap := n.run(t.Context())
	if len(asked) != 2 || !strings.HasPrefix(asked[1], sim.Version) {
		t.Errorf("asked for %q", asked)
	}
	var kinds []string
	for _, f := range snap.Findings {
		kinds = append(kinds, f.Kind)
	}
	if d := cmp.Diff([]string{"untested", "tampered", "untested"}, kinds); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// One that may not work after it was replaced gets no further story.
func TestVetEndsASession(t *testing.T) {
	n := twoStories(t)
	asked := 0
	n.o.Vet = func(context.Context, string) (Vetted, error) {
		if asked++; asked > 1 {
			return Vetted{}, errors.New("not this one")
		}
		return Vetted{}, nil
	}
	marks := []string{"a", "a", "b"}
	n.o.ClientMark = func() string {
		m := marks[0]
		marks = marks[1:]
		return m
	}
	s, err := Run(t.Context(), n.o)
	if err == nil || !strings.Contains(s.Stopped, "replaced while the session ran: not this one") {
		t.Errorf("%v: %q", err, s.Stopped)
	}
	snap, err := n.store.Snapshot(t.Context(), s.ID)
	if err != nil || len(snap.Attempts) != 1 {
		t.Errorf("%d attempts, %v", len(snap.Attempts), err)
	}
}

// Old clients do not know the option and end at once when it is given.
func TestOldClientsGetNoNewOptions(t *testing.T) {
	for _, old := range []bool{false, true} {
		argv, _ := ClientStart(&Options{Client: []string{"claude"}, OldClient: old}, "id", "s", "r", "")
		if has := strings.Contains(strings.Join(argv, " "), "--append-subagent-system-prompt-file"); has == old {
			t.Errorf("old %v: %q", old, argv)
		}
	}
}
