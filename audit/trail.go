// Package audit answers questions about an audit trail after the run: whether
// it is as it was written, what calls it holds, and where a receipt stands in
// it.
//
// A trail is a session's records and the states of them that were signed
// while it ran. It comes from the queue, or from a file that was exported and
// may have been anywhere since; nothing here needs the key that signed, and
// nothing is written.
//
// What it cannot know, it says: records cut off the end, with the signed
// states that stood for them, are missed only by who has a root from
// elsewhere; and a trail that was made anew from its start, with a key of its
// own, only by who has the public key.
package audit

import (
	"context"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Trail is the audit trail of one session.
type Trail struct {
	Session     string
	PublicKey   string // of the key that signed its states
	Records     [][]byte
	Checkpoints [][]byte
}

// Load reads the trail of a session from the queue. One without records was
// never kept.
func Load(ctx context.Context, store *queue.Store, s queue.Session) (Trail, error) {
	t, err := store.Audit(ctx, s.ID)
	return Trail{Session: s.ID, PublicKey: s.AuditKey, Records: t.Records, Checkpoints: t.Checkpoints}, err
}

// Call is one call as the trail has it. Bodies are not in it, only their
// hashes.
type Call struct {
	Record     int           `json:"record"` // its place, from 0
	TS         int64         `json:"ts"`     // Unix seconds
	Scope      string        `json:"scope"`  // the attempt
	Tool       string        `json:"tool"`
	ToolUseID  string        `json:"tool_use_id"`
	Outcome    string        `json:"outcome"` // ok, failed, cut off, refused, deferred
	Receipt    receipt.Token `json:"receipt"` // of an ok one
	Revoked    bool          `json:"revoked,omitempty"`
	ArgsSHA256 string        `json:"args_sha256"`
}

// outcome is what people call the end of a call; "" is for other events.
func outcome(r receipt.Record) string {
	switch r.Event {
	case receipt.CallOK:
		return "ok"
	case receipt.CallFail:
		if r.ResultSHA256 == receipt.SumHex([]byte(receipt.CutOff)) {
			return "cut off"
		}
		return "failed"
	case receipt.CallDenied:
		return "refused"
	case receipt.Deferred:
		return "deferred"
	case receipt.StoryOpen, receipt.CallRevoked, receipt.FinalText, receipt.Finding, receipt.Approved, receipt.Rejected, receipt.Answered, receipt.Replayed, receipt.Edited, receipt.TakenBack, receipt.StoryClose:
	}
	return ""
}

// Calls lists the calls of a trail in their order. Records that cannot be read
// are passed over; Check names them.
func Calls(records [][]byte) []Call {
	var calls []Call
	withdrawn := map[[2]string]bool{}
	for i, line := range records {
		r, err := receipt.ParseRecord(line)
		if err != nil {
			continue
		}
		if r.Event == receipt.CallRevoked {
			withdrawn[[2]string{r.Scope, r.ToolUseID}] = true
		}
		if out := outcome(r); out != "" {
			calls = append(calls, Call{
				Record: i, TS: r.TS, Scope: r.Scope, Tool: r.Tool, ToolUseID: r.ToolUseID,
				Outcome: out, Receipt: r.Receipt, ArgsSHA256: r.ArgsSHA256,
			})
		}
	}
	for i := range calls {
		c := &calls[i]
		c.Revoked = !c.Receipt.IsZero() && withdrawn[[2]string{c.Scope, c.ToolUseID}]
	}
	return calls
}
