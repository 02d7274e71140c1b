package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Answer is what a ledger says about one text that looks like a receipt.
type Answer struct {
	Line    int             `json:"line,omitempty"` // in the file it was found in, from 1
	Receipt string          `json:"receipt"`        // as it was written: hostile text
	Verdict receipt.Verdict `json:"verdict"`
	Reason  string          `json:"reason"` // one line for a person
	Session string          `json:"session,omitempty"`
	Story   string          `json:"story,omitempty"`
	Attempt int             `json:"attempt,omitempty"` // number of the attempt at the story
	Dir     string          `json:"-"`                 // folder of that attempt
	Call    *Call           `json:"call,omitempty"`
	Signed  *receipt.Tree   `json:"signed,omitempty"` // the signed state that the record was proved to stand in
	Damage  string          `json:"damage,omitempty"` // why the trail cannot vouch for the record
	Command string          `json:"command,omitempty"`
	Running bool            `json:"running,omitempty"` // its session goes on, and will sign
}

// Good reports whether nothing speaks against the receipt.
func (a *Answer) Good() bool { return a.Verdict == receipt.VerdictValid && a.Damage == "" }

// Judge says what receipts are worth after the run, by the trails of a queue.
type Judge struct {
	Store *queue.Store
	// Session and Story, when not "", narrow what counts as valid: a receipt
	// of another session (full id) or story is replayed.
	Session, Story string
	// Running reports whether a session's loop is alive; nil = none is.
	Running func(queue.Session) bool

	trails map[string]*judged
}

// judged is a trail that was read and checked.
type judged struct {
	trail    Trail
	result   Result
	calls    map[receipt.Token][]Call
	attempts map[string]queue.Attempt // by scope
}

// Rule judges one candidate.
func (j *Judge) Rule(ctx context.Context, c receipt.Candidate) (Answer, error) {
	a := Answer{Receipt: c.Text}
	if !c.Strict {
		a.Verdict, a.Reason = receipt.VerdictMalformed, c.Fault()
		return a, nil
	}
	session, err := j.find(ctx, c.Token)
	if errors.Is(err, queue.ErrNotFound) {
		a.Verdict, a.Reason = receipt.VerdictForged, "it is in no trail of this repository: nobody here issued it"
		return a, nil
	}
	if err != nil && session == "" {
		return a, err
	}
	t, terr := j.load(ctx, session)
	if terr != nil {
		return a, terr
	}
	a.Session = session
	calls := t.calls[c.Token]
	if len(calls) == 0 {
		a.Verdict, a.Reason = receipt.VerdictForged, "no record in the trail of its session bears it"
		if err != nil {
			a.Verdict, a.Reason, a.Damage = receipt.VerdictValid, "it was issued", err.Error()
		}
		return a, nil
	}
	j.issued(&a, t, calls)
	return a, nil
}

// find gives the session of a token: the one asked for, if it has it.
func (j *Judge) find(ctx context.Context, token receipt.Token) (string, error) {
	if j.Session != "" {
		t, err := j.load(ctx, j.Session)
		if err != nil {
			return "", err
		}
		if len(t.calls[token]) > 0 {
			return j.Session, nil
		}
	}
	session, _, err := j.Store.FindReceipt(ctx, token.String())
	return session, err
}

// issued judges a receipt that stands in a trail. In zc-v1 several calls may
// bear it; the best counts.
func (j *Judge) issued(a *Answer, t *judged, calls []Call) {
	best := slices.IndexFunc(calls, func(c Call) bool { return !c.Revoked && j.wanted(a.Session, t.attempts[c.Scope].Story) })
	if best < 0 {
		best = max(0, slices.IndexFunc(calls, func(c Call) bool { return !c.Revoked }))
	}
	call := calls[best]
	a.Call = &call
	at := t.attempts[call.Scope]
	a.Story, a.Attempt, a.Dir = at.Story, at.Number, at.Dir
	switch {
	case call.Revoked:
		a.Verdict, a.Reason = receipt.VerdictRevoked, "it was withdrawn: the client's stream contradicted it"
	case !j.wanted(a.Session, at.Story):
		a.Verdict, a.Reason = receipt.VerdictReplayed, "it was issued elsewhere"
	default:
		a.Verdict, a.Reason = receipt.VerdictValid, "issued"
	}
	a.Damage, a.Running = t.vouch(call.Record), t.result.Status == Running
	if a.Damage == "" && int64(call.Record) < t.result.Signed.Size {
		signed := t.result.Signed
		a.Signed = &signed
	}
}

func (j *Judge) wanted(session, story string) bool {
	return (j.Session == "" || j.Session == session) && (j.Story == "" || j.Story == story)
}

// vouch says why a trail cannot stand for a record; "" when it can. A record
// that is signed is proved to be in the signed state.
func (t *judged) vouch(record int) string {
	r := &t.result
	if record >= r.whole {
		return r.Problems[0].Text
	}
	if int64(record) < r.Signed.Size {
		p, err := Prove(t.trail, r, record)
		if err == nil {
			_, _, err = p.Check()
		}
		if err != nil {
			return fmt.Sprintf("its place in the trail cannot be proved: %v", err)
		}
		return ""
	}
	for i, s := range r.States {
		switch covers := s.Size == 0 || s.Size > int64(record); {
		case s.Problem == "" || !covers:
		case s.Size > int64(r.whole) && r.whole < r.Records:
			return "no signed state that covers it can be checked: " + r.Problems[0].Text
		default:
			return fmt.Sprintf("signed state %d: %s", i+1, s.Problem)
		}
	}
	for _, p := range r.Problems {
		if p.Record >= int(r.Signed.Size) && p.Record < r.whole && t.scope(p.Record) == t.scope(record) {
			return p.Text // what is wrong with its attempt is wrong with it
		}
	}
	return ""
}

// scope is the attempt of a record.
func (t *judged) scope(record int) string {
	rec, err := receipt.ParseRecord(t.trail.Records[record])
	if err != nil {
		return ""
	}
	return rec.Scope
}

// load reads and checks a trail once.
func (j *Judge) load(ctx context.Context, session string) (*judged, error) {
	if t := j.trails[session]; t != nil {
		return t, nil
	}
	s, err := j.Store.Session(ctx, session)
	if err != nil {
		return nil, err
	}
	attempts, err := j.Store.Attempts(ctx, session) // before the trail, which may grow meanwhile
	if err != nil {
		return nil, err
	}
	trail, err := Load(ctx, j.Store, s)
	if err != nil {
		return nil, err
	}
	known := &Known{Ended: !s.Ended.IsZero(), Running: j.Running != nil && j.Running(s), Attempts: attempts}
	t := &judged{trail: trail, result: Check(trail, Ask{Known: known}), calls: map[receipt.Token][]Call{}, attempts: map[string]queue.Attempt{}}
	for _, c := range Calls(trail.Records) {
		if !c.Receipt.IsZero() {
			t.calls[c.Receipt] = append(t.calls[c.Receipt], c)
		}
	}
	for _, a := range attempts {
		t.attempts[a.Scope()] = a
	}
	if j.trails == nil {
		j.trails = map[string]*judged{}
	}
	j.trails[session] = t
	return t, nil
}
