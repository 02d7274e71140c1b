package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

// HTML prints the report as one page that needs nothing from anywhere: no
// script, no font, no picture, and a policy that lets it load none.
func HTML(w io.Writer, d queue.Snapshot, o Options) error {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("report's page: %w", err)
	}
	o.Width, o.Color = 0, false
	h := &pageMaker{teller: newTeller(o)}
	h.mark = func(s string) string { return string(begin) + s + string(end) }
	b := bufio.NewWriterSize(w, 32<<10)
	if err := t.Execute(b, h.page(newView(d, o))); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return b.Flush()
}

// numbersShown is how long the list of folded actions' numbers may be.
const numbersShown = 400

// What is not loop's stands between these until it is put into the page. No
// quoted text holds them.
const begin, end = '\x02', '\x03'

// part is a piece of text; Foreign says that loop did not write it.
type part struct {
	Text    string
	Foreign bool
}

// parts takes a marked text apart.
func parts(s string) (out []part) {
	for s != "" {
		own, rest, marked := strings.Cut(s, string(begin))
		if own != "" {
			out = append(out, part{Text: own})
		}
		if !marked {
			break
		}
		var foreign string
		foreign, s, _ = strings.Cut(rest, string(end))
		out = append(out, part{foreign, true})
	}
	return out
}

// pageMaker makes the values of the page.
type pageMaker struct{ *teller }

var toneClass = [...]string{plain: "", faint: "soft", ok: "ok", warn: "warn", danger: "danger"}

func tonedLines(list []toned) []pageLine {
	out := make([]pageLine, len(list))
	for i, l := range list {
		out[i] = pageLine{Tone: toneClass[l.tone], Parts: parts(l.text)}
	}
	return out
}

func (h *pageMaker) page(v *view) page {
	sum := sha256.Sum256([]byte(pageStyle))
	p := page{
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(pageStyle), // our own file
		When:   tonedLines(h.when(v)), Needs: tonedLines(h.needs(v)), Verdict: v.verdict(h.o),
		Guard: h.findings(v.graveDoubts()),
	}
	for _, a := range h.alarms(v) {
		p.Alarms = append(p.Alarms, pageAlarm{parts(a.text), parts(a.detail)})
	}
	ran, kept, guard := v.listings(!h.o.All)
	p.Hidden = parts(h.hiddenWords(len(v.waiting), ran, kept, guard))
	p.Actions = []pageBlock{h.block(v, ran), h.block(v, kept)}
	p.Tampering = h.block(v, guard)
	for _, a := range v.questions {
		p.Questions = append(p.Questions, pageAction{Number: a.Number, Story: h.Masker.Line(a.Story), Command: h.textLines(a.Command)})
	}
	p.Rest = h.restOf(v)
	p.Stories = h.sections(v)
	if list, followed := h.eventsOf(v); followed {
		for _, e := range list {
			p.Events = append(p.Events, pageEvent{e.at.In(h.o.location()).Format(time.TimeOnly), stamp(e.at), parts("story " + e.story + ": " + e.text)})
		}
	}
	if len(v.Attempts) > 0 {
		for _, s := range h.costLines(v) {
			p.Costs = append(p.Costs, parts(s))
		}
	}
	for _, l := range h.workLines(v) {
		p.Work = append(p.Work, pageLine{Tone: toneClass[l.tone], Parts: parts(l.text), Command: l.command, Whole: unmarked(l.text)})
	}
	if v.Session.ID != "" {
		for i := range v.sessions {
			var line [][]part
			for _, s := range h.sessionParts(&v.sessions[i]) {
				line = append(line, parts(s))
			}
			p.Sessions = append(p.Sessions, line)
		}
	}
	p.Contents = contents(&p)
	return p
}

// unmarked is a marked text as it is read.
func unmarked(s string) string {
	return strings.Map(func(r rune) rune {
		if r == begin || r == end {
			return -1
		}
		return r
	}, s)
}

// contents are the links to the sections that are there.
func contents(p *page) []pageLink {
	out := []pageLink{{"needs", "What needs you"}}
	if len(p.Guard)+len(p.Tampering.Actions) > 0 {
		out = append(out, pageLink{"guard", "What touched the guard"})
	}
	for _, s := range p.Stories {
		out = append(out, pageLink{s.ID, s.Title})
	}
	if len(p.Events) > 0 {
		out = append(out, pageLink{"events", "What went wrong, and when"})
	}
	if len(p.Costs) > 0 {
		out = append(out, pageLink{"costs", "Cost and time"})
	}
	if len(p.Work) > 0 {
		out = append(out, pageLink{"work", "Where the work is"})
	}
	return out
}

func (h *pageMaker) textLines(s string) []string {
	return strings.Split(strings.Trim(h.Lines(s), "\n"), "\n")
}

// block is waiting actions; of many of one kind the first are shown, and the
// numbers of the others.
func (h *pageMaker) block(v *view, b listing) (p pageBlock) {
	for i := range b.items {
		p.Actions = append(p.Actions, h.action(v, &b.items[i]))
	}
	if len(b.rest) > 0 {
		p.Rest = parts(h.byFamily(b.rest))
	}
	return p
}

