package report

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
)

// The states of a Standing.
const (
	StateNone     = "none"     // no run has ever worked here
	StateStarting = "starting" // a run has begun and not come to its first story
	StateRunning  = "running"
	StateEnded    = "ended"
	StateDied     = "died" // its process is gone and it wrote no end
)

// Standing is how the run of a repository stands now, or how the last one
// ended. Story, Title, Doing, Why and Notice may hold hostile text.
type Standing struct {
	Schema       int       `json:"schema"`
	State        string    `json:"state"`
	At           time.Time `json:"at"`
	Session      string    `json:"session,omitempty"`
	Pid          int       `json:"pid,omitempty"`
	Level        string    `json:"level,omitempty"`
	Started      time.Time `json:"started,omitzero"`
	Ended        time.Time `json:"ended,omitzero"`
	Written      time.Time `json:"written,omitzero"` // when the run last said something
	Seconds      int64     `json:"elapsed_seconds"`
	Phase        string    `json:"phase,omitempty"` // working, checking, waiting, ended
	Number       int       `json:"story_number"`
	Total        int       `json:"story_total"`
	Story        string    `json:"story,omitempty"`
	Title        string    `json:"title,omitempty"`
	StorySeconds int64     `json:"story_seconds"`
	Calls        int       `json:"calls"`
	Refused      int       `json:"refused"`
	Doing        string    `json:"doing,omitempty"`
	QuietSeconds int64     `json:"last_event_seconds"` // age of the client's last sign of life
	Passed       int       `json:"passed"`
	Failed       int       `json:"failed"`
	CostUSD      float64   `json:"cost_usd"`            // of the ended attempts
	InFlight     []Flight  `json:"in_flight,omitempty"` // stories at the same time; what stands above is of the first
	Until        time.Time `json:"waits_until,omitzero"`
	WaitSeconds  int64     `json:"wait_seconds"`
	Why          string    `json:"why,omitempty"`
	Notice       string    `json:"notice,omitempty"`
	StopAsked    string    `json:"stop_asked,omitempty"`
	Waiting      int       `json:"actions_waiting"`
	Mentions     int       `json:"mentions_waiting"`
}

// Flight is how one of several stories under way stands. Story, Title and Doing
// may hold hostile text.
type Flight struct {
	Number       int    `json:"story_number"`
	Story        string `json:"story"`
	Title        string `json:"title,omitempty"`
	Phase        string `json:"phase"`
	StorySeconds int64  `json:"story_seconds"`
	Calls        int    `json:"calls"`
	Refused      int    `json:"refused"`
	Doing        string `json:"doing,omitempty"`
	QuietSeconds int64  `json:"last_event_seconds"`
}

// Now prints how a run stands, on one screen.
func Now(w io.Writer, s Standing, o Options) error {
	p := &nowPrinter{printer: newPrinter(w, o), s: s}
	p.head()
	if s.State == StateNone || s.State == StateStarting {
		return p.flush()
	}
	p.story()
	p.rest()
	return p.flush()
}

type nowPrinter struct {
	*printer

	s Standing
}

// field prints a name and what stands beside it, cut to the width.
func (p *nowPrinter) field(name, text string) {
	const names = 9
	p.line("  ", p.Faint.Render(term.Pad(name, names)), " ", p.o.fit(text, p.width-names-3))
}

func (p *nowPrinter) head() {
	s := p.s
	switch s.State {
	case StateNone:
		p.prose(p.Bold, 0, "No run has worked in this repository yet. loop run starts one.")
	case StateStarting:
		p.prose(p.Bold, 0, fmt.Sprintf("A run is starting (pid %d).", s.Pid))
	case StateRunning:
		p.prose(p.Bold, 0, fmt.Sprintf("Running for %s (pid %d), since %s.", p.span(s.Seconds), s.Pid, p.o.clock(s.Started)))
	case StateDied:
		p.prose(p.Danger, 0, fmt.Sprintf("LOOP DIED: the run of %s (pid %d) is gone and wrote no end; its last word is of %s, %s ago.",
			p.o.clock(s.Started), s.Pid, p.o.clock(s.Written), age(s.At.Sub(s.Written))))
		p.prose(term.Style{}, 2, "The next loop run reads what it left behind before it goes on.")
	default:
		text := fmt.Sprintf("No run is on. The last one: %s, %s.", p.o.between(s.Started, s.Ended), p.span(s.Seconds))
		p.prose(p.Bold, 0, text)
	}
	if s.State == StateEnded && s.Why != "" {
		p.prose(p.Warn, 2, "stopped early: "+p.Line(s.Why))
	}
	if s.StopAsked != "" && s.State == StateRunning {
		when := "after this story"
		if s.StopAsked == "now" {
			when = "now"
		}
		p.prose(p.Warn, 2, "It was asked to stop "+when+".")
	}
}

