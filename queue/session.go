package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// PutSession stores a session under its id, a UUID, in place of what was there.
func (s *Store) PutSession(ctx context.Context, v Session) error {
	v.Schema = Schema
	key, err := idKey(v.ID)
	if err != nil {
		return fmt.Errorf("put session: %w", err)
	}
	return put(ctx, s, "session", bucketSessions, key, v)
}

// Session finds a session by its id, or by a unique beginning or end of it of
// at least six hex digits.
func (s *Store) Session(ctx context.Context, ref string) (Session, error) {
	var raw []byte
	found := ErrNotFound
	err := s.view(ctx, func(tx *bolt.Tx) error {
		var key []byte
		if key, found = resolveSession(tx, ref); found == nil {
			raw = bytes.Clone(tx.Bucket([]byte(bucketSessions)).Get(key))
		}
		return nil
	})
	if err == nil && found != nil {
		err = fmt.Errorf("session %q: %w", ref, found)
	}
	return decodeOne[Session]("session", raw, err)
}

func resolveSession(tx *bolt.Tx, ref string) ([]byte, error) {
	b := tx.Bucket([]byte(bucketSessions))
	if key, err := idKey(ref); err == nil {
		if b.Get(key) == nil {
			return nil, ErrNotFound
		}
		return key, nil
	}
	keys := matchIDs(b, ref, func(id, ref string) bool {
		return strings.HasPrefix(id, ref) || strings.HasSuffix(id, ref)
	})
	switch len(keys) {
	case 0:
		return nil, ErrNotFound
	case 1:
		return keys[0], nil
	}
	e := &AmbiguousError{Ref: ref}
	for _, k := range keys {
		e.Candidates = append(e.Candidates, idText(k))
	}
	return nil, e
}

// Sessions lists all sessions, newest last.
func (s *Store) Sessions(ctx context.Context) ([]Session, error) {
	var raw [][]byte
	err := s.view(ctx, func(tx *bolt.Tx) error {
		raw = rawPrefix(tx, bucketSessions, nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return decodeAll[Session]("session", raw)
}

// LastSession is the newest session; ErrNotFound when there is none.
func (s *Store) LastSession(ctx context.Context) (Session, error) {
	var raw []byte
	err := s.view(ctx, func(tx *bolt.Tx) error {
		_, v := tx.Bucket([]byte(bucketSessions)).Cursor().Last()
		raw = bytes.Clone(v)
		return nil
	})
	if err == nil && raw == nil {
		err = fmt.Errorf("last session: %w", ErrNotFound)
	}
	return decodeOne[Session]("session", raw, err)
}

// PutAttempt stores an attempt under its session and id, in place of what was
// there.
func (s *Store) PutAttempt(ctx context.Context, v Attempt) error {
	return s.putAttempt(ctx, v, func(*bolt.Tx) error { return nil })
}

// PutEnd stores an attempt together with what it makes known of its story.
func (s *Store) PutEnd(ctx context.Context, v Attempt, story StoryState) error {
	story.Schema = Schema
	b, err := encode(story)
	if err != nil {
		return fmt.Errorf("put story: %w", err)
	}
	return s.putAttempt(ctx, v, func(tx *bolt.Tx) error {
		return replace(tx.Bucket([]byte(bucketStories)), textKey(story.File, story.Story), b, reencode[StoryState])
	})
}

func (s *Store) putAttempt(ctx context.Context, v Attempt, also func(*bolt.Tx) error) error {
	v.Schema = Schema
	key, err := attemptKey(v)
	if err != nil {
		return fmt.Errorf("put attempt: %w", err)
	}
	b, err := encode(v)
	if err != nil {
		return fmt.Errorf("put attempt: %w", err)
	}
	err = s.update(ctx, func(tx *bolt.Tx) error {
		open := tx.Bucket([]byte(bucketOpen))
		mark := open.Delete
		if v.Ended.IsZero() {
			mark = func(k []byte) error { return open.Put(k, nil) }
		}
		return errors.Join(mark(key), replace(tx.Bucket([]byte(bucketAttempts)), key, b, reencode[Attempt]), also(tx))
	})
	if err != nil {
		return fmt.Errorf("put attempt: %w", err)
	}
	return nil
}

// Scope names an attempt in receipts and in the audit trail.
func (a Attempt) Scope() string {
	// A story's id may be anything: no ".." of it leads to another session.
	return fmt.Sprintf("%s/%s-%d", a.Session, a.Story, a.Number)
}

func attemptKey(v Attempt) ([]byte, error) {
	session, err := idKey(v.Session)
	if err != nil {
		return nil, err
	}
	id, err := idKey(v.ID)
	return append(session, id...), err
}

// Attempts lists the attempts of a session, given by its full id, oldest first.
func (s *Store) Attempts(ctx context.Context, session string) ([]Attempt, error) {
	key, err := idKey(session)
	if err != nil {
		return nil, fmt.Errorf("attempts: %w", err)
	}
	var raw [][]byte
	err = s.view(ctx, func(tx *bolt.Tx) error {
		raw = rawPrefix(tx, bucketAttempts, key)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return decodeAll[Attempt]("attempt", raw)
}

// OpenAttempts lists the attempts of any session that have no end record.
func (s *Store) OpenAttempts(ctx context.Context) ([]Attempt, error) {
	var raw [][]byte
	err := s.view(ctx, func(tx *bolt.Tx) error {
		raw = nil
		attempts := tx.Bucket([]byte(bucketAttempts))
		c := tx.Bucket([]byte(bucketOpen)).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			raw = append(raw, bytes.Clone(attempts.Get(k)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return decodeAll[Attempt]("attempt", raw)
}

// put writes one value.
func put[T any](ctx context.Context, s *Store, what, bucket string, key []byte, v T) error {
	b, err := encode(v)
	if err != nil {
		return fmt.Errorf("put %s: %w", what, err)
	}
	err = s.update(ctx, func(tx *bolt.Tx) error { return replace(tx.Bucket([]byte(bucket)), key, b, reencode[T]) })
	if err != nil {
		return fmt.Errorf("put %s: %w", what, err)
	}
	return nil
}

// rawPrefix copies the values of the keys that begin with prefix, in their
// order.
func rawPrefix(tx *bolt.Tx, bucket string, prefix []byte) [][]byte {
	var raw [][]byte
	c := tx.Bucket([]byte(bucket)).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		raw = append(raw, bytes.Clone(v))
	}
	return raw
}

func decodeOne[T any](what string, raw []byte, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("damaged %s: %w", what, err)
	}
	return v, nil
}
