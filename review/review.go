// Package review is the view on a terminal in which a person decides what waits:
// a list of the queue, and beside it everything that is known about one action.
//
// It draws and takes keys. What decides, runs and writes is behind Desk: the
// queue, replay and the person's rules. It keeps nothing of its own, so that it
// can be closed at any time, and two can be open at once. The invariants are
// that nothing is run of which a line was not on the screen, that a decision is
// about the action as it was seen, and that every text of an agent's is quoted
// before it is drawn.
package review

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// Every is how often it is looked whether the queue has changed.
const Every = time.Second

// Desk reads the queue and decides.
type Desk interface {
	// Head is the first of the waiting actions, quickly, and whether there are others.
	Head(ctx context.Context, n int) (first []queue.Action, more bool, err error)
	Actions(ctx context.Context) ([]queue.Action, error)
	// Stamp is another one when the queue has been written.
	Stamp() string
	// Parts are what is told about an action below its command.
	Parts(a queue.Action) []Part

	// Decide records a decision about an action as it was seen.
	Decide(ctx context.Context, seen queue.Action, verb, reason string) (queue.Action, error)
	// Edit gives an action another form, made of what replay.EditText gave.
	Edit(ctx context.Context, seen queue.Action, text string) (queue.Action, error)
	// Rule makes the rule that decides such a call for good; Write puts it into
	// the person's own file.
	Rule(ctx context.Context, seen queue.Action, verb, reason string) (Rule, error)
	Write(ctx context.Context, r Rule) error
	// Replay shows an action at w, asks, and runs it, its output to w.
	Replay(ctx context.Context, seen queue.Action, insist replay.Insist, w io.Writer, agree Agree) (replay.Result, error)
}

// Agree asks about what was shown. a is as it would run.
type Agree func(ctx context.Context, a queue.Action, since replay.Since) (bool, error)

// Part is one section of what is told about an action.
type Part struct {
	Title string
	// Load gives its text, safe to print; "" leaves the section out.
	Load func(ctx context.Context, width int) (string, error)
}

// Rule is a rule about one command, for good.
type Rule struct {
	ID, Text, File string
	About          string // which of an action's forms it is for, safe to print; "" = it has one
	There          bool   // it stands in the file already
}

// Options say where and how to draw.
type Options struct {
	In    io.Reader
	Out   io.Writer
	Env   []string
	Color bool
	Now   func() time.Time
	// ReadOnly is why nothing can be decided here; "" = it can.
	ReadOnly string
}

// Run draws the view until it is closed or ctx ends.
func Run(ctx context.Context, d Desk, o Options) error {
	m := newModel(ctx, d, o)
	p := tea.NewProgram(m,
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env),
		tea.WithoutSignalHandler()) // the program's own handler ends ctx
	_, err := p.Run()
	m.stop()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return ctx.Err()
	}
	return err
}
