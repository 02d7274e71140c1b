package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/stories"
)

// spaceWanted is the free space below which doctor says how much is left.
const spaceWanted = 2 << 30

// checkSpace looks where a night writes: the state folder, the work tree, the
// client's own files.
func (d *doctor) checkSpace(context.Context) check {
	least, ok := runner.Tightest(&runner.Options{State: d.w.State, Root: d.w.Root, Env: d.a.env})
	needed := d.c.Host.Space
	switch {
	case !ok:
		return notef("not known on this system")
	case least.Free < needed:
		return bad(fmt.Errorf("%s are left in %s, and a story wants %s (host.space)", runner.Bytes(least.Free), least.Dir, runner.Bytes(needed)),
			"free some space: `loop prune --older-than 30d` clears old transcripts")
	case least.Free < spaceWanted:
		return notef("%s are left in %s", runner.Bytes(least.Free), least.Dir)
	}
	return okf("%s in %s", runner.Bytes(least.Free), least.Dir)
}

// checkAwake says whether the machine will stay awake.
func (d *doctor) checkAwake(context.Context) check {
	if !d.c.Host.Inhibit {
		return notef("the machine may go to sleep in a run: host.inhibit is false in %s", d.c.Source("host.inhibit"))
	}
	if program := runner.Inhibitor(d.a.env); program != "" {
		return okf("%s keeps the machine from going to sleep in a run, where it is allowed to", program)
	}
	return notef("nothing here keeps the machine from going to sleep in a run (systemd-inhibit, caffeinate)")
}

// checkTold says how a person who is away hears of a run, without addresses:
// they may hold secrets.
func (d *doctor) checkTold(context.Context) check {
	var ways []string
	for _, w := range []struct{ name, value string }{
		{"a command", d.c.Notify.Command}, {"a webhook", d.c.Notify.Webhook}, {"ntfy", d.c.Notify.Ntfy},
		{"a heartbeat file", d.c.Notify.HeartbeatFile}, {"a heartbeat address", d.c.Notify.HeartbeatURL},
	} {
		if w.value != "" {
			ways = append(ways, w.name)
		}
	}
	if len(ways) == 0 {
		return notef("nobody is told of a run while away ([notify] in your own config.toml)")
	}
	return okf("by %s, of %s", strings.Join(ways, ", "), strings.Join(d.c.Notify.Events, ", "))
}

// checkEstimate says what the open stories will take, and which of them ask for
// what will wait.
func (d *doctor) checkEstimate(ctx context.Context) check {
	open, err := d.openStories()
	if err != nil {
		return notef("no open story to estimate")
	}
	store, err := d.a.store(d.w, true)
	if err != nil {
		return notef("not known: %v", err)
	}
	past, err := pastStories(ctx, store)
	if err != nil {
		return notef("not known: %v", err)
	}
	text := past.text(len(open), d.c.Parallel)
	var held []string
	for i := range open {
		if d.set != nil && len(steps(d.set, &open[i])) > 0 {
			held = append(held, open[i].ID)
		}
	}
	if len(held) > 0 {
		return notef("%s; asking for what will wait for you: %s (loop run --dry-run)", text, strings.Join(held, ", "))
	}
	return okf("%s", text)
}

func (d *doctor) openStories() ([]stories.Story, error) {
	path, err := storyFile(d.w.Root, d.c)
	if err != nil {
		return nil, err
	}
	f, err := stories.Read(path)
	if err != nil {
		return nil, err
	}
	open, err := f.Order()
	if err == nil && len(open) == 0 {
		err = errors.New("none is open")
	}
	return open, err
}
