package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

func TestGetByReference(t *testing.T) {
	s := newStore(t)
	ids := []string{
		"0192d3c4-0000-7000-8000-aaaaaaaaaaaa",
		"0192d3c4-0000-7000-8000-bbbbbbaaaaaa",
		"0192d3c4-0000-7000-8000-cccccc000123",
		"0192d3c4-0000-7000-8000-cccccc333333",
	}
	for i, id := range ids {
		a := push(fmt.Sprint("t", i))
		a.ID, a.Story = id, fmt.Sprint(i)
		mustAdd(t, s, a)
	}
	for ref, want := range map[string]uint64{
		"1": 1, "#2": 2, " 3 ": 3, ids[0]: 1, strings.ToUpper(ids[1]): 2,
		"bbbbaaaaaa": 2, "BBBBAAAAAA": 2, "8000-bbbbbbaaaaaa": 2, "333333": 4, "000123": 3,
	} {
		if a, err := s.Get(t.Context(), ref); err != nil || a.Number != want {
			t.Errorf("Get(%q) = #%d, %v; want #%d", ref, a.Number, err, want)
		}
	}
	for _, ref := range []string{"", "#", "5", "0", "01", "-1", "33333", "#333333", "zzzzzz", "0192d3", ids[0][:35], "99999999999999999999999"} {
		if a, err := s.Get(t.Context(), ref); !errors.Is(err, ErrNotFound) {
			t.Errorf("Get(%q) = #%d, %v; want ErrNotFound", ref, a.Number, err)
		}
	}
	_, err := s.Get(t.Context(), "aaaaaa")
	var e *AmbiguousError
	if !errors.As(err, &e) || !errors.Is(err, ErrAmbiguous) {
		t.Fatalf("Get(aaaaaa): %v, want an AmbiguousError", err)
	}
	if d := cmp.Diff([]string{"#1 " + ids[0], "#2 " + ids[1]}, e.Candidates); d != "" {
		t.Errorf("candidates:\n%s", d)
	}
}

// A number of six digits may be the end of another action's id.
func TestNumberThatIsAlsoASuffixIsAmbiguous(t *testing.T) {
	s := newStore(t)
	a := push("t1")
	a.ID, a.Story = "0192d3c4-0000-7000-8000-cccccc100001", "1"
	mustAdd(t, s, a)
	inFile(t, s, func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucketActions)).SetSequence(100_000) })
	mustAdd(t, s, push("t2"))
	if a, err := s.Get(t.Context(), "100001"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("Get = #%d, %v; want ErrAmbiguous", a.Number, err)
	}
	if a, err := s.Get(t.Context(), "#100001"); err != nil || a.Number != 100_001 {
		t.Errorf("Get = #%d, %v", a.Number, err)
	}
}

func TestFilter(t *testing.T) {
	s := newStore(t)
	for i, e := range []policy.Evidence{policy.Blocked, policy.Executed, policy.Mentioned, policy.Written} {
		a := push(fmt.Sprint("t", i))
		a.Evidence, a.Story, a.Session = e, fmt.Sprint(i%2), fmt.Sprint("s", i/2)
		mustAdd(t, s, a)
	}
	if _, err := s.Decide(t.Context(), "2", Decision{Verb: Reject}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    Filter
		want []uint64
	}{
		{Filter{}, []uint64{1, 2, 3, 4}},
		{Filter{Session: "s1"}, []uint64{3, 4}},
		{Filter{Session: "s"}, nil},
		{Filter{Story: "1"}, []uint64{2, 4}},
		{Filter{Status: []Status{Rejected, Failed}}, []uint64{2}},
		{Filter{Evidence: []policy.Evidence{policy.Blocked, policy.Written}}, []uint64{1, 4}},
		{Filter{Session: "s0", Status: []Status{Pending}}, []uint64{1}},
	} {
		list, err := s.Actions(t.Context(), c.f)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, a := range list {
			got = append(got, a.Number)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%+v:\n%s", c.f, d)
		}
	}
}