func (h *pageMaker) action(v *view, it *item) pageAction {
	a := it.Action
	p := pageAction{
		Number: a.Number, Class: "held", Tone: "warn", Evidence: strings.TrimPrefix(how(a), number(a)+" "),
		Story: h.Masker.Line(a.Story), Stamp: stamp(a.DetectedAt), Clock: h.o.clock(a.DetectedAt),
		Command: strings.Split(term.QuoteLines(term.Lookalikes(h.Mask(what(a)))), "\n"),
	}
	switch {
	case a.Evidence == policy.Executed:
		p.Class, p.Tone, p.Note = "ran", "danger", escapedWords
	case a.Tampering:
		p.Class, p.Tone = "guard", "danger"
	}
	for _, s := range h.facts(v, a) {
		p.Facts = append(p.Facts, parts(s))
	}
	if q := h.ownWords(a); q.label != "" {
		p.Words = &pageWords{q.label, unmarked(q.text)}
	}
	p.Remarks = h.actionRemarks(v, it)
	p.More = h.more(a)
	return p
}

func (h *pageMaker) actionRemarks(v *view, it *item) (out []pageLine) {
	if text := h.unshown(it.Action); text != "" {
		out = append(out, pageLine{Tone: "warn", Parts: parts(text)})
	}
	if len(it.spellings) == 0 {
		for _, text := range againWords(it.Action, v.settled) {
			out = append(out, pageLine{Tone: "warn", Parts: parts(text)})
		}
	}
	for _, a := range it.spellings {
		out = append(out, pageLine{Tone: "warn", Parts: parts("tried again as " + number(a) + ": " + h.Command(what(a)))})
	}
	if n := len(it.like); n > 0 {
		numbers := truncateRunes(numbersOf(it.like), numbersShown)
		out = append(out, pageLine{Tone: "warn", Parts: parts(strconv.Itoa(n) + " more of this kind: " + numbers)})
	}
	return out
}

// more is what a person seldom reads: why it waits, and what to type.
func (h *pageMaker) more(a *queue.Action) (out []pageField) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, pageField{name, parts(value)})
		}
	}
	add("Why it waits", h.Line(a.Why))
	add("Rules", h.Line(strings.Join(a.Rules, ", ")))
	add("Folder", h.Command(a.Cwd))
	n := strconv.FormatUint(a.Number, 10)
	add("To see all of it", h.marked("loop show "+n))
	if a.Evidence != policy.Executed {
		add("To run it as it is", h.marked("loop approve "+n))
	}
	add("To leave it", h.marked("loop reject "+n))
	return out
}

func (h *pageMaker) restOf(v *view) (out [][]part) {
	first, more := firstOf(v.open, !h.o.All)
	for _, a := range first {
		out = append(out, parts(number(a)+" "+h.Command(what(a))+": "+openWord(a)))
	}
	if more != "" {
		out = append(out, parts(more))
	}
	if n := len(v.mentions); n > 0 {
		out = append(out, parts(plural(n, "mention", "mentions")+": words only, nothing ran"))
	}
	if n := h.o.Earlier; n > 0 {
		out = append(out, parts(strconv.Itoa(n)+" more of other sessions still wait"))
	}
	if text := v.decidedWords(); text != "" {
		out = append(out, parts("Decided before: "+text))
	}
	return out
}

func (h *pageMaker) findings(list []doubt) (out []pageFinding) {
	for _, d := range list {
		tone := "warn"
		if isGrave(d.Kind) {
			tone = "danger"
		}
		out = append(out, pageFinding{tone, parts(h.Line(d.Kind)), parts(h.doubtText(d))})
	}
	return out
}

func (h *pageMaker) sections(v *view) (out []pageSection) {
	claims, rest := v.otherDoubts()
	for i, s := range v.sections() {
		p := pageSection{ID: "stories-" + strconv.Itoa(i), Title: s.title, Table: h.table(v, s)}
		if s.title == claimedTitle {
			p.Findings, p.Doubts, p.Memory = h.findings(claims), h.findings(rest), h.memory(v)
		}
		if p.Table != nil || len(p.Findings)+len(p.Doubts)+len(p.Memory) > 0 {
			out = append(out, p)
		}
	}
	return out
}

func (h *pageMaker) table(v *view, s section) *pageTable {
	if len(s.list) == 0 {
		return nil
	}
	t := &pageTable{Caption: plural(len(s.list), "story", "stories")}
	for _, st := range s.list {
		r := newRow(st)
		row := pageRow{
			Tone: storyTone(st), State: r.word, ID: h.Masker.Line(st.id), Title: h.Masker.Line(st.title), Name: h.Masker.Line(st.id),
			Attempts: r.attempts, Time: r.time, Cost: r.cost, GatesPassed: r.gates, Remarks: tonedLines(h.remarks(st, v)),
		}
		for _, g := range st.failedGates() {
			row.Gates = append(row.Gates, pageGate{
				Name: parts(h.Command(g.Command) + " (" + h.gateEnd(g, 200) + ")"), Notes: tonedLines(h.gateNotes(g)), Output: h.gateOutput(g),
			})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func storyTone(s *story) string {
	switch c := s.class(); {
	case c == classDone:
		return "ok"
	case c == classFailed, s.outcome == queue.Unguarded:
		return "danger"
	case c == classNotStarted, c == classRunning:
		return "soft"
	}
	return "warn"
}

func (h *pageMaker) memory(v *view) (out []pageMemory) {
	for i := range v.Attempts {
		for _, c := range v.Attempts[i].Memory {
			m := pageMemory{Name: parts(h.Command(c.File) + " of story " + h.Line(v.Attempts[i].Story))}
			for _, l := range h.diffBody(c.Diff) {
				kind := ""
				switch {
				case strings.HasPrefix(l, "+"):
					kind = "ins"
				case strings.HasPrefix(l, "-"):
					kind = "del"
				}
				m.Lines = append(m.Lines, diffLine{kind, l})
			}
			out = append(out, m)
		}
	}
	return out
}
