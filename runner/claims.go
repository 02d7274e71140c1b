package runner

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-b23e517c/loop/claims"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/transcript"
)

// claimed puts beside each action what its text claims and where that could
// come from: a result of this attempt, or of an earlier one at the same story
// in this session.
func claimed(ctx context.Context, o *Options, a *queue.Attempt, actions []queue.Action) error {
	var calls []claims.Call
	var of []int
	for i, x := range actions {
		if x.Tier >= policy.External && x.Evidence != policy.Mentioned && !x.Tampering && len(x.Input) > 0 {
			calls, of = append(calls, claims.Call{ID: x.ToolUseID, Input: x.Input}), append(of, i)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	paths, err := transcriptsOf(ctx, o, a)
	if err != nil {
		return err
	}
	receipts, err := receiptsOf(ctx, o, a.Session)
	if err != nil {
		return err
	}
	attempts := make([]claims.Events, len(paths))
	for i, path := range paths {
		attempts[i] = func(do func(transcript.Event)) error { return eachEvent(path, do) }
	}
	judged, err := claims.Judge(calls, attempts, claims.Options{Memory: o.Memory, Receipt: func(id string) string { return receipts[id] }})
	if err != nil {
		return fmt.Errorf("judge what the actions claim: %w", err)
	}
	for k, j := range judged {
		actions[of[k]].Claims, actions[of[k]].MoreClaims = j.Claims, j.Beyond
	}
	return nil
}

// transcriptsOf are the transcripts of a story's attempts in a session up to
// this one, oldest first.
func transcriptsOf(ctx context.Context, o *Options, a *queue.Attempt) ([]string, error) {
	attempts, err := o.Store.Attempts(ctx, a.Session)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, old := range attempts {
		if old.Story == a.Story && old.Number < a.Number && old.Scanned {
			paths = append(paths, filepath.Join(old.Dir, transcriptName))
		}
	}
	return append(paths, filepath.Join(a.Dir, transcriptName)), nil
}

// receiptsOf are the receipts of a session by their calls.
func receiptsOf(ctx context.Context, o *Options, session string) (map[string]string, error) {
	trail, err := o.Store.Audit(ctx, session)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, line := range trail.Records {
		if r, err := receipt.ParseRecord(line); err == nil && r.ToolUseID != "" {
			if t := r.Receipt.String(); t != "" {
				out[r.ToolUseID] = t
			}
		}
	}
	return out, nil
}
