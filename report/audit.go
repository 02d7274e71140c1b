package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/receipt"
)

// auditLabel is the column in which the values of an audit begin.
const auditLabel = 11

// auditLine is a label and a sentence beside it.
func (p *printer) auditLine(label string, style term.Style, text string) {
	for i, l := range p.wrapped(text, auditLabel+2) {
		if i > 0 {
			label = ""
		}
		p.line("  ", p.Faint.Render(term.Pad(label, auditLabel)), style.Render(l))
	}
}

// wrapped is a sentence in the lines it is printed in. Where there is no
// terminal it is one, for programs that look for its words.
func (p *printer) wrapped(text string, indent int) []string {
	if p.o.Width <= 0 {
		return []string{text}
	}
	return term.Wrap(text, max(20, min(p.width, proseWidth)-indent))
}

// sentence is prose that stays whole where there is no terminal.
func (p *printer) sentence(style term.Style, indent int, text string) {
	for _, l := range p.wrapped(text, indent) {
		p.line(term.Spaces(indent), style.Render(l))
	}
}

// Audit prints what a check of a trail found, and what it could not find.
func Audit(w io.Writer, r audit.Result, o Options) error {
	p := newPrinter(w, o)
	p.flow(0, []span{{"Session " + p.Line(r.Session), p.Heading}},
		[]span{{plural(r.Records, "record", "records"), term.Style{}}},
		[]span{{plural(len(r.States), "signed state", "signed states"), term.Style{}}})
	p.line()
	for _, x := range r.Problems {
		p.auditLine("BROKEN", p.Danger, p.Line(x.Text))
	}
	if r.OK() {
		p.auditLine("chain", p.Ok, "whole: each record holds the hash of the one before it")
	}
	p.states(r)
	p.auditLine("status", term.Style{}, statusWords(r))
	if r.Decisions > 0 {
		p.auditLine("decisions", term.Style{}, plural(r.Decisions, "record", "records")+" after the last signed state: chained, not signed; the key was gone by then")
	}
	if r.Unsigned > 0 {
		p.auditLine("unsigned", p.Warn, plural(r.Unsigned, "record", "records")+" of what did not come to its end: chained, not signed")
	}
	p.end(r)
	p.auditLine("key", p.Faint, p.Line(r.PublicKey))
	return p.flush()
}

// states lists the signed states; the root is what a person keeps.
func (p *printer) states(r audit.Result) {
	good, unchecked := 0, 0
	for _, s := range r.States {
		switch {
		case s.Problem == "":
			good++
		case s.Unchecked:
			unchecked++
		}
	}
	style := p.Ok
	if good < len(r.States) || good == 0 {
		style = p.Warn
	}
	text := fmt.Sprintf("%d of %s by the session's key, each with the root that it has at its size", good, plural(len(r.States), "state", "states"))
	if unchecked > 0 {
		text += fmt.Sprintf("; %d not checked: a record before is not as it was written", unchecked)
	}
	if len(r.States) == 0 {
		text = "nothing is signed: who could write these records could have made them up"
	}
	p.auditLine("signed", style, text)
	for _, s := range r.States {
		if s.Problem != "" {
			continue
		}
		p.line("    ", p.Faint.Render(fmt.Sprintf("%6d %s", s.Size, s.Root))) // never broken
	}
}

func statusWords(r audit.Result) string {
	open := ""
	if len(r.Open) > 0 {
		open = ": not closed: " + term.Line(strings.Join(r.Open, ", "))
	}
	switch r.Status {
	case audit.Complete:
		return "complete: every attempt that was begun is closed"
	case audit.Interrupted:
		return "interrupted" + open
	case audit.Running:
		return "running" + open
	case audit.Unknown:
	}
	if !r.OK() {
		return "unknown: a trail that is not as it was written says nothing of its end"
	}
	return "unknown: every attempt in it is closed, but nothing here says whether another followed"
}

