package report

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
)

const (
	shownFiles = 5  // files that a person is told to look into, and that could not be read
	shownRows  = 10 // rows of one section
)

// oneLine is the width from which a row and its example stand on one line.
const oneLine = 110

// Terminal prints what was sent out for a person. home, when it is not empty,
// is shown as ~ in names of folders.
func (o *Outgoing) Terminal(w io.Writer, home string, ro Options) error {
	p := outgoingPrinter{printer: newPrinter(w, ro), home: home}
	p.head(o)
	c := p.measure(o.Sent, o.Tried)
	for from := 0; from < len(o.Sent); {
		to := from
		for to < len(o.Sent) && UndoRank(o.Sent[to].Undo) == UndoRank(o.Sent[from].Undo) {
			to++
		}
		p.section(undoTitle(o.Sent[from].Undo), o.Sent[from:to], c)
		from = to
	}
	p.section("Tried and stopped", o.Tried, c)
	p.rest(o)
	p.unread(o)
	p.whereToLook(o)
	return p.flush()
}

type outgoingPrinter struct {
	*printer
	home  string
	named bool // the columns have been named
}

func undoTitle(undo string) string {
	switch undo {
	case UndoNone:
		return "Cannot be undone"
	case UndoCorrection:
		return "Can be followed by a correction"
	case UndoFull:
		return "Can be taken back"
	}
	return "How far it can be taken back is not known"
}

// head says in a few lines what was read and what came of it.
func (p *outgoingPrinter) head(o *Outgoing) {
	p.line(p.Heading.Render("What agents on this machine have sent out, " + o.span(p.o)))
	read := []string{p.path(o.Folder), plural(o.Read.Files, "session file", "session files"), plural(o.Read.Calls, "call", "calls")}
	if o.Read.Older > 0 {
		read = append(read, plural(o.Read.Older, "older file", "older files")+" left out")
	}
	parts := make([][]span, len(read))
	for i, text := range read {
		parts[i] = []span{{text, p.Faint}}
	}
	p.flow(0, parts...)
	p.line()
	n := Count(o.Sent)
	if n == 0 {
		text := "Nothing reached outside, as far as could be read."
		if o.Read.Files == 0 {
			text = "No session file is that new."
		}
		p.prose(p.Ok, 0, text)
		return
	}
	var how []string
	for _, undo := range []string{UndoNone, "", UndoCorrection, UndoFull} {
		if n := countUndo(o.Sent, undo); n > 0 {
			how = append(how, strconv.Itoa(n)+" "+undoWords(undo))
		}
	}
	p.prose(p.Danger, 0, plural(n, "call", "calls")+" reached outside: "+strings.Join(how, ", ")+".")
}

func undoWords(undo string) string {
	switch undo {
	case UndoNone:
		return "cannot be undone"
	case UndoCorrection:
		return "can be followed by a correction"
	case UndoFull:
		return "can be taken back"
	}
	return "perhaps not"
}

func countUndo(list []Group, undo string) int {
	n := 0
	for i := range list {
		if UndoRank(list[i].Undo) == UndoRank(undo) {
			n += list[i].Calls
		}
	}
	return n
}

func (o *Outgoing) span(ro Options) string {
	day := func(t time.Time) string { return t.In(ro.location()).Format("2 Jan 2006") }
	return day(o.Since) + " to " + day(o.Until)
}

// outRow is one group as it is printed.
type outRow struct {
	calls, family, project, last, failed string
	example                              string
}

func (p *outgoingPrinter) row(g *Group) outRow {
	r := outRow{
		calls: strconv.Itoa(g.Calls), family: term.Line(familyTitle(g.Family)), project: p.cutMiddle(p.path(g.Project), projectCells),
		last: "no date", example: g.Example,
	}
	if g.Last != nil {
		r.last = p.o.clock(*g.Last)
		if p.o.Now.Sub(*g.Last) > 300*24*time.Hour {
			r.last = g.Last.In(p.o.location()).Format("2 Jan 2006")
		}
	}
	switch {
	case g.Failed > 0 && g.Failed == g.Calls:
		r.failed = "failed"
	case g.Failed > 0:
		r.failed = strconv.Itoa(g.Failed) + " failed"
	}
	return r
}

