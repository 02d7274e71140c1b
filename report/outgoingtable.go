package report

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
)

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
