package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// outputLines is how many lines of a gate's output are shown at first.
const outputLines = 8

// columns are the widths of the stories table; 0 leaves a column out.
type columns struct {
	word, id, title, attempts, time, cost, gates int
}

const gap = 2

// section is the stories of the report that ended alike.
type section struct {
	title string
	list  []*story
}

// sections are all of them, empty ones too: what is done and proven, what is
// only claimed, what failed and why, what is left.
func (v *view) sections() []section {
	of := func(title string, chosen ...class) section {
		return section{title, keep(v.stories, func(s *story) bool { return slices.Contains(chosen, s.class()) })}
	}
	return []section{
		of("Done and proven", classDone),
		of(claimedTitle, classUnproven),
		of("Failed, and why", classFailed),
		of("Not finished", classRunning, classAsks, classCut, classNotStarted),
	}
}

// stories are tables of what became of each story, as planned.
func (p *printer) stories(v *view) {
	c := p.columnsFor(v)
	named := false // the columns are named once
	for _, s := range v.sections() {
		if len(s.list) > 0 {
			p.line()
			p.header(c, s.title+" ("+strconv.Itoa(len(s.list))+")", !named)
			named = true
		}
		for _, s := range s.list {
			p.row(c, p.stateStyle(s), newRow(s))
			p.details(c, s, v)
		}
		if s.title == claimedTitle {
			p.claimed(v)
			p.notVouched(v)
		}
	}
}

const claimedTitle = "Claimed, not proven"

// claimed is what an agent said or wrote down that nothing proves.
func (p *printer) claimed(v *view) {
	claims, _ := v.otherDoubts()
	if v.counts[classUnproven] > 0 {
		p.line()
		p.prose(p.Faint, 0, "unproven: no gates configured; loop did not check these.")
	} else if len(claims) > 0 || v.hasMemory() {
		p.heading(claimedTitle)
	}
	p.doubtLines(claims)
	for i := range v.Attempts {
		p.memory(&v.Attempts[i])
	}
}

// notVouched is what loop could not vouch for, and what was changed that others
// share.
func (p *printer) notVouched(v *view) {
	if _, rest := v.otherDoubts(); len(rest) > 0 {
		p.heading("What loop could not vouch for")
		p.doubtLines(rest)
	}
	p.sharedCalls(v)
}

func (v *view) hasMemory() bool {
	return slices.ContainsFunc(v.Attempts, func(a queue.Attempt) bool { return len(a.Memory) > 0 })
}

// columnsFor fits the table into the width: the narrower it is, the fewer
// columns, and the title takes what is left.
func (p *printer) columnsFor(v *view) columns {
	var c columns
	title := 0
	for _, s := range v.stories {
		r := newRow(s)
		c.word = max(c.word, term.Cells(r.word))
		c.id = max(c.id, min(term.Cells(r.id), 14, p.width/5))
		title = max(title, term.Cells(r.title))
		if p.width >= 60 {
			c.time = max(c.time, term.Cells(r.time), len("time"))
			c.cost = max(c.cost, term.Cells(r.cost), len("cost"))
			c.gates = max(c.gates, term.Cells(r.gates), len("gates"))
		}
		if p.width >= 60 && len(s.attempts) > 1 {
			c.attempts = len("attempts")
		}
	}
	used := c.word + gap + c.id
	for _, n := range []int{c.attempts, c.time, c.cost, c.gates} {
		if n > 0 {
			used += gap + n
		}
	}
	c.title = max(8, min(title, p.width-used-gap))
	return c
}

type row struct{ word, id, title, attempts, time, cost, gates string }

func newRow(s *story) row {
	r := row{
		word:  term.Truncate(outcomeWord(queue.Outcome(s.state)), 16),
		id:    term.Line(s.id),
		title: term.Line(s.title),
	}
	if len(s.attempts) == 0 {
		return r
	}
	r.attempts = strconv.Itoa(len(s.attempts))
	r.time = duration(s.time)
	r.cost = money(s.cost)
	r.gates = "–"
	if passed, total := s.gates(); total > 0 {
		r.gates = strconv.Itoa(passed) + "/" + strconv.Itoa(total)
	}
	return r
}

// header is the heading of a section, with the names of the number columns on
// the same line.
func (p *printer) header(c columns, title string, named bool) {
	numbers := c.numbers(row{attempts: "attempts", time: "time", cost: "cost", gates: "gates"})
	if !named || strings.TrimSpace(numbers) == "" {
		p.rule(p.Heading, title)
		return
	}
	fill := term.Spaces(c.word + gap + c.id + gap + c.title - term.Cells(title))
	if n := len(fill) - 1; p.o.Width > 0 && n > 3 {
		fill = " " + p.Faint.Render(strings.Repeat("─", n))
	}
	p.line(p.Heading.Render(title), fill, p.Faint.Render(numbers))
}

// row writes words and titles to the left and numbers to the right.
func (p *printer) row(c columns, style term.Style, r row) {
	text := term.Pad(term.Truncate(r.id, c.id), c.id) + term.Spaces(gap) + term.Truncate(r.title, c.title)
	if numbers := c.numbers(r); strings.TrimSpace(numbers) != "" {
		text = term.Pad(text, c.id+gap+c.title) + numbers
	}
	p.line(style.Render(r.word), term.Spaces(c.word-term.Cells(r.word)+gap), text)
}

