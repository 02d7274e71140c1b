package queue

import (
	"context"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// The kinds of an Action.
const (
	KindCall     = "call"
	KindQuestion = "question" // an attempt ended with a question; nothing was called
)

// Answer is the verb of the Decision that answers a question; its Reason is
// the answer.
const Answer = "answer"

// The values of Action.Checkpoint.
const (
	CheckpointAfter  = "after"  // the story has passed; what comes after it waits until a person has looked
	CheckpointBefore = "before" // the story is not begun until a person agrees
)

// HeldStory is a story that a checkpoint holds back.
type HeldStory struct {
	ID   string `json:"id"`
	Hash string `json:"hash"` // of its text
}

// IsQuestion reports whether the action asks a person something, and calls
// nothing.
func (a *Action) IsQuestion() bool { return a.Kind == KindQuestion }

// AnswerText is what a person answered; "" = nothing yet.
func (a *Action) AnswerText() string {
	for _, d := range slices.Backward(a.Decisions) {
		if d.Verb == Answer && a.Status == Answered {
			return d.Reason
		}
	}
	return ""
}

// Answer records a person's answer to a question that waits, or that was
// answered or rejected before: the last word holds. That of a checkpoint lets
// the stories go on, and may be empty. Anything else than a question is
// ErrNoQuestion.
func (s *Store) Answer(ctx context.Context, ref string, d Decision) (Action, error) {
	return s.act(ctx, ref, func(_ *bolt.Tx, a *Action) error { return s.answer(a, d) })
}

func (s *Store) answer(a *Action, d Decision) error {
	if !a.IsQuestion() {
		return ErrNoQuestion
	}
	if !slices.Contains([]Status{Pending, Answered, Rejected}, a.Status) {
		return statusError(*a)
	}
	if d.Reason = strings.TrimSpace(d.Reason); d.Reason == "" && a.Checkpoint == "" {
		return ErrNoAnswer
	}
	d.Verb, a.Status = Answer, Answered
	a.Decisions = append(a.Decisions, s.dated(d))
	return nil
}
