package queue

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

func form(command string) *Edited {
	input, _ := json.Marshal(map[string]string{"command": command})
	return &Edited{Input: input, Command: command, Tier: policy.External, Rules: []string{"git-push"}}
}

func verbs(a Action) (out []string) {
	for _, d := range a.Decisions {
		out = append(out, d.Verb)
	}
	return out
}

func TestEditKeepsBothForms(t *testing.T) {
	s := newStore(t)
	was := mustAdd(t, s, push("t1"))
	a, err := s.Edit(t.Context(), "1", form("git push origin next"), Decision{Who: "ann", Reason: "not main"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Command != was.Command || cmp.Diff(was.Input, a.Input) != "" {
		t.Errorf("the agent's form became %q %s", a.Command, a.Input)
	}
	if a.Edited.Who != "ann" || a.Edited.When != testTime || a.AsRun().Command != "git push origin next" {
		t.Errorf("edited: %+v", a.Edited)
	}
	stored, err := s.Get(t.Context(), "1")
	if err != nil || cmp.Diff(a, stored) != "" {
		t.Errorf("stored: %v\n%s", err, cmp.Diff(a, stored))
	}
	a, err = s.Edit(t.Context(), "1", nil, Decision{Who: "ann"})
	if err != nil || a.Edited != nil || a.AsRun().Command != was.Command {
		t.Errorf("taken back: %+v, %v", a.Edited, err)
	}
	if d := cmp.Diff([]string{Edit, Unedit}, verbs(a)); d != "" {
		t.Error(d)
	}
}

// What was approved is what was shown then.
func TestEditVoidsAnApproval(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	if _, err := s.Decide(t.Context(), "1", Decision{Verb: Approve}); err != nil {
		t.Fatal(err)
	}
	a, err := s.Edit(t.Context(), "1", nil, Decision{})
	if err != nil || a.Status != Approved || len(a.Decisions) != 1 {
		t.Errorf("the same form again: %s %v, %v", a.Status, verbs(a), err)
	}
	if a, err = s.Edit(t.Context(), "1", form("git push origin next"), Decision{}); err != nil || a.Status != Pending {
		t.Errorf("another form: %s, %v", a.Status, err)
	}
}

func TestReplayTakesTheFormThatWasShown(t *testing.T) {
	for _, c := range []struct {
		name          string
		stored, shown *Edited
		ran           string
		verbs         []string
	}{
		{"the agent's", nil, nil, "", []string{Approve}},
		{"edited just now", nil, form("x"), `{"command":"x"}`, []string{Edit, Approve}},
		{"edited before", form("x"), form("x"), `{"command":"x"}`, []string{Edit, Approve}},
		{"edited meanwhile", form("y"), nil, "", []string{Edit, Unedit, Approve}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			mustAdd(t, s, push("t1"))
			if c.stored != nil {
				if _, err := s.Edit(t.Context(), "1", c.stored, Decision{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.BeginReplay(t.Context(), "1", c.shown, Decision{Who: "ann"}, false); err != nil {
				t.Fatal(err)
			}
			a, err := s.EndReplay(t.Context(), "1", Replay{})
			if err != nil || string(a.Replay.Ran) != c.ran {
				t.Errorf("ran %s, want %s: %v", a.Replay.Ran, c.ran, err)
			}
			if d := cmp.Diff(c.verbs, verbs(a)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatCannotBeEdited(t *testing.T) {
	s := newStore(t)
	words := push("t1")
	words.Evidence = policy.Mentioned
	mustAdd(t, s, words)
	mustAdd(t, s, push("t2"))
	if _, err := s.Decide(t.Context(), "2", Decision{Verb: Reject}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Edit(t.Context(), "1", form("x"), Decision{}); !errors.Is(err, ErrMention) {
		t.Errorf("a mention: %v", err)
	}
	if _, err := s.Edit(t.Context(), "2", form("x"), Decision{}); !errors.Is(err, ErrStatus) {
		t.Errorf("a rejected one: %v", err)
	}
}
