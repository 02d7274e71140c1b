package queue

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// childVar makes the test binary play one process: "add NAME N DIR",
// "spool NAME N DIR", "burst NAME DIR" or "read DIR".
const childVar = "LOOP_TEST_QUEUE"

func TestMain(m *testing.M) {
	if role := os.Getenv(childVar); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

func play(role string) int {
	var name, dir string
	var n int
	s := func() *Store {
		s, err := Open(dir, testOptions())
		if err != nil {
			panic(err)
		}
		return s
	}
	var err error
	if _, e := fmt.Sscanf(role, "add %s %d %s", &name, &n, &dir); e == nil {
		fmt.Println("ready")
		err = playAdder(s(), name, n)
	} else if _, e := fmt.Sscanf(role, "spool %s %d %s", &name, &n, &dir); e == nil {
		fmt.Println("ready")
		err = playSpooler(s(), name, n)
	} else if _, e := fmt.Sscanf(role, "burst %s %s", &name, &dir); e == nil {
		fmt.Println("ready")
		err = playBurst(s(), name)
	} else if _, e := fmt.Sscanf(role, "read %s", &dir); e == nil {
		fmt.Println("ready")
		err = playReader(s())
	} else {
		err = fmt.Errorf("unknown role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// playAdder adds n actions and prints the number of each after Add has
// returned: from then on it may not be lost.
func playAdder(s *Store, name string, n int) error {
	for i := range n {
		a := numbered(name, i)
		got, created, err := s.Add(context.Background(), a)
		if err != nil || !created {
			return fmt.Errorf("add %s: %v, %w", a.ToolUseID, created, err)
		}
		fmt.Println(got.Number, a.ToolUseID)
	}
	return nil
}

// numbered is an action of a size that changes, so that pages split.
func numbered(name string, i int) Action {
	a := push(fmt.Sprintf("%s-%d", name, i))
	a.Session, a.Story = name, strconv.Itoa(i)
	a.Excerpt = strings.Repeat("excerpt ", i*37%400)
	return a
}

// playReader reads until its stdin is closed. What it has seen once must stay.
func playReader(s *Store) error {
	stop := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(stop) }()
	for seen, reads := 0, 0; ; reads++ {
		select {
		case <-stop:
			fmt.Println("reads", reads)
			return nil
		default:
		}
		list, err := s.Actions(context.Background(), Filter{})
		if err != nil {
			return err
		}
		if len(list) < seen {
			return fmt.Errorf("saw %d actions after %d", len(list), seen)
		}
		seen = len(list)
		if !numbersRise(list) {
			return errors.New("two actions have one number")
		}
	}
}

func numbersRise(list []Action) bool {
	for i, a := range list {
		if i > 0 && a.Number <= list[i-1].Number {
			return false
		}
	}
	return true
}

// child is one process of the test binary.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	err   bytes.Buffer
}

func startChild(t testing.TB, role string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(t.Context(), exe), lines: make(chan string, 100_000)}
	c.cmd.Env = append(os.Environ(), childVar+"="+role, "GORACE=atexit_sleep_ms=0")
	c.cmd.Stderr = &c.err
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			c.lines <- in.Text()
		}
	}()
	if line := c.next(t); line != "ready" {
		t.Fatalf("the child says %q", line)
	}
	return c
}

// next is the child's next line; "" when it has ended.
func (c *child) next(t testing.TB) string {
	t.Helper()
	select {
	case line := <-c.lines:
		return line
	case <-time.After(time.Minute):
		t.Fatal("the child says nothing")
	}
	return ""
}

// rest is what the child still says, and how it ends.
func (c *child) rest(t *testing.T) ([]string, error) {
	t.Helper()
	var all []string
	for line := c.next(t); line != ""; line = c.next(t) {
		all = append(all, line)
	}
	return all, c.cmd.Wait()
}

// kill -9 in the middle of adding, again and again on the same file: what Add
// has said to be stored is there, once, and the file is whole.
func TestKilledWhileAdding(t *testing.T) {
	s := newStore(t)
	promised := map[string]string{} // tool_use_id -> number
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		c := startChild(t, fmt.Sprintf("add r%d 100000 %s", round, s.dir))
		lines := make([]string, 0, 64)
		for range rand.IntN(20) {
			lines = append(lines, c.next(t))
		}
		<-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond) // anywhere in the next Add
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		more, _ := c.rest(t)
		for _, line := range append(lines, more...) {
			number, id, ok := strings.Cut(line, " ")
			if ok {
				promised[id] = number
			}
		}
		checkPromised(t, s, promised, round+1)
	}
	t.Logf("%d actions over %d kills", len(promised), rounds)
}

