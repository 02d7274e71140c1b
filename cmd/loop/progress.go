package main

import (
	"fmt"
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
	place string // "[1/4]"
	shown bool   // a live line stands there
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
	p.line("%s %s started: %s", p.place, term.Quote(s.ID), term.Line(s.Title))
}

// Live shows how the attempt stands, on a terminal only.
func (p *progress) Live(l runner.Live) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		return
	}
	if l.Waiting != "" {
		text := fmt.Sprintf("%s %s  %s", p.place, term.Quote(l.Story), l.Waiting)
		fmt.Fprintf(p.a.stderr, "\r\x1b[K%s", term.Truncate(text, p.width-1))
		p.shown = true
		return
	}
	text := fmt.Sprintf("%s %s  %s  %s", p.place, term.Quote(l.Story), clock(l.Elapsed), calls(l.Calls))
	if l.Denied > 0 {
		text += fmt.Sprintf(", %d deferred", l.Denied)
	}
	text += fmt.Sprintf("  $%.2f", l.Cost)
	if l.Doing != "" {
		text += "  " + term.Command(l.Doing)
	}
	fmt.Fprintf(p.a.stderr, "\r\x1b[K%s", term.Truncate(text, p.width-1))
	p.shown = true
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
	text := fmt.Sprintf("%s %s %s in %s (%s)", p.place, term.Quote(at.Story), at.Outcome, clock(at.Ended.Sub(at.Started)), strings.Join(parts, ", "))
	if at.Reason != "" && !at.Outcome.Passed() {
		text += ": " + term.Line(at.Reason)
	}
	p.line("%s", text)
}

// Notice says something else that a person should know.
func (p *progress) Notice(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line("%s", strings.TrimSpace(p.place+" "+term.Line(text)))
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
