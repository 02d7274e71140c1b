package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/review"
)

// desk is what stands behind loop review and loop serve.
type desk struct {
	a     *app
	name  string // of the command
	w     workspace.Workspace
	store *queue.Store
	ro    report.Options

	reader func() (reader, error)
}

// reader reads calls by the person's rules.
type reader struct {
	set  *policy.Set
	near nearer
	call func(dir string) policy.Call
}

// rules are a reader as replay.NewForm takes it.
type rules struct{ reader }

func (r rules) Undo(ids []string) string { return r.set.Undo(ids) }

func (r rules) Classify(c policy.Call) policy.Result {
	call := r.call(c.Cwd)
	call.Tool, call.Input = c.Tool, c.Input
	return r.set.Classify(call)
}

func newDesk(a *app, w workspace.Workspace, store *queue.Store, ro report.Options) *desk {
	d := &desk{a: a, name: "loop review", w: w, store: store, ro: ro}
	// The rules take longer to read than the first screen may take.
	d.reader = sync.OnceValues(func() (reader, error) {
		c, set, err := a.loadConfig(w)
		if err != nil {
			return reader{}, err
		}
		near, err := newNearer(set)
		if err != nil {
			return reader{}, err
		}
		guarded := a.readingIn(context.Background(), w, c, w.Root).Guarded
		return reader{set: set, near: near, call: func(dir string) policy.Call {
			call := a.readingIn(context.Background(), w, c, dir)
			call.Guarded = guarded
			return call
		}}, nil
	})
	return d
}

func (d *desk) Head(ctx context.Context, n int) ([]queue.Action, bool, error) {
	return d.store.First(ctx, n)
}

func (d *desk) Actions(ctx context.Context) ([]queue.Action, error) {
	list, err := d.store.Actions(ctx, queue.Filter{})
	if err != nil || !slices.ContainsFunc(list, d.died) {
		return list, err
	}
	if err := d.recover(ctx); err != nil {
		return nil, err
	}
	return d.store.Actions(ctx, queue.Filter{})
}

// died reports whether a replay's process is gone, and nobody has noted that: a
// loop approve in another terminal may be killed at any time.
func (d *desk) died(x queue.Action) bool { return d.store.AsFound(x).Status != x.Status }

func (d *desk) recover(ctx context.Context) error {
	if d.a.insideAgent(ctx, d.store) != "" {
		return nil
	}
	_, err := replay.Recover(ctx, d.store)
	return err
}

