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
	"github.com/seed-b23e517c/loop/transcript"
)

const receiptsVerifyLong = `Say what a receipt is worth, or each one in a text or a file (- is standard input): in which session
and story it was issued, for which call, and whether its record is proved to stand in a signed state
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
		Use: "verify RECEIPT|TEXT|FILE|-", Short: "Say what receipts are worth", Long: receiptsVerifyLong,
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
	found, more, err := a.candidates(ctx, arg)
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
	for _, c := range found {
		x, err := j.Rule(ctx, c.Candidate)
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
		x.Line = c.line
		answers = append(answers, x)
	}
	err = a.answer(ctx, store, answers, o.json)
	if more > 0 && err == nil {
		err = fmt.Errorf("%d further receipts in it were not judged: split the file", more)
	}
	return err
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

// sought is what looks like a receipt in the argument, with the number of its
// line: 0 for what was given itself.
type sought struct {
	receipt.Candidate
	line int
}

// candidates finds them in a receipt, in a text that holds some, or in a file.
// more is how many were too many.
func (a *app) candidates(ctx context.Context, arg string) (found []sought, more int, err error) {
	if token, is := asReceipt(arg); is {
		if t, err := receipt.ParseToken(token); err == nil {
			return []sought{{Candidate: receipt.Candidate{Text: token, End: len(token), Token: t, Strict: true}}}, 0, nil
		}
	}
	in := a.stdin
	if arg != "-" {
		f, err := os.Open(arg)
		switch {
		case errors.Is(err, fs.ErrNotExist), err != nil && len(receipt.Find(arg)) > 0:
			found, err := inText(arg)
			return found, 0, err
		case err != nil:
			return nil, 0, usagef("name a file that can be read", "read receipts: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := plainText(in, arg, "loop receipts verify")
	if err == nil {
		found, more, err = inFile(ctx, transcript.UTF8(text))
	}
	if err != nil && ctx.Err() == nil {
		err = usagef("name a file that can be read", "read receipts: %w", err)
	}
	return found, more, err
}

// inText takes an argument that is no file.
func inText(arg string) ([]sought, error) {
	var found []sought
	for _, c := range receipt.Find(arg) {
		found = append(found, sought{Candidate: c})
	}
	if token, is := asReceipt(arg); is && found == nil {
		found = []sought{{Candidate: receipt.Candidate{Text: token, End: len(token)}}}
	}
	if found == nil {
		return nil, usagef("loop receipts verify RECEIPT, or a file that holds some", "%q: %w", arg, errNoReceipt)
	}
	return found, nil
}

const (
	maxJudged = 10_000  // receipts of one file
	piece     = 1 << 20 // how much of a file is looked at at once
	beyond    = 4 << 10 // how far a receipt that begins in a piece may go on
)

// inFile looks through a file of any length.
func inFile(ctx context.Context, in io.Reader) (found []sought, more int, err error) {
	buf := make([]byte, 0, piece+beyond)
	line := 1
	for end := false; !end; {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		n, err := io.ReadFull(in, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if end = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !end {
			return nil, 0, err
		}
		upTo := len(buf)
		if !end {
			upTo -= beyond
		}
		text, at := string(buf), 0
		for _, c := range receipt.Find(text) {
			if c.Start >= upTo {
				break
			}
			line += strings.Count(text[at:c.Start], "\n")
			at, upTo = c.Start, max(upTo, c.End)
			if len(found) == maxJudged {
				more++
				continue
			}
			c.Text = strings.Clone(c.Text) // and not the piece with it
			found = append(found, sought{c, line})
		}
		line += strings.Count(text[at:upTo], "\n")
		buf = buf[:copy(buf, buf[upTo:])]
	}
	return found, more, nil
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
