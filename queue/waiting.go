package queue

import (
	"bytes"
	"context"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// WaitingElsewhere counts the pending actions of other sessions than the given
// ones, mentions left out.
func (s *Store) WaitingElsewhere(ctx context.Context, sessions ...string) (n int, err error) {
	told := make([][]byte, len(sessions))
	for i, id := range sessions {
		told[i] = textKey(id, "")
	}
	own := func(key []byte) bool {
		return slices.ContainsFunc(told, func(prefix []byte) bool { return bytes.HasPrefix(key, prefix) })
	}
	err = s.view(ctx, func(tx *bolt.Tx) error {
		n = 0
		actions := newFinger(tx.Bucket([]byte(bucketActions)))
		return tx.Bucket([]byte(bucketBySession)).ForEach(func(k, id []byte) error {
			if own(k) {
				return nil
			}
			return countWaiting(actions.get(id), &n)
		})
	})
	return n, err
}

// Overview is one session in a list of all.
type Overview struct {
	Session  Session
	Attempts []Attempt
	Waiting  int // its pending actions, mentions left out
}

// Overviews are all sessions, newest last, as they were at one instant.
func (s *Store) Overviews(ctx context.Context) ([]Overview, error) {
	var sessions [][]byte
	var attempts [][][]byte
	var waiting []int
	err := s.view(ctx, func(tx *bolt.Tx) error {
		sessions, attempts, waiting = nil, nil, nil
		return tx.Bucket([]byte(bucketSessions)).ForEach(func(k, v []byte) error {
			n := 0
			if err := eachAction(tx, idText(k), func(b []byte) error { return countWaiting(b, &n) }); err != nil {
				return err
			}
			sessions = append(sessions, bytes.Clone(v))
			attempts = append(attempts, rawPrefix(tx, bucketAttempts, k))
			waiting = append(waiting, n)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	out := make([]Overview, len(sessions))
	for i := range out {
		o := &out[i]
		o.Waiting = waiting[i]
		if o.Session, err = decodeOne[Session]("session", sessions[i], nil); err != nil {
			return nil, err
		}
		if o.Attempts, err = decodeAll[Attempt]("attempt", attempts[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// countWaiting counts a stored action that waits for a person. Where its bytes say
// so without doubt it is not decoded.
func countWaiting(b []byte, n *int) error {
	if b == nil {
		return nil
	}
	waits := mayHold(b, "status", []Status{Pending}) && !bytes.Contains(b, []byte(`"evidence":"mentioned"`))
	if !once(b, "status") || !once(b, "evidence") {
		a, err := decodeAction(string(b))
		if err != nil {
			return err
		}
		waits = a.Status == Pending && a.Evidence != policy.Mentioned
	}
	if waits {
		*n++
	}
	return nil
}

// once: a member of this name stands in the record a single time, and so is the
// record's own; what a tool was given is in it too, and may have any members.
func once(b []byte, key string) bool {
	return bytes.Count(b, []byte(`"`+key+`":`)) == 1
}
