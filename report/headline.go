package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// tone is how a line is meant; each form of the report shows it in its own way.
type tone uint8

const (
	plain tone = iota
	faint
	ok
	warn
	danger
)

// toned is a text with its tone.
type toned struct {
	text string
	tone tone
}

func (p *printer) toneStyle(t tone) term.Style {
	return [...]term.Style{plain: {}, faint: p.Faint, ok: p.Ok, warn: p.Warn, danger: p.Danger}[t]
}

// headline is the verdict, then when it was, what went wrong with the session
// as a whole, and what waits for the reader.
func (p *printer) headline(v *view) {
	verdict := v.verdict(p.o)
	if len(v.stories) > 0 {
		p.prose(p.gradeStyle(verdict.Grade), 0, verdict.Text)
	}
	p.flow(0, p.dateline(v)...)
	for _, a := range p.alarms(v) {
		p.prose(p.Danger, 0, a.text)
		if a.detail != "" {
			p.prose(term.Style{}, 2, a.detail)
		}
	}
	if len(v.stories)+len(v.Actions) == 0 {
		return
	}
	p.line()
	var needs []span
	for _, n := range p.needs(v) {
		if len(needs) > 0 {
			needs[len(needs)-1].text += ","
		}
		needs = append(needs, span{n.text, p.toneStyle(n.tone)})
	}
	p.flow(0, needs)
}

func (p *printer) dateline(v *view) (groups [][]span) {
	for _, s := range p.when(v) {
		groups = append(groups, []span{{s.text, p.toneStyle(s.tone)}})
	}
	return groups
}

func (p *printer) gradeStyle(grade string) term.Style {
	switch grade {
	case gradeBad:
		return p.Danger
	case gradeGood:
		return p.Good
	}
	return p.Bold
}

// alarm is what went wrong with a session as a whole.
type alarm struct{ text, detail string }

// alarms are the loud lines below the verdict.
func (t *teller) alarms(v *view) (out []alarm) {
	unguarded := false
	for i := range v.sessions {
		s := &v.sessions[i]
		if s.StopKind == queue.Unguarded {
			unguarded = true
			out = append(out, alarm{unguardedWords, t.Line(s.Stopped)})
		}
	}
	if !unguarded && v.unguarded() {
		out = append(out, alarm{text: unguardedWords})
	}
	for i := range v.sessions {
		a := t.ended(v, &v.sessions[i])
		if a.text != "" && i < len(v.sessions)-1 {
			a.text = "The session begun " + t.o.clock(v.sessions[i].Started) + ": " + a.text
		}
		if a.text != "" {
			out = append(out, a)
		}
	}
	return out
}

const unguardedWords = "UNGUARDED: the firewall was not live for a part of this session."

// ended says how a session ended, if not well.
func (t *teller) ended(v *view, s *queue.Session) alarm {
	switch {
	case s.StopKind == queue.Unguarded:
	case s.Stopped != "" || s.StopKind != "":
		return alarm{t.stopped(s), t.Line(s.Stopped)}
	case !s.Started.IsZero() && s.Ended.IsZero() && !t.o.Alive:
		next := "The next loop run reads what it left behind before it goes on."
		if !v.unended() {
			next = "Nothing of it is unread."
		}
		return alarm{"LOOP DIED: this session has no end record, and its process is gone.", next}
	}
	return alarm{}
}

func (v *view) unguarded() bool {
	return slices.ContainsFunc(v.Attempts, func(a queue.Attempt) bool { return a.Outcome == queue.Unguarded }) ||
		slices.ContainsFunc(v.Findings, func(f queue.Finding) bool { return f.Kind == "unguarded" })
}

// unended reports whether an attempt has no end record yet.
func (v *view) unended() bool {
	return slices.ContainsFunc(v.Attempts, func(a queue.Attempt) bool { return a.Ended.IsZero() })
}

// stopped says in one line why the session ended early.
func (t *teller) stopped(s *queue.Session) string {
	switch s.StopKind {
	case queue.Limit:
		if c := s.StopCause; c == queue.Credit || c == queue.Disabled || c == queue.LongContext || c == queue.ModelCredits || c == queue.SpendLimit && s.ResetsAt.IsZero() {
			return "STOPPED EARLY: " + t.cause(c) + "."
		}
		return "STOPPED EARLY: " + t.cause(cmp.Or(s.StopCause, queue.UsageLimit)) + t.resets(s.ResetsAt) + "."
	case queue.Auth:
		return "STOPPED EARLY: the client is not logged in, or its key was refused."
	case queue.Interrupted:
		return "STOPPED EARLY: interrupted."
	case queue.HostFailed:
		return "STOPPED EARLY: this machine runs out of disk."
	case queue.CouldNotStart:
		if s.StopCause == queue.SetupFailed {
			return "STOPPED EARLY: a new work tree could not be set up."
		}
		return "STOPPED EARLY: the client could not be started."
	case queue.Outage:
		return "STOPPED EARLY: the provider could not be reached, or failed."
	case queue.Budget:
		return "STOPPED EARLY: the cap of this session is reached."
	case queue.Blocked:
		return "STOPPED EARLY: one story after the other got nowhere."
	}
	return "STOPPED EARLY."
}