// story says where the run is.
func (p *nowPrinter) story() {
	s := p.s
	if s.State == StateRunning && len(s.InFlight) > 0 {
		for _, f := range s.InFlight {
			p.flight(f)
		}
		if s.Phase == "waiting" {
			p.waits()
		}
		p.notice()
		return
	}
	if s.Number > 0 {
		p.field("story", fmt.Sprintf("%d of %d: %s  %s", s.Number, s.Total, p.Line(s.Story), p.Line(s.Title)))
	}
	if s.State != StateRunning {
		return
	}
	switch s.Phase {
	case "waiting":
		p.waits()
	case "checking":
		p.field("now", "the client has ended; what it did is read, and gates run")
	case "working":
		p.field("attempt", p.attempt(s.StorySeconds, s.Calls, s.Refused, s.QuietSeconds))
		if s.Doing != "" {
			p.field("now", p.Command(s.Doing))
		}
	}
	p.notice()
}

// flight says how one of several stories stands.
func (p *nowPrinter) flight(f Flight) {
	p.field("story", fmt.Sprintf("%d of %d: %s  %s", f.Number, p.s.Total, p.Line(f.Story), p.Line(f.Title)))
	switch f.Phase {
	case "checking":
		p.field("", "the client has ended; what it did is read, gates run, and it is put with the rest")
	case "waiting":
		p.field("", "waits")
	default:
		p.field("", p.attempt(f.StorySeconds, f.Calls, f.Refused, f.QuietSeconds))
		if f.Doing != "" {
			p.field("", p.Command(f.Doing))
		}
	}
}

// attempt says how far an attempt is.
func (p *nowPrinter) attempt(seconds int64, calls, refused int, quiet int64) string {
	text := fmt.Sprintf("%s, %s", p.span(seconds), plural(calls, "call", "calls"))
	if refused > 0 {
		text += ", " + strconv.Itoa(refused) + " refused"
	}
	if quiet > 0 {
		text += "; last sign of life " + p.span(quiet) + " ago"
	}
	return text
}

func (p *nowPrinter) waits() {
	p.field("waits", fmt.Sprintf("until %s, %s more: %s", p.o.clock(p.s.Until), p.span(p.s.WaitSeconds), p.Line(p.s.Why)))
}

func (p *nowPrinter) notice() {
	if p.s.Notice != "" {
		p.field("notice", p.Line(p.s.Notice))
	}
}

// rest is what a person asks next.
func (p *nowPrinter) rest() {
	s := p.s
	done := strconv.Itoa(s.Passed) + " passed"
	if s.Failed > 0 {
		done += ", " + strconv.Itoa(s.Failed) + " did not"
	}
	if left := s.Total - s.Passed - s.Failed; left > 0 {
		done += ", " + strconv.Itoa(left) + " to go"
	}
	p.field("stories", done)
	p.field("cost", money(s.CostUSD)+" for the attempts that ended")
	wait := "nothing"
	if s.Waiting > 0 {
		wait = plural(s.Waiting, "action", "actions") + " (loop list)"
	} else if s.Mentions > 0 {
		wait = plural(s.Mentions, "mention", "mentions") + " to look at"
	}
	p.field("waiting", wait)
	p.field("session", p.Line(s.Session))
}

func (p *nowPrinter) span(seconds int64) string {
	return duration(time.Duration(seconds) * time.Second)
}
