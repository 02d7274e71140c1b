package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Decide adds to the trail of an action's session what a person did with it:
// receipt.Approved, Rejected, Answered, whose result is the answer, or Replayed,
// whose result is what the replay gave. A session without a trail is left alone.
func Decide(ctx context.Context, store *queue.Store, event receipt.Event, x queue.Action, now time.Time) error {
	s, err := store.Session(ctx, x.Session)
	if errors.Is(err, queue.ErrNotFound) || err == nil && s.AuditKey == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("note the decision: %w", err)
	}
	attempts, err := store.Attempts(ctx, s.ID)
	if err != nil {
		return fmt.Errorf("note the decision: %w", err)
	}
	r := receipt.Record{Event: event, Scope: s.ID, Tool: x.Tool, ToolUseID: x.ToolUseID, TS: now.Unix(), ArgsSHA256: argsHash(x)}
	for _, a := range attempts {
		if a.ID == x.Attempt {
			r.Scope = a.Scope()
		}
	}
	switch {
	case event == receipt.Replayed && x.Replay != nil:
		r.ResultSHA256 = receipt.SumHex([]byte(x.Replay.Output))
	case event == receipt.Answered:
		r.ResultSHA256 = receipt.SumHex([]byte(x.AnswerText()))
	}
	return store.AppendAudit(ctx, s.ID, "", r.Next)
}

// argsHash is of the canonical input, as in the record of the call that was
// deferred, unless a person has edited it; of the command line where there is
// no such input.
func argsHash(x queue.Action) string {
	x = x.AsRun()
	if canonical, err := receipt.Canonical(x.Input); err == nil {
		return receipt.SumHex(canonical)
	}
	return receipt.SumHex([]byte(x.Command))
}