// numbers are the columns on the right, each with the gap before it.
func (c columns) numbers(r row) string {
	var b strings.Builder
	for _, cell := range []struct {
		n int
		s string
	}{{c.attempts, r.attempts}, {c.time, r.time}, {c.cost, r.cost}, {c.gates, r.gates}} {
		if cell.n > 0 {
			b.WriteString(term.Spaces(gap + cell.n - term.Cells(cell.s)))
			b.WriteString(cell.s)
		}
	}
	return b.String()
}

func (p *printer) stateStyle(s *story) term.Style {
	switch c := s.class(); {
	case c == classDone:
		return p.Ok
	case c == classFailed, s.outcome == queue.Unguarded:
		return p.Danger
	case c == classNotStarted:
		return p.Faint
	case c == classRunning:
		return p.Bold
	}
	return p.Warn
}

// details are the lines under a row. They stand under the story's id where
// there is room.
func (p *printer) details(c columns, s *story, v *view) {
	indent := c.word + gap
	if p.width < 60 {
		indent = 2
	}
	for _, r := range p.remarks(s, v) {
		p.text(p.toneStyle(r.tone), indent, r.text)
	}
	for _, g := range s.failedGates() {
		p.gate(indent, g)
		p.gateNote(indent, g)
	}
}

// remarks are what there is to say of a story: what it lacks, and why it
// failed. A gate that failed says so itself.
func (t *teller) remarks(s *story, v *view) (out []toned) {
	add := func(tone tone, text string) { out = append(out, toned{t.Line(text), tone}) }
	a := s.last()
	if a.Level != "" && a.Level != v.Session.Level && len(s.attempts) > 0 {
		add(faint, "level "+a.Level+", as the story asks")
	}
	if text := s.unreceipted(); text != "" {
		add(warn, text)
	}
	if s.outcome.Passed() || len(s.attempts) == 0 {
		return out
	}
	if a.Reason != "" && s.outcome != queue.GateFailed && !v.doubted(a.Reason) {
		add(plain, a.Reason)
	}
	if a.Blocked != "" && len(s.attempts) > 1 {
		add(warn, "not tried again: "+a.Blocked)
	}
	return out
}

// failedGates are the gates that the last attempt did not pass.
func (s *story) failedGates() []queue.Gate {
	if s.outcome.Passed() {
		return nil
	}
	return keep(s.last().Gates, func(g queue.Gate) bool { return !g.Passed })
}

// text writes one sentence that may quote hostile text: one line of it, or
// all.
func (p *printer) text(style term.Style, indent int, s string) {
	if p.o.All {
		p.prose(style, indent, p.Line(s))
		return
	}
	p.line(term.Spaces(indent), style.Render(term.Truncate(p.Line(s), p.width-indent)))
}

// gate shows a gate that did not pass, with the end of what it printed.
func (p *printer) gate(indent int, g queue.Gate) {
	how := " (" + p.gateEnd(g, min(24, p.width/4)) + ")"
	command := term.Truncate(p.Command(g.Command), max(8, p.width-indent-len("gate: ")-term.Cells(how)))
	p.line(term.Spaces(indent), p.Warn.Render("gate: "+command), p.Faint.Render(how))
	p.block(always(p.Faint), indent+2, p.gateOutput(g), 0)
}

// gateEnd is how a gate ended; n is how much of an error is told.
func (t *teller) gateEnd(g queue.Gate, n int) string {
	how := "exit " + strconv.Itoa(g.ExitCode)
	if g.Error != "" {
		how = t.short(g.Error, n)
	}
	how += ", " + duration(g.Duration)
	if g.WasRed {
		how += ", was red before the session"
	}
	return how
}

// gateOutput is the end of what a gate printed, or all that is kept of it.
func (t *teller) gateOutput(g queue.Gate) []string {
	text := strings.Trim(t.Lines(g.Output), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if !t.o.All && len(lines) > outputLines {
		lines = lines[len(lines)-outputLines:]
	}
	return lines
}

// gateNote says how a gate that did not pass stood before, and with what of
// the agent's it was run.
func (p *printer) gateNote(indent int, g queue.Gate) {
	for _, n := range p.gateNotes(g) {
		p.text(p.toneStyle(n.tone), indent+2, n.text)
	}
}

func (t *teller) gateNotes(g queue.Gate) (out []toned) {
	if g.Merged {
		out = append(out, toned{"it had passed before the work of other stories came in", warn})
	}
	if g.Before != "" && !g.WasRed {
		out = append(out, toned{t.Line("it " + g.Before), faint})
	}
	kept := t.Line(strings.Join(g.Kept, ", "))
	switch {
	case g.AtStart == "fails" && g.WithChange == "passes":
		out = append(out, toned{"it passes only as the agent changed it: " + kept, warn})
	case g.AtStart == "passes":
		out = append(out, toned{"as it was at the start it passes; the agent changed " + kept, warn})
	}
	return out
}
