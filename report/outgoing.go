package report

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
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
		for to < len(o.Sent) && policy.UndoRank(o.Sent[to].Undo) == policy.UndoRank(o.Sent[from].Undo) {
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
	case policy.UndoNone:
		return "Cannot be undone"
	case policy.UndoCorrection:
		return "Can be followed by a correction"
	case policy.UndoFull:
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
	for _, undo := range []string{policy.UndoNone, "", policy.UndoCorrection, policy.UndoFull} {
		if n := countUndo(o.Sent, undo); n > 0 {
			how = append(how, strconv.Itoa(n)+" "+undoWords(undo))
		}
	}
	p.prose(p.Danger, 0, plural(n, "call", "calls")+" reached outside: "+strings.Join(how, ", ")+".")
}

func undoWords(undo string) string {
	switch undo {
	case policy.UndoNone:
		return "cannot be undone"
	case policy.UndoCorrection:
		return "can be followed by a correction"
	case policy.UndoFull:
		return "can be taken back"
	}
	return "perhaps not"
}

func countUndo(list []Group, undo string) int {
	n := 0
	for i := range list {
		if policy.UndoRank(list[i].Undo) == policy.UndoRank(undo) {
			n += list[i].Calls
		}
	}
	return n
}

func (o *Outgoing) span(ro Options) string {
	day := func(t time.Time) string { return t.In(ro.location()).Format("2 Jan 2006") }
	return day(o.Since) + " to " + day(o.Until)
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
	p.line()
	p.prose(p.Faint, 0, "`loop explain 'COMMAND'` says why a command counts and what would be local instead.")
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
