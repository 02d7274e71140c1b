package report

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// SessionOf is a session with what a list says of it.
type SessionOf struct {
	Session  queue.Session
	Attempts []queue.Attempt
	Waiting  int  // its actions and questions that wait for a person, mentions left out
	Alive    bool // its process runs
}

// SessionLine is one line of the list of sessions, for programs.
type SessionLine struct {
	ID       string        `json:"id"`
	Started  time.Time     `json:"started"`
	Ended    time.Time     `json:"ended,omitzero"`
	State    string        `json:"state"` // ended, stopped, running, died, scan
	Level    string        `json:"level,omitempty"`
	Stories  int           `json:"stories"`
	Done     int           `json:"done"` // every gate passed
	Unproven int           `json:"unproven"`
	Failed   int           `json:"failed"`
	CostUSD  float64       `json:"cost_usd"`
	Waiting  int           `json:"waiting"`
	StopKind queue.Outcome `json:"stop_kind,omitempty"`

	duration time.Duration
}

func newSessionLine(s *SessionOf, o Options) SessionLine {
	o.Alive, o.Sessions = s.Alive, nil
	v := newView(queue.Snapshot{Session: s.Session, Attempts: s.Attempts}, o)
	l := SessionLine{
		ID: s.Session.ID, Started: s.Session.Started, Ended: s.Session.Ended, Level: s.Session.Level, StopKind: s.Session.StopKind,
		Stories: len(v.stories), Done: v.counts[classDone], Unproven: v.counts[classUnproven], Failed: v.counts[classFailed],
		CostUSD: v.cost, Waiting: s.Waiting,
	}
	switch {
	case s.Session.Scan:
		l.State = "scan"
	case s.Alive:
		l.State = "running"
	case s.Session.Ended.IsZero():
		l.State = "died"
	case s.Session.StopKind != "" || s.Session.Stopped != "":
		l.State = "stopped"
	default:
		l.State = "ended"
	}
	if end := s.Session.Ended; !end.IsZero() {
		l.duration = end.Sub(s.Session.Started)
	} else if s.Alive && !o.Now.IsZero() {
		l.duration = o.Now.Sub(s.Session.Started)
	}
	return l
}

// SessionsJSON prints the list of sessions for programs, oldest first.
func SessionsJSON(w io.Writer, list []SessionOf, o Options) error {
	out := struct {
		Schema   int           `json:"schema"`
		Sessions []SessionLine `json:"sessions"`
	}{queue.Schema, make([]SessionLine, 0, len(list))}
	for i := range list {
		out.Sessions = append(out.Sessions, newSessionLine(&list[i], o))
	}
	return WriteJSON(w, out, o)
}

// Sessions prints one line for each session, the newest last, where the eye is
// when the list ends.
func Sessions(w io.Writer, list []SessionOf, o Options) error {
	p := newPrinter(w, o)
	if len(list) == 0 {
		p.line("No sessions.")
		return p.flush()
	}
	names := []string{"begun", "length", "stories", "cost", "wait", "", "session"}
	rows := make([][]string, len(list))
	lines := make([]SessionLine, len(list))
	wide := make([]int, len(names))
	for c, n := range names {
		wide[c] = term.Cells(n)
	}
	for i := range list {
		lines[i] = newSessionLine(&list[i], o)
		rows[i] = p.sessionRow(&lines[i])
		for c := range wide {
			wide[c] = max(wide[c], term.Cells(rows[i][c]))
		}
	}
	if p.width < 80 {
		wide[1], wide[3] = 0, 0 // length and cost
	}
	p.sessionCells(wide, names, func(int) term.Style { return p.Faint })
	for i := range rows {
		p.sessionCells(wide, rows[i], func(c int) term.Style { return p.sessionStyle(&lines[i], c) })
	}
	p.line()
	p.prose(p.Faint, 0, "loop report --session ID tells of one, loop report --since 12h of several as one")
	return p.flush()
}

func (p *printer) sessionRow(l *SessionLine) []string {
	stories := "–"
	if l.Stories > 0 {
		stories = strconv.Itoa(l.Done) + "/" + strconv.Itoa(l.Stories) + " done"
		if l.Unproven > 0 {
			stories += ", " + strconv.Itoa(l.Unproven) + " unproven"
		}
		if l.Failed > 0 {
			stories += ", " + strconv.Itoa(l.Failed) + " failed"
		}
	}
	state := ""
	switch l.State {
	case "stopped":
		state = "stopped early"
		if l.StopKind != "" {
			state += ": " + term.Truncate(outcomeWord(l.StopKind), 16)
		}
	case "running", "died", "scan":
		state = l.State
	}
	// The end of an id tells sessions apart; the beginning is the time.
	id := term.Line(l.ID)
	if p.o.Width > 0 && len(id) > 12 {
		id = id[len(id)-12:]
	}
	return []string{p.o.clock(l.Started), duration(l.duration), stories, money(l.CostUSD), strconv.Itoa(l.Waiting), state, id}
}

func (p *printer) sessionStyle(l *SessionLine, column int) term.Style {
	switch {
	case column == 4 && l.Waiting > 0:
		return p.Warn
	case column == 2 && l.Failed > 0:
		return p.Danger
	case column == 5 && l.State == "died":
		return p.Danger
	case column == 5:
		return p.Warn
	case column == 6:
		return p.Faint
	}
	return term.Style{}
}

// sessionCells writes one line; numbers stand to the right.
func (p *printer) sessionCells(wide []int, cells []string, style func(int) term.Style) {
	var b strings.Builder
	for c, n := range wide {
		if n == 0 {
			continue
		}
		fill := term.Spaces(n - term.Cells(cells[c]))
		text := style(c).Render(cells[c])
		if c == 1 || c == 3 || c == 4 {
			text = fill + text
		} else if c < len(wide)-1 {
			text += fill
		}
		if b.Len() > 0 {
			b.WriteString(term.Spaces(gap))
		}
		b.WriteString(text)
	}
	p.line(b.String())
}
