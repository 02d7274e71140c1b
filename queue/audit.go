package queue

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// The buckets of the audit trail: below each, a session's records by their
// number, and the session's signed checkpoints by theirs. They are made by the
// first record.
const (
	bucketAudit       = "audit"
	bucketCheckpoints = "audit_checkpoints"
	bucketReceipts    = "audit_receipts" // receipt -> session and number of its record
)

// AuditTrail is what is kept of one session: records as they were appended, a
// line each, and signed states of them. The queue does not look into either.
type AuditTrail struct {
	Session     string
	Records     [][]byte
	Checkpoints [][]byte
}

// AppendAudit adds one record to a session's trail. next makes it, from how
// many there are and what the last one is: decisions are added by other
// processes while a run goes on. receipt, when not "", finds the record again.
func (s *Store) AppendAudit(ctx context.Context, session, receipt string, next func(n uint64, last []byte) ([]byte, error)) error {
	err := s.update(ctx, func(tx *bolt.Tx) error { return appendAudit(tx, session, receipt, next) })
	if err != nil {
		return fmt.Errorf("append to the audit trail: %w", err)
	}
	return nil
}

func appendAudit(tx *bolt.Tx, session, receipt string, next func(n uint64, last []byte) ([]byte, error)) error {
	b, err := sessionBucket(tx, bucketAudit, session)
	if err != nil {
		return err
	}
	n := uint64(0)
	key, last := b.Cursor().Last()
	if key != nil {
		n = binary.BigEndian.Uint64(key) + 1
	}
	record, err := next(n, bytes.Clone(last))
	if err != nil {
		return err
	}
	if receipt != "" {
		index, err := tx.CreateBucketIfNotExists([]byte(bucketReceipts))
		if err != nil {
			return err
		}
		// The first one stays: in zc-v1 two calls can share a token.
		if index.Get([]byte(receipt)) == nil {
			if err := index.Put([]byte(receipt), append(numberKey(n), session...)); err != nil {
				return err
			}
		}
	}
	return b.Put(numberKey(n), record)
}

// AddCheckpoint keeps a signed state of a session's trail. sign makes it from
// the records.
func (s *Store) AddCheckpoint(ctx context.Context, session string, sign func(records [][]byte) ([]byte, error)) error {
	err := s.update(ctx, func(tx *bolt.Tx) error {
		b, err := sessionBucket(tx, bucketCheckpoints, session)
		if err != nil {
			return err
		}
		signed, err := sign(trail(tx, bucketAudit, session))
		if err != nil {
			return err
		}
		n, err := b.NextSequence()
		if err != nil {
			return err
		}
		return b.Put(numberKey(n), signed)
	})
	if err != nil {
		return fmt.Errorf("keep a checkpoint of the audit trail: %w", err)
	}
	return nil
}

// Audit is the trail of a session, given by its full id.
func (s *Store) Audit(ctx context.Context, session string) (AuditTrail, error) {
	t := AuditTrail{Session: session}
	err := s.view(ctx, func(tx *bolt.Tx) error {
		t.Records = trail(tx, bucketAudit, session)
		t.Checkpoints = trail(tx, bucketCheckpoints, session)
		return nil
	})
	return t, err
}

// FindReceipt gives the session in which a receipt was issued, and its record;
// ErrNotFound when it was issued in none. A receipt whose record is gone is
// another error: it was issued, and somebody removed the record.
func (s *Store) FindReceipt(ctx context.Context, receipt string) (session string, record []byte, err error) {
	found := false
	err = s.view(ctx, func(tx *bolt.Tx) error {
		session, record, found = "", nil, false
		index := tx.Bucket([]byte(bucketReceipts))
		if index == nil {
			return nil
		}
		at := index.Get([]byte(receipt))
		if len(at) < 8 {
			return nil
		}
		session, found = string(at[8:]), true
		if all := tx.Bucket([]byte(bucketAudit)); all != nil {
			if b := all.Bucket([]byte(session)); b != nil {
				record = bytes.Clone(b.Get(at[:8]))
			}
		}
		if record == nil {
			return fmt.Errorf("receipt %q: record %d of session %s is gone from the audit trail", receipt, binary.BigEndian.Uint64(at), session)
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("receipt %q: %w", receipt, ErrNotFound)
	}
	return session, record, err
}

// Issued gives every receipt that was issued in this repository.
func (s *Store) Issued(ctx context.Context) (map[string]bool, error) {
	issued := map[string]bool{}
	err := s.view(ctx, func(tx *bolt.Tx) error {
		clear(issued)
		index := tx.Bucket([]byte(bucketReceipts))
		if index == nil {
			return nil
		}
		return index.ForEach(func(receipt, _ []byte) error {
			issued[string(receipt)] = true
			return nil
		})
	})
	return issued, err
}

func sessionBucket(tx *bolt.Tx, bucket, session string) (*bolt.Bucket, error) {
	if session == "" {
		return nil, errors.New("no session")
	}
	b, err := tx.CreateBucketIfNotExists([]byte(bucket))
	if err != nil {
		return nil, err
	}
	return b.CreateBucketIfNotExists([]byte(session))
}

// trail copies the values below a session, in their order.
func trail(tx *bolt.Tx, bucket, session string) (out [][]byte) {
	all := tx.Bucket([]byte(bucket))
	if all == nil {
		return nil
	}
	b := all.Bucket([]byte(session))
	if b == nil {
		return nil
	}
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		out = append(out, bytes.Clone(v))
	}
	return out
}
