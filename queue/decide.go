package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// The verbs of a Decision.
const (
	Approve = "approve"
	Reject  = "reject"
	Edit    = "edit"   // gave the action another form
	Unedit  = "unedit" // took that back
)

// Decide records a person's decision: approve takes a pending action to
// approved; reject takes a pending, approved, failed, unknown or
// answered one to rejected. Any other status is an ErrStatus and changes nothing.
func (s *Store) Decide(ctx context.Context, ref string, d Decision) (Action, error) {
	return s.act(ctx, ref, func(_ *bolt.Tx, a *Action) error { return s.decide(a, d) })
}

func (s *Store) decide(a *Action, d Decision) error {
	switch d.Verb {
	case Approve:
		if err := replayable(*a); err != nil {
			return err
		}
		if a.Status != Pending {
			return statusError(*a)
		}
		a.Status = Approved
	case Reject:
		if !slices.Contains([]Status{Pending, Approved, Failed, Unknown, Answered}, a.Status) {
			return statusError(*a)
		}
		a.Status = Rejected
	default:
		return fmt.Errorf("decision %q: neither approve nor reject", d.Verb)
	}
	a.Decisions = append(a.Decisions, s.dated(d))
	return nil
}

// BeginReplay takes an action to replaying, once: of two callers one gets it
// and the other an ErrStatus. form is what the person was shown: the agent's
// own (nil) or an edited one; whatever the action had before, this is what it has from now on.
// again is needed for what has run before: an
// executed action (ErrExecuted), one that a person at the prompt was asked
// about (ErrAsked), or one whose last replay failed or died.
// Mentions and files are refused with ErrMention and ErrWritten.
func (s *Store) BeginReplay(ctx context.Context, ref string, form *Edited, d Decision, again bool) (Action, error) {
	return s.act(ctx, ref, func(tx *bolt.Tx, a *Action) error {
		if err := mayReplay(*a, again); err != nil {
			return err
		}
		if a.Replay != nil {
			a.Earlier = append(a.Earlier, *a.Replay)
		}
		d = s.dated(d)
		a.setForm(form, d)
		d.Verb = Approve
		owner := s.o.Self
		a.Decisions = append(a.Decisions, d)
		a.Status, a.Owner, a.Replay = Replaying, &owner, &Replay{Started: d.When}
		if form != nil {
			a.Replay.Ran = form.Input
		}
		return markReplaying(tx, *a, true)
	})
}

// MayReplay says whether BeginReplay would take the action as it is, so that a
// person is not asked about what is refused afterwards.
func MayReplay(a Action, again bool) error {
	if err := mayReplay(a, again); err != nil {
		return fmt.Errorf("action #%d: %w", a.Number, err)
	}
	return nil
}

func mayReplay(a Action, again bool) error {
	if err := replayable(a); err != nil {
		return err
	}
	switch a.Status {
	case Pending, Approved:
	case Failed, Unknown:
		if !again {
			return statusError(a)
		}
	default:
		return statusError(a)
	}
	switch {
	case again:
	case a.Evidence == policy.Executed:
		return ErrExecuted
	case a.Asked:
		return ErrAsked
	}
	return nil
}

// replayable refuses what was never called.
func replayable(a Action) error {
	if a.IsQuestion() {
		return ErrQuestion
	}
	switch a.Evidence {
	case policy.Mentioned:
		return ErrMention
	case policy.Written:
		return ErrWritten
	}
	return nil
}

// EndReplay records the outcome: replayed when it exited with 0 and without an
// error of ours, else failed. One that was given up as unknown is put right by
// the process that did run it.
func (s *Store) EndReplay(ctx context.Context, ref string, r Replay) (Action, error) {
	return s.act(ctx, ref, func(tx *bolt.Tx, a *Action) error {
		if a.Status != Replaying && a.Status != Unknown || a.Owner == nil || *a.Owner != s.o.Self {
			return statusError(*a)
		}
		if r.Started.IsZero() && a.Replay != nil {
			r.Started = a.Replay.Started
		}
		r.Started = r.Started.UTC().Round(0)
		if a.Replay != nil {
			r.Ran = a.Replay.Ran
		}
		a.Status = Replayed
		if r.ExitCode != 0 || r.Error != "" {
			a.Status = Failed
		}
		a.Replay, a.Owner = &r, nil
		return markReplaying(tx, *a, false)
	})
}

