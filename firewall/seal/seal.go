// Package seal gives the results of tool calls their receipts, as the client's
// hooks report them to the supervisor, and keeps the account of what has one.
package seal

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/receipt"
)

// Seal gives the results of one attempt's calls their receipts and keeps the
// account of them.
//
// A result is reported by the client's hook. It gets a receipt only when the
// stream, which the agent cannot write into, has shown a call of that id with
// the same name and the same input, and only once. When the stream shows the
// result too, both are compared; a receipt of another result is withdrawn.
type Seal struct {
	Book   *receipt.Book
	Scope  string                                      // the attempt, as receipts and records name it
	Client string                                      // the client's id of its session; "" = not known
	Keep   func(context.Context, receipt.Record) error // adds to the audit trail
	Now    func() time.Time
	Wait   time.Duration                         // how long a report waits for the stream to show its call
	Minted func(tool, toolUseID, receipt string) // told of each receipt; may be nil

	mu       sync.Mutex
	calls    map[string]*sealed
	coverage Coverage
	unnamed  int // of the calls without a receipt, those beyond maxMissing
	untold   []receipt.Record
	shown    int // calls so far
	faults   []string
	revoked  map[string]string
}

// Coverage is how many of an attempt's results have a receipt.
type Coverage struct {
	Results   int      // results that ought to have one: calls that ran and did not fail
	Receipted int      // those that have
	Missing   []string // the calls of the others: hostile text
}

// sealed is what is known of one call. Of inputs and results, which may be
// megabytes, only the hashes are kept.
type sealed struct {
	shown    chan struct{} // closed when the stream has shown the call
	tool     string
	line     string          // for people
	input    json.RawMessage // as the stream showed it, until the report has come
	asked    sum             // as the firewall was asked about it; zero = it was not
	reported bool
	place    int  // among the calls that the stream showed, from 1
	refused  bool // the firewall refused it, which is in the trail
	notRun   bool // the stream shows that the client did not run it
	failed   bool // it was reported as failed
	doubled  bool // more than one result was reported
	token    receipt.Token
	results  [2]sum // as reported, and with the receipt in it
	inline   bool   // the receipt stands in the result itself
	text     asText // how the result is known where the stream shows a text only
	first    *sum   // of the first result that the stream showed; nil = it showed none
	failure  string // hash of the error that the stream shows; "" = none
	counted  bool   // as one that has a receipt
	whole    whole  // the file that has all of a long output
}

// sum is a hash of canonical JSON; the zero value is none.
type sum [sha256.Size]byte

func canonicalSum(raw json.RawMessage) (sum, error) {
	b, err := receipt.Canonical(raw)
	if err != nil {
		return sum{}, err
	}
	return sha256.Sum256(b), nil
}

// call is the entry of an id. The lock is held.
func (s *Seal) call(id string) *sealed {
	if s.calls == nil {
		s.calls = map[string]*sealed{}
	}
	c := s.calls[id]
	if c == nil {
		c = &sealed{shown: make(chan struct{})}
		s.calls[id] = c
	}
	return c
}

// Shown takes note of a call that the stream shows. line is the call for
// people.
func (s *Seal) Shown(id, tool, line string, input json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(id)
	select {
	case <-c.shown:
		return // the client repeats records
	default:
	}
	s.shown++
	c.tool, c.line, c.input, c.place = tool, short(line), input, s.shown
	close(c.shown)
}

// Asked takes note of what the firewall was asked, and of its answer.
func (s *Seal) Asked(ctx context.Context, r firewall.Request, refused, queued bool) {
	in, err := canonicalSum(r.Input)
	s.mu.Lock()
	c := s.call(r.ToolUseID)
	if c.refused = refused; err == nil {
		c.asked = in
	}
	s.mu.Unlock()
	if !refused {
		return
	}
	event := receipt.CallDenied
	if queued {
		event = receipt.Deferred
	}
	s.keep(ctx, event, r, in, "", receipt.Token{})
}

