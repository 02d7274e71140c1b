package review

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// firstActions are read before all others, for the first screen.
const firstActions = 200

// restTime is how long the cursor stands before what takes time is looked up.
const restTime = 60 * time.Millisecond

// mode is what the keys go to.
type mode uint8

const (
	listing  mode = iota
	zoomed        // what is told about one action, on the whole screen
	helping       //
	typing        // into field
	asking        // about what page shows: yes or no
	running       // a replay; its output is in page
	reading       // page, until a key
	deciding      // a decision is being written
)

// model is the state of the view.
type model struct {
	ctx  context.Context //nolint:containedctx // a tea.Model's methods have none
	desk Desk
	o    Options

	width, height int
	styles        term.Styles

	list
	detail detail
	mode   mode
	page   pager
	title  string // of page
	form   form
	job    *job
	ask    *question // what is asked about; nil while nothing is

	drafts  map[string]string // answers that were not given, because somebody else was quicker
	last    [][]string        // ids of what was decided here at once, the latest at the end
	later   func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
	note    string
	bad     bool // note is of something that was not done
	stamp   string
	known   bool // all actions were read
	loading bool
	sized   bool // the terminal's size was asked for again
}

type (
	tickMsg struct{}
	headMsg struct {
		actions []queue.Action
		more    bool
		err     error
	}
	actionsMsg struct {
		actions []queue.Action
		stamp   string
		err     error
	}
	decidedMsg struct {
		ids           []string
		note          string
		err           error
		about, answer string // an answer that could not be given, and to what
	}
)

func newModel(ctx context.Context, d Desk, o Options) *model {
	m := &model{ctx: ctx, desk: d, o: o, width: 80, height: 24, styles: term.NewStyles(o.Color), later: tea.Tick}
	m.marks, m.laidOut, m.drafts = map[string]bool{}, map[string]bool{}, map[string]string{}
	return m
}

// Init reads what the first screen shows, and then the rest.
func (m *model) Init() tea.Cmd {
	return func() tea.Msg {
		first, more, err := m.desk.Head(m.ctx, firstActions)
		return headMsg{first, more, err}
	}
}

func (m *model) read() tea.Cmd {
	m.loading = true
	return func() tea.Msg {
		stamp := m.desk.Stamp()
		all, err := m.desk.Actions(m.ctx)
		return actionsMsg{all, stamp, err}
	}
}

// stop ends what still goes on when the view is closed.
func (m *model) stop() {
	m.detail.stop()
	if m.job != nil {
		m.job.cancel()
		<-m.job.done
	}
}

// Update takes one message into account.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.page.size(m.pageRoom())
		return m, m.choose()
	case headMsg:
		if msg.err == nil {
			m.take(msg.actions)
		}
		// A head that cannot be read is no error yet: reading all says it.
		return m, tea.Batch(m.read(), m.choose(), m.tick(), tea.RequestWindowSize)
	case actionsMsg:
		m.loading = false
		if msg.err != nil {
			return m, m.say(true, "the queue cannot be read: "+msg.err.Error())
		}
		m.known, m.stamp = true, msg.stamp
		m.take(msg.actions)
		return m, m.choose()
	case tickMsg:
		if !m.sized {
			// The library misses a change of size while it starts.
			m.sized = true
			return m, tea.Batch(m.tick(), tea.RequestWindowSize)
		}
		// A replay in another terminal may die, which writes nothing.
		if !m.loading && m.known && (m.desk.Stamp() != m.stamp || m.replaying()) {
			return m, tea.Batch(m.read(), m.tick())
		}
		return m, m.tick()
	case restMsg:
		return m, m.load(msg)
	case partMsg:
		m.detail.take(msg)
		return m, nil
	case jobMsg:
		return m, m.jobUpdate(msg)
	case ruleMsg:
		return m, m.ruleUpdate(msg)
	case editedMsg:
		return m, m.editedUpdate(msg)
	case decidedMsg:
		m.mode = listing
		if len(msg.ids) > 0 {
			m.last = append(m.last, msg.ids)
		}
		for _, id := range msg.ids {
			delete(m.drafts, id)
		}
		if msg.err != nil {
			m.trouble(msg.err)
			if msg.answer != "" {
				m.drafts[msg.about] = msg.answer
				m.note = strings.TrimPrefix(m.note, "nothing done: ") + "; tab, e: what you wrote"
			}
			return m, m.read()
		}
		return m, tea.Batch(m.say(false, msg.note), m.read())
	case tea.PasteMsg:
		if m.mode == typing {
			m.form.field.insert(msg.Content)
			m.formChanged()
		}
		return m, nil
	case tea.KeyPressMsg:
		return m, m.key(msg.String(), msg.Text)
	}
	return m, nil
}

func (m *model) tick() tea.Cmd {
	return m.later(Every, func(time.Time) tea.Msg { return tickMsg{} })
}

// say shows one line until the next key.
func (m *model) say(bad bool, text string) tea.Cmd {
	m.note, m.bad = term.Line(text), bad
	return nil
}

// key gives a key to what is in front.
func (m *model) key(name, typed string) tea.Cmd {
	if name == "ctrl+c" && m.mode != running {
		return tea.Quit
	}
	m.note = ""
	switch m.mode {
	case helping:
		m.mode = listing
	case typing:
		return m.typingKey(name, typed)
	case asking:
		return m.askingKey(name)
	case running:
		return m.runningKey(name)
	case reading:
		return m.readingKey(name)
	case deciding:
	case zoomed:
		return m.zoomedKey(name)
	case listing:
		return m.listKey(name)
	}
	return nil
}

func (m *model) readingKey(name string) tea.Cmd {
	if m.page.key(name) {
		return nil
	}
	m.mode = listing
	return m.choose()
}
