// Package watch is the live view of a run on a terminal: the stories, what the
// agent does now, what it cost, what waits, and the last lines of a story; and
// plain lines where there is no terminal to draw on.
//
// It reads and changes nothing: the view can be closed at any time, and as many
// as one likes can be open. The one invariant is that every text of an agent's
// is masked and quoted before it is drawn.
package watch

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/report"
)

// Every is how often a run is looked at.
const Every = time.Second

// Snapshot is how a run stands. Its texts may be hostile.
type Snapshot struct {
	report.Standing

	Stories []Story
}

// Story is one row.
type Story struct {
	ID, Title string
	State     string // done, unproven, failed, running, ...
	Passed    bool
	Ended     bool
	Seconds   int64
	CostUSD   float64
	Refused   int
}

// Source says how the run stands.
type Source interface {
	Snapshot(ctx context.Context) (Snapshot, error)
	// Lines are the last n lines of a story's last attempt, safe to print and
	// not wider than width.
	Lines(ctx context.Context, story string, width, n int) ([]string, error)
}

// Options say where and how to draw.
type Options struct {
	In       io.Reader
	Out      io.Writer
	Env      []string
	Color    bool
	Location *time.Location
}

// Run draws the view until it is closed or ctx ends.
func Run(ctx context.Context, src Source, o Options) error {
	p := tea.NewProgram(newModel(ctx, src, o),
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env),
		tea.WithoutSignalHandler()) // the program's own handler ends ctx
	_, err := p.Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return ctx.Err()
	}
	return err
}

// model is the state of the view.
type model struct {
	ctx context.Context //nolint:containedctx // a tea.Model's methods have none
	src Source
	view
}

type (
	tickMsg struct{}
	readMsg struct {
		snap  Snapshot
		story string
		lines []string
		err   error
	}
	linesMsg struct {
		story string
		lines []string
	}
)

func newModel(ctx context.Context, src Source, o Options) *model {
	return &model{ctx: ctx, src: src, view: newView(o)}
}

// Init reads for the first time.
func (m *model) Init() tea.Cmd { return m.read }

// read looks at the run, and at the story whose lines are shown.
func (m *model) read() tea.Msg {
	snap, err := m.src.Snapshot(m.ctx)
	if err != nil {
		return readMsg{err: err}
	}
	v := m.view
	v.take(snap)
	story := v.shown()
	if story == "" {
		return readMsg{snap: snap}
	}
	// A story whose transcript cannot be read is shown without it.
	lines, _ := m.src.Lines(m.ctx, story, max(v.width-2, minWidth), max(v.height, minHeight))
	return readMsg{snap: snap, story: story, lines: lines}
}

// Update takes one message into account.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, nil
	case tickMsg:
		return m, m.read
	case readMsg:
		m.trouble = ""
		if msg.err != nil {
			m.trouble = msg.err.Error()
		} else {
			m.take(msg.snap)
			m.lines, m.linesOf = msg.lines, msg.story
		}
		return m, tea.Tick(Every, func(time.Time) tea.Msg { return tickMsg{} })
	case linesMsg:
		m.lines, m.linesOf = msg.lines, msg.story
		return m, nil
	case tea.KeyPressMsg:
		return m.key(msg.String())
	}
	return m, nil
}

func (m *model) key(name string) (tea.Model, tea.Cmd) {
	switch name {
	case "q", "ctrl+c":
		return m, tea.Quit
	case "esc":
		if !m.help {
			return m, tea.Quit
		}
		m.help = false
	case "?", "h":
		m.help = !m.help
	case "j", "down":
		return m, m.move(1)
	case "k", "up":
		return m, m.move(-1)
	case "f":
		m.chosen = ""
		return m, m.linesNow()
	}
	return m, nil
}

func (m *model) move(by int) tea.Cmd {
	m.view.move(by)
	return m.linesNow()
}

// linesNow reads the lines of another story without waiting for the next look.
func (m *model) linesNow() tea.Cmd {
	story, width, n := m.shown(), max(m.width-2, minWidth), max(m.height, minHeight)
	return func() tea.Msg {
		lines, _ := m.src.Lines(m.ctx, story, width, n)
		return linesMsg{story, lines}
	}
}

// View draws.
func (m *model) View() tea.View {
	v := tea.NewView(m.render())
	v.AltScreen = true
	return v
}