// checkPromised checks that each promised action is there once. Each killed
// process may have stored one more, which it could not tell of.
func checkPromised(t *testing.T, s *Store, promised map[string]string, kills int) {
	t.Helper()
	list, err := s.Actions(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range list {
		if _, twice := got[a.ToolUseID]; twice {
			t.Errorf("%s is there twice", a.ToolUseID)
		}
		got[a.ToolUseID] = fmt.Sprint(a.Number)
	}
	for id, number := range promised {
		if got[id] != number {
			t.Errorf("%s was stored as #%s, is #%s", id, number, got[id])
		}
	}
	if extra := len(got) - len(promised); extra > kills {
		t.Errorf("%d actions that nobody added", extra)
	}
	verifyFile(t, s)
}

// The first write of all makes the file; a kill there must leave nothing that
// the next one takes for damage.
func TestKilledWhileMakingTheFile(t *testing.T) {
	for range 15 {
		s := newStore(t)
		c := startChild(t, fmt.Sprintf("add r 3 %s", s.dir))
		<-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond)
		_ = c.cmd.Process.Kill()
		lines, _ := c.rest(t)
		promised := map[string]string{}
		for _, line := range lines {
			number, id, _ := strings.Cut(line, " ")
			promised[id] = number
		}
		checkPromised(t, s, promised, 1)
		if _, created, err := s.Add(t.Context(), push("t1")); err != nil || !created {
			t.Fatalf("Add after the kill = %v, %v", created, err)
		}
		verifyFile(t, s)
	}
}

