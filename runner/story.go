package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// story works on one story until it passes, is left, or the session must end.
func (r *run) story(ctx context.Context, s stories.Story) (queue.Attempt, error) {
	keep := context.WithoutCancel(ctx)
	last, err := lastTry(keep, r.o, s)
	if err != nil {
		return queue.Attempt{}, err
	}
	t, spent := tally{last: last}, spending{}
	for {
		if err := r.vetAgain(ctx); err != nil {
			return queue.Attempt{}, err
		}
		a, err := r.within(s, spent).attempt(ctx, s, t.attempts+1)
		if err != nil {
			return a, err
		}
		spent.add(r.charge(&a))
		v := r.capped(t.next(r.o, &a, r.o.Now()), spent)
		switch v.do {
		case goOn:
			r.o.Progress.StoryEnd(a)
			return a, nil
		case tryAgain:
			r.o.Progress.Notice(fmt.Sprintf("%s after attempt %d: %s; try %d of %d", a.Outcome, a.Number, a.Reason, t.tries+1, r.o.Tries))
		case block:
			r.o.Progress.StoryEnd(a)
			return a, r.block(keep, &a, v.reason)
		case halt:
			r.o.Progress.StoryEnd(a)
			r.stop(a, v.reason)
			return a, nil
		case waitFirst:
			if err := r.tellHolds(keep, &a, v.tell); err != nil {
				return a, err
			}
			came, err := r.wait(ctx, keep, &a, v.until, t.probes)
			if err != nil {
				return a, err
			}
			if !came {
				r.o.Progress.StoryEnd(a)
				r.interrupted(r.stopped(ctx) + ", while it waited: " + a.Cause.String())
				return a, nil
			}
		}
	}
}

// block leaves a story for this session.
func (r *run) block(ctx context.Context, a *queue.Attempt, reason string) error {
	a.Blocked = reason
	r.o.Log.Info("story blocked", "story", a.Story, "reason", reason)
	if a.Number > 1 {
		r.o.Progress.Notice(fmt.Sprintf("story %q is blocked: %s", a.Story, reason))
	}
	return r.o.Store.PutAttempt(ctx, *a)
}

// tellHolds says, live and in the report, that a limit does not lift.
func (r *run) tellHolds(ctx context.Context, a *queue.Attempt, text string) error {
	if text == "" {
		return nil
	}
	r.o.Progress.Notice(text)
	return addFinding(ctx, r.o, a, "limit", text)
}

// lastTry is the newest attempt at the story, as its text is now, that the
// agent failed in an earlier session; nil when there is none.
func lastTry(ctx context.Context, o *Options, s stories.Story) (*queue.Attempt, error) {
	state, err := o.Store.Story(ctx, o.storiesName(), s.ID)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, nil
	}
	if err != nil || state.Hash != s.Hash {
		return nil, err
	}
	attempts, err := o.Store.Attempts(ctx, state.Session)
	if err != nil {
		return nil, err
	}
	for i := len(attempts) - 1; i >= 0; i-- {
		if a := &attempts[i]; a.Story == s.ID && a.StoryHash == s.Hash && a.Fault() == queue.AgentFault {
			return a, nil
		}
	}
	return nil, nil
}
