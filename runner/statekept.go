package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-b23e517c/loop/queue"
)

// stateFolder is loop's own folder, held open so that it can be found wherever it
// was moved to.
type stateFolder struct{ file *os.File }

// mendState brings loop's own folder back where a program of the agent's has
// taken it away, and what is known of the session into it: else the night would
// leave nothing that tells of it.
func (r *run) mendState(ctx context.Context, a *queue.Attempt) (found string, err error) {
	if r.state == nil {
		return "", nil
	}
	held, err := r.state.file.Stat()
	if err != nil {
		return "", err
	}
	if there, err := os.Stat(r.o.State); err == nil && os.SameFile(held, there) {
		return r.mendQueue(ctx, a)
	}
	if from, ok := movedTo(r.state.file); ok {
		if err := os.MkdirAll(filepath.Dir(r.o.State), 0o700); err != nil {
			return "", err
		}
		if err := setAside(r.o.State, from); err != nil {
			return "", err
		}
		if err := os.Rename(from, r.o.State); err != nil {
			return "", fmt.Errorf("loop's state folder was moved to %q during this attempt and cannot be put back: %w", from, err)
		}
		return fmt.Sprintf("loop's state folder was moved to %s during this attempt; loop has put it back", from), nil
	}
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return "", err
	}
	if f, err := os.Open(r.o.State); err == nil { // from now on it is this one
		_ = r.state.file.Close() // nothing was written
		r.state.file = f
	}
	if r.trees != nil {
		if err := os.MkdirAll(r.trees.dir, 0o700); err != nil {
			return "", err
		}
	}
	if err := r.o.Store.PutSession(ctx, r.session); err != nil {
		return "", err
	}
	return "loop's state folder was removed during this attempt: what it held of earlier stories and sessions is gone; loop has begun it anew with this attempt", r.o.Store.PutAttempt(ctx, *a)
}

// mendQueue begins the queue anew where what stands in its place is none any
// more, and keeps that.
func (r *run) mendQueue(ctx context.Context, a *queue.Attempt) (string, error) {
	err := r.o.Store.PutAttempt(ctx, *a)
	corrupt := (*queue.CorruptError)(nil)
	if !errors.As(err, &corrupt) {
		return "", err
	}
	aside := filepath.Join(r.o.State, "queue.db.damaged-"+a.ID)
	if err := os.Rename(filepath.Join(r.o.State, "queue.db"), aside); err != nil {
		return "", err
	}
	if err := errors.Join(r.o.Store.PutSession(ctx, r.session), r.o.Store.PutAttempt(ctx, *a)); err != nil {
		return "", err
	}
	return fmt.Sprintf("loop's own queue.db was damaged during this attempt (%v); it is kept as %s, and what it held of earlier stories and sessions is not in this one", corrupt.Err, aside), nil
}
