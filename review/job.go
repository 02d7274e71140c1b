package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// job is a replay that goes on beside the view: what it shows and prints is
// taken over piece by piece, and it waits while it asks.
type job struct {
	cancel context.CancelFunc
	wake   chan struct{} // there is something new
	answer chan bool
	done   chan struct{} // closed at its end

	mu    sync.Mutex
	out   []byte
	wrote int // counts the writes
	taken int // of them, by the view
	yes   bool
	asks  *question
	end   *outcome
}

// question is what a job asks about what it has shown.
type question struct {
	text string
	why  string // a key alone is not enough
	word string // what must be typed then; "" = nothing
	with *with  // what can be taken in besides; nil = nothing
}

// with is what a yes is about only when the person has taken it in by a key.
type with struct {
	in   bool
	all  bool   // there is nothing else to say yes to
	text string // what is asked when it is in
	what string // to be taken in
}

// line is the question as it stands.
func (q *question) line() string {
	if q.with != nil && q.with.in {
		return q.with.text
	}
	return q.text
}

// outcome is how a job ended.
type outcome struct {
	note string
	err  error
}

// jobMsg is what is new of a job.
type jobMsg struct{ job *job }

// work is what a job does: shows at w, asks, runs.
type work func(ctx context.Context, w io.Writer, ask func(question) (bool, error)) (note string, err error)

// start begins a job.
func (m *model) start(title string, do work) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	j := &job{cancel: cancel, wake: make(chan struct{}, 1), answer: make(chan bool), done: make(chan struct{})}
	m.job, m.mode, m.title = j, running, title
	m.page.set("")
	m.page.size(m.pageRoom())
	go func() {
		defer close(j.done)
		defer cancel()
		note, err := do(ctx, j, func(q question) (bool, error) { return j.question(ctx, q) })
		j.change(func() { j.end = &outcome{note, err} })
	}()
	return j.next
}

func (j *job) change(f func()) {
	j.mu.Lock()
	f()
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// How much of what a replay prints stays on the screen; the queue keeps its end.
const (
	maxOutput  = 512 << 10
	keptOutput = 256 << 10
)

// Write takes what is shown and printed.
func (j *job) Write(p []byte) (int, error) {
	j.change(func() {
		j.wrote++
		j.out = append(j.out, p...)
		if j.yes && len(j.out) > maxOutput {
			_, rest, _ := bytes.Cut(j.out[len(j.out)-keptOutput:], []byte("\n"))
			j.out = append([]byte("(what came before is left out here)\n"), rest...)
		}
	})
	return len(p), nil
}

func (j *job) question(ctx context.Context, q question) (bool, error) {
	j.change(func() { j.asks = &q })
	select {
	case yes := <-j.answer:
		j.change(func() { j.yes = yes })
		return yes, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// next waits for something new.
func (j *job) next() tea.Msg {
	<-j.wake
	return jobMsg{j}
}

// jobUpdate takes over what is new of the job.
func (m *model) jobUpdate(msg jobMsg) tea.Cmd {
	j := msg.job
	if j != m.job {
		return nil
	}
	j.mu.Lock()
	asks, end := j.asks, j.end
	text, news := "", j.wrote != j.taken
	if news {
		text, j.taken = string(j.out), j.wrote
	}
	j.asks = nil
	j.mu.Unlock()
	if news {
		m.page.more(text)
	}
	switch {
	case end != nil:
		m.job = nil
		return m.ended(*end)
	case asks != nil:
		// What ran past while it was put together does not count as seen.
		m.mode, m.ask = asking, asks
		m.page.set(m.page.text)
		m.page.scroll(0)
		return nil // it does nothing until it has its answer
	case m.mode == running:
		m.page.scroll(len(m.page.rows))
	}
	return j.next
}

// ended leaves what a replay printed on the screen; one that was not run goes
// back to the list.
func (m *model) ended(end outcome) tea.Cmd {
	m.ran = true
	var changed *queue.ChangedError
	switch {
	case errors.Is(end.err, errDeclined):
		m.mode = listing
		m.say(true, "nothing was done")
	case errors.As(end.err, &changed):
		m.mode = listing
		m.trouble(end.err)
	case end.err != nil:
		m.mode = reading
		m.page.more(m.page.text + "\n!! " + errorText(end.err) + "\n")
		m.page.scroll(len(m.page.rows))
		m.say(true, "press enter to go on")
	default:
		m.mode = reading
		m.page.scroll(len(m.page.rows))
		m.say(false, end.note+"; press enter to go on")
	}
	return tea.Batch(m.read(), m.choose())
}

// errDeclined is a person's no.
var errDeclined = errors.New("declined")

func errorText(err error) string {
	text := term.QuoteLines(err.Error())
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		text += "\n   " + term.QuoteLines(h.Hint())
	}
	return text
}

// trouble says in one line why something was not done.
func (m *model) trouble(err error) tea.Cmd {
	var changed *queue.ChangedError
	if errors.As(err, &changed) {
		return m.say(true, conflict(changed.Now))
	}
	return m.say(true, strings.ReplaceAll(errorText(err), "\n", "; "))
}

// conflict says who was quicker.
func conflict(a queue.Action) string {
	text := fmt.Sprintf("nothing done: #%d is %s by now", a.Number, a.Status)
	if who := a.LastDecision(time.TimeOnly); who != "" {
		text += " (" + who + ")"
	}
	return text
}

// one is the replay of one action, and of none that is folded with it. What speaks
// against it needs a word.
func one(d Desk, seen queue.Action, with []queue.Action) work {
	return func(ctx context.Context, w io.Writer, ask func(question) (bool, error)) (string, error) {
		res, err := d.Replay(ctx, seen, replay.Insist{Again: true, Anyway: true}, w, func(_ context.Context, a queue.Action, since replay.Since) (bool, error) {
			q := question{text: "run it?"}
			if n := strings.Count(exact(a.AsRun()), "\n") + 1; n > 1 {
				q.text = fmt.Sprintf("run these %d lines?", n)
			}
			switch replay.Needs(a, since) {
			case replay.Insist{Again: true}:
				q.why, q.word = "It has run before, or may have.", "again"
			case replay.Insist{Anyway: true}:
				q.why, q.word = "The push is not what was deferred.", "anyway"
			case replay.Insist{Again: true, Anyway: true}:
				q.why, q.word = "It has run before, or may have, and the push is not what was deferred.", "again anyway"
			}
			return ask(q)
		})
		if err == nil && res.Declined {
			err = errDeclined
		}
		note := fmt.Sprintf("#%d %s", seen.Number, res.Action.Status)
		switch len(with) {
		case 0:
		case 1:
			note += "; " + names(with) + ", folded with it, still waits"
		default:
			note += "; " + names(with) + ", folded with it, still wait"
		}
		return note, err
	}
}
