package queue

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// The first screen of a view: what ran before what did not, each in order, and
// whether there is more.
func TestFirst(t *testing.T) {
	s := newStore(t)
	for i, e := range []policy.Evidence{policy.Blocked, policy.Executed, policy.Mentioned, policy.Blocked, policy.Executed, policy.Written, ""} {
		a := push(fmt.Sprint("t", i))
		a.Evidence, a.Command, a.Rules = e, fmt.Sprint("git push ", i), []string{fmt.Sprint("rule-", i)}
		a.Input = []byte(`{"command":"x","status":"pending","evidence":"executed"}`)
		mustAdd(t, s, a)
	}
	if _, err := s.Decide(t.Context(), "4", Decision{Verb: Reject}); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int][]uint64{10: {2, 5, 1, 6, 7}, 5: {2, 5, 1, 6, 7}, 4: {2, 5, 1, 6}, 2: {2, 5}, 1: {2}} {
		list, more, err := s.First(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint64, 0, len(list))
		for _, a := range list {
			got = append(got, a.Number)
		}
		if d := cmp.Diff(want, got); d != "" || more != (n < 5) {
			t.Errorf("the first %d: more %v\n%s", n, more, d)
		}
	}
}

// Ids that people or other programs gave are in no order: each is found all the
// same, and one that is missing hides no other.
func TestActionsWhoseIDsAreInNoOrder(t *testing.T) {
	s := newStore(t)
	for i, last := range []string{"5", "2", "9", "1", "3", "8"} {
		a := push(fmt.Sprint("t", i))
		a.ID, a.Command, a.Evidence = "0192d3c4-0000-7000-8000-00000000000"+last, "git push "+last, policy.Executed
		mustAdd(t, s, a)
	}
	check := func(want ...string) {
		t.Helper()
		for _, f := range []Filter{{}, {Session: "s1"}} {
			list, err := s.Actions(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range list {
				got = append(got, a.ID[35:])
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%+v:\n%s", f, d)
			}
		}
	}
	check("5", "2", "9", "1", "3", "8")
	err := s.update(t.Context(), func(tx *bolt.Tx) error {
		key, err := idKey("0192d3c4-0000-7000-8000-000000000009")
		if err != nil {
			return err
		}
		return tx.Bucket([]byte(bucketActions)).Delete(key)
	})
	if err != nil {
		t.Fatal(err)
	}
	check("5", "2", "1", "3", "8")
}
