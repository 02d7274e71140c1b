package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// linesShown is how many lines a list has on a terminal before it is folded.
const linesShown = 100

// List prints one line for each action, in the order given. A terminal shows of
// a long list the first of each kind, and how many others there are; scripts,
// and a pager, get them all.
func List(w io.Writer, actions []queue.Action, o Options) error {
	p := newPrinter(w, o)
	if len(actions) == 0 {
		p.line("No actions.")
		return p.flush()
	}
	all := make([]*queue.Action, len(actions))
	for i := range actions {
		all[i] = &actions[i]
	}
	l := newListing(all, o.Width > 0 && len(all) > linesShown, linesShown)
	rows := make([][listColumns]string, len(l.items))
	common := listCells{}
	var wide [listColumns]int
	for i := range l.items {
		rows[i] = listRow(l.items[i].Action, common, o)
		for c := range wide {
			wide[c] = max(wide[c], term.Cells(rows[i][c]))
		}
	}
	if p.width < 60 {
		wide[columnAge], wide[columnStatus], wide[columnStory] = 0, 0, 0
	}
	for i := range rows {
		p.listLine(wide, rows[i], l.items[i].Action)
		p.listFolded(wide[columnNumber], &l.items[i])
	}
	p.listRest(l)
	return p.flush()
}

// listFolded names what is folded behind a line.
func (p *printer) listFolded(indent int, it *item) {
	for _, f := range []struct {
		list []*queue.Action
		word string
	}{{it.spellings, "tried again"}, {it.like, "of this kind"}} {
		if len(f.list) > 0 {
			text := strconv.Itoa(len(f.list)) + " more " + f.word + ": "
			indent += gap
			p.line(term.Spaces(indent), p.Faint.Render(term.Truncate(text+numbersOf(f.list), p.width-indent)))
			indent -= gap
		}
	}
}

// listRest says below a folded list how to see the others.
func (p *printer) listRest(l listing) {
	n := l.hidden()
	for i := range l.items {
		n += len(l.items[i].spellings)
	}
	if n == 0 {
		return
	}
	p.line()
	if len(l.rest) > 0 {
		p.prose(p.Warn, 0, p.byFamily(l.rest))
	}
	p.prose(p.Faint, 0, strconv.Itoa(n)+" have no line here: loop list --search WORDS looks among them, loop review goes through them, loop list | less has a line for each")
}

const (
	columnNumber = iota
	columnAge
	columnStatus
	columnEvidence
	columnStory
	listColumns // the command takes the rest
)

// listCells are the cells that many lines of a list have in common, so that they
// are made once for all of them.
type listCells map[listCell][3]string

type listCell struct {
	kind, story, outcome string
	status               queue.Status
	evidence             policy.Evidence
	asked                bool
}

// of gives status, evidence and story of an action.
func (c listCells) of(a *queue.Action) [3]string {
	key := listCell{a.Kind, a.Story, a.Outcome, a.Status, a.Evidence, a.Asked}
	cells, ok := c[key]
	if !ok {
		cells = [3]string{
			term.Truncate(term.Line(string(a.Status)), 10), term.Truncate(evidence(a), 18), term.Truncate(term.Line(a.Story), 14),
		}
		c[key] = cells
	}
	return cells
}

func listRow(a *queue.Action, common listCells, o Options) (row [listColumns]string) {
	cells := common.of(a)
	row[columnNumber] = "#" + strconv.FormatUint(a.Number, 10)
	row[columnAge] = age(o.Now.Sub(a.DetectedAt))
	row[columnStatus], row[columnEvidence], row[columnStory] = cells[0], cells[1], cells[2]
	if a.Repeats > 0 {
		row[columnEvidence] += " ×" + strconv.Itoa(a.Repeats+1)
	}
	switch {
	case len(a.Again) > 0:
		row[columnEvidence] = term.Truncate(row[columnEvidence]+" +"+strconv.Itoa(len(a.Again)), 18)
	case relatedNumber(a) != "":
		row[columnEvidence] = term.Truncate(row[columnEvidence]+" after #"+relatedNumber(a), 18)
	}
	if a.Tampering {
		row[columnEvidence] = term.Truncate("tampering, "+row[columnEvidence], 18)
	}
	return row
}

func (p *printer) listLine(wide [listColumns]int, row [listColumns]string, a *queue.Action) {
	var b strings.Builder
	used := 0
	for c, n := range wide {
		if n == 0 {
			continue
		}
		cell := row[c]
		fill := term.Spaces(n - term.Cells(cell))
		if c == columnNumber || c == columnAge {
			b.WriteString(fill + p.Faint.Render(cell))
		} else {
			b.WriteString(p.listStyle(c, a).Render(cell) + fill)
		}
		b.WriteString(term.Spaces(gap))
		used += n + gap
	}
	p.command(b.String(), used, used, what(a))
}

func (p *printer) listStyle(column int, a *queue.Action) term.Style {
	switch {
	case column == columnEvidence && (a.Evidence == policy.Executed || a.Tampering || a.IsQuestion()):
		return p.Danger
	case column == columnStatus && a.Status == queue.Pending:
		return p.Warn
	case column == columnStatus && (a.Status == queue.Failed || a.Status == queue.Unknown):
		return p.Danger
	}
	return term.Style{}
}