// Every status against every step: what is not listed is refused and changes
// nothing.
func TestSteps(t *testing.T) {
	approve := func(s *Store) error { return second(s.Decide(t.Context(), "1", Decision{Verb: Approve})) }
	reject := func(s *Store) error { return second(s.Decide(t.Context(), "1", Decision{Verb: Reject})) }
	begin := func(s *Store) error { return second(s.BeginReplay(t.Context(), "1", nil, Decision{}, false)) }
	again := func(s *Store) error { return second(s.BeginReplay(t.Context(), "1", nil, Decision{}, true)) }
	end := func(s *Store) error { return second(s.EndReplay(t.Context(), "1", Replay{})) }
	fail := func(s *Store) error { return second(s.EndReplay(t.Context(), "1", Replay{ExitCode: 1})) }
	die := func(s *Store) error {
		s.o.Alive = func(Owner) bool { return false }
		_, err := s.RecoverReplays(t.Context())
		return err
	}
	steps := []struct {
		name string
		do   func(*Store) error
		to   map[Status]Status
	}{
		{"approve", approve, map[Status]Status{Pending: Approved}},
		{"reject", reject, map[Status]Status{Pending: Rejected, Approved: Rejected, Failed: Rejected, Unknown: Rejected}},
		{"begin", begin, map[Status]Status{Pending: Replaying, Approved: Replaying}},
		{"begin again", again, map[Status]Status{Pending: Replaying, Approved: Replaying, Failed: Replaying, Unknown: Replaying}},
		{"end", end, map[Status]Status{Replaying: Replayed, Unknown: Replayed}},
		{"end in failure", fail, map[Status]Status{Replaying: Failed, Unknown: Failed}},
	}
	ways := map[Status][]func(*Store) error{
		Pending: nil, Approved: {approve}, Replaying: {begin}, Replayed: {begin, end}, Failed: {begin, fail},
		Unknown: {begin, die}, Rejected: {reject},
	}
	for from, way := range ways {
		for _, step := range steps {
			s := newStore(t)
			mustAdd(t, s, push("t1"))
			for _, f := range way {
				if err := f(s); err != nil {
					t.Fatalf("way to %s: %v", from, err)
				}
			}
			before, err := s.Get(t.Context(), "1")
			if err != nil || before.Status != from {
				t.Fatalf("way to %s led to %s, %v", from, before.Status, err)
			}
			err = step.do(s)
			verifyFile(t, s)
			after, _ := s.Get(t.Context(), "1")
			want, allowed := step.to[from]
			switch {
			case allowed && (err != nil || after.Status != want):
				t.Errorf("%s from %s: %s, %v; want %s", step.name, from, after.Status, err, want)
			case !allowed && (!errors.Is(err, ErrStatus) || cmp.Diff(before, after) != ""):
				t.Errorf("%s from %s: %v, want ErrStatus and no change\n%s", step.name, from, err, cmp.Diff(before, after))
			}
		}
	}
}

func TestBeginReplayByEvidence(t *testing.T) {
	for _, c := range []struct {
		evidence policy.Evidence
		again    bool
		want     error
	}{
		{policy.Blocked, false, nil},
		{policy.Executed, false, ErrExecuted},
		{policy.Executed, true, nil},
		{policy.Mentioned, true, ErrMention},
		{policy.Written, true, ErrWritten},
	} {
		s := newStore(t)
		a := push("t1")
		a.Evidence = c.evidence
		mustAdd(t, s, a)
		if _, err := s.BeginReplay(t.Context(), "1", nil, Decision{}, c.again); !errors.Is(err, c.want) {
			t.Errorf("%s, again %v: %v, want %v", c.evidence, c.again, err, c.want)
		}
	}
}