const (
	projectCells = 30
	lastCells    = len("29 Nov 14:02")
	narrow       = 60 // below it the time is left out
)

// outColumns are the widths of the table, the same in every section.
type outColumns struct{ calls, family, project, last, failed int }

// measure fits the columns to what stands in them and to the terminal.
func (p *outgoingPrinter) measure(lists ...[]Group) (c outColumns) {
	for _, list := range lists {
		for i := range list {
			r := p.row(&list[i])
			c.calls, c.family = max(c.calls, term.Cells(r.calls)), max(c.family, term.Cells(r.family))
			c.project, c.failed = max(c.project, term.Cells(r.project)), max(c.failed, term.Cells(r.failed))
		}
	}
	c.calls = max(c.calls, len(nameCalls))
	if c.last = lastCells; p.width < narrow {
		c.last = 0
	}
	if p.o.Width > 0 && c.project > 0 {
		c.project = max(8, min(c.project, p.width-c.indent()-c.used()+c.project))
		c.family = max(8, min(c.family, p.width-c.indent()-c.used()+c.family))
	}
	return c
}

func (c outColumns) indent() int { return 2 + c.calls + gap }

// used is the width of the columns behind the number.
func (c outColumns) used() int {
	n := c.family + gap + c.project
	for _, more := range []int{c.last, c.failed} {
		if more > 0 {
			n += gap + more
		}
	}
	return n
}

const nameCalls = "calls"

// columnNames says once what the columns are.
func (p *outgoingPrinter) columnNames(c outColumns) {
	if p.named {
		return
	}
	p.named = true
	names := term.Spaces(2+c.calls-len(nameCalls)) + nameCalls + term.Spaces(gap) + term.Pad("family", c.family) + term.Spaces(gap) + term.Pad("project", c.project)
	if c.last > 0 {
		names += term.Spaces(gap) + "last"
	}
	p.line(p.Faint.Render(strings.TrimRight(names, " ")))
}

// section prints groups as a table under a heading with their number.
func (p *outgoingPrinter) section(title string, list []Group, c outColumns) {
	if len(list) == 0 {
		return
	}
	p.heading(title + " (" + strconv.Itoa(Count(list)) + ")")
	p.columnNames(c)
	for i := range list {
		if i == shownRows && len(list) > shownRows+1 && !p.o.All {
			more := plural(len(list)-i, "more row", "more rows") + " with " + plural(Count(list[i:]), "call", "calls")
			p.line(term.Spaces(c.indent()), p.Faint.Render(more+"; --all shows them"))
			break
		}
		p.group(p.row(&list[i]), c)
	}
}

func (p *outgoingPrinter) group(r outRow, c outColumns) {
	cells := []string{
		term.Spaces(2+c.calls-term.Cells(r.calls)) + p.Bold.Render(r.calls),
		term.Pad(p.o.fit(r.family, c.family), c.family),
		term.Pad(p.cutMiddle(r.project, c.project), c.project),
	}
	if c.last > 0 {
		cells = append(cells, p.Faint.Render(term.Pad(r.last, c.last)))
	}
	if c.failed > 0 {
		cells = append(cells, p.Warn.Render(r.failed)+term.Spaces(c.failed-term.Cells(r.failed)))
	}
	p.tableRow(strings.Join(cells, term.Spaces(gap)), c.indent()+c.used(), c.indent(), r.example)
}

// tableRow prints the cells and the example: behind them where there is room,
// else below.
func (p *outgoingPrinter) tableRow(cells string, used, indent int, example string) {
	if p.width >= oneLine && p.o.Width > 0 {
		p.command(cells+term.Spaces(gap), used+gap, indent, example)
		return
	}
	p.line(strings.TrimRight(cells, " "))
	p.hang(term.Spaces(indent), indent, indent, p.Faint, p.o.fit(term.Command(example), p.width-indent))
}

