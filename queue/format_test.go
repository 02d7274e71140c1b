package queue

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// firstFormat is a queue as the first version of this package wrote it.
func firstFormat(t *testing.T) *Store {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "first-format.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	write(t, s.Path(), string(b))
	return s
}

// What an older loop has queued is read whole, and a person goes on deciding.
func TestQueueOfTheFirstFormat(t *testing.T) {
	s := firstFormat(t)
	snap, err := s.Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	const session = "0192d3c4-0000-7000-8000-0000000000aa"
	if snap.Session.ID != session || len(snap.Attempts) != 1 || len(snap.Findings) != 1 {
		t.Errorf("session %q, %d attempts, %d findings", snap.Session.ID, len(snap.Attempts), len(snap.Findings))
	}
	want := []Action{
		{
			ToolUseID: "t1", FoundBy: ByHook, Evidence: policy.Blocked, Status: Pending,
			Command: "git push", Input: []byte(`{ "command": "git push" }`),
		},
		{
			ToolUseID: "t2", FoundBy: ByScan, Evidence: policy.Executed, Outcome: "ok", Status: Rejected,
			Command: "curl -d @x https://api.example.com", Input: []byte(`{"command":"curl -d @x https://api.example.com"}`),
			Transcript: "/t.jsonl", Line: 7, Excerpt: "Ä \u2028 <b>",
			Decisions: []Decision{{Verb: Reject, Who: "tess", When: snap.Session.Started, Reason: "it went out"}},
		},
		{
			ToolUseID: "t3", FoundBy: ByHook, Evidence: policy.Blocked, Status: Failed,
			Command: "npm publish", Input: []byte(`{"command":"npm publish"}`),
			Decisions: []Decision{{Verb: Approve, Who: "tess", When: snap.Session.Started}},
			Replay:    &Replay{Started: snap.Session.Started, ExitCode: 1, Output: "no network"},
		},
	}
	for i := range want {
		w := &want[i]
		w.Schema, w.Number, w.ID, w.Kind = 1, uint64(i+1), fmt.Sprintf("0192d3c4-0000-7000-8000-%012d", i+1), KindCall
		w.Session, w.Story, w.Tool, w.Cwd, w.Rules = session, "1", "Bash", "/repo", []string{"git-push"}
		w.Why, w.Tier, w.DetectedAt = "Publishes commits.", policy.External, snap.Session.Started
	}
	if d := cmp.Diff(want, snap.Actions); d != "" {
		t.Error(d)
	}
	if _, err := s.Decide(t.Context(), "1", Decision{Verb: Reject, Who: "tess"}); err != nil {
		t.Error(err)
	}
	mustAdd(t, s, push("t4"))
	if list, err := s.Actions(t.Context(), Filter{Status: []Status{Pending}}); err != nil || len(list) != 1 || list[0].Number != 4 {
		t.Errorf("%v, %v", list, err)
	}
}

