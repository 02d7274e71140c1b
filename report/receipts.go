package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Receipts is the list of a session's receipts.
type Receipts struct {
	Schema    int             `json:"schema"`
	Session   string          `json:"session"`
	PublicKey string          `json:"public_key"`
	Attempts  []ReceiptsOf    `json:"attempts"` // oldest first
	Problems  []audit.Problem `json:"problems"` // why the trail they come from cannot be trusted
}

// ReceiptsOf are those of one attempt at a story.
type ReceiptsOf struct {
	Story    string          `json:"story"`
	Title    string          `json:"title,omitempty"`
	Attempt  int             `json:"attempt"`
	Scope    string          `json:"scope"`
	Coverage *queue.Receipts `json:"coverage,omitempty"` // nil: the attempt has not come to its end
	Calls    []ReceiptCall   `json:"calls"`
}

// ReceiptCall is one call of the trail with what the transcript says of it.
type ReceiptCall struct {
	audit.Call
	Command string `json:"command,omitempty"` // hostile text; "" where the transcript is gone
}

// word is the outcome, or that it does not count any more.
func (c *ReceiptCall) word() string {
	if c.Revoked {
		return "revoked"
	}
	return c.Outcome
}

// ReceiptList prints the receipts of a session for a person.
func ReceiptList(w io.Writer, l Receipts, o Options) error {
	p := newPrinter(w, o)
	results, receipted := 0, 0
	for _, a := range l.Attempts {
		if a.Coverage != nil {
			results, receipted = results+a.Coverage.Results, receipted+a.Coverage.Receipted
		}
	}
	p.flow(0, []span{{"Session " + p.Line(l.Session), p.Heading}}, []span{{coverage(receipted, results), p.coverStyle(receipted, results)}})
	for _, x := range l.Problems {
		p.sentence(p.Danger, 0, "damaged: "+p.Line(x.Text)+" (loop audit verify)")
	}
	for i := range l.Attempts {
		p.receiptsOf(&l.Attempts[i])
	}
	return p.flush()
}

func coverage(receipted, results int) string {
	return strconv.Itoa(receipted) + " of " + plural(results, "result has a receipt", "results have a receipt")
}

func (p *printer) coverStyle(receipted, results int) term.Style {
	if receipted < results {
		return p.Warn
	}
	return p.Ok
}

func (p *printer) receiptsOf(a *ReceiptsOf) {
	p.line()
	head := "Story " + p.Line(a.Story)
	if a.Title != "" {
		head += "  " + p.Line(a.Title)
	}
	if a.Attempt > 1 {
		head += " (attempt " + strconv.Itoa(a.Attempt) + ")"
	}
	p.hang("", 0, 2, p.Bold, p.o.fit(head, p.width))
	if c := a.Coverage; c == nil {
		p.sentence(p.Warn, 2, "not counted: the attempt has not come to its end")
	} else {
		p.hang("  ", 2, 4, p.coverStyle(c.Receipted, c.Results), coverage(c.Receipted, c.Results)+p.missing(c.Missing))
	}
	tool := 0
	for i := range a.Calls {
		tool = max(tool, min(term.Cells(p.Line(a.Calls[i].Tool)), 24))
	}
	for i := range a.Calls {
		p.receiptCall(a.Story, tool, &a.Calls[i])
	}
	p.citations(a.Coverage)
}

// missing names the calls without a receipt.
func (p *printer) missing(calls []string) string {
	if len(calls) == 0 {
		return ""
	}
	shown := make([]string, len(calls))
	for i, c := range calls {
		shown[i] = "`" + p.Command(c) + "`"
	}
	return "; missing: " + strings.Join(shown, ", ")
}

// receiptCall is one line: time, story, tool, outcome, receipt, call. On a
// terminal, where a receipt nearly fills a line, it stands on its own.
func (p *printer) receiptCall(story string, tool int, c *ReceiptCall) {
	style := p.Ok
	switch c.word() {
	case "failed", "cut off", "refused", "deferred":
		style = p.Warn
	case "revoked":
		style = p.Danger
	}
	name := term.Pad(p.Line(c.Tool), tool)
	called := p.Command(cmp.Or(c.Command, c.ToolUseID))
	head := stamp(time.Unix(c.TS, 0)) + "  " + term.Truncate(p.Line(story), 14) + "  " + name + "  "
	word := term.Pad(c.word(), len("deferred"))
	if p.o.Width <= 0 {
		p.line("  ", head, style.Render(word), "  ", cmp.Or(c.Receipt.String(), "–"), "  ", called)
		return
	}
	n := 2 + term.Cells(head) + len(word) + 2
	p.line("  ", head, style.Render(word), "  ", p.o.fit(called, max(8, p.width-n)))
	if !c.Receipt.IsZero() {
		p.line("    ", p.Faint.Render(c.Receipt.String()))
	}
}

