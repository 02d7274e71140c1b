package queue

import (
	"errors"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// A decision that nothing has come of can be taken back, and stays in the history.
func TestUndo(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	if _, err := s.Undo(t.Context(), "1", Decision{Who: "ann"}); !errors.Is(err, ErrStatus) {
		t.Errorf("of one that waits: %v, want ErrStatus", err)
	}
	if _, err := s.Decide(t.Context(), "1", Decision{Verb: Reject, Who: "ann", Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	a, err := s.Undo(t.Context(), "1", Decision{Who: "bob", Reason: "by mistake"})
	if err != nil || a.Status != Pending || len(a.Decisions) != 2 || a.Decisions[1].Verb != Undo || a.Decisions[0].Reason != "no" {
		t.Errorf("%v: %+v", err, a)
	}
	if a.Decisions[1].When.IsZero() {
		t.Error("the decision has no time")
	}
}

// What was failed or unknown before it was rejected is that again.
func TestUndoOfARejectedReplay(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	if _, err := s.BeginReplay(t.Context(), "1", nil, Decision{}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), "1", Decision{}); !errors.Is(err, ErrStatus) {
		t.Errorf("while it is replayed: %v, want ErrStatus", err)
	}
	if _, err := s.EndReplay(t.Context(), "1", Replay{ExitCode: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decide(t.Context(), "1", Decision{Verb: Reject}); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Undo(t.Context(), "1", Decision{}); err != nil || a.Status != Failed || a.Replay == nil {
		t.Errorf("%v: %s, want failed", err, a.Status)
	}
}

// Of two who look at the same action, the second is told.
func TestDecideSeen(t *testing.T) {
	s := newStore(t)
	seen := mustAdd(t, s, push("t1"))
	first, err := s.DecideSeen(t.Context(), seen, Decision{Verb: Reject, Who: "ann"})
	if err != nil || first.Status != Rejected {
		t.Fatalf("%v: %s", err, first.Status)
	}
	for _, verb := range []string{Reject, Approve, Undo, Answer} {
		var changed *ChangedError
		if _, err := s.DecideSeen(t.Context(), seen, Decision{Verb: verb, Who: "bob"}); !errors.As(err, &changed) || changed.Now.Decisions[0].Who != "ann" {
			t.Errorf("%s: %v, want a ChangedError that says who was first", verb, err)
		}
	}
	if a, err := s.DecideSeen(t.Context(), first, Decision{Verb: Undo, Who: "bob"}); err != nil || a.Status != Pending {
		t.Errorf("%v: %s", err, a.Status)
	}
	// It stands as at first, and yet something was done with it.
	if _, err := s.DecideSeen(t.Context(), seen, Decision{Verb: Reject}); err == nil {
		t.Error("a decision about what was seen before two others holds")
	}
	q := push("t2")
	q.Kind, q.Tool, q.Evidence, q.Story = KindQuestion, "", policy.Blocked, "9"
	if a, err := s.DecideSeen(t.Context(), mustAdd(t, s, q), Decision{Verb: Answer, Reason: "yes"}); err != nil || a.AnswerText() != "yes" {
		t.Errorf("%v: %+v", err, a)
	}
}
