package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/stories"
)

// progress tells on stderr how a run goes: one line when a story starts, one
// when it ends, and on a terminal a live line in between.
type progress struct {
	mu    sync.Mutex // a notice may come from a goroutine of its own
	a     *app
	live  bool // stderr is a terminal
	width int
	place string // "[1/4]", of the one story under way
	shown bool   // a live line stands there

	under []underway // stories under way, in the order in which they began
}

// underway is one story under way.
type underway struct{ id, place, live string }

// at is the place of a story among those under way, -1 when it is none.
func (p *progress) at(id string) int {
	return slices.IndexFunc(p.under, func(u underway) bool { return u.id == id })
}

// placeOf says where a story stands in the plan.
func (p *progress) placeOf(id string) string {
	if i := p.at(id); i >= 0 {
		return p.under[i].place
	}
	return p.place
}

func newProgress(a *app) *progress {
	return &progress{a: a, live: term.IsTerminal(a.stderr), width: term.Width(a.stderr)}
}

func (p *progress) line(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.a.stderr, "%s %s\n", p.a.now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.a.stderr, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) close() { p.clear() }

// StoryStart says that a story begins.
func (p *progress) StoryStart(number, total int, s stories.Story) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.place = fmt.Sprintf("[%d/%d]", number, total)
	p.under = append(p.under, underway{id: s.ID, place: p.place})
	p.line("%s %s started: %s", p.place, term.Quote(s.ID), term.Line(s.Title))
}

// Live shows how the attempt stands, on a terminal only.
func (p *progress) Live(l runner.Live) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		return
	}
	text := p.liveText(l)
	if i := p.at(l.Story); i >= 0 && len(p.under) > 1 {
		p.under[i].live = text
		text = p.together()
	}
	fmt.Fprintf(p.a.stderr, "\r\x1b[K%s", term.Truncate(text, p.width-1))
	p.shown = true
}

// liveText is how one attempt stands.
func (p *progress) liveText(l runner.Live) string {
	text := p.placeOf(l.Story) + " " + term.Quote(l.Story) + "  "
	if l.Waiting != "" {
		return text + l.Waiting
	}
	text += clock(l.Elapsed) + "  " + calls(l.Calls)
	if l.Denied > 0 {
		text += fmt.Sprintf(", %d deferred", l.Denied)
	}
	if len(p.under) < 2 {
		text += fmt.Sprintf("  $%.2f", l.Cost)
	}
	if l.Doing != "" {
		text += "  " + term.Command(l.Doing)
	}
	return text
}

// together is one line of all stories under way.
func (p *progress) together() string {
	var parts []string
	for _, u := range p.under {
		if u.live != "" {
			parts = append(parts, term.Truncate(u.live, max(20, (p.width-1)/len(p.under)-3)))
		}
	}
	return strings.Join(parts, " | ")
}

// StoryEnd says how a story ended.
func (p *progress) StoryEnd(at queue.Attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := []string{calls(at.Calls)}
	if at.Denied > 0 {
		parts = append(parts, fmt.Sprintf("%d deferred", at.Denied))
	}
	parts = append(parts, fmt.Sprintf("$%.2f", at.CostUSD))
	place := p.placeOf(at.Story)
	if i := p.at(at.Story); i >= 0 {
		p.under = slices.Delete(p.under, i, i+1)
	}
	text := fmt.Sprintf("%s %s %s in %s (%s)", place, term.Quote(at.Story), at.Outcome, clock(at.Ended.Sub(at.Started)), strings.Join(parts, ", "))
	if at.Reason != "" && !at.Outcome.Passed() {
		text += ": " + term.Line(at.Reason)
	}
	p.line("%s", text)
}

// Notice says something else that a person should know.
func (p *progress) Notice(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	place := p.place
	if len(p.under) > 1 {
		place = "" // it says itself of which story it speaks
	}
	p.line("%s", strings.TrimSpace(place+" "+term.Line(text)))
}

// clock is a duration as people read it: 42s, 3m07s, 1h02m.
func clock(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}
