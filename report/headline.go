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

// headline is the verdict, then when it was, what went wrong with the session
// as a whole, and what waits for the reader.
func (p *printer) headline(v *view) {
	verdict := v.verdict(p.o)
	if len(v.stories) > 0 {
		p.prose(p.gradeStyle(verdict.Grade), 0, verdict.Text)
	}
	groups := [][]span{{{p.when(v), term.Style{}}}}
	s := &v.Session
	if !s.Started.IsZero() && !s.Ended.IsZero() {
		groups = append(groups, []span{{duration(s.Ended.Sub(s.Started)), term.Style{}}})
	}
	if len(v.stories) > 0 {
		groups = append(groups, []span{{money(v.cost), term.Style{}}})
	}
	if text := p.waited(s); text != "" {
		groups = append(groups, []span{{text, p.Warn}})
	}
	p.flow(0, groups...)
	p.alarms(v)
	if len(v.stories)+len(v.Actions) > 0 {
		p.line()
		p.flow(0, p.needs(v))
	}
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

// alarms are the loud lines below the verdict.
func (p *printer) alarms(v *view) {
	s := &v.Session
	alarm := func(text, detail string) {
		p.prose(p.Danger, 0, text)
		if detail != "" {
			p.prose(term.Style{}, 2, p.Line(detail))
		}
	}
	if s.StopKind == queue.Unguarded || v.unguarded() {
		detail := ""
		if s.StopKind == queue.Unguarded {
			detail = s.Stopped
		}
		alarm("UNGUARDED: the firewall was not live for a part of this session.", detail)
	}
	switch {
	case s.StopKind == queue.Unguarded:
	case s.Stopped != "" || s.StopKind != "":
		alarm(p.stopped(s), s.Stopped)
	case !s.Started.IsZero() && s.Ended.IsZero() && !p.o.Alive:
		next := "The next loop run reads what it left behind before it goes on."
		if !v.unended() {
			next = "Nothing of it is unread."
		}
		alarm("LOOP DIED: this session has no end record, and its process is gone.", next)
	}
}

func (v *view) unguarded() bool {
	for i := range v.Attempts {
		if v.Attempts[i].Outcome == queue.Unguarded {
			return true
		}
	}
	for i := range v.Findings {
		if v.Findings[i].Kind == "unguarded" {
			return true
		}
	}
	return false
}

// unended reports whether an attempt has no end record yet.
func (v *view) unended() bool {
	return slices.ContainsFunc(v.Attempts, func(a queue.Attempt) bool { return a.Ended.IsZero() })
}

// stopped says in one line why the session ended early.
func (p *printer) stopped(s *queue.Session) string {
	switch s.StopKind {
	case queue.Limit:
		if c := s.StopCause; c == queue.Credit || c == queue.Disabled || c == queue.LongContext || c == queue.ModelCredits || c == queue.SpendLimit && s.ResetsAt.IsZero() {
			return "STOPPED EARLY: " + c.String() + "."
		}
		return "STOPPED EARLY: " + cmp.Or(s.StopCause, queue.UsageLimit).String() + p.resets(s.ResetsAt) + "."
	case queue.Auth:
		return "STOPPED EARLY: the client is not logged in, or its key was refused."
	case queue.Interrupted:
		return "STOPPED EARLY: interrupted."
	case queue.HostFailed:
		return "STOPPED EARLY: this machine runs out of disk."
	case queue.CouldNotStart:
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
func (p *printer) resets(at time.Time) string {
	switch left := at.Sub(p.o.Now); {
	case at.IsZero():
		return ", and no reset time was given"
	case p.o.Now.IsZero():
		return ", resets " + p.o.clock(at)
	case left <= 0:
		return ", reset at " + p.o.clock(at) + ": loop run can go on now"
	default:
		return fmt.Sprintf(", resets %s (in %s)", p.o.clock(at), duration(left))
	}
}

// when names the session by its time.
func (p *printer) when(v *view) string {
	s := &v.Session
	switch {
	case s.Started.IsZero() && len(v.Actions)+len(v.Attempts)+len(v.Findings) == 0:
		return "Nothing is recorded yet"
	case s.Started.IsZero() && s.ID == "":
		return "No run; these actions come from a scan"
	case s.Started.IsZero():
		return "Session " + p.Line(s.ID) + ": no run, its actions come from a scan"
	case s.Ended.IsZero() && p.o.Alive:
		return "Still running since " + p.o.clock(s.Started) + " (pid " + strconv.Itoa(s.Pid) + ")"
	case s.Ended.IsZero():
		return "Session begun " + p.o.clock(s.Started)
	}
	name := p.o.between(s.Started, s.Ended)
	if len(v.waiting) > 0 { // their lines are in UTC
		name += s.Ended.In(p.o.location()).Format(" MST")
	}
	return name
}

// isNight: it went past midnight, or began late or before the morning.
func isNight(from, to time.Time) bool {
	return from.Format(time.DateOnly) != to.Format(time.DateOnly) || from.Hour() >= 20 || from.Hour() < 5
}

// needs says what waits for the reader.
func (p *printer) needs(v *view) []span {
	n, m := len(v.waiting), len(v.mentions)
	var out []span
	add := func(text string, style term.Style) {
		if len(out) > 0 {
			out[len(out)-1].text += ","
		}
		out = append(out, span{text, style})
	}
	if n > 0 {
		add(plural(n, "action waits", "actions wait"), p.Warn)
	}
	if v.ran > 0 {
		add(strconv.Itoa(v.ran)+" of them already ran", p.Danger)
	}
	if q := len(v.questions); q > 0 {
		add(plural(q, "question waits", "questions wait"), p.Danger)
	}
	if v.tampers > 0 {
		add(plural(v.tampers, "is tampering", "are tampering"), p.Danger)
	}
	if len(v.open) > 0 {
		add(plural(len(v.open), "approved action is unfinished", "approved actions are unfinished"), p.Warn)
	}
	switch {
	case len(out) > 0:
	case m > 0:
		add(plural(m, "mention to look at", "mentions to look at"), term.Style{})
	case p.o.Earlier > 0:
		add("nothing new waits", p.Warn)
	default:
		add("nothing waits", p.Ok)
	}
	return out
}
