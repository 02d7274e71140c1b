package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// impatient is a store that waits hardly at all for others.
func impatient(t *testing.T, dir string) *Store {
	t.Helper()
	o := testOptions()
	o.Timeout = time.Millisecond
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holdLock takes the queue's lock as another process does.
func holdLock(t *testing.T, s *Store) (release func()) {
	t.Helper()
	unlock, err := open(t, s.dir).lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

func actions(t *testing.T, s *Store) []Action {
	t.Helper()
	list, err := open(t, s.dir).Actions(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func calls(list []Action) string {
	var out []string
	for _, a := range list {
		out = append(out, a.ToolUseID)
	}
	return strings.Join(out, " ")
}

func spoolOne(t *testing.T, s *Store, call string) Action {
	t.Helper()
	unlock := holdLock(t, s)
	defer unlock()
	a := push(call)
	a.Command = "git push origin " + call
	a.Input = fmt.Appendf(nil, `{ "command": %q }`, a.Command)
	got, created, err := s.AddOrSpool(t.Context(), a)
	if err != nil || !created || got.Number != 0 || got.ID == "" {
		t.Fatalf("spool: %+v, %v, %v", got, created, err)
	}
	return got
}

func TestBusyQueueSpoolsAndTheNextWriterFolds(t *testing.T) {
	s := impatient(t, t.TempDir())
	a := spoolOne(t, s, "first")
	spoolOne(t, s, "second")
	info, err := os.Stat(s.file(spoolName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the spool: %v, %v", info, err)
	}
	if !s.Spooled() {
		t.Error("nothing is said to be spooled")
	}
	third, _, err := open(t, s.dir).Add(t.Context(), push("third"))
	if err != nil || third.Number != 3 {
		t.Fatalf("number %d, %v: what came first is not first", third.Number, err)
	}
	list := actions(t, s)
	if calls(list) != "first second third" || string(list[0].Input) != string(a.Input) || list[0].ID != a.ID {
		t.Errorf("folded %s, input %s", calls(list), list[0].Input)
	}
	if s.Spooled() {
		t.Error("the spool is still there")
	}
}

func TestReaderFoldsTheSpoolToo(t *testing.T) {
	s := impatient(t, t.TempDir())
	spoolOne(t, s, "only")
	if got := calls(actions(t, s)); got != "only" {
		t.Errorf("a reader sees %q", got)
	}
}

// A process that dies after the transaction and before the removal leaves the
// moved file behind.
func TestFoldThatDiedBeforeTheRemovalDoublesNothing(t *testing.T) {
	dir := t.TempDir()
	s := impatient(t, dir)
	spoolOne(t, s, "first")
	spoolOne(t, s, "again") // another call with an id of its own
	without := push("")
	unlock := holdLock(t, s)
	if _, _, err := s.AddOrSpool(t.Context(), without); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.AddOrSpool(t.Context(), without); err != nil { // the same call once more: a repeat
		t.Fatal(err)
	}
	unlock()
	left, err := os.ReadFile(s.file(spoolName))
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, s.dir).Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := actions(t, s)
	if err := os.WriteFile(s.file(foldName), left, 0o600); err != nil {
		t.Fatal(err)
	}
	spoolOne(t, s, "later") // and the spool goes on beside it
	if err := open(t, s.dir).Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := open(t, s.dir).Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := actions(t, s)
	if len(after) != len(before)+1 || after[len(after)-1].ToolUseID != "later" {
		t.Errorf("%d actions, then %d: %s", len(before), len(after), calls(after))
	}
	for i, a := range before {
		if after[i].Repeats != a.Repeats || after[i].ID != a.ID {
			t.Errorf("action %d: %d repeats, then %d", i, a.Repeats, after[i].Repeats)
		}
	}
	if before[2].Repeats != 1 {
		t.Errorf("a call without an id that came twice has %d repeats", before[2].Repeats)
	}
}

func TestFoldThatFailsKeepsTheSpool(t *testing.T) {
	s := impatient(t, t.TempDir())
	spoolOne(t, s, "first")
	if err := s.update(t.Context(), func(*bolt.Tx) error { return errors.New("no") }); err == nil {
		t.Fatal("the transaction went through")
	}
	if !s.Spooled() {
		t.Fatal("the spool is gone and nothing of it was stored")
	}
	if got := calls(actions(t, s)); got != "first" {
		t.Errorf("then %q", got)
	}
}

func TestTornAndForeignLinesOfTheSpoolAreKept(t *testing.T) {
	s := impatient(t, t.TempDir())
	spoolOne(t, s, "first")
	f, err := os.OpenFile(s.file(spoolName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("no action\n{\"id\":\"x\"}\n{\"id\":\"0194"); err != nil { // killed in the middle of a write
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	spoolOne(t, s, "second")
	if got := calls(actions(t, s)); got != "first second" {
		t.Errorf("folded %q", got)
	}
	stray, err := os.ReadFile(s.file(strayName))
	if want := "no action\n{\"id\":\"x\"}\n{\"id\":\"0194\n"; err != nil || string(stray) != want {
		t.Errorf("kept %q, %v, want %q", stray, err, want)
	}
}

// A queue that cannot be opened at all loses nothing either.
func TestDamagedQueueSpools(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(strings.Repeat("no queue ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := impatient(t, dir)
	if _, _, err := s.AddOrSpool(t.Context(), push("kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	if got := calls(actions(t, s)); got != "kept" {
		t.Errorf("after the damaged file was moved away: %q", got)
	}
}

func TestHangingAppenderKeepsNobodyFromTheQueue(t *testing.T) {
	s := open(t, t.TempDir())
	spoolOne(t, impatient(t, s.dir), "first")
	unlock, err := lockFile(t.Context(), s.file(spoolLock))
	if err != nil {
		t.Fatal(err)
	}
	if a, _, err := s.Add(t.Context(), push("second")); err != nil || a.Number != 1 {
		t.Errorf("added #%d, %v", a.Number, err)
	}
	unlock()
	if got := calls(actions(t, s)); got != "second first" {
		t.Errorf("then %q", got)
	}
}

func TestReadOnlyStoreSpoolsNothing(t *testing.T) {
	dir := t.TempDir()
	o := testOptions()
	o.ReadOnly = true
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.AddOrSpool(t.Context(), push("x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

// playSpooler adds n actions as a hook does that will not wait, and prints
// each after it has returned: from then on it may not be lost.
func playSpooler(s *Store, name string, n int) error {
	s.o.Timeout = time.Millisecond
	for i := range n {
		a := numbered(name, i)
		if _, _, err := s.AddOrSpool(context.Background(), a); err != nil {
			return fmt.Errorf("add %s: %w", a.ToolUseID, err)
		}
		fmt.Println(a.ToolUseID)
	}
	return nil
}

// Hooks that spool, hooks that fold and a kill in the midst of either: every
// action that was acknowledged is there, and none twice.
func TestSpoolingProcessesThatAreKilled(t *testing.T) {
	dir := t.TempDir()
	const hooks, each = 4, 60
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var wg sync.WaitGroup
	for n := range hooks {
		c := startChild(t, fmt.Sprintf("spool p%d %d %s", n, each, dir))
		wg.Go(func() {
			got := 0
			for line := range c.lines {
				mu.Lock()
				acknowledged[line] = true
				mu.Unlock()
				if got++; n%2 == 1 && got == each/2 {
					_ = c.cmd.Process.Kill()
				}
			}
		})
	}
	wg.Wait()
	s := open(t, dir)
	if err := open(t, s.dir).Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := open(t, s.dir).Fold(t.Context()); err != nil { // what was spooled beside a fold that died
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, a := range actions(t, s) {
		times[a.ToolUseID]++
	}
	if len(acknowledged) < hooks/2*each {
		t.Fatalf("only %d were acknowledged", len(acknowledged))
	}
	for call := range acknowledged {
		if times[call] != 1 {
			t.Errorf("%s was acknowledged and is there %d times", call, times[call])
		}
	}
	for call, n := range times {
		if n != 1 {
			t.Errorf("%s is there %d times", call, n)
		}
	}
}

// What a person was asked about may have run: replaying it wants to be said
// twice. A second hook that refused the same call settles it.
func TestAskedIsNotReplayedUnasked(t *testing.T) {
	s := newStore(t)
	a := push("x")
	a.Asked = true
	a = mustAdd(t, s, a)
	if err := MayReplay(a, false); !errors.Is(err, ErrAsked) {
		t.Errorf("got %v", err)
	}
	if err := MayReplay(a, true); err != nil {
		t.Errorf("again: %v", err)
	}
	refused := push("x")
	if got := mustAdd(t, s, refused); got.Asked || MayReplay(got, false) != nil {
		t.Errorf("refused by another hook: %+v", got)
	}
	asked := push("x")
	asked.Asked = true
	if got := mustAdd(t, s, asked); got.Asked {
		t.Error("an asked one after a refusal counts as asked")
	}
}
