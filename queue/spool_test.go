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

// pushOf is a push of its own: no repeat of another.
func pushOf(call string) Action {
	a := push(call)
	a.Command = "git push origin " + call
	a.Input = fmt.Appendf(nil, `{ "command": %q }`, a.Command)
	return a
}

func spoolOne(t *testing.T, s *Store, call string) Action {
	t.Helper()
	unlock := holdLock(t, s)
	defer unlock()
	got, err := s.Spool(t.Context(), pushOf(call))
	if err != nil || !s.Spooled() || got.ID == "" {
		t.Fatalf("spool: %+v, %v", got, err)
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

// Where the numbers are known nothing is opened: the number that is told is the
// one under which the action is found, and nobody else has it.
func TestSpooledActionHasItsNumberAtOnce(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, pushOf("first"))
	unlock := holdLock(t, s) // it would wait for that
	second, err := s.Spool(t.Context(), pushOf("second"))
	if err != nil || second.Number != 2 {
		t.Fatalf("#%d, %v", second.Number, err)
	}
	if again, err := s.Spool(t.Context(), pushOf("second")); err != nil || again.Number != 2 {
		t.Fatalf("the same call again is #%d, %v", again.Number, err)
	}
	if err := os.Remove(s.file(toldName)); err != nil {
		t.Fatal(err)
	}
	again, err := s.Spool(t.Context(), pushOf("second"))
	if err != nil || again.Number != 3 {
		t.Fatalf("#%d, %v", again.Number, err)
	}
	unlock()
	if fourth := mustAdd(t, s, pushOf("fourth")); fourth.Number != 4 {
		t.Errorf("#%d is given beside what is spooled", fourth.Number)
	}
	list := actions(t, s)
	if calls(list) != "first second fourth" || list[1].ID != second.ID || list[1].Number != 2 {
		t.Fatalf("%s: %+v", calls(list), list[1])
	}
	for _, ref := range []string{"2", "#3"} {
		if a, err := s.Get(t.Context(), ref); err != nil || a.ID != second.ID {
			t.Errorf("%s leads to %q, %v", ref, a.ID, err)
		}
	}
	verifyFile(t, s)
}

// The same call again has the number of the first as long as that waits, also
// when it is in the queue by then. Decided, it is another.
func TestSameCallAgainIsToldTheSameNumber(t *testing.T) {
	s := newStore(t)
	spool := func(call string) Action {
		t.Helper()
		a := pushOf("main")
		a.ToolUseID = call
		a, err := s.Spool(t.Context(), a)
		if err != nil || !s.Spooled() {
			t.Fatalf("%+v, %v", a, err)
		}
		return a
	}
	first := spool("t1")
	if _, err := s.Spool(t.Context(), pushOf("other")); err != nil {
		t.Fatal(err)
	}
	if again := spool("t2"); first.Number != 1 || again.Number != 1 {
		t.Errorf("#%d, then #%d", first.Number, again.Number)
	}
	if list := actions(t, s); len(list) != 2 || list[0].Repeats != 1 {
		t.Fatalf("%+v", list)
	}
	if again := spool("t3"); again.Number != 1 {
		t.Errorf("in the queue, it is #%d", again.Number)
	}
	if a, err := s.Decide(t.Context(), "1", Decision{Verb: Reject, Who: "ann"}); err != nil || a.Repeats != 2 {
		t.Fatalf("%+v, %v", a, err)
	}
	if again := spool("t4"); again.Number != 3 {
		t.Errorf("after a decision it is #%d", again.Number)
	}
	if list := actions(t, s); len(list) != 3 || list[2].Number != 3 || list[2].Status != Pending {
		t.Errorf("%+v", list)
	}
	verifyFile(t, s)
}

// What a dying process left of an entry is not read, nor what grows for ever.
func TestDamagedMemoryOfWhatWasTold(t *testing.T) {
	s := newStore(t)
	for name, text := range map[string]string{"torn": strings.Repeat("x", toldSize+3), "large": strings.Repeat("x", (toldMax/toldSize+1)*toldSize)} {
		if err := os.WriteFile(s.file(toldName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		first, err := s.Spool(t.Context(), pushOf(name))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.Spool(t.Context(), pushOf(name)); err != nil || again.Number != first.Number {
			t.Errorf("%s: #%d, then #%d, %v", name, first.Number, again.Number, err)
		}
	}
}

// A file of numbers that is lost, or from before what is in the queue, costs a
// number and never an action.
func TestNumbersThatWereLost(t *testing.T) {
	for name, file := range map[string]string{"removed": "-", "empty": "", "torn": "\x00\x00\x00", "old": "\x00\x00\x00\x00\x00\x00\x00\x00"} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			mustAdd(t, s, pushOf("first"))
			mustAdd(t, s, pushOf("second"))
			if err := os.Remove(s.file(numberName)); err != nil {
				t.Fatal(err)
			}
			if file != "-" {
				if err := os.WriteFile(s.file(numberName), []byte(file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Spool(t.Context(), pushOf("third")); err != nil {
				t.Fatal(err)
			}
			mustAdd(t, s, pushOf("fourth"))
			list := actions(t, s)
			if calls(list) != "first second third fourth" {
				t.Errorf("%s", calls(list))
			}
			for i, a := range list {
				if a.Number != uint64(i+1) {
					t.Errorf("%s is #%d", a.ToolUseID, a.Number)
				}
			}
			verifyFile(t, s)
		})
	}
}

// A spool that nobody takes up does not grow for ever, and nobody waits for who
// puts it into the queue.
func TestLargeSpoolGoesIntoTheQueue(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, pushOf("first"))
	large := pushOf("large")
	large.Excerpt = strings.Repeat("x", spoolSize)
	unlock := holdLock(t, s)
	if a, err := s.Spool(t.Context(), large); err != nil || a.Number != 2 || !s.Spooled() {
		t.Fatalf("#%d, %v, spooled %v", a.Number, err, s.Spooled())
	}
	unlock()
	if a, err := s.Spool(t.Context(), pushOf("next")); err != nil || a.Number != 3 || s.Spooled() {
		t.Errorf("#%d, %v, spooled %v", a.Number, err, s.Spooled())
	}
	if got := calls(actions(t, s)); got != "first large next" {
		t.Errorf("%s", got)
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
	if _, err := s.Spool(t.Context(), without); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Spool(t.Context(), without); err != nil { // the same call once more: a repeat
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
	if _, err := s.Spool(t.Context(), push("kept")); err != nil {
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
	unlock, err := lockFile(t.Context(), s.file(spoolLock), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if a, _, err := s.Add(t.Context(), push("second")); err != nil || a.Number != 2 {
		t.Errorf("added #%d, %v", a.Number, err)
	}
	unlock()
	if got := calls(actions(t, s)); got != "first second" {
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
	if _, err := s.Spool(t.Context(), push("x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

// playSpooler spools n actions and prints number and call of each after it has
// returned: from then on it may not be lost, and has that number.
func playSpooler(s *Store, name string, n int) error {
	s.o.Timeout = time.Millisecond
	for i := range n {
		a := numbered(name, i)
		a, err := s.Spool(context.Background(), a)
		if err != nil {
			return fmt.Errorf("spool %s: %w", a.ToolUseID, err)
		}
		fmt.Println(a.Number, a.ToolUseID)
	}
	return nil
}

// Hooks that spool, others that put into the queue and take up what is spooled, and
// a kill in the midst of either: every action that was acknowledged is there, once, and
// with the number that was told.
func TestSpoolingProcessesThatAreKilled(t *testing.T) {
	dir := t.TempDir()
	const hooks, each = 4, 60
	var mu sync.Mutex
	acknowledged := map[string]string{}
	var wg sync.WaitGroup
	for n := range hooks {
		role := "spool"
		if n >= hooks/2 {
			role = "add"
		}
		c := startChild(t, fmt.Sprintf("%s p%d %d %s", role, n, each, dir))
		wg.Go(func() {
			got := 0
			for line := range c.lines {
				mu.Lock()
				number, call, _ := strings.Cut(line, " ")
				acknowledged[call] = number
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
	times, numbers := map[string]int{}, map[uint64]bool{}
	for _, a := range actions(t, s) {
		times[a.ToolUseID]++
		if numbers[a.Number] {
			t.Errorf("two have the number %d", a.Number)
		}
		numbers[a.Number] = true
		if told := acknowledged[a.ToolUseID]; told != "" && told != "0" && told != fmt.Sprint(a.Number) {
			t.Errorf("%s is #%d, and #%s was told", a.ToolUseID, a.Number, told)
		}
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
