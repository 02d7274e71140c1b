package queue

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// minSuffix is the least number of hex digits that name an entry by the end of
// its id. The beginning of a UUIDv7 is its time, and alike in one scan.
const minSuffix = 6

// minPart is how many actions are worth a goroutine.
const minPart = 500

// Filter chooses actions; an empty field chooses all.
type Filter struct {
	Session, Story string
	Kind           string
	Status         []Status
	Evidence       []policy.Evidence
}

func (f Filter) match(a *Action) bool {
	return (f.Session == "" || a.Session == f.Session) &&
		(f.Story == "" || a.Story == f.Story) &&
		(f.Kind == "" || a.Kind == f.Kind) &&
		(len(f.Status) == 0 || slices.Contains(f.Status, a.Status)) &&
		(len(f.Evidence) == 0 || slices.Contains(f.Evidence, a.Evidence))
}

// mayMatch looks at the stored bytes for what match needs, so that most of
// what is not chosen need not be decoded. A text cannot fake it away: quotes
// inside a text are escaped. Nor can damage: each record has these members.
func (f Filter) mayMatch(raw []byte) bool {
	if f.Kind != "" && !mayHold(raw, "kind", []string{f.Kind}) {
		return false
	}
	return mayHold(raw, "status", f.Status) && mayHold(raw, "evidence", f.Evidence)
}

func mayHold[T ~string](raw []byte, key string, values []T) bool {
	// What nobody has decided ends with its status: most need not be searched whole.
	end := raw[max(0, len(raw)-recordEnd):]
	for _, in := range [][]byte{end, raw} {
		for _, v := range values {
			if bytes.Contains(in, []byte(`"`+key+`":"`+string(v)+`"`)) {
				return true
			}
		}
	}
	return len(values) == 0 || !bytes.Contains(raw, []byte(`"`+key+`":"`))
}

// recordEnd is more than the end of a record with its status takes.
const recordEnd = 64

// Get finds one action by its number ("12", "#12"), its full id, or a suffix of
// its id of at least six hex digits that no other action has.
func (s *Store) Get(ctx context.Context, ref string) (Action, error) {
	var raw string
	found := ErrNotFound
	err := s.view(ctx, func(tx *bolt.Tx) error {
		var id []byte
		if id, found = resolve(tx, ref); found == nil {
			raw = string(tx.Bucket([]byte(bucketActions)).Get(id))
		}
		return nil
	})
	if err != nil {
		return Action{}, err
	}
	if found != nil {
		return Action{}, fmt.Errorf("action %q: %w", ref, found)
	}
	return decodeAction(raw)
}

