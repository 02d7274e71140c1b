package audit

import (
	"slices"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// EventOf is what was done last with an action: what a person decided about it,
// or the end of its replay.
func EventOf(x queue.Action) receipt.Event {
	verb := ""
	if n := len(x.Decisions); n > 0 {
		verb = x.Decisions[n-1].Verb
	}
	switch verb {
	case queue.Undo:
		return receipt.TakenBack
	case queue.Edit, queue.Unedit:
		return receipt.Edited
	case queue.Reject:
		return receipt.Rejected
	case queue.Answer:
		return receipt.Answered
	}
	if x.Status == queue.Replaying || x.Status == queue.Approved {
		return receipt.Approved
	}
	return receipt.Replayed
}

// Decision is the record of what was done last with an action, as EventOf tells:
// the result of receipt.Answered is the answer, of Replayed what the replay gave,
// of TakenBack the word for what is taken back.
func Decision(x queue.Action, scope string, now time.Time) receipt.Record {
	r := receipt.Record{Event: EventOf(x), Scope: scope, Tool: x.Tool, ToolUseID: x.ToolUseID, TS: now.Unix(), ArgsSHA256: argsHash(x)}
	switch {
	case r.Event == receipt.Replayed && x.Replay != nil:
		r.ResultSHA256 = receipt.SumHex([]byte(x.Replay.Output))
	case r.Event == receipt.Answered:
		r.ResultSHA256 = receipt.SumHex([]byte(x.AnswerText()))
	case r.Event == receipt.TakenBack:
		r.ResultSHA256 = receipt.SumHex([]byte(takenBack(x)))
	}
	return r
}

// takenBack is the verb of the decision that the last one, an undo, is about.
func takenBack(x queue.Action) string {
	for _, d := range slices.Backward(x.Decisions) {
		switch d.Verb {
		case queue.Undo, queue.Edit, queue.Unedit:
		default:
			return d.Verb
		}
	}
	return ""
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