func (p *outgoingPrinter) cutMiddle(s string, n int) string {
	if p.o.Width <= 0 {
		return s
	}
	return term.TruncateMiddle(s, n)
}

// path is a folder or file as it is printed, beginning with ~ when it lies in
// the home folder.
func (p *outgoingPrinter) path(s string) string {
	if rest, ok := strings.CutPrefix(s, p.home); ok && p.home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		s = "~" + rest
	}
	return p.known(s)
}

// rest counts what stands in no table.
func (p *outgoingPrinter) rest(o *Outgoing) {
	type count struct {
		n    int
		text string
	}
	written := Count(o.Written)
	list := []count{
		{written, "written into scripts, to reach outside when they are run"},
		{o.Shared, "changed what others will see later: commits, branches, local databases"},
		{o.Mentions, "only words that speak of it, folded"},
		{o.Read.Opaque, "could not be seen through"},
	}
	wide := 0
	for _, c := range list {
		if c.n > 0 {
			wide = max(wide, len(strconv.Itoa(c.n)))
		}
	}
	if wide == 0 {
		return
	}
	p.heading("Beside these")
	for _, c := range list {
		if c.n > 0 {
			n := strconv.Itoa(c.n)
			lines := term.Wrap(c.text, p.width-2-wide-gap)
			p.line(term.Spaces(2+wide-len(n)), n, term.Spaces(gap), lines[0])
			for _, l := range lines[1:] {
				p.line(term.Spaces(2+wide+gap), l)
			}
		}
	}
}

// unread says what could not be read.
func (p *outgoingPrinter) unread(o *Outgoing) {
	var lines []string
	if n := o.Read.Broken; n > 0 {
		lines = append(lines, plural(n, "broken line", "broken lines")+", read as text")
	}
	if n := o.Read.Oversize; n > 0 {
		lines = append(lines, plural(n, "line", "lines")+" over the size limit, read as text")
	}
	for i, u := range o.Unread {
		if i == shownFiles && !p.o.All {
			lines = append(lines, plural(len(o.Unread)-i, "more file", "more files")+"; --all names them")
			break
		}
		lines = append(lines, p.path(u.File)+": "+term.Line(u.Error))
	}
	if len(lines) == 0 {
		return
	}
	p.heading("Could not be read")
	for _, l := range lines {
		p.hang("  ", 2, 4, p.Warn, l)
	}
}

// whereToLook names the files to look into, the worst first.
func (p *outgoingPrinter) whereToLook(o *Outgoing) {
	if len(o.Files) == 0 {
		return
	}
	p.heading("To see each call")
	for i, f := range o.Files {
		if i == shownFiles && !p.o.All {
			p.line("  ", p.Faint.Render(plural(len(o.Files)-i, "more file", "more files")+"; --csv lists every call with its file and line"))
			break
		}
		p.scanLine(f.File)
	}
}

// scanLine is a command to type. It must stay whole when it is copied, so a
// long one goes on after a backslash.
func (p *outgoingPrinter) scanLine(name string) {
	const command = "loop scan --calls-only "
	word := p.shellWord(name)
	if p.o.Width <= 0 || 2+len(command)+term.Cells(word) <= p.width {
		p.line("  ", command, word)
		return
	}
	p.line("  ", command, p.Faint.Render(`\`))
	if strings.HasPrefix(word, "'") {
		p.hang("    ", 4, 4, term.Style{}, word)
		return
	}
	p.line("    ", word)
}

// shellWord is a file name as it is typed in a shell. What is not plain is put
// between quotes; what a terminal would act on is shown as an escape, so that
// it cannot be typed by mistake.
func (p *outgoingPrinter) shellWord(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./+,:@%", r)
	}
	if strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) >= 0 {
		return term.Command("'" + strings.ReplaceAll(name, "'", `'\''`) + "'")
	}
	return p.path(name)
}
