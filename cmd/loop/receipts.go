package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

func newReceipts(a *app) *cobra.Command {
	var o struct {
		story string
		json  bool
	}
	cmd := &cobra.Command{
		Use: "receipts [SESSION]", Short: "List the receipts of a session's tool results, and check receipts",
		Long: "List the receipts of a session's tool results; the last session by default. Calls that failed or\n" +
			"were refused are listed without one. `loop receipts verify` says what a receipt is worth.\n\n" + exitHelp,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			store, s, err := a.openSession(cmd.Context(), refs)
			if err != nil {
				return err
			}
			list, err := receiptList(cmd.Context(), store, s, o.story)
			if err != nil {
				return err
			}
			ro, err := a.queueOptions(cmd.Context(), store)
			if err != nil {
				return err
			}
			if o.json {
				return report.WriteJSON(a.stdout, list, ro)
			}
			return report.ReceiptList(a.stdout, list, ro)
		},
	}
	cmd.Flags().StringVar(&o.story, "story", "", "only the attempts at this story")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.AddCommand(newReceiptsVerify(a))
	return cmd
}

// receiptList brings together what the trail, the queue and the transcripts
// know of a session's calls.
func receiptList(ctx context.Context, store *queue.Store, s queue.Session, story string) (report.Receipts, error) {
	l := report.Receipts{Schema: queue.Schema, Session: s.ID, PublicKey: s.AuditKey, Attempts: []report.ReceiptsOf{}}
	known, err := knownOf(ctx, store, s)
	if err != nil {
		return l, err
	}
	t, err := trailOf(ctx, store, s)
	if err != nil {
		return l, err
	}
	l.Problems = audit.Check(t, audit.Ask{Known: known}).Problems
	calls := map[string][]audit.Call{}
	for _, c := range audit.Calls(t.Records) {
		calls[c.Scope] = append(calls[c.Scope], c)
	}
	for _, at := range known.Attempts {
		if story != "" && at.Story != story {
			continue
		}
		of := report.ReceiptsOf{
			Story: at.Story, Title: at.StoryTitle, Attempt: at.Number, Scope: at.Scope(),
			Coverage: at.Receipts, Calls: []report.ReceiptCall{},
		}
		lines, err := commands(at.Dir)
		if err != nil {
			return l, err
		}
		for _, c := range calls[at.Scope()] {
			of.Calls = append(of.Calls, report.ReceiptCall{Call: c, Command: lines[c.ToolUseID]})
		}
		l.Attempts = append(l.Attempts, of)
	}
	if story != "" && len(l.Attempts) == 0 {
		return l, &hintedError{
			err:  fmt.Errorf("session %s has no attempt at story %q", s.ID, story),
			hint: "`loop report` lists the stories; `loop receipts SESSION --story ID` looks into another session",
		}
	}
	return l, nil
}

// errNoReceipt is for arguments that are neither a receipt nor a file.
var errNoReceipt = errors.New("neither a receipt nor a file")
