package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// chosen is what a report is asked for: one session or all since then, whole or
// one story of it.
func (a *app) chosen(ctx context.Context, o reportRequest) (store *queue.Store, snap queue.Snapshot, sessions []queue.Session, err error) {
	if o.since != "" {
		store, snap, sessions, err = a.snapshotsSince(ctx, o.since)
	} else {
		var refs []string
		if o.session != "" {
			refs = []string{o.session}
		}
		store, snap, err = a.snapshot(ctx, refs)
	}
	if err != nil || o.story == "" {
		return store, snap, sessions, err
	}
	only, ok := report.OnlyStory(snap, o.story)
	if !ok {
		return nil, snap, nil, &hintedError{err: fmt.Errorf("nothing in it is about a story %q", o.story), hint: "`loop report` names the stories; `loop sessions` the sessions"}
	}
	for i := range sessions {
		sessions[i].StoryOrder = only.Session.StoryOrder
	}
	return store, only, sessions, nil
}

// snapshotsSince joins the sessions that were at work since then.
func (a *app) snapshotsSince(ctx context.Context, since string) (*queue.Store, queue.Snapshot, []queue.Session, error) {
	from, err := a.parseSince(since)
	if err != nil {
		return nil, queue.Snapshot{}, nil, err
	}
	_, store, err := a.openStore(ctx, true)
	if err != nil {
		return nil, queue.Snapshot{}, nil, err
	}
	all, err := store.Sessions(ctx)
	if err != nil {
		return nil, queue.Snapshot{}, nil, err
	}
	var list []queue.Snapshot
	for _, s := range all {
		if !s.Ended.IsZero() && s.Ended.Before(from) {
			continue
		}
		snap, err := store.Snapshot(ctx, s.ID)
		if err != nil {
			return nil, snap, nil, err
		}
		list = append(list, snap)
	}
	if len(list) == 0 {
		return nil, queue.Snapshot{}, nil, &hintedError{err: fmt.Errorf("no session since %s", from.Format("2006-01-02 15:04")), hint: "`loop sessions` lists them"}
	}
	snap, sessions := report.Join(list)
	return store, snap, sessions, nil
}

// parseSince reads an age, or a day at whose beginning it begins.
func (a *app) parseSince(s string) (time.Time, error) {
	now := a.now()
	if day, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return day, nil
	}
	if age, err := parseAge(s); err == nil {
		return now.Add(-age), nil
	}
	return time.Time{}, usagef("loop report --since 12h, --since 2d or --since 2026-11-29", "%q is neither an age nor a day", s)
}

// snapshot is the session of refs, or the last one.
func (a *app) snapshot(ctx context.Context, refs []string) (*queue.Store, queue.Snapshot, error) {
	store, s, err := a.openSession(ctx, refs)
	if err != nil {
		return nil, queue.Snapshot{}, err
	}
	snap, err := store.Snapshot(ctx, s.ID)
	return store, snap, err
}

// openSession opens the queue for reading and finds the session that refs name,
// or the last one.
func (a *app) openSession(ctx context.Context, refs []string) (*queue.Store, queue.Session, error) {
	_, store, err := a.openStore(ctx, true)
	if err != nil {
		return nil, queue.Session{}, err
	}
	s, err := session(ctx, store, refs)
	return store, s, err
}

func session(ctx context.Context, store *queue.Store, refs []string) (queue.Session, error) {
	if len(refs) > 0 {
		return store.Session(ctx, refs[0])
	}
	s, err := store.LastSession(ctx)
	if errors.Is(err, queue.ErrNotFound) {
		hint := "`loop run` makes one; `loop demo` shows the whole cycle"
		if n, err := store.WaitingElsewhere(ctx, ""); err == nil && n > 0 {
			hint = "`loop list` shows what waits from the client's prompt"
		}
		return s, &hintedError{err: errors.New("no session in this repository yet"), hint: hint}
	}
	return s, err
}
