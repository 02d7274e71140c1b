package report

import (
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// event is an attempt that did not pass.
type event struct {
	at          time.Time
	story, text string
}

// events are the attempts that did not pass, in the order of their ends. Why
// stands with those that something followed; of the others, which ended their
// story, it stands with the story.
func (p *printer) events(v *view) {
	list, followed := p.eventsOf(v)
	if !followed {
		return
	}
	p.heading("What went wrong, and when")
	id := 0
	for _, e := range list {
		id = max(id, min(term.Cells(e.story), 14, p.width/5))
	}
	for _, e := range list {
		at := e.at.In(p.o.location()).Format(time.TimeOnly)
		head := "  " + at + "  " + term.Pad(term.Truncate(e.story, id), id) + "  "
		if p.o.All {
			p.prose(term.Style{}, 2, strings.TrimSpace(head)+"  "+e.text)
			continue
		}
		p.line(p.Faint.Render(head), term.Truncate(e.text, p.width-term.Cells(head)))
	}
}

func (t *teller) eventsOf(v *view) (list []event, followed bool) {
	for _, s := range v.stories {
		for i := range s.attempts {
			a := &s.attempts[i]
			if a.Outcome.Passed() || a.Ended.IsZero() {
				continue
			}
			var next *queue.Attempt
			if i+1 < len(s.attempts) {
				next, followed = &s.attempts[i+1], true
			}
			list = append(list, event{a.Ended, t.Line(a.Story), t.eventText(v, a, next)})
		}
	}
	slices.SortStableFunc(list, func(a, b event) int { return a.at.Compare(b.at) })
	return list, followed
}

// eventText is how an attempt ended, and how long loop then waited before the
// next one at the story; nil = there was none.
func (t *teller) eventText(v *view, a, next *queue.Attempt) string {
	text := outcomeWord(a.Outcome)
	if next == nil {
		return text
	}
	for _, w := range v.Session.Waits {
		if w.Story == a.Story && !w.From.Before(a.Ended) && w.From.Before(next.Started) {
			text += ", waited " + duration(w.Duration())
		}
	}
	if a.Reason != "" {
		text += ": " + t.Line(a.Reason)
	}
	return text
}