// Several processes write at once, some are killed, others read all the time:
// nobody is refused, nothing is lost, and of the numbers only the one is
// missing that a killed process had taken.
func TestManyProcesses(t *testing.T) {
	s := newStore(t)
	const writers, each = 4, 40
	var readers, adders []*child
	for range 3 {
		readers = append(readers, startChild(t, "read "+s.dir))
	}
	for i := range writers {
		adders = append(adders, startChild(t, fmt.Sprintf("add w%d %d %s", i, each, s.dir)))
	}
	victim := startChild(t, fmt.Sprintf("add victim 100000 %s", s.dir))
	victim.next(t)
	_ = victim.cmd.Process.Kill()
	spare, _ := victim.rest(t)
	for i, c := range adders {
		lines, err := c.rest(t)
		if err != nil || len(lines) != each {
			t.Errorf("writer %d stored %d, %v: %s", i, len(lines), err, c.err.String())
		}
	}
	for i, c := range readers {
		_ = c.in.Close()
		if lines, err := c.rest(t); err != nil {
			t.Errorf("reader %d: %v %v: %s", i, lines, err, c.err.String())
		}
	}
	list, err := s.Actions(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, a := range list {
		count[a.Session]++
	}
	if last := list[len(list)-1].Number; !numbersRise(list) || last > uint64(len(list)+1) {
		t.Errorf("%d actions have numbers up to %d", len(list), last)
	}
	for i := range writers {
		if got := count[fmt.Sprint("w", i)]; got != each {
			t.Errorf("writer %d: %d actions, want %d", i, got, each)
		}
	}
	if got := count["victim"]; got < len(spare)+1 || got > len(spare)+2 {
		t.Errorf("the killed writer: %d actions, it told of %d", got, len(spare)+1)
	}
	verifyFile(t, s)
}

// verifyFile checks the pages of the file and every index against the actions.
func verifyFile(t *testing.T, s *Store) {
	t.Helper()
	if empty, err := s.empty(); empty || err != nil {
		return
	}
	err := s.withDB(true, func(db *bolt.DB) error { return db.View(verifyTx) })
	if err != nil {
		t.Fatal(err)
	}
}

func verifyTx(tx *bolt.Tx) error {
	for err := range tx.Check() {
		return fmt.Errorf("page check: %w", err)
	}
	type entry struct {
		bucket string
		key    []byte
	}
	var want []entry
	actions := tx.Bucket([]byte(bucketActions))
	err := actions.ForEach(func(id, v []byte) error {
		a, err := decodeAction(string(v))
		if err != nil {
			return err
		}
		want = append(want, entry{bucketNumbers, numberKey(a.Number)}, entry{bucketBySession, append(textKey(a.Session, ""), numberKey(a.Number)...)})
		for _, e := range want[len(want)-2:] {
			if got := tx.Bucket([]byte(e.bucket)).Get(e.key); !bytes.Equal(got, id) {
				return fmt.Errorf("%s of #%d points to %x", e.bucket, a.Number, got)
			}
		}
		if call := callKey(a); call != nil && !bytes.Equal(tx.Bucket([]byte(bucketCalls)).Get(call), id) {
			return fmt.Errorf("the call of #%d points elsewhere", a.Number)
		}
		if on := tx.Bucket([]byte(bucketReplaying)).Get(id) != nil; on != (a.Status == Replaying) {
			return fmt.Errorf("#%d is %s, in the list of replays: %v", a.Number, a.Status, on)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range []string{bucketNumbers, bucketBySession, bucketCalls, bucketInputs} {
		n := 0
		err := tx.Bucket([]byte(name)).ForEach(func(_, id []byte) error {
			n++
			if actions.Get(id) == nil {
				return fmt.Errorf("%s points to %x, which is not there", name, id)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if slices.Contains([]string{bucketNumbers, bucketBySession}, name) && n != len(want)/2 {
			return fmt.Errorf("%s has %d entries for %d actions", name, n, len(want)/2)
		}
	}
	return nil
}

// filled is a queue of n actions of one session, of the size that a night
// gives them.
func filled(b testing.TB, n int) *Store {
	s := newStore(b)
	list := make([]Action, n)
	for i := range list {
		a := push(fmt.Sprintf("toolu_%024d", i))
		a.Session, a.Story = sessionA, strconv.Itoa(i%40)
		a.Command = fmt.Sprintf("curl -X POST https://example.com/api/v1/items/%d -d @body.json", i)
		a.Input = fmt.Appendf(nil, `{"command":%q,"description":"Post item %d to the staging API"}`, a.Command, i)
		a.Excerpt = a.Command
		a.Transcript, a.Line = "/home/ann/.local/state/loop/repo-1234/runs/x/3-1/transcript.jsonl", i
		a.GitHead, a.GitBranch = strings.Repeat("ab", 20), "main"
		if i%3 != 0 {
			a.Evidence = policy.Mentioned
		}
		list[i] = a
	}
	if err := s.PutSession(b.Context(), Session{ID: sessionA}); err != nil {
		b.Fatal(err)
	}
	if got, err := s.AddAll(b.Context(), list); err != nil || got != n {
		b.Fatal(got, err)
	}
	return s
}

func BenchmarkAdd(b *testing.B) {
	s := filled(b, 1000)
	for i := 0; b.Loop(); i++ {
		if _, _, err := s.Add(b.Context(), numbered("bench", i)); err != nil {
			b.Fatal(err)
		}
	}
}

// Four other processes add as fast as they can: how long does one wait?
// BenchmarkAddAmongOthers is one Add beside four processes that add without a
// pause.
func BenchmarkAddAmongOthers(b *testing.B) {
	s := filled(b, 1000)
	for i := range 4 {
		startChild(b, fmt.Sprintf("add other%d 1000000 %s", i, s.dir))
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		if _, _, err := s.Add(b.Context(), numbered("bench", i)); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	worst(b, took)
}

// BenchmarkSpoolOfEight is what a hook at the prompt does with a call that it
// holds back, in eight processes at the same moment: what is beside the start of
// the process.
func BenchmarkSpoolOfEight(b *testing.B) {
	s := filled(b, 1000)
	var others []*child
	for i := range 7 {
		others = append(others, startChild(b, fmt.Sprintf("burst other%d %s", i, s.dir)))
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		for _, c := range others {
			if _, err := c.in.Write([]byte("\n")); err != nil {
				b.Fatal(err)
			}
		}
		began := time.Now()
		if _, err := s.Spool(b.Context(), numbered("bench", i)); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		for _, c := range others {
			ns, err := strconv.ParseInt(c.next(b), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Duration(ns))
		}
	}
	worst(b, took)
}

// playBurst spools an action for each line on its stdin, and says how long that
// took.
func playBurst(s *Store, name string) error {
	in := bufio.NewScanner(os.Stdin)
	for i := 0; in.Scan(); i++ {
		began := time.Now()
		if _, err := s.Spool(context.Background(), numbered(name, i)); err != nil {
			return err
		}
		fmt.Println(time.Since(began).Nanoseconds())
	}
	return in.Err()
}

func worst(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "worst-ms")
}

func BenchmarkAddAll1000(b *testing.B) {
	for b.Loop() {
		filled(b, 1000)
	}
}

func BenchmarkGet(b *testing.B) {
	s := filled(b, 10_000)
	for b.Loop() {
		if _, err := s.Get(b.Context(), "5000"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot10000(b *testing.B) {
	s := filled(b, 10_000)
	for b.Loop() {
		if snap, err := s.Snapshot(b.Context(), ""); err != nil || len(snap.Actions) != 10_000 {
			b.Fatal(len(snap.Actions), err)
		}
	}
}