// rewrite changes the stored text of the first record of a bucket.
func rewrite(t *testing.T, s *Store, bucket string, change func(string) string) {
	t.Helper()
	err := s.update(t.Context(), func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		k, v := b.Cursor().First()
		return b.Put(k, []byte(change(string(v))))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func stored(t *testing.T, s *Store, bucket string) (text string) {
	t.Helper()
	err := s.view(t.Context(), func(tx *bolt.Tx) error {
		_, v := tx.Bucket([]byte(bucket)).Cursor().First()
		text = string(v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What a newer loop has put into a record is still there when this one has
// written it.
func TestWhatIsNotKnownSurvives(t *testing.T) {
	s := newStore(t)
	a := push("t1")
	a.Claims = []Claim{{Kind: "number", Text: "41", Source: SourceNone}}
	a.Said = &Said{Text: "Now I push."}
	a.Input = []byte(`{ "command": "git push" }`)
	mustAdd(t, s, a)
	rewrite(t, s, bucketActions, func(v string) string {
		v = strings.Replace(v, `"schema":1`, `"schema":1,"mood":{"of":["the <agent>"]}`, 1)
		v = strings.Replace(v, `"text":"41"`, `"text":"41","weight":1.5`, 1)
		v = strings.Replace(v, `"text":"Now I push."`, `"tone":"calm","text":"Now I push."`, 1)
		return strings.TrimSuffix(v, "}") + `,"last":null}`
	})
	news := []string{`"mood":{"of":["the <agent>"]}`, `"weight":1.5`, `"tone":"calm"`, `"last":null`}
	check := func(what string) {
		t.Helper()
		text := stored(t, s, bucketActions)
		for _, n := range news {
			if strings.Count(text, n) != 1 {
				t.Errorf("%s: %s stands %d times in %s", what, n, strings.Count(text, n), text)
			}
		}
		got, err := s.Get(t.Context(), "1")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if string(got.Input) != string(a.Input) {
			t.Errorf("%s: input %s", what, got.Input)
		}
	}
	check("written by a newer one")
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"a repeat", func() error { _, _, err := s.Add(t.Context(), push("t2")); return err }},
		{"the scan's sight", func() error {
			seen := push("t1")
			seen.Evidence, seen.FoundBy, seen.Outcome = policy.Executed, ByScan, "ok"
			_, _, err := s.Add(t.Context(), seen)
			return err
		}},
		{"a decision", func() error {
			_, err := s.Decide(t.Context(), "1", Decision{Verb: Reject, Who: "tess"})
			return err
		}},
		{"an undo", func() error { _, err := s.Undo(t.Context(), "1", Decision{Who: "tess"}); return err }},
		{"an edit", func() error {
			_, err := s.Edit(t.Context(), "1", &Edited{Input: []byte(`{"command":"git push -n"}`), Command: "git push -n"}, Decision{Who: "tess"})
			return err
		}},
		{"a replay", func() error {
			_, err := s.BeginReplay(t.Context(), "1", nil, Decision{Who: "tess"}, true)
			return err
		}},
		{"its end", func() error { _, err := s.EndReplay(t.Context(), "1", Replay{ExitCode: 1}); return err }},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		check(step.what)
	}
}

// So it does when a newer hook has spooled the action and an older loop folds it.
func TestWhatIsNotKnownOfASpooledActionSurvives(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t0"))
	a := push("t1")
	a.ID, a.Command, a.Schema, a.Status, a.DetectedAt = "00000000-0000-7000-8000-000000000001", "git push -u", Schema, Pending, testTime
	line := strings.Replace(encoded(t, a), `"tool":`, `"mood":[1],"tool":`, 1)
	write(t, s.file(spoolName), line+"\n")
	if err := s.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), "2")
	if err != nil || got.Command != a.Command || got.RelatedTo != "1" {
		t.Errorf("%+v, %v", got, err)
	}
	if text := stored(t, s, bucketActions); strings.Count(text, `"mood":[1]`) != 1 || strings.Count(text, `"number":2`) != 1 {
		t.Error(text)
	}
}

func TestWhatIsNotKnownOfASessionSurvives(t *testing.T) {
	s := newStore(t)
	session := Session{ID: "0192d3c4-0000-7000-8000-0000000000aa", Started: testTime, StoryOrder: []string{"1"}, Waits: []Wait{{Why: "a limit", From: testTime}}}
	attempt := Attempt{ID: "0192d3c4-0000-7000-8000-0000000000bb", Session: session.ID, Story: "1", Started: testTime}
	for range 2 {
		if err := s.PutSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		if err := s.PutEnd(t.Context(), attempt, StoryState{File: "f", Story: "1", Outcome: Done}); err != nil {
			t.Fatal(err)
		}
		for _, bucket := range []string{bucketSessions, bucketAttempts, bucketStories} {
			if session.Ended.IsZero() {
				rewrite(t, s, bucket, func(v string) string { return strings.TrimSuffix(v, "}") + `,"mood":{"x":[1,2]}}` })
			}
			if text := stored(t, s, bucket); !strings.HasSuffix(text, `,"mood":{"x":[1,2]}}`) {
				t.Errorf("%s: %s", bucket, text)
			}
		}
		session.Ended, attempt.Ended, session.Waits = testTime, testTime, nil
	}
	if strings.Contains(stored(t, s, bucketSessions), "a limit") {
		t.Error("what this version has taken away is still there")
	}
}

// A record that cannot be read is never left out in silence.
func TestDamagedRecord(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"cut off":   func(v string) string { return v[:len(v)/2] },
		"no object": func(string) string { return "12" },
		"a hole":    func(v string) string { return strings.Replace(v, `"kind":"call"`, "\x00\x00\x00", 1) },
		"a torn input": func(v string) string {
			return strings.Replace(v, `"command":"git push"}`, `"command":"git push"`, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			mustAdd(t, s, push("t1"))
			second := push("t2")
			second.Session = "s2"
			mustAdd(t, s, second)
			rewrite(t, s, bucketActions, damage)
			_, all := s.Actions(t.Context(), Filter{})
			_, waiting := s.Actions(t.Context(), Filter{Status: []Status{Pending}, Evidence: []policy.Evidence{policy.Blocked}})
			_, _, first := s.First(t.Context(), 10)
			_, snap := s.Snapshot(t.Context(), "s1")
			_, one := s.Get(t.Context(), "1")
			for what, err := range map[string]error{"Actions": all, "Actions that wait": waiting, "First": first, "Snapshot": snap, "Get": one} {
				if err == nil || !strings.Contains(err.Error(), "damaged action") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if name == "a hole" && !strings.Contains(all.Error(), "#1") {
				t.Errorf("it does not say which: %v", all)
			}
			if a, err := s.Get(t.Context(), "2"); err != nil || a.ToolUseID != "t2" {
				t.Errorf("the other one: %v, %v", a, err)
			}
			third := push("t3")
			third.Command, third.Input = "git push -u", nil
			mustAdd(t, s, third)
			if _, err := s.Decide(t.Context(), "1", Decision{Verb: Reject}); err == nil {
				t.Error("a decision about what cannot be read")
			}
		})
	}
}