// citations are the receipts that the agent wrote.
func (p *printer) citations(c *queue.Receipts) {
	if c == nil || c.Cited+len(c.Judged) == 0 {
		return
	}
	p.line("  cited by the agent: ", strconv.Itoa(c.Cited), " good, ", strconv.Itoa(len(c.Judged)), " not")
	for _, j := range c.Judged {
		text := p.Line(j.Verdict) + ": " + p.Line(j.Token) + ": " + p.Line(j.Reason)
		if j.Line > 0 {
			text += " (transcript line " + strconv.Itoa(j.Line) + ")"
		}
		p.hang("    ", 4, 6, p.Warn, text)
	}
}

// Said is what an agent said at the end of an attempt, and the receipts of its
// calls.
type Said struct {
	Text  string // hostile
	Calls []audit.Call
}

// said prints the words, and below them the receipts in the form that other
// programs print theirs in.
func (p *printer) said(s Said) {
	if text := strings.Trim(p.Lines(s.Text), "\n"); text != "" {
		p.block(always(term.Style{}), 2, strings.Split(text, "\n"), 0)
		p.line()
	}
	calls := slices.DeleteFunc(slices.Clone(s.Calls), func(c audit.Call) bool { return c.Receipt.IsZero() || c.Revoked })
	if len(calls) == 0 {
		return
	}
	p.line("---")
	p.line("Tool receipts:")
	for _, c := range calls {
		// A receipt is never broken: who copies it needs it whole.
		p.line("  ", term.Truncate(p.Line(c.Tool), 60), ": ", c.Receipt.String())
	}
}

// words are what the agents said last, where the reader asked for it.
func (p *printer) words(v *view) {
	for i := range v.Attempts {
		a := &v.Attempts[i]
		s, ok := p.o.Said[a.ID]
		if !ok {
			continue
		}
		title := "Story " + p.Line(a.Story) + ": what the agent said last"
		if a.Number > 1 {
			title += " (attempt " + strconv.Itoa(a.Number) + ")"
		}
		p.heading(p.o.fit(title, p.width))
		p.said(s)
	}
}

// receipts sums up the attempts at a story; nil when none had any.
func (s *story) receipts() *queue.Receipts { return sumReceipts(s.attempts) }

func sumReceipts(attempts []queue.Attempt) *queue.Receipts {
	var sum *queue.Receipts
	for i := range attempts {
		r := attempts[i].Receipts
		if r == nil {
			continue
		}
		if sum == nil {
			sum = &queue.Receipts{}
		}
		sum.Results += r.Results
		sum.Receipted += r.Receipted
		sum.Missing = append(sum.Missing, r.Missing...)
	}
	return sum
}

// unreceipted says that a story has results without a receipt; "" when it has
// none. It quotes hostile text.
func (s *story) unreceipted() string {
	r := s.receipts()
	if r == nil || r.Receipted >= r.Results {
		return ""
	}
	text := "receipts " + strconv.Itoa(r.Receipted) + " of " + strconv.Itoa(r.Results)
	if len(r.Missing) > 0 {
		text += ", missing: " + strings.Join(r.Missing, ", ")
	}
	return text
}

// rootDigits is how much of a root a person compares at a glance.
const rootDigits = 12

// trail is the last line: what the receipts say as a whole, and the root to
// keep elsewhere.
func (p *printer) trail(v *view) {
	r := sumReceipts(v.Attempts)
	root := lastRoot(v.Attempts)
	if r == nil && root == "" {
		return
	}
	var groups [][]span
	if r != nil {
		style := p.Faint
		if r.Receipted < r.Results {
			style = p.Warn
		}
		groups = append(groups, []span{{"Receipts " + strconv.Itoa(r.Receipted) + " of " + plural(r.Results, "result", "results"), style}})
	}
	whole := root != "" && (p.o.All || p.o.Roots)
	if root != "" && !whole {
		groups = append(groups, []span{{"audit root " + root[:rootDigits] + term.Ellipsis, p.Faint}}, []span{{"whole with --all", p.Faint}})
	}
	p.flow(0, groups...)
	if !whole {
		return
	}
	// A root is never broken either; the command can be copied as it stands.
	verify, with := "loop audit verify "+p.Line(v.Session.ID), "--root "+root
	if n := len(verify) + 1 + len(with); p.o.Width > 0 && n > p.width {
		p.line(p.Faint.Render(verify + " \\"))
		p.line("  ", p.Faint.Render(with))
		return
	}
	p.line(p.Faint.Render(verify + " " + with))
}

// lastRoot is the newest root of the trail; what is none is passed over.
func lastRoot(attempts []queue.Attempt) string {
	for i := range slices.Backward(attempts) {
		var h receipt.Hash
		if h.UnmarshalText([]byte(attempts[i].AuditRoot)) == nil {
			return attempts[i].AuditRoot
		}
	}
	return ""
}