// cause is the words for a cause; one that this version does not know is marked.
func (t *teller) cause(c queue.Cause) string {
	if words := c.String(); words != string(c) {
		return words
	}
	return t.Line(string(c))
}

// waited says how long the session did nothing, and for what.
func (t *teller) waited(s *queue.Session) string {
	if len(s.Waits) == 0 {
		return ""
	}
	var d time.Duration
	what := ""
	for _, w := range s.Waits {
		d += w.Duration()
		kind := "a usage limit"
		if w.Outage() {
			kind = "an outage"
		}
		switch {
		case what == "":
			what = kind
		case what != kind:
			what = "limits and outages"
		}
	}
	last := s.Waits[len(s.Waits)-1]
	if last.Ended.IsZero() && t.o.Alive {
		return "waiting until " + t.o.clock(last.Until) + " for " + what
	}
	return "waited " + duration(d) + " for " + what
}

// resets is when the limit ends, as far as it is known.
func (t *teller) resets(at time.Time) string {
	switch left := at.Sub(t.o.Now); {
	case at.IsZero():
		return ", and no reset time was given"
	case t.o.Now.IsZero():
		return ", resets " + t.o.clock(at)
	case left <= 0:
		return ", reset at " + t.o.clock(at) + ": loop run can go on now"
	default:
		return fmt.Sprintf(", resets %s (in %s)", t.o.clock(at), duration(left))
	}
}

// when is the time of the session, what it cost, and how long it waited.
func (t *teller) when(v *view) []toned {
	out := []toned{{t.time(v), plain}}
	s := &v.Session
	if !s.Started.IsZero() && !s.Ended.IsZero() {
		out = append(out, toned{duration(s.Ended.Sub(s.Started)), plain})
	}
	if n := len(v.sessions); n > 1 {
		out = append(out, toned{plural(n, "session", "sessions"), plain})
	}
	if len(v.stories) > 0 {
		out = append(out, toned{money(v.cost), plain})
	}
	if text := t.waited(s); text != "" {
		out = append(out, toned{text, warn})
	}
	return out
}

// time names the session by its time.
func (t *teller) time(v *view) string {
	s := &v.Session
	switch {
	case s.Started.IsZero() && len(v.Actions)+len(v.Attempts)+len(v.Findings) == 0:
		return "Nothing is recorded yet"
	case s.Started.IsZero() && s.ID == "":
		return "No run; these actions come from a scan"
	case s.Started.IsZero():
		return "Session " + t.Line(s.ID) + ": no run, its actions come from a scan"
	case s.Ended.IsZero() && t.o.Alive:
		return "Still running since " + t.o.clock(s.Started) + " (pid " + strconv.Itoa(s.Pid) + ")"
	case s.Ended.IsZero():
		return "Session begun " + t.o.clock(s.Started)
	}
	text := t.o.between(s.Started, s.Ended)
	if len(v.waiting) > 0 { // their lines are in UTC
		text += s.Ended.In(t.o.location()).Format(" MST")
	}
	return text
}

// isNight: it went past midnight, or began late or before the morning.
func isNight(from, to time.Time) bool {
	return from.Format(time.DateOnly) != to.Format(time.DateOnly) || from.Hour() >= 20 || from.Hour() < 5
}

// needs says what waits for the reader.
func (t *teller) needs(v *view) (out []toned) {
	add := func(n int, one, many string, tone tone) {
		if n > 0 {
			out = append(out, toned{plural(n, one, many), tone})
		}
	}
	add(len(v.waiting), "action waits", "actions wait", warn)
	add(v.ran, "of them already ran", "of them already ran", danger)
	add(len(v.questions), "question waits", "questions wait", danger)
	add(v.tampers, "is tampering", "are tampering", danger)
	add(len(v.open), "approved action is unfinished", "approved actions are unfinished", warn)
	switch {
	case len(out) > 0:
	case len(v.mentions) > 0:
		add(len(v.mentions), "mention to look at", "mentions to look at", plain)
	case t.o.Earlier > 0:
		out = append(out, toned{"nothing new waits", warn})
	default:
		out = append(out, toned{"nothing waits", ok})
	}
	return out
}
