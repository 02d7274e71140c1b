package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Status says how a trail ends, as far as can be known.
type Status string

// The statuses of a trail.
const (
	Complete    Status = "complete"    // the session ended, and each of its attempts is closed
	Interrupted Status = "interrupted" // an attempt was begun and not closed
	Running     Status = "running"     // the same, and its loop is alive
	Unknown     Status = "unknown"     // nothing says whether this is the end
)

// Known is what the queue knows of a session, apart from its trail.
type Known struct {
	Ended    bool
	Running  bool
	Attempts []queue.Attempt
}

// Ask says what a trail is to be held against; the zero value is a file that
// came alone.
type Ask struct {
	Root  *receipt.Hash // a root that was kept elsewhere
	Key   string        // a public key that was kept elsewhere
	Known *Known
}

// State is one signed state of a trail.
type State struct {
	receipt.Tree
	Problem   string `json:"problem,omitempty"`
	Unchecked bool   `json:"unchecked,omitempty"` // a record before it is not as it was written: nothing speaks against the state itself
}

// Problem is something that is not as it was written.
type Problem struct {
	Record int    `json:"record"` // the first that it touches; -1: no single one
	Text   string `json:"text"`
}

// Result is what a check found.
type Result struct {
	Session   string        `json:"session"`
	PublicKey string        `json:"public_key"`
	Records   int           `json:"records"`
	States    []State       `json:"checkpoints"`
	Signed    receipt.Tree  `json:"signed"`    // the largest state that is signed and stands
	Open      []string      `json:"open"`      // attempts that were begun and not closed
	Decisions int           `json:"decisions"` // after the last signed state
	Unsigned  int           `json:"unsigned"`  // other records after it, of attempts that did not come to their end
	Status    Status        `json:"status"`
	Problems  []Problem     `json:"problems"`
	Rooted    *receipt.Tree `json:"root_matches,omitempty"` // the state that the given root stands for
	KeyGiven  bool          `json:"key_given"`
	RootGiven bool          `json:"root_given"`
	whole     int           // records before the first bad one
	log       *receipt.Log  // of those
	signed    *receipt.Log  // of the records that Signed stands for, once it was asked for
}

// OK reports whether nothing was found to be wrong.
func (r *Result) OK() bool { return len(r.Problems) == 0 }

// Check looks at the whole of a trail.
func Check(t Trail, a Ask) Result {
	r := Result{
		Session: t.Session, PublicKey: t.PublicKey, Records: len(t.Records),
		States: []State{}, Open: []string{}, Problems: []Problem{}, whole: len(t.Records),
	}
	r.chain(t)
	r.key(t, a)
	for i, signed := range t.Checkpoints {
		r.state(t, i, signed)
	}
	r.after(t, a.Known)
	r.root(a)
	r.attempts(a.Known)
	r.Status = r.status(a)
	return r
}

func (r *Result) problem(record int, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{record, fmt.Sprintf(format, args...)})
}

// chain finds the first record that is not as it was written, and takes up the
// log before it.
func (r *Result) chain(t Trail) {
	var broken *receipt.ChainError
	if err := receipt.VerifyChain(t.Records); errors.As(err, &broken) {
		r.whole = broken.Index
		at, text := blame(t.Records, broken)
		r.problem(at, "%s", text)
	}
	// It was just verified so far.
	r.log, _ = receipt.Resume(t.Records[:r.whole])
}

// blame names the record that is the matter: a changed one shows only in the
// next, which was written after another.
func blame(records [][]byte, broken *receipt.ChainError) (int, string) {
	i := broken.Index
	switch rec, err := receipt.ParseRecord(records[i]); {
	case err != nil:
		return i, fmt.Sprintf("record %d was changed: %v", i, err)
	case rec.Seq > uint64(i):
		if k := placeOf(records, uint64(i)); k >= 0 {
			return i, fmt.Sprintf("record %d is not in its place: record %d stands there, and record %d stands where number %d belongs", i, rec.Seq, i, k)
		}
		return i, fmt.Sprintf("record %d is missing: record %d stands in its place", i, rec.Seq)
	case rec.Seq < uint64(i):
		return i, fmt.Sprintf("record %d is not in its place: record %d stands there, added or moved", i, rec.Seq)
	case i == 0:
		return 0, "record 0 was changed: it says that there is one before it"
	}
	return i - 1, fmt.Sprintf("record %d was changed: record %d was written after another one", i-1, i)
}

// placeOf finds the record of a number; -1 when it is nowhere.
func placeOf(records [][]byte, seq uint64) int {
	return slices.IndexFunc(records, func(line []byte) bool {
		rec, err := receipt.ParseRecord(line)
		return err == nil && rec.Seq == seq
	})
}

// key holds the public key against the one that was kept elsewhere.
func (r *Result) key(t Trail, a Ask) {
	r.KeyGiven = a.Key != ""
	switch {
	case t.PublicKey == "":
		r.problem(-1, "there is no public key: nothing that was signed can be checked")
	case r.KeyGiven && a.Key != t.PublicKey:
		r.problem(-1, "the trail's public key is not the one that was given: it was signed by somebody else")
	case !strings.HasPrefix(t.PublicKey, receipt.Origin(t.Session)+"+"):
		r.problem(-1, "the public key is not of this session")
	}
}

