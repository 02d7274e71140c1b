package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// recoverAttempts ends what an earlier loop left open when it died: it ends
// the client that may still be working, scans the transcript, puts back done
// marks, and writes the missing end. The run lock is held, so nobody else is at
// work here. It returns the attempts that it ended.
func recoverAttempts(ctx context.Context, o *Options) ([]queue.Attempt, error) {
	if err := putAllBack(o.State); err != nil {
		return nil, err
	}
	dead, err := deadSessions(ctx, o)
	if err == nil {
		err = tidy(ctx, o, dead)
	}
	if err != nil {
		return nil, err
	}
	open, err := o.Store.OpenAttempts(ctx)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if err := recoverAttempt(ctx, o, &open[i]); err != nil {
			return nil, fmt.Errorf("pick up the attempt at story %q of session %s: %w", open[i].Story, open[i].Session, err)
		}
	}
	if err := endSessions(ctx, o, dead); err != nil {
		return nil, err
	}
	return open, sweepLanes(ctx, o)
}

func recoverAttempt(ctx context.Context, o *Options, a *queue.Attempt) error {
	session, err := o.Store.Session(ctx, a.Session)
	if err != nil {
		return err
	}
	// Everything of the attempt bears its id as a mark, where the system lets
	// others' environments be read, and hangs below its client, where that
	// still lives.
	if session.BootID == proc.BootID() {
		if _, err := proc.EndStale(a.ChildPid, a.ChildStart); err != nil {
			return err
		}
	}
	if _, err := proc.EndMarked(a.ID); err != nil {
		return err
	}
	if err := tidyAttempt(a); err != nil {
		return err
	}
	if !a.Scanned {
		err := scan(ctx, o, a, earlier{pushes: pushesApart(ctx, o, a)})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := citedAfter(ctx, o, session, a); err != nil {
		return err
	}
	if file, ok := storyFileOf(session, a); ok {
		if err := restoreMarks(ctx, o, a, file); err != nil {
			return err
		}
	}
	if !a.Verified {
		a.Outcome = queue.Interrupted
	}
	a.Reason = "loop itself died during this attempt; what it had done was scanned afterwards"
	if err := recoverWork(ctx, o, session, a); err != nil {
		return err
	}
	a.Recovered, a.Ended = true, o.Now().UTC()
	if err := o.Store.PutAttempt(ctx, *a); err != nil {
		return err
	}
	o.Progress.Notice(fmt.Sprintf("picked up the attempt at story %q that a dead loop left open", a.Story))
	return addFinding(ctx, o, a, "recovered", a.Reason)
}

// restoreMarks puts the done marks back to what they were at the attempt's
// start. The file as it was is gone with the dead loop, so a file that can no
// longer be read is left to the error that the next step gives.
func restoreMarks(ctx context.Context, o *Options, a *queue.Attempt, storyFile string) error {
	f, err := stories.Read(storyFile)
	if err != nil {
		return addFinding(ctx, o, a, "claim", fmt.Sprintf("the done marks could not be compared: %v", err))
	}
	for _, st := range f.Stories {
		own := a.Verified && st.ID == a.Story && st.Hash == a.StoryHash
		if own && st.Checkpoint {
			if _, err := askLook(ctx, o, st, a, f); err != nil {
				return err
			}
		}
		was := own || slices.Contains(a.DoneBefore, st.ID)
		if st.Done == was {
			continue
		}
		if err := f.SetDone(st.ID, was); err != nil {
			return err
		}
		if own {
			continue
		}
		if err := addFinding(ctx, o, a, "claim", claimText(stories.Claim{ID: st.ID, Done: st.Done})); err != nil {
			return err
		}
	}
	return nil
}

// tellRecovered says in the new session what the dead one left, because that
// is the one whose report is read.
func (r *run) tellRecovered(ctx context.Context, ended []queue.Attempt) error {
	for _, a := range ended {
		text := fmt.Sprintf("the loop of session %s died at story %q; its transcript was scanned, `loop report %s` shows it", a.Session, a.Story, a.Session)
		if err := addFinding(ctx, r.o, &queue.Attempt{Session: r.session.ID}, "recovered", text); err != nil {
			return err
		}
	}
	return nil
}

// recoverWork commits or puts aside what an attempt left in the work tree when
// loop died.
func recoverWork(ctx context.Context, o *Options, session queue.Session, a *queue.Attempt) error {
	w := session.Work
	if w == nil || a.Before == nil {
		return nil
	}
	if a.Lane != nil {
		return recoverInLane(ctx, o, session, a)
	}
	if _, err := os.Stat(w.Dir); err != nil {
		return addFinding(ctx, o, a, "git", fmt.Sprintf("the work tree %q is gone, so what the attempt left there is too", w.Dir))
	}
	t, err := checkoutOf(ctx, o, session)
	if err != nil {
		return err
	}
	if a.Verified {
		return t.commitWork(ctx, a)
	}
	if t.head(ctx) == t.branch {
		if err := t.keep(ctx, a); err != nil {
			return err
		}
		return t.settle(ctx, a)
	}
	// Somebody went elsewhere since; nothing is taken from under him.
	if a.Parked, _, err = t.park(ctx, a); err != nil || a.Parked == nil {
		return err
	}
	return addFinding(ctx, o, a, "git", fmt.Sprintf("the branch %s was not checked out any more, so the work tree was left as it is; a copy of it is kept in %s", w.Branch, a.Parked.Ref))
}
