package queue

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

// Each thing that a person does has a record, in the order in which it was done,
// and what could not be recorded stands all the same.
func TestRecorder(t *testing.T) {
	var broken error
	var failed []string
	record := func(a Action, scope string, n uint64, last []byte) ([]byte, error) {
		verb := ""
		if len(a.Decisions) > 0 {
			verb = a.Decisions[len(a.Decisions)-1].Verb
		}
		return fmt.Appendf(nil, "%d after %q: %s, %s in %s", n, last, verb, a.Status, scope), broken
	}
	at := time.Date(2026, 2, 23, 8, 0, 0, 0, time.UTC)
	s, err := Open(filepath.Join(t.TempDir(), "state"), Options{
		Now:   func() time.Time { return at },
		Audit: &Recorder{Record: record, Failed: func(a Action, err error) { failed = append(failed, fmt.Sprint(a.Number, a.Status, err)) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	session := "0192d3c4-0000-7000-8000-000000000001"
	attempt := Attempt{ID: "0192d3c4-0000-7000-8000-000000000002", Session: session, Story: "a", Number: 3}
	if err := errors.Join(s.PutSession(t.Context(), Session{ID: session, AuditKey: "k"}), s.PutAttempt(t.Context(), attempt)); err != nil {
		t.Fatal(err)
	}
	for i, from := range []string{attempt.ID, ""} {
		a := Action{Session: session, Attempt: from, Tool: "Bash", ToolUseID: fmt.Sprint(i), Command: fmt.Sprint("git push ", i), Tier: policy.External, Evidence: policy.Blocked}
		if _, _, err := s.Add(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	form := &Edited{Command: "x", Input: []byte(`{"command":"x"}`)}
	do := func(_ Action, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(s.Decide(t.Context(), "1", Decision{Verb: Reject}))
	do(s.Undo(t.Context(), "1", Decision{}))
	do(s.Edit(t.Context(), "1", form, Decision{}))
	do(s.Edit(t.Context(), "1", form, Decision{})) // changes nothing
	do(s.BeginReplay(t.Context(), "1", form, Decision{}, false))
	if err := s.NoteOutput(t.Context(), "1", "so far", false); err != nil {
		t.Fatal(err)
	}
	do(s.EndReplay(t.Context(), "1", Replay{}))
	if _, err := s.Decide(t.Context(), "1", Decision{Verb: Reject}); !errors.Is(err, ErrStatus) {
		t.Errorf("of one that has run: %v", err)
	}
	broken = errors.New("no record")
	do(s.Decide(t.Context(), "2", Decision{Verb: Reject}))
	broken = nil
	do(s.Undo(t.Context(), "2", Decision{}))

	trail, err := s.Audit(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	last := ""
	for i, what := range []string{
		"reject, rejected in " + session + "/a-3", "undo, pending in " + session + "/a-3", "edit, pending in " + session + "/a-3",
		"approve, replaying in " + session + "/a-3", "approve, replayed in " + session + "/a-3", "undo, pending in " + session,
	} {
		last = fmt.Sprintf("%d after %q: %s", i, last, what)
		want = append(want, last)
	}
	for _, r := range trail.Records {
		got = append(got, string(r))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"2rejectedno record"}, failed); diff != "" {
		t.Error(diff)
	}
}
