package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// Add stores an action and reports whether it is a new one.
//
// It sets Number, Schema and Status (pending), ID, Kind and DetectedAt where
// they are empty. An action that is there already is not doubled but merged,
// and comes back as it is stored now:
//
//   - one with the same ID, for whoever adds again what may have been added;
//   - one with the same Session and ToolUseID: it keeps the gravest evidence of
//     both and takes what it did not know;
//   - without a ToolUseID, one with the same Session, place in the transcript,
//     rules and text;
//   - a blocked call with the same session, story, tool, input and cwd as a
//     blocked one that is still pending: that one's Repeats is counted up.
func (s *Store) Add(ctx context.Context, a Action) (Action, bool, error) {
	var out Action
	var created bool
	err := s.update(ctx, func(tx *bolt.Tx) (err error) {
		out, created, err = addAction(tx, a, s.now())
		return err
	})
	if err != nil {
		return Action{}, false, fmt.Errorf("add action: %w", err)
	}
	return out, created, nil
}

// AddAll adds many actions in one transaction: all of them, or none. It
// returns how many were new.
func (s *Store) AddAll(ctx context.Context, list []Action) (created int, err error) {
	if len(list) == 0 {
		return 0, nil
	}
	err = s.update(ctx, func(tx *bolt.Tx) error {
		created = 0
		now := s.now()
		for i := range list {
			_, isNew, err := addAction(tx, list[i], now)
			if err != nil {
				return err
			}
			if isNew {
				created++
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("add actions: %w", err)
	}
	return created, nil
}

func addAction(tx *bolt.Tx, a Action, now time.Time) (Action, bool, error) {
	return addFresh(tx, fresh(a, now))
}

// addFresh adds an action that may have its number already.
func addFresh(tx *bolt.Tx, a Action) (Action, bool, error) {
	if a.ID != "" {
		key, err := idKey(a.ID)
		if err != nil {
			return a, false, err
		}
		if b := tx.Bucket([]byte(bucketActions)).Get(key); b != nil {
			old, err := decodeAction(string(b))
			return old, false, err
		}
	}
	call := callKey(a)
	if call != nil {
		if id := tx.Bucket([]byte(bucketCalls)).Get(call); id != nil {
			return addKnown(tx, id, call, a)
		}
	}
	if a.Evidence == policy.Blocked {
		if first, ok, err := countRepeat(tx, call, a); ok || err != nil {
			return first, false, err
		}
	}
	return createRelated(tx, call, a)
}

// fresh is the action as a new one is stored.
func fresh(a Action, now time.Time) Action {
	a.Schema, a.Status = Schema, Pending
	a.Number, a.Repeats, a.Again = 0, 0, nil
	a.Edited, a.Decisions, a.Replay, a.Earlier, a.Owner = nil, nil, nil, nil, nil
	if a.Kind == "" {
		a.Kind = "call"
	}
	if a.DetectedAt.IsZero() {
		a.DetectedAt = now
	}
	a.DetectedAt = a.DetectedAt.UTC().Round(0)
	if a.Rules == nil {
		a.Rules = []string{}
	}
	if len(a.Input) > 0 && !json.Valid(a.Input) {
		a.Input, _ = json.Marshal(string(a.Input)) // a torn record: kept as text, never refused
	}
	return a
}

// addKnown adds an action whose call is mapped to the stored one at id. A
// repeat that turns out to have run is no longer part of the blocked one that
// it was counted on: it gets an entry of its own.
func addKnown(tx *bolt.Tx, id, call []byte, a Action) (Action, bool, error) {
	old, err := loadAction(tx, id)
	if err != nil {
		return a, false, err
	}
	if old.ToolUseID == a.ToolUseID {
		merged := merge(old, a)
		return merged, false, putAction(tx, merged)
	}
	if a.Evidence != policy.Executed {
		return old, false, nil
	}
	old.Repeats = max(0, old.Repeats-1)
	if err := putAction(tx, old); err != nil {
		return a, false, err
	}
	if a.RelatedTo == "" {
		a.RelatedTo = strconv.FormatUint(old.Number, 10)
	}
	return createAction(tx, call, a)
}

// countRepeat counts a blocked call on the pending one with the same input.
func countRepeat(tx *bolt.Tx, call []byte, a Action) (first Action, ok bool, err error) {
	id := tx.Bucket([]byte(bucketInputs)).Get(inputKey(a))
	if id == nil {
		return first, false, nil
	}
	first, err = loadAction(tx, id)
	if err != nil || first.Status != Pending || first.Evidence != policy.Blocked {
		return first, false, err
	}
	first.Repeats++
	if err := putAction(tx, first); err != nil {
		return first, false, err
	}
	if call != nil {
		err = tx.Bucket([]byte(bucketCalls)).Put(call, bytes.Clone(id))
	}
	return first, true, err
}

// createAction gives the action its id and number and writes it with all its
// index entries.
func createAction(tx *bolt.Tx, call []byte, a Action) (Action, bool, error) {
	if a.ID == "" {
		id, _, err := newID()
		if err != nil {
			return a, false, err
		}
		a.ID = id
	}
	key, err := idKey(a.ID)
	if err != nil {
		return a, false, err
	}
	if a.Number, err = keepNumber(tx, a.Number); err != nil {
		return a, false, err
	}
	index := []struct {
		bucket string
		key    []byte
	}{
		{bucketNumbers, numberKey(a.Number)},
		{bucketBySession, append(textKey(a.Session, ""), numberKey(a.Number)...)},
		{bucketCalls, call},
		{bucketInputs, nil},
	}
	if a.Evidence == policy.Blocked {
		index[3].key = inputKey(a)
	}
	for _, e := range index {
		if e.key == nil {
			continue
		}
		if err := tx.Bucket([]byte(e.bucket)).Put(e.key, key); err != nil {
			return a, false, fmt.Errorf("index %s: %w", e.bucket, err)
		}
	}
	return a, true, putAction(tx, a)
}

// callKey is the identity of a call, or of a place in a transcript where there
// is no tool_use_id; nil when there is neither.
func callKey(a Action) []byte {
	switch {
	case a.ToolUseID != "":
		return textKey(a.Session, a.ToolUseID)
	case a.Transcript != "" && a.Line > 0:
		parts := append([]string{a.Transcript, fmt.Sprint(a.Line), a.Tool, a.Command, a.Excerpt}, a.Rules...)
		return append(textKey(a.Session, "", ""), digest(parts...)...)
	}
	return nil
}

// inputKey is what makes a call the same call again. The description that the
// model writes beside a shell command does not count.
func inputKey(a Action) []byte {
	what := a.Command
	if a.Tool != "Bash" || what == "" {
		var b bytes.Buffer
		if json.Compact(&b, a.Input) == nil && b.Len() > 0 {
			what = b.String()
		}
	}
	return digest(a.Session, a.Story, a.Tool, a.Cwd, what)
}

func loadAction(tx *bolt.Tx, id []byte) (Action, error) {
	b := tx.Bucket([]byte(bucketActions)).Get(id)
	if b == nil {
		return Action{}, fmt.Errorf("action %s: %w", idText(id), ErrNotFound)
	}
	return decodeAction(string(b))
}

func putAction(tx *bolt.Tx, a Action) error {
	key, err := idKey(a.ID)
	if err != nil {
		return err
	}
	b, err := encodeAction(a)
	if err != nil {
		return err
	}
	forgetTold(tx, a)
	return replace(tx.Bucket([]byte(bucketActions)), key, b, reencodeAction)
}
