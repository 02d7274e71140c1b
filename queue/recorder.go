package queue

import (
	"context"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Recorder makes the audit record of what a person does with an action. It is
// asked in the transaction in which that is done, so that neither is there
// without the other, and records stand in the order of what they are about.
type Recorder struct {
	// Record makes the record of what was done last with an action, from how many
	// the session's trail has and what the last one is. scope is that of the
	// action's attempt, or the session's id.
	Record func(a Action, scope string, n uint64, last []byte) ([]byte, error)
	// Failed is told of what is not in the trail. The decision stands.
	Failed func(a Action, err error)
}

// act is change for what belongs into the audit trail. What changes nothing has
// no record.
func (s *Store) act(ctx context.Context, ref string, fn func(*bolt.Tx, *Action) error) (Action, error) {
	var missing error
	a, err := s.change(ctx, ref, func(tx *bolt.Tx, a *Action) error {
		status, decisions := a.Status, len(a.Decisions)
		if err := fn(tx, a); err != nil {
			return err
		}
		if missing = nil; a.Status != status || len(a.Decisions) != decisions {
			missing = s.record(tx, *a)
		}
		return nil
	})
	if err == nil && missing != nil && s.o.Audit.Failed != nil {
		s.o.Audit.Failed(a, missing)
	}
	return a, err
}

// record appends to the trail of the action's session, if that has one.
func (s *Store) record(tx *bolt.Tx, a Action) error {
	if s.o.Audit == nil || s.o.Audit.Record == nil {
		return nil
	}
	key, err := idKey(a.Session)
	if err != nil {
		return nil //nolint:nilerr // from a scan, which has no trail
	}
	raw := tx.Bucket([]byte(bucketSessions)).Get(key)
	if raw == nil {
		return nil
	}
	var session Session
	if err := json.Unmarshal(raw, &session); err != nil {
		return fmt.Errorf("damaged session: %w", err)
	}
	if session.AuditKey == "" {
		return nil
	}
	return appendAudit(tx, session.ID, "", func(n uint64, last []byte) ([]byte, error) {
		return s.o.Audit.Record(a, scopeIn(tx, a), n, last)
	})
}

// scopeIn is how the audit trail names where an action came from.
func scopeIn(tx *bolt.Tx, a Action) string {
	key, err := attemptKey(Attempt{Session: a.Session, ID: a.Attempt})
	if err != nil {
		return a.Session
	}
	var at Attempt
	if raw := tx.Bucket([]byte(bucketAttempts)).Get(key); raw == nil || json.Unmarshal(raw, &at) != nil {
		return a.Session
	}
	return at.Scope()
}
