package queue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

var testTime = time.Date(2026, 2, 23, 8, 15, 0, 0, time.UTC)

func testOptions() Options {
	return Options{Timeout: 20 * time.Second, Now: func() time.Time { return testTime }}
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newStore(t testing.TB) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "state"))
}

// push is a blocked `git push` with the given tool_use_id.
func push(toolUseID string) Action {
	return Action{
		Session: "s1", Story: "3", Tool: "Bash", ToolUseID: toolUseID,
		Input: []byte(`{"command":"git push"}`), Command: "git push", Cwd: "/repo",
		Rules: []string{"git-push"}, Why: "Publishes commits.",
		Tier: policy.External, Evidence: policy.Blocked, FoundBy: ByHook,
	}
}

func mustAdd(t testing.TB, s *Store, a Action) Action {
	t.Helper()
	out, _, err := s.Add(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReadsOfMissingQueueAreEmptyAndMakeNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	o := testOptions()
	o.ReadOnly = true
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if list, err := s.Actions(ctx, Filter{}); len(list) != 0 || err != nil {
		t.Errorf("Actions = %v, %v", list, err)
	}
	if list, err := s.Sessions(ctx); len(list) != 0 || err != nil {
		t.Errorf("Sessions = %v, %v", list, err)
	}
	if snap, err := s.Snapshot(ctx, ""); len(snap.Actions) != 0 || err != nil {
		t.Errorf("Snapshot = %v, %v", snap, err)
	}
	for what, err := range map[string]error{
		"Get":         second(s.Get(ctx, "1")),
		"LastSession": second(s.LastSession(ctx)),
		"Story":       second(s.Story(ctx, "f", "1")),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", what, err)
		}
	}
	if n, err := s.RecoverReplays(ctx); n != 0 || err != nil {
		t.Errorf("RecoverReplays = %d, %v", n, err)
	}
	if _, _, err := s.Add(ctx, push("t1")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Add: %v, want ErrReadOnly", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestStateIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes there")
	}
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	mustAdd(t, s, push("t1"))
	for path, want := range map[string]os.FileMode{dir: 0o700, s.Path(): 0o600, s.Path() + ".lock": 0o600, s.file(numberName): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %o, want %o", path, got, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("state folder holds %v, %v", entries, err)
	}
}

// A crash can leave an empty file, or a half-made one under the name that is
// used before the rename. Both count as "nothing stored yet".
func TestLeftoversOfACrashAtTheFirstWrite(t *testing.T) {
	s := newStore(t)
	write(t, s.Path(), "")
	write(t, s.Path()+".new", strings.Repeat("half a page", 500))
	if list, err := s.Actions(t.Context(), Filter{}); len(list) != 0 || err != nil {
		t.Errorf("Actions = %v, %v", list, err)
	}
	mustAdd(t, s, push("t1"))
	if list, err := s.Actions(t.Context(), Filter{}); len(list) != 1 || err != nil {
		t.Errorf("Actions = %v, %v", list, err)
	}
}

// A bbolt file without buckets is what older bbolt programs leave when they
// die between making the file and the first transaction.
func TestFileWithoutBucketsIsAnEmptyQueue(t *testing.T) {
	s := newStore(t)
	db, err := bolt.Open(s.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Actions(t.Context(), Filter{}); len(list) != 0 || err != nil {
		t.Errorf("Actions = %v, %v", list, err)
	}
	mustAdd(t, s, push("t1"))
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whatever lies where the queue should be: the error names the file and what
// to type, the file stays as it is, and the lock is not left taken.
func TestDamagedAndForeignFiles(t *testing.T) {
	whole := func(t *testing.T, s *Store) []byte {
		for i := range 200 {
			a := push(strings.Repeat("t", i+1))
			a.Command = strings.Repeat("x", 300+i)
			a.Evidence = policy.Executed
			mustAdd(t, s, a)
		}
		b, err := os.ReadFile(s.Path())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	page := os.Getpagesize()
	for name, damage := range map[string]func(t *testing.T, s *Store) []byte{
		"text":    func(*testing.T, *Store) []byte { return []byte("hello, this is no database\n") },
		"zeros":   func(*testing.T, *Store) []byte { return make([]byte, 4*page) },
		"cut off": func(t *testing.T, s *Store) []byte { return whole(t, s)[:3*page] },
		"cut in the middle": func(t *testing.T, s *Store) []byte {
			b := whole(t, s)
			return b[:len(b)/3]
		},
		"pages overwritten": func(t *testing.T, s *Store) []byte {
			b := whole(t, s)
			for i := 2 * page; i < len(b); i++ {
				b[i] = 0xff
			}
			return b
		},
		"another program": func(t *testing.T, s *Store) []byte {
			inFile(t, s, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("metadata")); return err })
			b, err := os.ReadFile(s.Path())
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			b := damage(t, s)
			write(t, s.Path(), string(b))
			for range 2 {
				_, readErr := s.Actions(t.Context(), Filter{})
				_, _, writeErr := s.Add(t.Context(), push("t1"))
				for what, err := range map[string]error{"read": readErr, "write": writeErr} {
					var c *CorruptError
					if !errors.As(err, &c) {
						t.Fatalf("%s: %v, want a CorruptError", what, err)
					}
					if !strings.Contains(err.Error(), s.Path()) || !strings.Contains(c.Hint(), "mv ") {
						t.Errorf("%s: %q, hint %q", what, err, c.Hint())
					}
				}
			}
			after, err := os.ReadFile(s.Path())
			if err != nil || string(after) != string(b) {
				t.Errorf("the damaged file was changed (%d bytes, now %d): %v", len(b), len(after), err)
			}
		})
	}
}

