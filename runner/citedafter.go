package runner

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/transcript"
)

// citedAfter counts and judges the receipts of an attempt whose loop died. The
// key and the table died with it: the audit trail says what was issued, before
// the agent had it.
func citedAfter(ctx context.Context, o *Options, session queue.Session, a *queue.Attempt) error {
	if session.AuditKey == "" || a.Receipts != nil && a.Receipts.Cited+len(a.Receipts.Judged) > 0 {
		return nil // receipts were off, or it was done before
	}
	trail, err := o.Store.Audit(ctx, a.Session)
	if err != nil {
		return err
	}
	ids, tokens := map[receipt.Token][]string{}, map[string]receipt.Token{}
	for _, line := range trail.Records {
		if r, err := receipt.ParseRecord(line); err == nil && r.Scope == scope(a) && !r.Receipt.IsZero() {
			ids[r.Receipt], tokens[r.ToolUseID] = append(ids[r.Receipt], r.ToolUseID), r.Receipt
		}
	}
	if a.Receipts == nil {
		if a.Receipts, err = recount(filepath.Join(a.Dir, transcriptName), tokens); err != nil {
			a.Receipts = nil
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the client was not started
			}
			return err
		}
	}
	return judgeReceipts(ctx, o, a, table{ids: func(t receipt.Token) []string { return ids[t] }}, "")
}

// recount holds the results of a transcript against the receipts that were
// issued for them.
func recount(path string, issued map[string]receipt.Token) (*queue.Receipts, error) {
	r := &queue.Receipts{}
	lines, done := map[string]string{}, map[string]bool{}
	err := eachEvent(path, func(ev transcript.Event) {
		switch ev.Kind {
		case transcript.KindCall:
			if !slices.Contains(serverTools, ev.Call.Name) {
				lines[ev.Call.ID] = clip(policy.CommandOf(policy.Call{Tool: ev.Call.Name, Input: ev.Call.Input}), 400)
			}
		case transcript.KindResult:
			res := ev.Result
			line, ok := lines[res.CallID]
			if !ok || res.NotRun || res.IsError || done[res.CallID] {
				return
			}
			done[res.CallID] = true
			r.Results++
			if issued[res.CallID].IsZero() {
				r.Missing = append(r.Missing, line)
				return
			}
			r.Receipted++
		}
	})
	return r, err
}