// Actions lists the actions that the filter chooses, in the order in which
// they were stored.
func (s *Store) Actions(ctx context.Context, f Filter) ([]Action, error) {
	var raw []string
	err := s.view(ctx, func(tx *bolt.Tx) error {
		raw = rawActions(tx, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return chosen(raw, f)
}

// First are the first of the pending actions, executed ones before others, and
// mentions left out; more says whether there are others. The rest is not
// decoded: a view has its first screen to draw.
func (s *Store) First(ctx context.Context, n int) (first []Action, more bool, err error) {
	ran := Filter{Status: []Status{Pending}, Evidence: []policy.Evidence{policy.Executed}}
	rest := Filter{Status: []Status{Pending}, Evidence: []policy.Evidence{"", policy.Blocked, policy.Written}}
	var others []Action
	enough := errors.New("enough")
	err = s.view(ctx, func(tx *bolt.Tx) error {
		first, others = nil, nil
		take := func(b []byte, f Filter, to *[]Action) error {
			if len(*to) > n || !f.mayMatch(b) {
				return nil
			}
			a, err := decodeAction(string(b))
			if err == nil && f.match(&a) {
				*to = append(*to, a)
			}
			return err
		}
		return eachAction(tx, "", func(b []byte) error {
			if len(first) > n {
				return enough
			}
			return errors.Join(take(b, ran, &first), take(b, rest, &others))
		})
	})
	if err != nil && !errors.Is(err, enough) {
		return nil, false, err
	}
	first = append(first, others...)
	return first[:min(n, len(first))], len(first) > n, nil
}

// eachAction goes over the actions of a session, or all of them, by number.
// What it gives is gone when the transaction ends.
func eachAction(tx *bolt.Tx, session string, fn func([]byte) error) error {
	bucket, prefix := bucketNumbers, []byte(nil)
	if session != "" {
		bucket, prefix = bucketBySession, textKey(session, "")
	}
	actions := newFinger(tx.Bucket([]byte(bucketActions)))
	c := tx.Bucket([]byte(bucket)).Cursor()
	for k, id := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, id = c.Next() {
		if b := actions.get(id); b != nil {
			if err := fn(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// rawActions copies the actions that the filter may choose.
func rawActions(tx *bolt.Tx, f Filter) []string {
	var raw []string
	_ = eachAction(tx, f.Session, func(b []byte) error { // never an error
		if f.mayMatch(b) {
			raw = append(raw, string(b))
		}
		return nil
	})
	return raw
}

// finger looks keys up that mostly follow each other in the bucket too, as ids
// that begin with the time do: then the next entry is the one, and none is sought.
type finger struct {
	c *bolt.Cursor
	k []byte
	v []byte
}

func newFinger(b *bolt.Bucket) *finger { return &finger{c: b.Cursor()} }

func (f *finger) get(key []byte) []byte {
	if f.k != nil {
		f.k, f.v = f.c.Next()
	}
	if !bytes.Equal(f.k, key) {
		f.k, f.v = f.c.Seek(key)
	}
	if !bytes.Equal(f.k, key) {
		return nil
	}
	return f.v
}

// decodeActions decodes on all processors: a report waits for it.
func decodeActions(raw []string) ([]Action, error) {
	out := make([]Action, len(raw))
	part := max(minPart, (len(raw)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	errs := make([]error, len(raw)/part+1)
	var wg sync.WaitGroup
	for n := range errs {
		from, to := n*part, min(len(raw), (n+1)*part)
		wg.Go(func() {
			for i := from; i < to && errs[n] == nil; i++ {
				errs[n] = out[i].decode(raw[i])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// resolve finds the key of the one action that ref names. Digits alone may be
// a number and the end of an id: when they are both, of different actions,
// that is ambiguous too.
func resolve(tx *bolt.Tx, ref string) ([]byte, error) {
	ref = strings.TrimSpace(ref)
	actions := tx.Bucket([]byte(bucketActions))
	if key, err := idKey(ref); err == nil {
		if actions.Get(key) == nil {
			return nil, ErrNotFound
		}
		return key, nil
	}
	var keys [][]byte
	digits, isNumber := strings.CutPrefix(ref, "#")
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil && strconv.FormatUint(n, 10) == digits {
		if id := actionAt(tx, n); id != nil {
			keys = append(keys, id)
		}
	}
	if !isNumber {
		for _, k := range matchIDs(actions, ref, strings.HasSuffix) {
			if len(keys) == 0 || !bytes.Equal(keys[0], k) {
				keys = append(keys, k)
			}
		}
	}
	switch len(keys) {
	case 0:
		return nil, ErrNotFound
	case 1:
		return keys[0], nil
	}
	return nil, ambiguousActions(tx, ref, keys)
}

// matchIDs lists the ids of a bucket whose hex digits fit ref.
func matchIDs(b *bolt.Bucket, ref string, fits func(id, ref string) bool) [][]byte {
	ref = strings.ToLower(strings.ReplaceAll(ref, "-", ""))
	if len(ref) < minSuffix || strings.Trim(ref, "0123456789abcdef") != "" {
		return nil
	}
	var keys [][]byte
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if fits(hex.EncodeToString(k), ref) {
			keys = append(keys, bytes.Clone(k))
		}
	}
	return keys
}

func ambiguousActions(tx *bolt.Tx, ref string, keys [][]byte) error {
	e := &AmbiguousError{Ref: ref}
	for _, k := range keys {
		a, err := loadAction(tx, k)
		if err != nil {
			return err
		}
		e.Candidates = append(e.Candidates, fmt.Sprintf("#%d %s", a.Number, a.ID))
	}
	return e
}

// chosen decodes the actions that the filter chooses.
func chosen(raw []string, f Filter) ([]Action, error) {
	all, err := decodeActions(raw)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(a Action) bool { return !f.match(&a) }), nil
}
