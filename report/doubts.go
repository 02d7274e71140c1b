package report

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	diffLines    = 40 // of one memory file, at first
	findingLines = 4  // of one finding, at first
)

// doubt is a finding with how often it was made.
type doubt struct {
	queue.Finding
	times int
}

// doubtLines are findings, the kinds in one column.
func (p *printer) doubtLines(list []doubt) {
	wide := 0
	for _, d := range list {
		wide = max(wide, term.Cells(p.Line(d.Kind)))
	}
	for _, d := range list {
		p.doubt(d, min(wide, 14))
	}
}

// graveDoubts are those by which something may have got out.
func (v *view) graveDoubts() []doubt { return v.doubts[:v.countGrave()] }

// otherDoubts are those that say what is not proven: the agent's claims, and
// the rest.
func (v *view) otherDoubts() (claims, rest []doubt) {
	list := v.doubts[v.countGrave():]
	n := 0
	for n < len(list) && list[n].Kind == "claim" {
		n++
	}
	return list[:n], list[n:]
}

// countGrave: the gravest stand first.
func (v *view) countGrave() int {
	n := 0
	for n < len(v.doubts) && isGrave(v.doubts[n].Kind) {
		n++
	}
	return n
}

func isGrave(kind string) bool { return kindOrder(kind) <= kindOrder("tampered") }

// doubted reports whether a text stands among the doubts, so that the table
// of stories need not say it as well.
func (v *view) doubted(text string) bool {
	return slices.ContainsFunc(v.doubts, func(d doubt) bool { return d.Text == text })
}

// collectDoubts puts together the findings, gravest kind first, equal ones
// once, and what the attempts themselves say.
func (v *view) collectDoubts() []doubt {
	var out []doubt
	seen := map[[3]string]int{}
	add := func(f queue.Finding) {
		key := [3]string{f.Kind, f.Story, f.Text}
		if i, ok := seen[key]; ok {
			out[i].times++
			return
		}
		seen[key] = len(out)
		out = append(out, doubt{f, 1})
	}
	has := map[[2]string]bool{}
	for _, f := range v.Findings {
		has[[2]string{f.Attempt, f.Kind}] = true
		add(f)
	}
	for i := range v.Attempts {
		for _, f := range attemptDoubts(&v.Attempts[i]) {
			if !has[[2]string{f.Attempt, f.Kind}] {
				add(f)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b doubt) int { return cmp.Compare(kindOrder(a.Kind), kindOrder(b.Kind)) })
	return out
}

// attemptDoubts are what the record of an attempt says against it, for the
// case that nobody made a finding of it.
func attemptDoubts(a *queue.Attempt) []queue.Finding {
	var out []queue.Finding
	add := func(kind, text string) {
		out = append(out, queue.Finding{Kind: kind, Story: a.Story, Attempt: a.ID, Text: text})
	}
	if a.Outcome == queue.Unguarded {
		add("unguarded", cmp.Or(a.Reason, "the hooks were not live during this attempt"))
	}
	switch {
	case a.Ended.IsZero():
	case !a.Scanned:
		add("scan-gap", cmp.Or(a.ScanNote, "the transcript of attempt "+strconv.Itoa(a.Number)+" was not scanned"))
	case a.ScanNote != "":
		add("scan-gap", a.ScanNote)
	}
	if a.Recovered {
		add("recovered", "attempt "+strconv.Itoa(a.Number)+" was ended by a later run, because loop had died")
	}
	return out
}

// kindOrder puts what could have let something out before the rest.
func kindOrder(kind string) int {
	order := []string{"unguarded", "escaped", "tampered", "claim", "weakened", "broke", "gate-copy", "untested", "old-client", "leftover", "scan-gap", "recovered"}
	if i := slices.Index(order, kind); i >= 0 {
		return i
	}
	return len(order)
}

// doubt is one line or a few: the kind, then the text beside it.
func (p *printer) doubt(d doubt, wide int) {
	style := p.Warn
	if isGrave(d.Kind) {
		style = p.Danger
	}
	kind := term.Truncate(p.Line(d.Kind), wide)
	text := p.doubtText(d)
	indent := wide + gap
	lines := term.Wrap(text, min(p.width, proseWidth)-indent)
	if !p.o.All && len(lines) > findingLines {
		lines = lines[:findingLines]
		lines[findingLines-1] = term.Truncate(lines[findingLines-1], min(p.width, proseWidth)-indent-1) + term.Ellipsis
	}
	for i, l := range lines {
		if i == 0 {
			p.line(style.Render(kind), term.Spaces(indent-term.Cells(kind)), l)
			continue
		}
		p.line(term.Spaces(indent), l)
	}
}

func (t *teller) doubtText(d doubt) string {
	text := t.Line(strings.TrimSpace(d.Text))
	if d.Story != "" {
		text = "story " + t.Line(d.Story) + ": " + text
	}
	if d.times > 1 {
		text += " (×" + strconv.Itoa(d.times) + ")"
	}
	return text
}

// memory shows what an attempt did to the files that the next one reads.
func (p *printer) memory(a *queue.Attempt) {
	for _, m := range a.Memory {
		p.line()
		p.flow(0, []span{{p.o.fit(p.Command(m.File), p.width), p.Bold}},
			[]span{{p.o.fit("story "+p.Line(a.Story), p.width), term.Style{}}},
			[]span{{"what the next attempt will read as fact", p.Warn}})
		limit := diffLines
		if p.o.All {
			limit = 0
		}
		p.block(p.diffStyle, 2, p.diffBody(m.Diff), limit)
	}
}

// diffBody is a unified diff without the two lines that name the file.
func (t *teller) diffBody(diff string) []string {
	lines := strings.Split(strings.TrimRight(t.Lines(diff), "\n"), "\n")
	if len(lines) > 2 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ") {
		return lines[2:]
	}
	return lines
}

func (p *printer) diffStyle(l string) term.Style {
	switch {
	case strings.HasPrefix(l, "+"):
		return p.Added
	case strings.HasPrefix(l, "-"):
		return p.Removed
	}
	return p.Faint
}

// sharedCalls counts what changed state that others see and was let through.
func (p *printer) sharedCalls(v *view) {
	if v.shared == 0 {
		return
	}
	p.line()
	head := plural(v.shared, "shared call ran", "shared calls ran") + " (commits, branches)"
	if !p.o.All {
		p.prose(p.Faint, 0, head+"; loop report --all lists them")
		return
	}
	p.line(head)
	for i := range v.Attempts {
		a := &v.Attempts[i]
		for _, c := range a.Shared {
			prefix := "  story " + p.o.fit(p.Line(a.Story), 24) + ": "
			p.command(prefix, term.Cells(prefix), 4, c)
		}
		if n := a.SharedRuns - len(a.Shared); n > 0 && a.SharedRuns > 0 {
			p.line("  story ", p.o.fit(p.Line(a.Story), 24), ": ", p.Faint.Render("and "+strconv.Itoa(n)+" more, in the transcript"))
		}
	}
}

// transcripts is the folder above those of the attempts.
func (v *view) transcripts() string {
	for i := range v.Attempts {
		if dir := v.Attempts[i].Dir; dir != "" {
			return filepath.Dir(dir)
		}
	}
	return ""
}
