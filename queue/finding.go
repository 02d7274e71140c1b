package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// AddFinding stores a finding. A second one of the same attempt, kind and text
// is the first one seen again, by a run that picked up where another died, and
// is not stored.
func (s *Store) AddFinding(ctx context.Context, f Finding) error {
	f.Schema = Schema
	if f.When.IsZero() {
		f.When = s.now()
	}
	if f.ID == "" {
		id, _, err := newID()
		if err != nil {
			return fmt.Errorf("add finding: %w", err)
		}
		f.ID = id
	}
	id, err := idKey(f.ID)
	if err != nil {
		return fmt.Errorf("add finding: %w", err)
	}
	b, err := encode(f)
	if err != nil {
		return fmt.Errorf("add finding: %w", err)
	}
	prefix := textKey(f.Session, "")
	err = s.update(ctx, func(tx *bolt.Tx) error {
		known, err := decodeAll[Finding]("finding", rawPrefix(tx, bucketFindings, prefix))
		if err != nil {
			return err
		}
		for _, k := range known {
			if f.Attempt != "" && k.Attempt == f.Attempt && k.Kind == f.Kind && k.Text == f.Text {
				return nil
			}
		}
		return tx.Bucket([]byte(bucketFindings)).Put(append(prefix, id...), b)
	})
	if err != nil {
		return fmt.Errorf("add finding: %w", err)
	}
	return nil
}

// Findings lists the findings of a session, given by its full id, oldest first.
func (s *Store) Findings(ctx context.Context, session string) ([]Finding, error) {
	var raw [][]byte
	err := s.view(ctx, func(tx *bolt.Tx) error {
		raw = rawPrefix(tx, bucketFindings, textKey(session, ""))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return decodeAll[Finding]("finding", raw)
}

// PutStory stores what is known of a story, in place of what was there.
func (s *Store) PutStory(ctx context.Context, v StoryState) error {
	v.Schema = Schema
	return put(ctx, s, "story", bucketStories, textKey(v.File, v.Story), v)
}

// Story is what is known of a story of a file; ErrNotFound when nothing is.
// The caller compares Hash: the same id with another text is another story.
func (s *Store) Story(ctx context.Context, file, story string) (StoryState, error) {
	var raw []byte
	err := s.view(ctx, func(tx *bolt.Tx) error {
		raw = bytes.Clone(tx.Bucket([]byte(bucketStories)).Get(textKey(file, story)))
		return nil
	})
	if err == nil && raw == nil {
		err = fmt.Errorf("story %q of %q: %w", story, file, ErrNotFound)
	}
	return decodeOne[StoryState]("story", raw, err)
}

// Snapshot is all that a report needs of one session, as it was at one
// instant.
type Snapshot struct {
	Session  Session   `json:"session"`
	Attempts []Attempt `json:"attempts"`
	Actions  []Action  `json:"actions"`
	Findings []Finding `json:"findings"`
}

// Snapshot reads one session, named as for Session, in one transaction. The
// empty name is the last session. Actions and findings may belong to a session
// that has no record (put there from a transcript alone): then Session has the
// given id and nothing else. A name that fits nothing at all gives an empty
// snapshot; an ambiguous one is an error.
func (s *Store) Snapshot(ctx context.Context, session string) (Snapshot, error) {
	var rawSession []byte
	var attempts, findings [][]byte
	var actions []string
	id := session
	var found error
	err := s.view(ctx, func(tx *bolt.Tx) error {
		sessions := tx.Bucket([]byte(bucketSessions))
		key, _ := sessions.Cursor().Last()
		if session != "" {
			key, found = resolveSession(tx, session)
		}
		if key != nil {
			id = idText(key)
			rawSession = bytes.Clone(sessions.Get(key))
			attempts = rawPrefix(tx, bucketAttempts, key)
		}
		actions = rawActions(tx, Filter{Session: id})
		findings = rawPrefix(tx, bucketFindings, textKey(id, ""))
		return nil
	})
	if err != nil {
		return Snapshot{}, err
	}
	snap, err := decodeSnapshot(id, rawSession, attempts, findings, actions, found)
	for i := range snap.Actions {
		snap.Actions[i] = s.AsFound(snap.Actions[i])
	}
	return snap, err
}

func decodeSnapshot(id string, session []byte, attempts, findings [][]byte, actions []string, found error) (snap Snapshot, err error) {
	if _, ok := found.(*AmbiguousError); ok {
		return snap, fmt.Errorf("session: %w", found)
	}
	snap.Session.ID = id
	if session != nil {
		if err := json.Unmarshal(session, &snap.Session); err != nil {
			return snap, fmt.Errorf("damaged session: %w", err)
		}
	}
	if snap.Attempts, err = decodeAll[Attempt]("attempt", attempts); err != nil {
		return snap, err
	}
	if snap.Findings, err = decodeAll[Finding]("finding", findings); err != nil {
		return snap, err
	}
	snap.Actions, err = decodeActions(actions)
	return snap, err
}