// end says what was and was not checked against things from elsewhere.
func (p *printer) end(r audit.Result) {
	switch {
	case r.Rooted != nil:
		text := "nothing is missing up to record " + strconv.FormatInt(r.Rooted.Size-1, 10) + ": the root you gave stands for " + plural(int(r.Rooted.Size), "record", "records")
		if more := int64(r.Records) - r.Rooted.Size; more > 0 {
			text += "; it says nothing about the " + plural(int(more), "record", "records") + " after them"
		}
		p.auditLine("end", p.Ok, text)
	case !r.RootGiven:
		p.auditLine("end", p.Warn, "not checked: whether records were cut off the end shows only against a root that was kept elsewhere (--root HEX, as the report prints it)")
	}
	if !r.RootGiven && !r.KeyGiven {
		p.auditLine("origin", p.Warn, "not checked: who could write the trail could make another with a key of its own; a root or a key (--key) that was kept elsewhere tells them apart")
	}
}

// Answers prints what receipts are worth, a paragraph for each.
func Answers(w io.Writer, answers []audit.Answer, o Options) error {
	p := newPrinter(w, o)
	good := 0
	for i := range answers {
		if answers[i].Good() {
			good++
		}
		p.answer(&answers[i])
	}
	if n := len(answers); n == 0 {
		p.line("no receipts in it")
	} else if n > 1 {
		p.line(strconv.Itoa(good), " of ", plural(n, "receipt is good", "receipts are good"))
	}
	return p.flush()
}

func (p *printer) answer(a *audit.Answer) {
	style := p.Ok
	if !a.Good() {
		style = p.Danger
	}
	at := ""
	if a.Line > 0 {
		at = "line " + strconv.Itoa(a.Line) + ": "
	}
	verdict := string(a.Verdict)
	if a.Damage != "" {
		verdict = "damaged"
	}
	p.hang(at+style.Render(verdict)+"  ", term.Cells(at)+len(verdict)+2, 2, term.Style{}, p.Line(a.Receipt))
	reason := a.Reason
	if a.Call != nil {
		if a.Verdict != receipt.VerdictValid {
			reason += ":"
		}
		reason += " in session " + a.Session + ", story " + a.Story
		if a.Attempt > 1 {
			reason += " (attempt " + strconv.Itoa(a.Attempt) + ")"
		}
		reason += ", for " + a.Call.Tool + " at " + stamp(time.Unix(a.Call.TS, 0))
	}
	p.sentence(term.Style{}, 2, p.Line(reason))
	if a.Command != "" {
		p.hang("  called: ", len("  called: "), 4, term.Style{}, p.Command(a.Command))
	}
	switch {
	case a.Damage != "":
		p.sentence(p.Danger, 2, "the trail cannot vouch for it: "+p.Line(a.Damage))
	case a.Signed != nil:
		p.sentence(p.Faint, 2, fmt.Sprintf("record %d of the trail; proved to stand under the signed root of %d records, %s", a.Call.Record, a.Signed.Size, a.Signed.Root))
	case a.Call != nil && a.Running:
		p.sentence(p.Warn, 2, fmt.Sprintf("record %d of the trail: chained, and not signed yet", a.Call.Record))
	case a.Call != nil:
		p.sentence(p.Warn, 2, fmt.Sprintf("record %d of the trail: chained, not signed: its attempt did not come to its end, so that who could write the queue could have made it up", a.Call.Record))
	}
}

// ProofChecked prints that a proof holds, and on what that rests.
func ProofChecked(w io.Writer, rec receipt.Record, c receipt.Checkpoint, elsewhere bool, o Options) error {
	p := newPrinter(w, o)
	p.line(p.Ok.Render("holds"), "  ", rec.Receipt.String())
	p.auditLine("record", term.Style{}, fmt.Sprintf("%d of %d, %s for %s in %s at %s", rec.Seq, c.Size, rec.Event, p.Line(rec.Tool), p.Line(rec.Scope), stamp(time.Unix(rec.TS, 0))))
	p.auditLine("root", term.Style{}, c.Root.String())
	p.auditLine("signed", term.Style{}, "as "+p.Line(c.Origin))
	p.auditLine("later", p.Warn, "not checked: whether it was withdrawn after it was issued stands in the trail, not in the proof (loop receipts verify)")
	if !elsewhere {
		p.auditLine("origin", p.Warn, "not checked: the key came with the proof; hold the root against one that was kept elsewhere (--root HEX), or the key (--key)")
	}
	return p.flush()
}