// NoteOutput keeps what a replay of this process has printed so far. It is all
// that is known should the process be killed.
func (s *Store) NoteOutput(ctx context.Context, ref, output string, cut bool) error {
	_, err := s.change(ctx, ref, func(_ *bolt.Tx, a *Action) error {
		if a.Status != Replaying || a.Owner == nil || *a.Owner != s.o.Self || a.Replay == nil {
			return statusError(*a)
		}
		a.Replay.Output, a.Replay.Cut = output, cut
		return nil
	})
	return err
}

// RecoverReplays gives up the replays whose process is gone: they become
// unknown, because whether they took effect cannot be told. It returns how
// many there were.
func (s *Store) RecoverReplays(ctx context.Context) (n int, err error) {
	dead, err := s.deadReplays(ctx)
	if len(dead) == 0 || err != nil {
		return 0, err
	}
	err = s.update(ctx, func(tx *bolt.Tx) error {
		n = 0
		for _, seen := range dead {
			a, err := loadAction(tx, seen)
			if err != nil {
				return err
			}
			if a.Status != Replaying || a.Owner != nil && s.o.Alive(*a.Owner) {
				continue
			}
			giveUp(&a)
			if err := putAction(tx, a); err != nil {
				return err
			}
			if err := markReplaying(tx, a, false); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("recover replays: %w", err)
	}
	return n, nil
}

func giveUp(a *Action) {
	a.Status = Unknown
	if a.Replay == nil {
		a.Replay = &Replay{}
	}
	a.Replay.ExitCode = -1
	a.Replay.Error = "loop ended in the middle of it: it may have taken effect or not"
}

// AsFound is an action as RecoverReplays would leave it: of a replay whose
// process is gone nobody knows the outcome, also before that is written.
func (s *Store) AsFound(a Action) Action {
	if a.Status == Replaying && (a.Owner == nil || !s.o.Alive(*a.Owner)) {
		if a.Replay != nil {
			r := *a.Replay
			a.Replay = &r
		}
		giveUp(&a)
	}
	return a
}

// deadReplays looks, without writing, for replays whose process is gone.
func (s *Store) deadReplays(ctx context.Context) ([][]byte, error) {
	var raw []string
	err := s.view(ctx, func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(bucketReplaying)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			if b := tx.Bucket([]byte(bucketActions)).Get(k); b != nil {
				raw = append(raw, string(b))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	list, err := decodeActions(raw)
	if err != nil {
		return nil, err
	}
	var dead [][]byte
	for _, a := range list {
		if a.Owner == nil || !s.o.Alive(*a.Owner) {
			key, err := idKey(a.ID)
			if err != nil {
				return nil, err
			}
			dead = append(dead, key)
		}
	}
	return dead, nil
}

// markReplaying keeps the list of replays that are going on.
func markReplaying(tx *bolt.Tx, a Action, on bool) error {
	key, err := idKey(a.ID)
	if err != nil {
		return err
	}
	b := tx.Bucket([]byte(bucketReplaying))
	if on {
		return b.Put(key, nil)
	}
	return b.Delete(key)
}

// change reads one action, lets fn change it, and writes it, in one
// transaction.
func (s *Store) change(ctx context.Context, ref string, fn func(*bolt.Tx, *Action) error) (Action, error) {
	var a Action
	err := s.update(ctx, func(tx *bolt.Tx) error {
		key, err := resolve(tx, ref)
		if err != nil {
			return fmt.Errorf("action %q: %w", ref, err)
		}
		if a, err = loadAction(tx, key); err != nil {
			return err
		}
		if err := fn(tx, &a); err != nil {
			return fmt.Errorf("action #%d: %w", a.Number, err)
		}
		return putAction(tx, a)
	})
	if err != nil {
		return Action{}, err
	}
	return a, nil
}

func (s *Store) dated(d Decision) Decision {
	if d.When.IsZero() {
		d.When = s.now()
	}
	d.When = d.When.UTC().Round(0)
	return d
}

// statusError says in which status the action is, for a person, and who
// brought it there.
func statusError(a Action) error {
	what := string(a.Status)
	if a.Status == Replaying && a.Owner != nil {
		what = fmt.Sprintf("being replayed by process %d", a.Owner.Pid)
	}
	if who := a.LastDecision(time.RFC3339); who != "" {
		what += " (" + who + ")"
	}
	return fmt.Errorf("%w: %s", ErrStatus, what)
}

// LastDecision says what was decided last, by whom, and when in the form of a
// layout of package time; "" = nothing was.
func (a *Action) LastDecision(layout string) string {
	n := len(a.Decisions)
	if n == 0 {
		return ""
	}
	d := a.Decisions[n-1]
	return fmt.Sprintf("%s by %s at %s", d.Verb, d.Who, d.When.Format(layout))
}
