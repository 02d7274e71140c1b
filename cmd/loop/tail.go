package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
)

// How a transcript that grows is followed.
const (
	tailPoll = 200 * time.Millisecond
	// tailRest is how many looks a client that is gone may leave nothing new:
	// what it had written is still on its way for a moment.
	tailRest = 12
)

// tail reads the transcript of an attempt, and waits at its end for more while
// the attempt goes on.
type tail struct {
	a      *app
	store  *queue.Store
	state  string
	at     queue.Attempt
	follow bool

	ctx  context.Context //nolint:containedctx // of a reader, which has none
	f    *os.File
	rest int  // looks in a row at a client that is gone
	done bool // nothing more can come
}

// open opens the transcript; an attempt that has only begun has none yet.
func (t *tail) open(ctx context.Context) (io.ReadCloser, error) {
	t.ctx = ctx
	for {
		f, err := os.Open(transcriptPath(t.at))
		if err == nil {
			t.f = f
			return t, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || !t.follow || t.over() {
			return nil, noTranscript(t.at, err)
		}
		if err := t.pause(); err != nil {
			return nil, err
		}
	}
}

// Read waits for more while there may be more.
func (t *tail) Read(b []byte) (int, error) {
	for {
		n, err := t.f.Read(b)
		switch {
		case n > 0 || !errors.Is(err, io.EOF):
			t.rest = 0
			return n, err
		case !t.follow || t.done:
			return 0, io.EOF
		case t.over():
			t.done = true // what came while it was looked at is still read
		default:
			if err := t.pause(); err != nil {
				return 0, err
			}
		}
	}
}

// Close closes the file.
func (t *tail) Close() error { return t.f.Close() }

func (t *tail) pause() error {
	timer := time.NewTimer(tailPoll)
	defer timer.Stop()
	select {
	case <-t.ctx.Done():
		return t.ctx.Err()
	case <-timer.C:
		return nil
	}
}

// over reports whether nothing more can come: the attempt has an end, or its
// client or its run is gone.
func (t *tail) over() bool {
	if t.at.Ended.IsZero() {
		// A queue that is busy just now is asked again at the next look.
		if list, err := t.store.Attempts(t.ctx, t.at.Session); err == nil {
			for _, x := range list {
				if x.ID == t.at.ID {
					t.at = x
				}
			}
		}
	}
	if !t.at.Ended.IsZero() {
		return true
	}
	if _, busy := runner.Busy(t.state); busy && (t.at.ChildPid == 0 || proc.Alive(t.at.ChildPid, t.at.ChildStart)) {
		t.rest = 0
		return false
	}
	t.rest++
	return t.rest > tailRest
}

// nextAttempt waits for the attempt that follows one in its session: at the
// story, or at any when none is named. ok is false when none will come.
func (a *app) nextAttempt(ctx context.Context, w workspace.Workspace, store *queue.Store, last queue.Attempt, story string) (next queue.Attempt, ok bool, err error) {
	said := false
	for final := false; ; {
		list, err := store.Attempts(ctx, last.Session)
		if err != nil {
			return next, false, err
		}
		for _, x := range list {
			if x.ID == last.ID {
				last = x
			}
			if x.ID > last.ID && (story == "" || x.Story == story) {
				return x, true, nil
			}
		}
		if final {
			return next, false, nil
		}
		s, err := store.Session(ctx, last.Session)
		if err != nil {
			return next, false, err
		}
		_, busy := runner.Busy(w.State)
		// One that came while this was asked is still found.
		if final = !s.Ended.IsZero() || !busy || story != "" && lastOf(&last); final {
			continue
		}
		if st, there, err := runner.ReadStatus(w.State); err == nil && there && !said && st.Phase == runner.PhaseWaiting && st.Session == last.Session {
			said = true
			fmt.Fprintf(a.stderr, "waits until %s: %s\n", st.Until.Local().Format("2 Jan 15:04"), term.Line(st.Why))
		}
		if err := pauseFor(tailPoll)(ctx); err != nil {
			return next, false, err
		}
	}
}

// lastOf: no other attempt at the story follows in the session.
func lastOf(at *queue.Attempt) bool {
	return at.Outcome.Passed() && !at.Ended.IsZero() || at.Outcome == queue.Question || at.Blocked != ""
}
