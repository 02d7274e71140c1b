package queue

import (
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// The buckets. The package comment says what they hold.
const (
	bucketActions   = "deferred_actions"
	bucketNumbers   = "action_numbers"
	bucketAlso      = "action_also"
	bucketBySession = "action_sessions"
	bucketCalls     = "action_calls"
	bucketInputs    = "action_inputs"
	bucketReplaying = "action_replaying"
	bucketSessions  = "sessions"
	bucketAttempts  = "attempts"
	bucketOpen      = "attempts_open"
	bucketFindings  = "findings"
	bucketStories   = "stories"
	bucketMeta      = "meta"
)

const keySchema = "schema"

// A migration brings a queue from the schema before it to its own.
type migration struct {
	to   uint64
	what string
	do   func(*bolt.Tx) error
}

// migrations is the way from an empty file to Schema, one step for each
// number.
func migrations() []migration {
	return []migration{
		{1, "make the buckets", makeBuckets(
			bucketActions, bucketNumbers, bucketBySession, bucketCalls, bucketInputs, bucketReplaying,
			bucketSessions, bucketAttempts, bucketOpen, bucketFindings, bucketStories,
		)},
	}
}

func makeBuckets(names ...string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		for _, n := range names {
			if _, err := tx.CreateBucketIfNotExists([]byte(n)); err != nil {
				return fmt.Errorf("bucket %s: %w", n, err)
			}
		}
		return nil
	}
}

// schemaOf reads the schema of a queue: 0 for one in which nothing was ever
// stored. A bbolt file of another program is an error.
func schemaOf(tx *bolt.Tx, path string) (uint64, error) {
	meta := tx.Bucket([]byte(bucketMeta))
	if meta == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return 0, &CorruptError{Path: path, Err: fmt.Errorf("a bbolt file of another program, with a bucket %q", name)}
		}
		return 0, nil
	}
	v := meta.Get([]byte(keySchema))
	if len(v) != 8 {
		return 0, &CorruptError{Path: path, Err: errors.New("no schema number")}
	}
	return binary.BigEndian.Uint64(v), nil
}

// migrate runs the steps that the queue has not had yet, within the caller's
// transaction: all of them, or none.
func migrate(tx *bolt.Tx, path string) error {
	return runMigrations(tx, path, migrations())
}

func runMigrations(tx *bolt.Tx, path string, steps []migration) error {
	have, err := schemaOf(tx, path)
	if err != nil {
		return err
	}
	want := uint64(len(steps))
	if have == want {
		return nil
	}
	if have > want {
		return &SchemaError{Path: path, Have: have, Want: want}
	}
	for _, m := range steps[have:] {
		if err := m.do(tx); err != nil {
			return fmt.Errorf("queue %q: schema %d (%s): %w", path, m.to, m.what, err)
		}
	}
	meta, err := tx.CreateBucketIfNotExists([]byte(bucketMeta))
	if err != nil {
		return err
	}
	return meta.Put([]byte(keySchema), numberKey(want))
}
