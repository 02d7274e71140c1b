package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/report"
)

const receiptsVerifyLong = `Say what a receipt is worth, or each one in a file (- is standard input): in which session and
story it was issued, for which call, and whether its record is proved to stand in a signed state
of that session's audit trail. Else it is forged, malformed, or was withdrawn. A receipt proves
that loop saw this result of this call, not that the sentence beside it is true.

By default every session of this repository counts. With --session or --story, a receipt of
another one is replayed.

Exit codes: 0 all are good; 1 one is not; 2 wrong use.`

type receiptsVerifyOptions struct {
	session, story string
	json           bool
}

func newReceiptsVerify(a *app) *cobra.Command {
	var o receiptsVerifyOptions
	cmd := &cobra.Command{
		Use: "verify RECEIPT|FILE|-", Short: "Say what receipts are worth", Long: receiptsVerifyLong,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			return a.verifyReceipts(cmd.Context(), refs[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.session, "session", "", "only receipts of this session are good")
	f.StringVar(&o.story, "story", "", "only receipts of this story are good")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (a *app) verifyReceipts(ctx context.Context, arg string, o receiptsVerifyOptions) error {
	found, lines, err := a.candidates(arg)
	if err != nil {
		return err
	}
	_, store, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	j := audit.Judge{Store: store, Story: o.story, Running: isRunning}
	if o.session != "" {
		s, err := store.Session(ctx, o.session)
		if errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrAmbiguous) {
			return usagef("name a session as `loop report` does", "--session: %w", err)
		}
		if err != nil {
			return err
		}
		j.Session = s.ID
	}
	answers := make([]audit.Answer, 0, len(found))
	calls := map[string]map[string]string{} // by folder of the attempt
	for i, c := range found {
		x, err := j.Rule(ctx, c)
		if err != nil {
			return err
		}
		if x.Dir != "" && calls[x.Dir] == nil {
			if calls[x.Dir], err = commands(x.Dir); err != nil {
				return err
			}
		}
		if x.Call != nil {
			x.Command = calls[x.Dir][x.Call.ToolUseID]
		}
		x.Line = lines[i]
		answers = append(answers, x)
	}
	return a.answer(ctx, store, answers, o.json)
}

func (a *app) answer(ctx context.Context, store *queue.Store, answers []audit.Answer, asJSON bool) error {
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return err
	}
	bad := false
	for i := range answers {
		bad = bad || !answers[i].Good()
	}
	if asJSON {
		err = report.WriteJSON(a.stdout, struct {
			Schema   int            `json:"schema"`
			OK       bool           `json:"ok"`
			Receipts []audit.Answer `json:"receipts"`
		}{queue.Schema, !bad, answers}, ro)
	} else {
		err = report.Answers(a.stdout, answers, ro)
	}
	if err == nil && bad {
		return &codeError{code: exitFailed}
	}
	return err
}

// candidates are what looks like a receipt in the argument, with the numbers
// of their lines: 0 for a receipt that was given itself.
func (a *app) candidates(arg string) ([]receipt.Candidate, []int, error) {
	if token, is := asReceipt(arg); is {
		t, err := receipt.ParseToken(token)
		return []receipt.Candidate{{Text: token, End: len(token), Token: t, Strict: err == nil}}, []int{0}, nil
	}
	var all []byte
	var err error
	if arg == "-" {
		all, err = io.ReadAll(a.stdin)
	} else {
		all, err = os.ReadFile(arg)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, usagef("loop receipts verify RECEIPT, or a file that holds some", "%q: %w", arg, errNoReceipt)
	case err != nil:
		return nil, nil, usagef("name a file that can be read", "read receipts: %w", err)
	}
	text := string(all)
	found := receipt.Find(text)
	lines := make([]int, len(found))
	line, at := 1, 0
	for i, c := range found {
		line += strings.Count(text[at:c.Start], "\n")
		lines[i], at = line, c.Start
	}
	return found, lines, nil
}

// asReceipt takes the marks off a receipt that was copied with what stands
// round it, and says whether it is meant to be one.
func asReceipt(arg string) (string, bool) {
	const marks = " \t\r\n[]()`\"'.,"
	token := strings.Trim(arg, marks)
	token = strings.Trim(strings.TrimPrefix(token, "receipt:"), marks)
	return token, strings.HasPrefix(strings.ToLower(token), "zc-receipt-") && !isFile(arg)
}

// parseReceipt reads a receipt that was given as an argument.
func parseReceipt(arg string) (receipt.Token, error) {
	token, _ := asReceipt(arg)
	t, err := receipt.ParseToken(token)
	if err != nil {
		return t, usagef("`loop receipts` lists them", "%w", err)
	}
	return t, nil
}

// parseRoot reads a root that was kept elsewhere.
func parseRoot(text string) (*receipt.Hash, error) {
	if text == "" {
		return nil, nil
	}
	h := new(receipt.Hash)
	if err := h.UnmarshalText([]byte(strings.ToLower(strings.TrimSpace(text)))); err != nil {
		return nil, usagef("a root has 64 hex digits; `loop report --all` prints it whole", "--root: %w", fmt.Errorf("%w", err))
	}
	return h, nil
}