// state checks one signed state: who signed it, and whether it stands.
func (r *Result) state(t Trail, i int, signed []byte) {
	var s State
	bad := func(record int, format string, args ...any) {
		s.Problem = fmt.Sprintf(format, args...)
		r.problem(record, "signed state %d: %s", i+1, s.Problem)
	}
	c, err := receipt.OpenCheckpoint(signed, t.PublicKey)
	s.Tree = c.Tree
	switch {
	case err != nil:
		if errors.Is(err, receipt.ErrSignature) {
			err = errors.New("it is not signed by this session's key")
		}
		bad(-1, "%v", err)
	case c.Size < r.Signed.Size:
		bad(-1, "it is not in its place: it stands for %d records, and one before it for %d", c.Size, r.Signed.Size)
	case c.Size > int64(r.Records) && (r.whole == r.Records || c.Size > lastSeq(t.Records)+1):
		bad(r.Records, "it stands for %d records, and there are %d: records %d to %d were cut off the end", c.Size, r.Records, r.Records, c.Size-1)
	case c.Size > int64(r.whole):
		s.Unchecked, s.Problem = true, "not checked: a record before it is not as it was written"
	default:
		if tree, err := r.log.TreeAt(c.Size); err != nil || tree.Root != c.Root {
			bad(int(r.Signed.Size), "the first %d records do not have its root: one of the records %d to %d was changed, and what follows it made anew", c.Size, r.Signed.Size, c.Size-1)
		} else if c.Size >= r.Signed.Size {
			r.Signed = c.Tree
		}
	}
	r.States = append(r.States, s)
}

// lastSeq is the number of the last record, wherever it stands.
func lastSeq(records [][]byte) int64 {
	rec, err := receipt.ParseRecord(records[len(records)-1])
	if err != nil {
		return int64(len(records)) - 1
	}
	return int64(rec.Seq)
}

// after sorts the records that no signed state covers. Decisions come when the
// key is gone; what else stands there belongs to an attempt that did not end.
func (r *Result) after(t Trail, known *Known) {
	r.foreign(t, known)
	if r.whole < r.Records {
		return // what a signed state covers is not known
	}
	if open := receipt.Unclosed(t.Records); open != nil {
		r.Open = open
	}
	open := receipt.Unclosed(t.Records[:r.Signed.Size])
	for i := int(r.Signed.Size); i < r.whole; i++ {
		rec, err := receipt.ParseRecord(t.Records[i])
		if err != nil {
			continue
		}
		if rec.Event.Decision() {
			r.Decisions++
			continue
		}
		r.Unsigned++
		if rec.Event == receipt.StoryOpen {
			open = append(open, rec.Scope)
		}
		switch {
		case !slices.Contains(open, rec.Scope):
			r.problem(i, "record %d (%s of %q) was added after the end of its attempt was signed", i, rec.Event, rec.Scope)
		case rec.Event == receipt.StoryClose && !known.mayBeUnsigned(rec.Scope):
			r.problem(i, "record %d ends attempt %q, and no signed state covers it: the state was taken away, or loop died before it could sign", i, rec.Scope)
		}
	}
}

// mayBeUnsigned reports whether the queue knows that loop died before it had
// signed the end of an attempt, or is about to sign it.
func (k *Known) mayBeUnsigned(scope string) bool {
	if k == nil {
		return false
	}
	a := k.attempt(scope)
	return a != nil && (a.Recovered || a.Ended.IsZero())
}

func (k *Known) attempt(scope string) *queue.Attempt {
	i := slices.IndexFunc(k.Attempts, func(a queue.Attempt) bool { return a.Scope() == scope })
	if i < 0 {
		return nil
	}
	return &k.Attempts[i]
}

// foreign finds the first record that is of another session, or of an attempt
// that the queue does not know.
func (r *Result) foreign(t Trail, known *Known) {
	for i := range r.whole {
		rec, err := receipt.ParseRecord(t.Records[i])
		switch {
		case err != nil:
		case rec.Scope != t.Session && !strings.HasPrefix(rec.Scope, t.Session+"/"): // a decision may be about no attempt
			r.problem(i, "record %d is of another session: %q", i, rec.Scope)
			return
		case known != nil && !known.Running && rec.Event == receipt.StoryOpen && known.attempt(rec.Scope) == nil:
			r.problem(i, "record %d begins attempt %q, of which the queue knows nothing", i, rec.Scope)
			return
		}
	}
}

// root looks for the state that a root from elsewhere stands for.
func (r *Result) root(a Ask) {
	r.RootGiven = a.Root != nil
	if !r.RootGiven {
		return
	}
	if r.Rooted = r.find(*a.Root); r.Rooted == nil {
		r.problem(-1, "no state of this trail has the root %s: records that it stood for were changed, or cut off the end", a.Root)
	}
}

// find gives the largest state with this root.
func (r *Result) find(root receipt.Hash) *receipt.Tree {
	for size := int64(r.whole); size > 0; size-- {
		if tree, err := r.log.TreeAt(size); err == nil && tree.Root == root {
			return &tree
		}
	}
	return nil
}

// attempts holds the roots that the queue noted at the end of each attempt
// against the trail.
func (r *Result) attempts(k *Known) {
	if k == nil {
		return
	}
	for i := range k.Attempts {
		a := &k.Attempts[i]
		if a.AuditRoot == "" || slices.ContainsFunc(r.States, func(s State) bool { return s.Problem == "" && s.Root.String() == a.AuditRoot }) {
			continue
		}
		if r.whole == r.Records { // else it was said already
			r.problem(-1, "attempt %q ended with the root %s, and no signed state has it: the end of the trail was cut off, or changed", a.Scope(), a.AuditRoot)
		}
	}
}

func (r *Result) status(a Ask) Status {
	switch k := a.Known; {
	case r.whole < r.Records:
	case len(r.Open) > 0 && k != nil && k.Running:
		return Running
	case len(r.Open) > 0, r.Unsigned > 0: // it may have died before it could sign
		return Interrupted
	case k != nil && k.Ended, r.Rooted != nil && *r.Rooted == r.Signed:
		return Complete
	}
	return Unknown
}