func TestFolderInPlaceOfTheFile(t *testing.T) {
	s := newStore(t)
	if err := os.Mkdir(s.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	var c *CorruptError
	if _, _, err := s.Add(t.Context(), push("t1")); !errors.As(err, &c) {
		t.Errorf("Add: %v, want a CorruptError", err)
	}
}

// Whoever holds the side lock, or bbolt's own: the wait ends at the deadline.
func TestBusy(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	o := testOptions()
	o.Timeout = 150 * time.Millisecond
	hasty, err := Open(filepath.Dir(s.Path()), o)
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T) {
		if _, err := hasty.Get(t.Context(), "1"); !errors.Is(err, ErrBusy) {
			t.Errorf("Get: %v, want ErrBusy", err)
		}
		if _, _, err := hasty.Add(t.Context(), push("t2")); !errors.Is(err, ErrBusy) {
			t.Errorf("Add: %v, want ErrBusy", err)
		}
	}
	t.Run("side lock", func(t *testing.T) {
		unlock, err := s.lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		check(t)
	})
	t.Run("bbolt", func(t *testing.T) {
		db, err := bolt.Open(s.Path(), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		check(t)
	})
	if _, err := s.Get(t.Context(), "1"); err != nil {
		t.Errorf("Get after the lock was given back: %v", err)
	}
}

// A wait that was given up must not keep the lock when it gets it later.
func TestCancelledWaitGivesTheLockBack(t *testing.T) {
	s := newStore(t)
	unlock, err := s.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, _, err := s.Add(ctx, push("t1")); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Add: %v, want context.Canceled", err)
	}
	unlock()
	if _, created, err := s.Add(t.Context(), push("t2")); !created || err != nil {
		t.Errorf("Add = %v, %v", created, err)
	}
}

func TestMigrations(t *testing.T) {
	steps := migrations()
	if len(steps) != Schema {
		t.Fatalf("%d migrations for schema %d", len(steps), Schema)
	}
	for i, m := range steps {
		if m.to != uint64(i+1) || m.what == "" {
			t.Errorf("migration %d goes to %d (%q)", i, m.to, m.what)
		}
	}
	db, err := bolt.Open(filepath.Join(t.TempDir(), "m.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ran := 0
	count := func(*bolt.Tx) error { ran++; return nil }
	boom := errors.New("boom")
	more := append(steps, migration{2, "count", count})
	broken := append(more, migration{3, "break", func(*bolt.Tx) error { return boom }})
	for _, c := range []struct {
		name   string
		steps  []migration
		err    error
		schema uint64
		ran    int
	}{
		{"from nothing", steps, nil, 1, 0},
		{"nothing to do", steps, nil, 1, 0},
		{"one more", more, nil, 2, 1},
		{"not twice", more, nil, 2, 1},
		{"all or none", broken, boom, 2, 1},
	} {
		err := db.Update(func(tx *bolt.Tx) error { return runMigrations(tx, "m.db", c.steps) })
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		_ = db.View(func(tx *bolt.Tx) error {
			if got, err := schemaOf(tx, "m.db"); got != c.schema || err != nil {
				t.Errorf("%s: schema %d, %v; want %d", c.name, got, err, c.schema)
			}
			return nil
		})
		if ran != c.ran {
			t.Errorf("%s: ran %d times, want %d", c.name, ran, c.ran)
		}
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	setSchema(t, s, Schema+1)
	for what, err := range map[string]error{
		"read":  second(s.Actions(t.Context(), Filter{})),
		"write": second(s.Decide(t.Context(), "1", Decision{Verb: Reject})),
	} {
		var e *SchemaError
		if !errors.As(err, &e) || e.Have != Schema+1 || !strings.Contains(e.Hint(), "update loop") {
			t.Errorf("%s: %v, want a SchemaError", what, err)
		}
	}
	setSchema(t, s, Schema)
	if a, err := s.Get(t.Context(), "1"); err != nil || a.Status != Pending {
		t.Errorf("Get = %v, %v", a.Status, err)
	}
}

// A reader of an older queue brings it up to date first, unless it may not
// write.
func TestOlderSchema(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	setSchema(t, s, Schema-1)
	if _, err := s.Get(t.Context(), "1"); err != nil {
		t.Errorf("Get: %v", err)
	}
}

func setSchema(t *testing.T, s *Store, n uint64) {
	t.Helper()
	inFile(t, s, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketMeta)).Put([]byte(keySchema), numberKey(n))
	})
}

// inFile changes the file behind the store's back.
func inFile(t *testing.T, s *Store, fn func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(s.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func TestWaitingElsewhereCountsWhatOtherSessionsLeft(t *testing.T) {
	s := open(t, t.TempDir())
	add := func(session, call string, e policy.Evidence) Action {
		t.Helper()
		a := push(call)
		a.Session, a.Evidence, a.Command = session, e, call
		a.Input = []byte(`{"status":"pending","command":"` + call + `"}`)
		a, _, err := s.Add(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	add("s1", "a", policy.Blocked)
	add("s1", "b", policy.Mentioned)
	rejected := add("s1", "c", policy.Blocked)
	add("s10", "d", policy.Executed)
	add("s2", "e", policy.Written)
	if _, err := s.Decide(t.Context(), rejected.ID, Decision{Verb: Reject, Who: "me"}); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]int{"s1": 2, "s2": 2, "s10": 2, "": 3} {
		if got, err := s.WaitingElsewhere(t.Context(), session); err != nil || got != want {
			t.Errorf("besides %q: %d, %v, want %d", session, got, err, want)
		}
	}
}
