package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	sessionA = "0192d3c4-0000-7000-8000-00000000000a"
	sessionB = "0192d3c5-0000-7000-8000-00000000000b"
	attempt1 = "0192d3c4-0001-7000-8000-000000000001"
	attempt2 = "0192d3c4-0002-7000-8000-000000000002"
)

func TestSessions(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	for _, id := range []string{sessionB, sessionA} {
		if err := s.PutSession(ctx, Session{ID: id, Level: "unattended"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutSession(ctx, Session{ID: "7"}); err == nil {
		t.Error("PutSession took an id that is no UUID")
	}
	list, err := s.Sessions(ctx)
	want := []Session{{Schema: 1, ID: sessionA, Level: "unattended"}, {Schema: 1, ID: sessionB, Level: "unattended"}}
	if d := cmp.Diff(want, list); d != "" || err != nil {
		t.Errorf("Sessions: %v\n%s", err, d)
	}
	if last, err := s.LastSession(ctx); err != nil || last.ID != sessionB {
		t.Errorf("LastSession = %s, %v", last.ID, err)
	}
	for ref, want := range map[string]string{sessionA: sessionA, "0192d3c5": sessionB, "00000a": sessionA} {
		if got, err := s.Session(ctx, ref); err != nil || got.ID != want {
			t.Errorf("Session(%q) = %s, %v", ref, got.ID, err)
		}
	}
	if _, err := s.Session(ctx, "0192d3"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("Session(0192d3): %v, want ErrAmbiguous", err)
	}
	if _, err := s.Session(ctx, "ffffff"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Session(ffffff): %v, want ErrNotFound", err)
	}
}

func TestAttemptsWithoutAnEnd(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	one := Attempt{Schema: 1, ID: attempt1, Session: sessionA, Story: "1"}
	two := Attempt{Schema: 1, ID: attempt2, Session: sessionA, Story: "2"}
	for _, a := range []Attempt{two, one, {ID: attempt1, Session: sessionB}} {
		if err := s.PutAttempt(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Attempts(ctx, sessionA)
	if d := cmp.Diff([]Attempt{one, two}, list); d != "" || err != nil {
		t.Errorf("Attempts: %v\n%s", err, d)
	}
	one.Ended, one.Outcome = testTime, Done
	if err := s.PutAttempt(ctx, one); err != nil {
		t.Fatal(err)
	}
	open, err := s.OpenAttempts(ctx)
	want := []Attempt{two, {Schema: 1, ID: attempt1, Session: sessionB}}
	if d := cmp.Diff(want, open); d != "" || err != nil {
		t.Errorf("OpenAttempts: %v\n%s", err, d)
	}
	if err := s.PutAttempt(ctx, Attempt{ID: attempt1}); err == nil {
		t.Error("PutAttempt took one without a session")
	}
}

func TestFindingsAreNotDoubled(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	claim := Finding{Session: sessionA, Attempt: attempt1, Kind: "claim", Text: "flag flipped"}
	loose := Finding{Session: sessionA, Kind: "leftover", Text: "a process"}
	for _, f := range []Finding{claim, claim, loose, loose, {Session: sessionB, Attempt: attempt1, Kind: "claim", Text: "flag flipped"}} {
		if err := s.AddFinding(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Findings(ctx, sessionA)
	if err != nil || len(list) != 3 {
		t.Fatalf("Findings: %v, %v", list, err)
	}
	if f := list[0]; f.Kind != "claim" || f.When != testTime || f.ID == "" || f.Schema != Schema {
		t.Errorf("first finding %+v", f)
	}
}

func TestStories(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	want := StoryState{Schema: 1, File: "/p.json", Story: "3", Hash: "h", Outcome: Done, When: testTime}
	if err := s.PutStory(ctx, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Story(ctx, "/p.json", "3")
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("Story: %v\n%s", err, d)
	}
	if _, err := s.Story(ctx, "/p.json", "4"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Story of another id: %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	for i, id := range []string{sessionA, sessionB} {
		if err := s.PutSession(ctx, Session{ID: id, Started: testTime.Add(time.Duration(i))}); err != nil {
			t.Fatal(err)
		}
		if err := s.PutAttempt(ctx, Attempt{ID: attempt1, Session: id}); err != nil {
			t.Fatal(err)
		}
		if err := s.AddFinding(ctx, Finding{Session: id, Kind: "claim"}); err != nil {
			t.Fatal(err)
		}
		a := push("t1")
		a.Session = id
		mustAdd(t, s, a)
	}
	a := push("t1")
	a.Session = "by-hand"
	mustAdd(t, s, a)
	for ref, want := range map[string]string{"": sessionB, sessionA: sessionA, "0192d3c4": sessionA} {
		snap, err := s.Snapshot(ctx, ref)
		if err != nil {
			t.Fatal(err)
		}
		if snap.Session.ID != want || len(snap.Attempts) != 1 || len(snap.Actions) != 1 || len(snap.Findings) != 1 ||
			snap.Attempts[0].Session != want || snap.Actions[0].Session != want || snap.Findings[0].Session != want {
			t.Errorf("Snapshot(%q) = %+v", ref, snap)
		}
	}
	if snap, err := s.Snapshot(ctx, "by-hand"); err != nil || len(snap.Actions) != 1 || snap.Session.ID != "by-hand" {
		t.Errorf("Snapshot of a session without a record: %+v, %v", snap, err)
	}
	if snap, err := s.Snapshot(ctx, "nothing"); err != nil || len(snap.Actions) != 0 {
		t.Errorf("Snapshot of nothing: %+v, %v", snap, err)
	}
	if _, err := s.Snapshot(ctx, "0192d3"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("Snapshot(0192d3): %v, want ErrAmbiguous", err)
	}
}
