package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// Edited is the form that a person gave an action before it is replayed. The
// agent's own stays beside it, in Input and Command.
type Edited struct {
	Input   json.RawMessage `json:"input"`
	Command string          `json:"command"` // command line, or the call as one line
	Tier    policy.Tier     `json:"tier"`
	Rules   []string        `json:"rules"`
	Why     string          `json:"why,omitempty"`  // the gravest rule's sentence
	Undo    string          `json:"undo,omitempty"` // as Action.Undo
	Opaque  bool            `json:"opaque,omitempty"`
	Who     string          `json:"who"`
	When    time.Time       `json:"when"`
}

// AsRun is the action as a replay runs it: in the person's form where there is
// one, else as the agent called it.
func (a Action) AsRun() Action {
	if e := a.Edited; e != nil {
		a.Input, a.Command, a.Tier, a.Rules, a.Why, a.Undo, a.Opaque = e.Input, e.Command, e.Tier, e.Rules, e.Why, e.Undo, e.Opaque
	}
	return a
}

// Edit gives an action another form; nil takes it back, and the agent's own
// form holds again. An approval of the form before is void: the action is
// pending again.
func (s *Store) Edit(ctx context.Context, ref string, form *Edited, d Decision) (Action, error) {
	return s.act(ctx, ref, func(_ *bolt.Tx, a *Action) error {
		if err := replayable(*a); err != nil {
			return err
		}
		if !slices.Contains([]Status{Pending, Approved, Failed, Unknown}, a.Status) {
			return statusError(*a)
		}
		if a.setForm(form, s.dated(d)) && a.Status == Approved {
			a.Status = Pending
		}
		return nil
	})
}

// setForm reports whether the form is another one than before.
func (a *Action) setForm(form *Edited, d Decision) bool {
	if sameForm(a.Edited, form) {
		return false
	}
	d.Verb = Edit
	if form == nil {
		d.Verb = Unedit
		a.Edited = nil
	} else {
		f := *form
		f.Who, f.When = d.Who, d.When
		a.Edited = &f
	}
	a.Decisions = append(a.Decisions, d)
	return true
}

func sameForm(x, y *Edited) bool {
	if x == nil || y == nil {
		return x == y
	}
	return bytes.Equal(x.Input, y.Input) && x.Command == y.Command
}
