package runner

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// leftSessions is how many sessions back it is looked for what was left.
const leftSessions = 30

// leftBefore is what an earlier attempt at the story, as its text is now, left
// under a ref of loop's own; nil when there is nothing, when it is gone, or
// when the story has passed since.
func leftBefore(ctx context.Context, o *Options, s stories.Story) (*prompts.Left, error) {
	state, err := o.Store.Story(ctx, o.storiesName(), s.ID)
	if errors.Is(err, queue.ErrNotFound) || err == nil && (state.Hash != s.Hash || state.Outcome.Passed()) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sessions, err := o.Store.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, session := range slices.Backward(sessions[max(0, len(sessions)-leftSessions):]) {
		attempts, err := o.Store.Attempts(ctx, session.ID)
		if err != nil {
			return nil, err
		}
		for _, a := range slices.Backward(attempts) {
			switch {
			case a.Story != s.ID || a.StoryHash != s.Hash || a.Outcome == "":
			case a.Outcome.Passed():
				return nil, nil
			case a.Parked != nil && gitLine(ctx, o, o.Root, "rev-parse", "--verify", "--quiet", a.Parked.Ref+"^{commit}") != "":
				return &prompts.Left{Ref: a.Parked.Ref, Base: a.Parked.Base, Files: a.Parked.Files, Ended: string(a.Outcome), When: a.Ended}, nil
			}
		}
	}
	return nil, nil
}
