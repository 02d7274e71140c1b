package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// storyFileOf is the story file that an attempt of a dead loop could change; ok
// is false when what it did to the marks in it does not matter any more.
func storyFileOf(s queue.Session, a *queue.Attempt) (file string, ok bool) {
	if a.Lane == nil {
		return s.StoryFile, true
	}
	rel := relativeTo(s.Work.Dir, s.StoryFile)
	_, err := os.Stat(a.Lane.Dir)
	// Its work was being put together with that of others, marks included.
	return filepath.Join(a.Lane.Dir, rel), a.Merged == nil && err == nil && !filepath.IsAbs(rel)
}

// recoverInLane finishes what was decided about a dead loop's attempt, or puts
// aside what it left in its lane.
func recoverInLane(ctx context.Context, o *Options, session queue.Session, a *queue.Attempt) error {
	if a.Verified {
		return recoverDone(ctx, o, session.Work, a, session.StoryFile)
	}
	a.Commit, a.Commits = "", 0
	if _, err := os.Stat(a.Lane.Dir); err != nil {
		return addFinding(ctx, o, a, "git", fmt.Sprintf("the work tree %q is gone, so what the attempt left there is too", a.Lane.Dir))
	}
	t, err := openCheckout(ctx, o, a.Lane.Dir, "refs/heads/"+a.Lane.Branch)
	if err != nil {
		return err
	}
	if err := t.keep(ctx, a); err != nil {
		return err
	}
	if err := t.settle(ctx, a); err != nil {
		return err
	}
	return t.forgetWork(ctx, a)
}

// recoverDone moves the session's branch to the commit that brings the work of
// an attempt that had passed.
func recoverDone(ctx context.Context, o *Options, w *queue.Work, a *queue.Attempt, file string) error {
	dir := w.Dir
	_, gone := os.Stat(dir)
	if gone != nil {
		dir = o.Root
	}
	t, err := openCheckout(ctx, o, dir, "refs/heads/"+w.Branch)
	if err != nil {
		return err
	}
	move := t.advance
	if gone != nil {
		move = t.advanceRef
	}
	if err := move(ctx, a); err != nil {
		return err
	}
	if a.Commits, err = t.count(ctx, a.Merged.Onto, a.Merged.Commit); err != nil {
		return err
	}
	if f, err := stories.Read(file); err == nil {
		for _, s := range f.Stories {
			if s.ID != a.Story || s.Hash != a.StoryHash || !s.Checkpoint {
				continue
			}
			if _, err := askLook(ctx, o, s, a, f); err != nil {
				return err
			}
		}
	}
	return t.forgetWork(ctx, a)
}

// unlockLanes takes away the locks of gits that died in the lanes.
func unlockLanes(ctx context.Context, o *Options, w *queue.Work) error {
	for _, where := range w.Lanes {
		if _, err := os.Lstat(filepath.Join(where.Dir, ".git")); err != nil || !where.Ready {
			continue
		}
		t, err := openCheckout(ctx, o, where.Dir, "refs/heads/"+where.Branch)
		if err != nil {
			return err
		}
		if err := t.unlock(ctx); err != nil {
			return err
		}
	}
	return nil
}

// putBackLanes leaves each lane of a dead session as its last attempt's end has
// it: on the commit that is done, or as it was before the attempt.
func putBackLanes(ctx context.Context, o *Options, w *queue.Work, attempts []queue.Attempt) error {
	for _, where := range w.Lanes {
		at := -1
		for i, a := range attempts {
			if a.Lane != nil && a.Lane.Dir == where.Dir {
				at = i
			}
		}
		if _, err := os.Stat(where.Dir); err != nil || !where.Ready || at < 0 || attempts[at].Before == nil {
			continue
		}
		a := &attempts[at]
		t, err := openCheckout(ctx, o, where.Dir, "refs/heads/"+where.Branch)
		if err != nil {
			return err
		}
		if err := t.forgetWork(ctx, a); err != nil {
			return err
		}
		if a.Verified && a.Merged != nil {
			if err := t.moveHead(ctx, a.Merged.Commit, "loop: done"); err != nil {
				return err
			}
			if err := t.quit(ctx); err != nil {
				return err
			}
			continue
		}
		if err := t.settle(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// sweepLanes takes away the lanes of sessions that have ended: a dead loop left
// them, or an action waited in them.
func sweepLanes(ctx context.Context, o *Options) error {
	sessions, err := o.Store.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.Work == nil || len(s.Work.Lanes) == 0 || s.Ended.IsZero() {
			continue
		}
		admin, err := openCheckout(ctx, o, o.Root, "")
		if err != nil {
			return err
		}
		for _, where := range slices.Clone(s.Work.Lanes) {
			t := admin
			if where.Ready {
				if t, err = openCheckout(ctx, o, where.Dir, "refs/heads/"+where.Branch); err != nil {
					return err
				}
			}
			if _, err := removeLane(ctx, admin, t, &s, where); err != nil {
				return err
			}
		}
		if err := o.Store.PutSession(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
