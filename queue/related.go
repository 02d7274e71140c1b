package queue

import (
	"bytes"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// relate finds the refused call that a new one tries again in another
// spelling: one of the same story and session with the same gravest rule, or
// with the same family and target. It returns the first of them.
func relate(tx *bolt.Tx, a Action) (first Action, ok bool, err error) {
	if a.Evidence != policy.Blocked || a.Story == "" || a.RelatedTo != "" || a.Asked || len(a.Rules) == 0 {
		return first, false, nil
	}
	story, err := encode(a.Story)
	if err != nil {
		return first, false, err
	}
	story = append([]byte(`"story":`), bytes.TrimSpace(story)...)
	blocked := Filter{Evidence: []policy.Evidence{policy.Blocked}}
	// A call of the agent's waits for this: only what may match is decoded. What
	// cannot be read keeps none out of the queue.
	err = eachAction(tx, a.Session, func(b []byte) error {
		if ok || !blocked.mayMatch(b) || !bytes.Contains(b, story) {
			return nil
		}
		old, err := decodeAction(string(b))
		if err == nil && old.Story == a.Story && old.Evidence == policy.Blocked && old.RelatedTo == "" && !old.Asked && sameIntent(&old, &a) {
			first, ok = old, true
		}
		return nil
	})
	return first, ok, err
}

// sameIntent: two refused calls want the same. Where both say where they lead,
// it must be the same place; of what is only not known, both must.
func sameIntent(a, b *Action) bool {
	if len(a.Rules) == 0 || len(b.Rules) == 0 {
		return false
	}
	if a.Target != "" && b.Target != "" {
		return a.Target == b.Target && (a.Rules[0] == b.Rules[0] || a.Family != "" && a.Family == b.Family)
	}
	return a.Rules[0] == b.Rules[0] && !saysLittle(a.Rules[0])
}

// saysLittle: the rule only says that something is not known, which two calls
// may have in common without wanting the same.
func saysLittle(rule string) bool {
	for _, p := range []string{"opaque-", "tool-", "mcp-", "dynamic-", "unread-", "classifier-", "pattern:"} {
		if strings.HasPrefix(rule, p) {
			return true
		}
	}
	return false
}

// createRelated creates an action and, when it tries a refused one again in
// another spelling, counts it there.
func createRelated(tx *bolt.Tx, call []byte, a Action) (Action, bool, error) {
	first, ok, err := relate(tx, a)
	if err != nil {
		return a, false, err
	}
	if ok {
		a.RelatedTo = strconv.FormatUint(first.Number, 10)
	}
	a, created, err := createAction(tx, call, a)
	if err != nil || !ok {
		return a, created, err
	}
	first.Again = append(first.Again, a.Number)
	return a, created, putAction(tx, first)
}
