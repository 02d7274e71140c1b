package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-b23e517c/loop/queue"
)

// envCheckout names the variable that tells gates and setup commands in a work
// tree of loop's where the person's own checkout is.
const envCheckout = "LOOP_CHECKOUT"

// SetupError says that a new work tree could not be made ready.
type SetupError struct {
	Command string
	Result  queue.Gate
}

func (e *SetupError) Error() string {
	return withStderr(fmt.Sprintf("setup %q did not pass: %s", e.Command, howFailed(e.Result)), e.Result.Output)
}

// setUp makes a work tree ready, which has nothing of what git ignores.
func (r *run) setUp(ctx context.Context, a *queue.Attempt) error {
	for _, command := range r.o.Git.Setup {
		if ctx.Err() != nil {
			return nil
		}
		r.o.Progress.Notice("setup: " + command)
		// The attempt may not be on record yet: what a dead loop left is found
		// by its session.
		g, left, err := r.runJudged(ctx, a, r.session.ID, command)
		if err := errors.Join(err, r.leftovers(context.WithoutCancel(ctx), left, a, "the setup")); err != nil {
			return err
		}
		if !g.Passed && ctx.Err() == nil {
			return &SetupError{command, g}
		}
	}
	return nil
}

// setUpSession makes the session's own work tree ready; ok is false when that
// fails, and with it the session.
func (r *run) setUpSession(ctx context.Context) (ok bool, err error) {
	if w := r.session.Work; w == nil || w.Mode != queue.WorkWorktree {
		return true, nil
	}
	err = r.setUp(ctx, &queue.Attempt{Session: r.session.ID})
	if failed := (*SetupError)(nil); !errors.As(err, &failed) {
		return err == nil, err
	}
	r.stop(queue.Attempt{Outcome: queue.CouldNotStart, Cause: queue.SetupFailed}, err.Error())
	return false, nil
}

// setUpLane makes an attempt's lane ready, before the first one in it. Where that
// fails the attempt has ended.
func (r *run) setUpLane(ctx context.Context, a *queue.Attempt) error {
	if r.lane == nil || r.lane.setUp {
		return nil
	}
	err := r.setUp(ctx, a)
	r.lane.setUp = err == nil && ctx.Err() == nil
	if failed := (*SetupError)(nil); !errors.As(err, &failed) {
		return err
	}
	a.Outcome, a.Cause, a.Reason, a.Ended = queue.CouldNotStart, queue.SetupFailed, err.Error(), r.o.Now().UTC()
	return r.o.Store.PutAttempt(context.WithoutCancel(ctx), *a)
}
