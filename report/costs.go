package report

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// costs is what the session took, and from what.
func (p *printer) costs(v *view) {
	if len(v.Attempts) == 0 {
		return
	}
	p.heading("Cost and time")
	for _, s := range p.costLines(v) {
		p.prose(term.Style{}, 2, s)
	}
}

// costLines are the sentences of the section on cost and time.
func (t *teller) costLines(v *view) []string {
	total := money(v.cost)
	if n := v.unknownCosts(); n > 0 {
		total = "at least " + total + " (" + plural(n, "attempt", "attempts") + " ended without telling)"
	}
	if n := v.tokens(); n > 0 {
		total += " · " + count(n) + " tokens"
	}
	total += " · " + plural(len(v.Attempts), "attempt", "attempts") + " at " + plural(v.begun(), "story", "stories") + ", " + duration(v.worked()) + " of work"
	lines := []string{total}
	if s := v.dearest(); s != nil {
		text := "dearest: story " + t.short(s.id, 24) + ", " + money(s.cost) + " in " + duration(s.time)
		if n := len(s.attempts); n > 1 {
			text += " and " + strconv.Itoa(n) + " attempts"
		}
		lines = append(lines, text)
	}
	if text := t.waited(&v.Session); text != "" {
		lines = append(lines, text)
	}
	if v.Session.Account != "" && t.o.All {
		lines = append(lines, "charged to "+t.Line(v.Session.Account))
	}
	return lines
}

func (v *view) unknownCosts() int {
	n := 0
	for i := range v.Attempts {
		if v.Attempts[i].CostUnknown {
			n++
		}
	}
	return n
}

func (v *view) tokens() (n int64) {
	for i := range v.Attempts {
		n += v.Attempts[i].Tokens
	}
	return n
}

// begun counts the stories that were worked on.
func (v *view) begun() int {
	n := 0
	for _, s := range v.stories {
		if len(s.attempts) > 0 {
			n++
		}
	}
	return n
}

// worked is the time that the attempts took, waits left out.
func (v *view) worked() (d time.Duration) {
	for _, s := range v.stories {
		d += s.time
	}
	return d
}

// dearest is the story that cost most, where that says something.
func (v *view) dearest() *story {
	if v.begun() < 2 {
		return nil
	}
	s := slices.MaxFunc(v.stories, func(a, b *story) int { return cmp.Compare(a.cost, b.cost) })
	if s.cost <= 0 {
		return nil
	}
	return s
}

// count is a large number as a person reads it: 9 500, 12k, 3.4M.
func count(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatInt((n+500)/1000, 10) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

// places says where to look further.
func (p *printer) places(v *view) {
	if v.Session.ID == "" {
		return
	}
	p.line()
	for i := range v.sessions {
		var groups [][]span
		for _, part := range p.sessionParts(&v.sessions[i]) {
			groups = append(groups, []span{{p.o.fit(part, p.width), p.Faint}})
		}
		p.flow(0, groups...)
	}
	if dir := v.transcripts(); dir != "" {
		p.flow(0, []span{{"Transcripts", p.Faint}, {p.Command(dir), p.Faint}})
	}
}

// sessionParts name a session, its level and its client.
func (t *teller) sessionParts(s *queue.Session) []string {
	out := []string{"Session " + t.Line(s.ID)}
	for _, part := range []string{s.Level, clientName(s.Client)} {
		if part != "" {
			out = append(out, t.Line(part))
		}
	}
	return out
}

func clientName(version string) string {
	if version == "" {
		return ""
	}
	return "claude " + version
}