// Stamp is size and time of the queue's file and of what waits beside it.
func (d *desk) Stamp() string {
	var b strings.Builder
	for _, name := range []string{"queue.db", "spool.jsonl"} {
		if info, err := os.Stat(filepath.Join(d.w.State, name)); err == nil {
			fmt.Fprintf(&b, "%d %d;", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

func (d *desk) Decide(ctx context.Context, seen queue.Action, verb, reason string) (queue.Action, error) {
	if err := d.a.forPeople(ctx, d.store, d.name); err != nil {
		return queue.Action{}, err
	}
	return d.store.DecideSeen(ctx, seen, queue.Decision{Verb: verb, Who: d.a.who(), When: d.a.now().UTC(), Reason: reason})
}

func (d *desk) Edit(ctx context.Context, seen queue.Action, text string) (queue.Action, error) {
	if err := d.a.forPeople(ctx, d.store, d.name); err != nil {
		return queue.Action{}, err
	}
	r, err := d.reader()
	if err != nil {
		return queue.Action{}, err
	}
	form, err := replay.NewForm(seen, text, rules{r})
	if err != nil {
		return queue.Action{}, err
	}
	now, err := d.store.Get(ctx, seen.ID)
	if err != nil {
		return queue.Action{}, err
	}
	if !now.Stands(seen) {
		return now, &queue.ChangedError{Now: now}
	}
	return d.store.Edit(ctx, seen.ID, form, queue.Decision{Who: d.a.who(), When: d.a.now().UTC()})
}

func (d *desk) Rule(ctx context.Context, seen queue.Action, verb, reason string) (review.Rule, error) {
	if err := d.a.forPeople(ctx, d.store, d.name); err != nil {
		return review.Rule{}, err
	}
	s, err := d.a.always(ctx, seen, verb, reason)
	return review.Rule{ID: s.id, Text: s.text, File: s.file, About: s.about, There: s.there}, err
}

func (d *desk) Write(ctx context.Context, r review.Rule) error {
	if err := d.a.forPeople(ctx, d.store, d.name); err != nil {
		return err
	}
	return standing{id: r.ID, text: r.Text, file: r.File}.write()
}

func (d *desk) Replay(ctx context.Context, seen queue.Action, insist replay.Insist, w io.Writer, agree review.Agree) (replay.Result, error) {
	return replay.Run(ctx, replay.Request{
		Store: d.store, Ref: seen.ID, Out: w, Again: insist.Again, Anyway: insist.Anyway, Who: d.a.who(), Now: d.a.now, Env: d.a.env,
		InsideAgent: d.a.insideAgent(ctx, d.store),
		MCP:         d.a.mcpPlaces(d.w), Version: buildOf().Version,
		Agree: func(ctx context.Context, a queue.Action, since replay.Since) (bool, error) {
			if !a.Stands(seen) {
				return false, &queue.ChangedError{Now: a}
			}
			return agree(ctx, a, since)
		},
	})
}

// Parts are what is told of an action, what matters most first.
func (d *desk) Parts(x queue.Action) []review.Part {
	record := review.Part{Title: fmt.Sprintf("As loop show %d tells it", x.Number), Load: func(ctx context.Context, width int) (string, error) {
		var b bytes.Buffer
		ro := d.options(width)
		var err error
		if ro.Said, err = saidOf(ctx, d.store, x); err != nil {
			return "", err
		}
		err = report.Show(&b, d.a.looked(ctx, d.w, d.store, x), ro)
		return b.String(), err
	}}
	around := review.Part{Title: "Around it in the transcript", Load: func(ctx context.Context, width int) (string, error) {
		return around(x, d.options(width))
	}}
	if x.IsQuestion() {
		return []review.Part{around, record}
	}
	return []review.Part{
		{Title: "If it is approved", Load: func(ctx context.Context, _ int) (string, error) { return d.screen(ctx, x) }},
		{Title: "What it sends", Load: func(context.Context, int) (string, error) { return d.payload(x) }},
		{Title: "What its text claims", Load: func(ctx context.Context, width int) (string, error) {
			var b bytes.Buffer
			err := report.Claims(&b, d.a.looked(ctx, d.w, d.store, x), d.options(width))
			return b.String(), err
		}},
		{Title: "How it is read", Load: func(_ context.Context, width int) (string, error) { return d.reading(x, width) }},
		around, record,
	}
}

func (d *desk) options(width int) report.Options {
	ro := d.ro
	ro.Width, ro.Color, ro.Now = width, false, d.a.now()
	return ro
}

// screen is what an approval shows, without what stands above it already.
func (d *desk) screen(ctx context.Context, x queue.Action) (string, error) {
	x = d.a.looked(ctx, d.w, d.store, x)
	var b bytes.Buffer
	_, err := replay.Run(ctx, replay.Request{
		Store: d.store, Ref: x.ID, Out: &b, Again: true, Anyway: true, Now: d.a.now, Env: d.a.env, MCP: d.a.mcpPlaces(d.w),
		Agree: func(context.Context, queue.Action, replay.Since) (bool, error) { return false, nil },
	})
	text := review.BelowCommand(b.String())
	var refused *replay.RefusedError
	if errors.As(err, &refused) {
		return strings.TrimLeft(text+"\n!! cannot be run: "+term.Quote(refused.Reason)+"\n   "+term.Quote(refused.Hint()), "\n"), nil
	}
	return text, err
}

// payload is what the action would send.
func (d *desk) payload(x queue.Action) (string, error) {
	run := x.AsRun()
	if x.Tool != "Bash" {
		return review.Payload(run, policy.Explanation{}, nil), nil
	}
	r, err := d.reader()
	if err != nil {
		return "", err
	}
	call := r.call(run.Cwd)
	return review.Payload(run, r.set.ExplainCall(run.Command, call), call.ReadFile), nil
}

// reading is how the rules read the action.
func (d *desk) reading(x queue.Action, width int) (string, error) {
	r, err := d.reader()
	if err != nil {
		return "", err
	}
	run := x.AsRun()
	var b bytes.Buffer
	e := explainer{w: &b, near: r.near, width: width}
	call := r.call(run.Cwd)
	if run.Tool == "Bash" {
		e.print(r.set.ExplainCall(run.Command, call))
		return b.String(), nil
	}
	call.Tool, call.Input = run.Tool, run.Input
	res := r.set.Classify(call)
	e.verdictLine(0, res.Verdict, run.Tool)
	for _, h := range res.Hits {
		e.hit(2, h)
	}
	return b.String(), nil
}
