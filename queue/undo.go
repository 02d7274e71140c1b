package queue

import (
	"context"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Undo is the verb of the Decision that takes the last one back.
const Undo = "undo"

// ChangedError says that an action is no longer as the person saw it.
type ChangedError struct {
	Now Action
}

func (e *ChangedError) Error() string {
	text := fmt.Sprintf("action #%d has changed meanwhile: it is %s", e.Now.Number, e.Now.Status)
	if who := e.Now.LastDecision(time.RFC3339); who != "" {
		text += " (" + who + ")"
	}
	return text
}

// Undo takes a decision back that nothing has come of yet: a rejected, approved
// or answered action waits again, or stands as failed or unknown if that is
// what it was. The decision stays in the history, with this one behind it.
func (s *Store) Undo(ctx context.Context, ref string, d Decision) (Action, error) {
	return s.act(ctx, ref, func(_ *bolt.Tx, a *Action) error { return s.undo(a, d) })
}

func (s *Store) undo(a *Action, d Decision) error {
	switch a.Status {
	case Rejected, Approved, Answered:
	default:
		return statusError(*a)
	}
	switch {
	case a.Replay == nil:
		a.Status = Pending
	case a.Owner != nil: // nobody knows how its replay ended
		a.Status = Unknown
	default:
		a.Status = Failed
	}
	d.Verb = Undo
	a.Decisions = append(a.Decisions, s.dated(d))
	return nil
}

// DecideSeen records a decision (Approve, Reject, Answer or Undo) about an
// action as the person saw it. If anybody has done anything with it since, that
// is a *ChangedError and nothing changes.
func (s *Store) DecideSeen(ctx context.Context, seen Action, d Decision) (Action, error) {
	return s.act(ctx, seen.ID, func(_ *bolt.Tx, a *Action) error {
		switch {
		case !a.Stands(seen):
			return &ChangedError{Now: *a}
		case d.Verb == Undo:
			return s.undo(a, d)
		case d.Verb == Answer:
			return s.answer(a, d)
		}
		return s.decide(a, d)
	})
}

// Stands reports whether nobody has done anything with the action since it was
// as seen. What a run adds to it, such as a repeat, is nothing in this sense.
func (a *Action) Stands(seen Action) bool {
	return a.ID == seen.ID && a.Status == seen.Status && len(a.Decisions) == len(seen.Decisions) && len(a.Earlier) == len(seen.Earlier)
}
