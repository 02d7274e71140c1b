package review

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// detail is what is told about the action under the cursor. Its head, with the
// command, is there at once; the parts come when the cursor rests.
type detail struct {
	id     string
	of     queue.Action
	fold   string // what is folded behind it
	width  int
	titles []string
	load   []Part
	head   []row
	parts  map[int][]row // by number of the part; one that is not there yet has no entry
	rows   []row
	top    int
	turn   int // counts what was begun, so that what comes too late is known
	cancel context.CancelFunc
}

type (
	restMsg struct{ turn int }
	partMsg struct {
		turn, part int
		rows       []row
	}
)

func (d *detail) stop() {
	if d.cancel != nil {
		d.cancel()
		d.cancel = nil
	}
}

// choose shows the action under the cursor, and looks it up when it rests there.
func (m *model) choose() tea.Cmd {
	a, d := m.current(), &m.detail
	width := m.detailWidth()
	if a == nil {
		d.stop()
		*d = detail{turn: d.turn + 1, parts: map[int][]row{}}
		return nil
	}
	fold := m.folded(a)
	if d.id == a.ID && d.width == width && d.fold == fold && a.Stands(d.of) && a.Repeats == d.of.Repeats {
		return nil
	}
	d.stop()
	top := 0
	if d.id == a.ID {
		top = d.top
	}
	*d = detail{id: a.ID, of: *a, fold: fold, width: width, turn: d.turn + 1, parts: map[int][]row{}, load: m.desk.Parts(*a), top: top}
	d.head = wrapped(head(d.of)+fold, d.width, 0)
	d.draw()
	turn := d.turn
	return m.later(restTime, func(time.Time) tea.Msg { return restMsg{turn} })
}

// load begins to look up the parts.
func (m *model) load(msg restMsg) tea.Cmd {
	d := &m.detail
	if msg.turn != d.turn || d.id == "" || d.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	d.cancel = cancel
	turn, width := d.turn, d.width
	var cmds []tea.Cmd
	for i, p := range d.load {
		cmds = append(cmds, func() tea.Msg {
			text, err := p.Load(ctx, width)
			if err != nil {
				text = strings.TrimLeft(text+"\n", "\n") + "!! cannot be told: " + term.Line(err.Error())
			}
			var rows []row
			if text != "" {
				rows = wrapped(text, width, 0)
			}
			return partMsg{turn, i, rows}
		})
	}
	return tea.Batch(cmds...)
}

func (d *detail) take(msg partMsg) {
	if msg.turn == d.turn {
		d.parts[msg.part] = msg.rows
		d.draw()
	}
}

// draw lays out what is there.
func (d *detail) draw() {
	d.rows = slices.Clone(d.head)
	for i, p := range d.load {
		rows, there := d.parts[i]
		if there && len(rows) == 0 {
			continue
		}
		d.rows = append(d.rows, row{}, row{text: p.Title, kind: heading})
		if !there {
			d.rows = append(d.rows, row{text: "  ...", kind: faint})
			continue
		}
		d.rows = append(d.rows, rows...)
	}
}

func (d *detail) scroll(by, height int) { d.top = max(0, min(d.top+by, len(d.rows)-height)) }
