package queue

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

func TestAuditTrail(t *testing.T) {
	s := newStore(t)
	next := func(text string) func(uint64, []byte) ([]byte, error) {
		return func(n uint64, last []byte) ([]byte, error) {
			return fmt.Appendf(nil, "%d %s after %q", n, text, last), nil
		}
	}
	if got, err := s.Audit(t.Context(), "s"); err != nil || got.Records != nil || got.Checkpoints != nil {
		t.Fatalf("before anything: %+v, %v", got, err)
	}
	if got, err := s.Issued(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("before anything: %v, %v", got, err)
	}
	if _, _, err := s.FindReceipt(t.Context(), "r1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("before anything: %v", err)
	}
	for _, step := range []struct{ session, receipt, text string }{{"s", "", "a"}, {"s", "r1", "b"}, {"other", "r1", "c"}, {"s", "", "d"}} {
		if err := s.AppendAudit(t.Context(), step.session, step.receipt, next(step.text)); err != nil {
			t.Fatal(err)
		}
	}
	err := s.AddCheckpoint(t.Context(), "s", func(records [][]byte) ([]byte, error) { return fmt.Appendf(nil, "signed %d", len(records)), nil })
	if err != nil {
		t.Fatal(err)
	}
	a, b := `0 a after ""`, `1 b after "0 a after \"\""`
	want := AuditTrail{
		Session: "s", Records: [][]byte{[]byte(a), []byte(b), fmt.Appendf(nil, "2 d after %q", b)},
		Checkpoints: [][]byte{[]byte("signed 3")},
	}
	got, err := s.Audit(t.Context(), "s")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := s.Issued(t.Context()); err != nil || !maps.Equal(got, map[string]bool{"r1": true}) {
		t.Errorf("%v, %v", got, err)
	}
	if session, record, err := s.FindReceipt(t.Context(), "r1"); session != "s" || string(record) != b || err != nil {
		t.Errorf("%q %q %v", session, record, err)
	}
}

// What cannot be made or signed leaves the trail as it was.
func TestAuditTrailKeepsNothingHalf(t *testing.T) {
	s := newStore(t)
	bad := errors.New("no")
	if err := s.AppendAudit(t.Context(), "s", "r", func(uint64, []byte) ([]byte, error) { return nil, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if err := s.AddCheckpoint(t.Context(), "s", func([][]byte) ([]byte, error) { return nil, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if got, err := s.Audit(t.Context(), "s"); err != nil || len(got.Records)+len(got.Checkpoints) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := s.AppendAudit(t.Context(), "", "", func(uint64, []byte) ([]byte, error) { return []byte("x"), nil }); err == nil {
		t.Error("a record of no session was taken")
	}
}

// Many writers make one chain.
func TestAuditTrailOfManyWriters(t *testing.T) {
	s := newStore(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				if err := s.AppendAudit(t.Context(), "s", "", func(n uint64, _ []byte) ([]byte, error) { return fmt.Append(nil, n), nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := s.Audit(t.Context(), "s")
	if err != nil || len(got.Records) != 20 {
		t.Fatalf("%d records, %v", len(got.Records), err)
	}
	for i, r := range got.Records {
		if string(r) != fmt.Sprint(i) {
			t.Errorf("record %d is %q", i, r)
		}
	}
}

// A receipt whose record was removed was issued: that is no "not found".
func TestFindReceiptWhoseRecordIsGone(t *testing.T) {
	s := newStore(t)
	if err := s.AppendAudit(t.Context(), "s", "r1", func(uint64, []byte) ([]byte, error) { return []byte("x"), nil }); err != nil {
		t.Fatal(err)
	}
	err := s.update(t.Context(), func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketAudit)).Bucket([]byte("s")).Delete(numberKey(0))
	})
	if err != nil {
		t.Fatal(err)
	}
	session, record, err := s.FindReceipt(t.Context(), "r1")
	if err == nil || errors.Is(err, ErrNotFound) || session != "s" || record != nil || !strings.Contains(err.Error(), "record 0 of session s is gone") {
		t.Errorf("%q %q %v", session, record, err)
	}
}
