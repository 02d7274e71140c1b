package report

import (
	"bufio"
	"io"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
)

// printer writes lines; the first error of the writer stays. What it is given
// is safe to print: quoted text, or our own words.
type printer struct {
	*teller
	term.Styles

	w     *bufio.Writer
	width int
}

func newPrinter(w io.Writer, o Options) *printer {
	return &printer{
		teller: newTeller(o),
		Styles: term.NewStyles(o.Color),
		w:      bufio.NewWriterSize(w, 32<<10),
		width:  o.columns(),
	}
}

// line writes the parts as one line. bufio keeps the first error for flush.
func (p *printer) line(parts ...string) {
	for _, s := range parts {
		p.w.WriteString(s)
	}
	p.w.WriteByte('\n')
}

func (p *printer) flush() error { return p.w.Flush() }

// heading starts a section.
func (p *printer) heading(s string) {
	p.line()
	p.rule(p.Heading, s)
}

// rule is the head of a section with a line to its right, which is there for
// the eye and so not where there is no terminal.
func (p *printer) rule(style term.Style, s string) {
	p.line(style.Render(s), p.ruleAfter(s, 0))
}

// ruleAfter fills the line between a heading and what stands at its right end.
func (p *printer) ruleAfter(heading string, right int) string {
	n := min(p.width, proseWidth) - term.Cells(heading) - 1 - right
	if p.o.Width <= 0 || n < 3 {
		return ""
	}
	return " " + p.Faint.Render(strings.Repeat("─", n))
}

// prose writes text in lines of a readable length, all of them indented.
func (p *printer) prose(style term.Style, indent int, s string) {
	for _, l := range term.Wrap(s, min(p.width, proseWidth)-indent) {
		p.line(term.Spaces(indent), style.Render(l))
	}
}

// block writes the lines of quoted text, indented, at most limit of them (0
// is all) and cut to the width. Long lines are broken instead where nothing
// may be cut, so that no line of hostile text begins at the left margin.
func (p *printer) block(style func(string) term.Style, indent int, lines []string, limit int) {
	cut := 0
	if limit > 0 && len(lines) > limit {
		cut = len(lines) - limit
		lines = lines[:limit]
	}
	for _, l := range lines {
		st := style(l)
		for _, piece := range p.pieces(l, p.width-indent) {
			p.line(term.Spaces(indent), st.Render(piece))
		}
	}
	if cut > 0 {
		p.line(term.Spaces(indent), p.Faint.Render(plural(cut, "more line", "more lines")+"; --all shows them"))
	}
}

// command writes a command after a prefix of n cells: cut to the line, or all
// of it, with what does not fit indented below.
func (p *printer) command(prefix string, n, indent int, command string) {
	command = p.Command(command)
	if !p.o.All {
		command = p.o.fit(command, max(8, p.width-n))
	}
	p.hang(prefix, n, indent, term.Style{}, command)
}

// hang writes text after a prefix of n cells and breaks it, indented, where it
// is wider than the terminal. The terminal must not do that itself: what it
// moves to the left margin could pass for a line of ours.
func (p *printer) hang(prefix string, n, indent int, style term.Style, text string) {
	room := p.width - n
	if p.o.Width <= 0 || term.Cells(text) <= room {
		p.line(prefix, style.Render(text))
		return
	}
	head, rest := breakAt(text, max(room, 1))
	p.line(prefix, style.Render(strings.TrimRight(head, " ")))
	for _, piece := range p.pieces(rest, p.width-indent) {
		p.line(term.Spaces(indent), style.Render(piece))
	}
}

// pieces is one line as it is printed: cut, or broken when all is to be shown
// on a terminal, or whole.
func (p *printer) pieces(l string, n int) []string {
	switch {
	case p.o.Width <= 0:
		return []string{l}
	case !p.o.All:
		return []string{term.Truncate(l, n)}
	}
	var out []string
	for {
		head, rest := breakAt(l, n)
		if head == "" || rest == "" {
			return append(out, l)
		}
		out = append(out, strings.TrimRight(head, " "))
		l = rest
	}
}

func always(s term.Style) func(string) term.Style {
	return func(string) term.Style { return s }
}

// span is a piece of a line with its style.
type span struct {
	text  string
	style term.Style
}

// dot separates the parts of a line that stand side by side.
const dot = " · "

// flow writes groups of spans separated by dots and breaks lines between
// groups; a group that is wider than a line breaks between its spans.
func (p *printer) flow(indent int, groups ...[]span) {
	var b strings.Builder
	used := 0
	end := func() {
		if used > 0 {
			p.line(term.Spaces(indent), b.String())
			b.Reset()
			used = 0
		}
	}
	room := p.width - indent
	put := func(sep string, s span) {
		n := term.Cells(sep) + term.Cells(s.text)
		if used > 0 && used+n > room {
			end()
		}
		if used > 0 {
			b.WriteString(p.Faint.Render(sep))
			used += term.Cells(sep)
		}
		b.WriteString(s.style.Render(s.text))
		used += term.Cells(s.text)
	}
	for _, g := range groups {
		if used > 0 && used+term.Cells(dot)+groupCells(g) > room {
			end()
		}
		for i, s := range g {
			sep := " "
			if i == 0 {
				sep = dot
			}
			put(sep, s)
		}
	}
	end()
}

func groupCells(g []span) int {
	n := max(0, len(g)-1)
	for _, s := range g {
		n += term.Cells(s.text)
	}
	return n
}
