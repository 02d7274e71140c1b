package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// deadSessions are the sessions without an end whose loop is gone.
func deadSessions(ctx context.Context, o *Options) ([]queue.Session, error) {
	all, err := o.Store.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var dead []queue.Session
	for _, s := range all {
		if s.Ended.IsZero() && !proc.Running(s.Pid, s.PidStart, s.BootID) {
			dead = append(dead, s)
		}
	}
	return dead, nil
}

// tidy takes away what a dead loop had made for a moment only: indexes and
// objects of its own, new texts of files that it had not put in their place,
// locks of a git that died with it. What is not there needs no tidying.
func tidy(ctx context.Context, o *Options, dead []queue.Session) error {
	var gone []string
	for _, pattern := range []string{"index-*", ".*" + newSuffix, filepath.Join("runs", "*", "objects*")} {
		list, err := filepath.Glob(filepath.Join(o.State, pattern))
		if err != nil {
			return err
		}
		gone = append(gone, list...)
	}
	for _, name := range gone {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	for _, s := range dead {
		// What its gates left, before the first story and after the last.
		if _, err := proc.EndMarked(s.ID); err != nil {
			return err
		}
		if err := unmake(ctx, o, s); err != nil {
			return err
		}
		t, err := checkoutOf(ctx, o, s)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if err := errors.Join(t.unlock(ctx), unlockLanes(ctx, o, s.Work)); err != nil {
			return err
		}
	}
	return nil
}

// tidyAttempt does the same in the folder of an attempt that a dead loop left
// open: nobody is to speak to its hooks any more.
func tidyAttempt(a *queue.Attempt) error {
	list, err := filepath.Glob(filepath.Join(a.Dir, ".*"+newSuffix))
	if err != nil {
		return err
	}
	for _, name := range append(list, filepath.Join(a.Dir, settingsName)) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkoutOf is the work tree of another session; nil when it has none, or it
// is gone.
func checkoutOf(ctx context.Context, o *Options, s queue.Session) (*checkout, error) {
	if s.Work == nil || s.Work.Gone {
		return nil, nil
	}
	if _, err := os.Stat(s.Work.Dir); err != nil {
		return nil, nil
	}
	t, err := openCheckout(ctx, o, s.Work.Dir, "refs/heads/"+s.Work.Branch)
	if err != nil {
		return nil, err
	}
	t.mine = s.Work.Mine
	return t, nil
}

// endSessions writes the end of sessions whose loop died, when their place in
// git is as a session leaves it.
func endSessions(ctx context.Context, o *Options, dead []queue.Session) error {
	for _, s := range dead {
		t, err := checkoutOf(ctx, o, s)
		if err != nil {
			return err
		}
		s.StopKind, s.Stopped = queue.Interrupted, died
		if t != nil {
			if err := errors.Join(endWork(ctx, o, t, &s), t.forgetAll(ctx)); err != nil {
				return err
			}
		}
		s.Ended = o.Now().UTC()
		if err := o.Store.PutSession(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// forgetAll lets go of what was kept of work trees before attempts: all of them
// have ended.
func (t *checkout) forgetAll(ctx context.Context) error {
	refs, err := t.git(ctx, nil, "for-each-ref", "--format=delete %(refname)", "refs/loop/before")
	if err != nil || refs == "" {
		return err
	}
	_, err = t.git(ctx, &call{stdin: []byte(refs + "\n")}, "update-ref", "--stdin")
	return err
}

// endWork does what a session does last.
func endWork(ctx context.Context, o *Options, t *checkout, s *queue.Session) error {
	attempts, err := o.Store.Attempts(ctx, s.ID)
	if err != nil {
		return err
	}
	if len(attempts) == 0 && s.Work.Made && t.commitOf(ctx, t.branch) == "" {
		s.Work.Gone = true // it had not come to make it
		return nil
	}
	if s.Work.Parallel > 0 {
		err = putBackLanes(ctx, o, s.Work, attempts)
	} else {
		err = putBackLast(ctx, t, attempts)
	}
	if err != nil {
		return err
	}
	if err := t.staysAside(ctx, s.Work); err != nil {
		return err
	}
	return (&run{o: o, session: *s, checkout: t}).end(ctx, false)
}

// staysAside leaves the person's uncommitted work, put aside by a dead loop,
// where it is when it would keep this run from beginning, and says so.
func (t *checkout) staysAside(ctx context.Context, w *queue.Work) error {
	if w.Stash == nil || w.Stash.Returned || t.o.Git.Work != queue.WorkBranch || t.o.Git.Dirty != DirtyRefused {
		return nil
	}
	list, err := t.differs(ctx, "HEAD")
	if err != nil || slices.ContainsFunc(list, func(c change) bool { return !t.told(c.path) }) {
		return err // it is not clean anyway: a part of it may be there
	}
	w.Stash.Why = "loop died, and the next run began without --stash"
	t.o.Progress.Notice(fmt.Sprintf("your uncommitted work is still put aside: git stash apply --index %s", w.Stash.Ref))
	return nil
}

// putBackLast puts the work tree back after the last attempt of a dead session
// when it is still exactly what was parked of it. Else somebody has been at
// work there, and it is theirs. An attempt that had not come to look at the
// work tree has done nothing to it.
func putBackLast(ctx context.Context, t *checkout, attempts []queue.Attempt) error {
	for _, a := range slices.Backward(attempts) {
		if a.Before == nil {
			continue
		}
		if a.Parked == nil || !t.isParked(ctx, a.Parked, &whole{}) {
			return nil
		}
		return t.settle(ctx, &a)
	}
	return nil
}

// locksIn are the locks below a folder of refs.
func locksIn(dir string) (locks []string) {
	// A folder that is not there has none.
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".lock") {
			locks = append(locks, name)
		}
		return nil
	})
	return locks
}

// unmake takes away the work tree of a session that was being made for it, and
// the branch, on which nothing is yet when loop made it.
func unmake(ctx context.Context, o *Options, s queue.Session) error {
	if s.Work == nil || !s.Work.Making || s.Work.Gone {
		return nil
	}
	if err := wipeTree(ctx, o, s.Work.Dir); err != nil {
		return err
	}
	t, err := openCheckout(ctx, o, o.Root, "")
	if err == nil && t.commitOf(ctx, "refs/heads/"+s.Work.Branch) == s.Work.Base {
		err = t.dropBranch(ctx, s.Work)
	}
	s.Work.Gone = true
	return errors.Join(err, o.Store.PutSession(ctx, s))
}