// Report answers the hook after a call: with the result and its receipt.
func (s *Seal) Report(ctx context.Context, r firewall.Request) firewall.Reply {
	in, ok := s.genuine(ctx, r)
	if !ok {
		return firewall.NoObjection()
	}
	if r.Event == firewall.EventPostToolUseFailure {
		s.mu.Lock()
		s.call(r.ToolUseID).failed = true
		s.mu.Unlock()
		s.keep(ctx, receipt.CallFail, r, in, receipt.SumHex([]byte(r.Error)), receipt.Token{})
		return firewall.NoObjection()
	}
	result, err := receipt.Canonical(r.Response)
	if err != nil {
		s.say("the result of call %q cannot be signed: %v", r.ToolUseID, err)
		return firewall.NoObjection()
	}
	entry, err := s.Book.Issue(receipt.Call{
		Scope: s.Scope, ToolUseID: r.ToolUseID, Tool: r.Tool, Args: r.Input, Result: result, Unix: s.Now().Unix(),
	})
	if err != nil {
		s.say("%v", err)
		return firewall.NoObjection()
	}
	// The record is on disk before the model has the receipt.
	if !s.keep(ctx, receipt.CallOK, r, in, receipt.SumHex(result), entry.Token) {
		s.Book.Revoke(s.Scope, r.ToolUseID, "its record could not be kept")
		return firewall.NoObjection()
	}
	if s.Minted != nil {
		s.Minted(r.Tool, r.ToolUseID, entry.Token.String())
	}
	reply, updated := sealedReply(r, entry.Token)
	all, text := wholeOf(r.Response), textOf(r.Tool, r.Response, updated, entry.Token)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(r.ToolUseID)
	if c.doubled { // while the record was being written
		s.revoke(r.ToolUseID, "a second result was reported for the call")
		return firewall.NoObjection()
	}
	c.token, c.results[0], c.inline, c.whole = entry.Token, sha256.Sum256(result), updated != nil, all
	c.text = text
	if updated != nil {
		// Made from what could be signed, so it can be.
		c.results[1], _ = canonicalSum(updated)
	}
	return reply
}

// genuine says whether a report is about a call that the stream showed, as it
// showed it, for the first time.
func (s *Seal) genuine(ctx context.Context, r firewall.Request) (sum, bool) {
	in, err := canonicalSum(r.Input)
	if err != nil {
		s.say("the input of call %q cannot be signed: %v", r.ToolUseID, err)
		return in, false
	}
	s.mu.Lock()
	c := s.call(r.ToolUseID)
	s.mu.Unlock()
	if s.Client != "" && r.SessionID != "" && r.SessionID != s.Client {
		s.say("a result was reported by another session of the client, %q: %q as %q", r.SessionID, r.Tool, r.ToolUseID)
		return in, false
	}
	late := time.NewTimer(s.Wait)
	defer late.Stop()
	select {
	case <-c.shown:
	case <-late.C:
		s.say("a result was reported for a call that was never made: %q as %q", r.Tool, r.ToolUseID)
		return in, false
	case <-ctx.Done():
		return in, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !c.reported && c.first != nil && r.Event == firewall.EventPostToolUse:
		// The client waits for our answer before it shows a result.
		s.fault("a result was reported for %q after the client's stream had shown one", c.line)
	case !c.reported && (c.tool != r.Tool || !sameInput(c.input, r.Input)):
		s.fault("the result that was reported for %q is of another call: %q", c.line, r.Tool)
	case c.asked != (sum{}) && c.asked != in:
		s.fault("%q ran with another input than the firewall was asked about", c.line)
	case c.refused:
		s.fault("a result was reported for %q, which had been refused", c.line)
	case c.reported:
		c.doubled = true
		s.revoke(r.ToolUseID, "a second result was reported for the call")
		s.fault("a second result was reported for %q: its receipt was withdrawn", c.line)
	default:
		c.reported, c.input = true, nil
		return in, true
	}
	return in, false
}

// revoke withdraws the receipt of a call, if it has one. The lock is held.
func (s *Seal) revoke(id, why string) {
	if !s.Book.Revoke(s.Scope, id, why) {
		return
	}
	if s.revoked == nil {
		s.revoked = map[string]string{}
	}
	s.revoked[id] = why
	if c := s.call(id); c.counted {
		c.counted = false
		s.coverage.Receipted--
		s.missing(c.name(id))
	}
}

// keep adds a record to the audit trail; a failure is told once.
func (s *Seal) keep(ctx context.Context, event receipt.Event, r firewall.Request, in sum, result string, t receipt.Token) bool {
	err := s.Keep(ctx, receipt.Record{
		Event: event, Scope: s.Scope, Tool: r.Tool, ToolUseID: r.ToolUseID, TS: s.Now().Unix(),
		ArgsSHA256: fmt.Sprintf("%x", in), ResultSHA256: result, Receipt: t,
	})
	if err != nil {
		s.say("the audit trail has a gap: %v", err)
	}
	return err == nil
}

// maxFaults bounds what is told one by one.
const maxFaults = 20

// fault notes what is wrong. The lock is held.
func (s *Seal) fault(format string, args ...any) {
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

func (s *Seal) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault(format, args...)
}