func TestReplayRecord(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	a, err := s.BeginReplay(t.Context(), "1", nil, Decision{Who: "ann"}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []Decision{{Verb: Approve, Who: "ann", When: testTime}}
	if d := cmp.Diff(want, a.Decisions); d != "" || a.Owner.Pid != s.o.Self.Pid || a.Replay.Started != testTime {
		t.Errorf("begun: owner %v, replay %v\n%s", a.Owner, a.Replay, d)
	}
	if _, err := s.EndReplay(t.Context(), a.ID, Replay{ExitCode: 1, Output: "no network"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.BeginReplay(t.Context(), a.ID, nil, Decision{Who: "ann"}, true); err != nil {
		t.Fatal(err)
	}
	a, err = s.EndReplay(t.Context(), a.ID, Replay{Output: "pushed"})
	if err != nil || a.Status != Replayed || a.Owner != nil || a.Replay.Output != "pushed" {
		t.Errorf("ended: %+v, %v", a, err)
	}
	if len(a.Earlier) != 1 || a.Earlier[0].Output != "no network" {
		t.Errorf("earlier replays: %v", a.Earlier)
	}
}

func TestRecoverReplaysLeavesTheLivingAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	as := func(o Owner) *Store {
		opt := testOptions()
		opt.Self = o
		opt.Alive = func(o Owner) bool { return o.Boot == "now" && o.Pid == 1 }
		s, err := Open(dir, opt)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	living, dead, rebooted := as(Owner{1, "5", "now"}), as(Owner{2, "5", "now"}), as(Owner{1, "5", "before"})
	for i, s := range []*Store{living, dead, rebooted} {
		a := push(fmt.Sprint("t", i))
		a.Story = fmt.Sprint(i)
		if _, err := s.BeginReplay(t.Context(), mustAdd(t, s, a).ID, nil, Decision{}, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{2, 0} {
		if n, err := living.RecoverReplays(t.Context()); n != want || err != nil {
			t.Errorf("RecoverReplays = %d, %v; want %d", n, err, want)
		}
	}
	for ref, want := range map[string]Status{"1": Replaying, "2": Unknown, "3": Unknown} {
		if a, err := living.Get(t.Context(), ref); err != nil || a.Status != want {
			t.Errorf("#%s is %s, %v; want %s", ref, a.Status, err, want)
		}
	}
	if _, err := living.EndReplay(t.Context(), "2", Replay{}); !errors.Is(err, ErrStatus) {
		t.Errorf("another process ended it: %v", err)
	}
	if a, err := dead.EndReplay(t.Context(), "2", Replay{}); err != nil || a.Status != Replayed {
		t.Errorf("given up too early, ended by its own process: %s, %v", a.Status, err)
	}
}

// Without more knowledge of processes, the pid alone decides.
func TestPidAlive(t *testing.T) {
	if !pidAlive(Owner{Pid: os.Getpid()}) {
		t.Error("this process counts as dead")
	}
	c := startChild(t, "read "+t.TempDir())
	pid := c.cmd.Process.Pid
	if !pidAlive(Owner{Pid: pid}) {
		t.Error("a running child counts as dead")
	}
	_ = c.in.Close()
	if _, err := c.rest(t); err != nil {
		t.Fatal(err)
	}
	if pidAlive(Owner{Pid: pid}) {
		t.Error("a child that has ended counts as alive")
	}
}

// A replay whose process is gone is known as such before anybody writes it.
func TestAsFound(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	begun, err := s.BeginReplay(t.Context(), "1", nil, Decision{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, alive := range []bool{true, false} {
		s.o.Alive = func(Owner) bool { return alive }
		want := Replaying
		if !alive {
			want = Unknown
		}
		if got := s.AsFound(begun); got.Status != want || alive != (got.Replay.Error == "") {
			t.Errorf("alive %v: %s, %+v", alive, got.Status, got.Replay)
		}
	}
	if begun.Replay.Error != "" {
		t.Error("the action itself was changed")
	}
}

// What was printed until then is kept when the process is gone.
func TestOutputOfADeadReplay(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	if err := s.NoteOutput(t.Context(), "1", "too early", false); !errors.Is(err, ErrStatus) {
		t.Errorf("of one that is not replayed: %v", err)
	}
	if _, err := s.BeginReplay(t.Context(), "1", nil, Decision{}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.NoteOutput(t.Context(), "1", "half", true); err != nil {
		t.Fatal(err)
	}
	s.o.Alive = func(Owner) bool { return false }
	if n, err := s.RecoverReplays(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if a, err := s.Get(t.Context(), "1"); err != nil || a.Status != Unknown || a.Replay.Output != "half" || !a.Replay.Cut {
		t.Errorf("%s, %+v, %v", a.Status, a.Replay, err)
	}
}
