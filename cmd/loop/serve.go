package main

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/serve"
)

const serveLong = `Decide what waits in a browser on this machine: prints a link, and serves the list, all that is known of
one action, what running it would do, and the forms to run, reject or answer it.

It listens on loopback only. The link can be used once; what it is exchanged for ends with this command.
What is run is what the page showed: if the action, the folder or the remote has changed since, nothing runs.
A push that is not what was deferred is run only after a question of its own, which names what has
changed. Questions are answered, checkpoints let go, and decisions taken back on the action's page.

It ends with Ctrl-C, and when nobody has clicked for an hour.

Exit codes: 0 ended after an hour without a click; 1 failed; 2 wrong use; 4 the queue is busy; 130 interrupted.`

func newServe(a *app) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use: "serve", Short: "Decide what waits, in a browser on this machine", Long: serveLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return left(a.serve(cmd.Context(), addr)) },
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "where to listen, on loopback; port 0 takes a free one")
	return cmd
}

func (a *app) serve(ctx context.Context, addr string) error {
	w, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	if err := a.forPeople(ctx, store, "loop serve"); err != nil {
		return err
	}
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return err
	}
	l, err := serve.Listen(ctx, addr)
	var refused *net.OpError
	switch {
	case errors.As(err, &refused):
		return err
	case err != nil:
		return usagef("loop serve --addr 127.0.0.1:8000", "%w", err)
	}
	d := newDesk(a, w, store, ro)
	d.name = "loop serve"
	return serve.Run(ctx, l, webDesk{d}, serve.Options{Dir: w.Root, Out: a.stdout, Now: a.now, After: time.After})
}

// webDesk is the desk of loop review behind the pages of loop serve.
type webDesk struct{ *desk }

func (d webDesk) Get(ctx context.Context, ref string) (queue.Action, error) {
	x, err := d.store.Get(ctx, ref)
	if err == nil && d.died(x) {
		if err = d.recover(ctx); err == nil {
			x, err = d.store.Get(ctx, ref)
		}
	}
	if err != nil {
		return x, err
	}
	return d.a.looked(ctx, d.w, d.store, x), nil
}

func (d webDesk) Options(ctx context.Context, x queue.Action) (report.Options, error) {
	ro := d.options(0)
	if x.ID == "" {
		return ro, nil
	}
	var err error
	ro.Said, err = saidOf(ctx, d.store, x)
	return ro, err
}

func (d webDesk) Replay(ctx context.Context, seen queue.Action, insist replay.Insist, w io.Writer, agree serve.Agree) (replay.Result, error) {
	return d.desk.Replay(ctx, seen, insist, w, agree)
}
