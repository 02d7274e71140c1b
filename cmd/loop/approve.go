package main

import (
	"context"
	"errors"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

const approveLong = `Show exactly what will run, where, and what changed since, ask, and run it, once.
It runs with your environment, not the agent's. Several are run in the order given;
the first that fails, or that you decline, stops the rest. Output and exit code are kept (loop show ID).

An action that has run already needs --again; a mention cannot be run.

` + exitHelp

type approveOptions struct {
	yes, again, dryRun bool
	timeout            time.Duration
}

func newApprove(a *app) *cobra.Command {
	var o approveOptions
	cmd := &cobra.Command{
		Use: "approve ID...", Short: "Run waiting actions by hand, after showing them", Long: approveLong,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error { return a.approve(cmd.Context(), refs, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.BoolVar(&o.again, "again", false, "run an action again that has already run")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would run, and stop")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "end it after this time")
	return cmd
}

func (a *app) approve(ctx context.Context, refs []string, o approveOptions) error {
	_, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	inside := a.insideAgent(ctx, store)
	if _, err := replay.Recover(ctx, store); err != nil {
		return err
	}
	for _, ref := range refs {
		r, err := replay.Run(ctx, replay.Request{
			Store: store, Ref: ref, In: a.stdin, Out: a.stdout, IsTerminal: term.IsTerminal(a.stdin) && term.IsTerminal(a.stdout),
			Yes: o.yes, Again: o.again, DryRun: o.dryRun, Who: a.who(), Now: a.now, Env: a.env,
			InsideAgent: inside, Timeout: o.timeout, Decided: a.decided(store),
		})
		if err != nil {
			return err
		}
		if r.Declined {
			a.printf("not run; #%d still waits\n", r.Action.Number)
			return &codeError{code: exitFailed}
		}
	}
	return nil
}

func newReject(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "reject ID...", Short: "Decide that actions will not run", Args: args(cobra.MinimumNArgs(1)),
		Long: "Decide that actions will not run. They stay in the queue with your reason.\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, refs []string) error { return a.reject(cmd.Context(), refs, reason) },
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, kept with the action")
	return cmd
}

func (a *app) reject(ctx context.Context, refs []string, reason string) error {
	_, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	if err := a.forPeople(ctx, store, "loop reject"); err != nil {
		return err
	}
	var errs []error
	for _, ref := range refs {
		x, err := store.Decide(ctx, ref, queue.Decision{Verb: "reject", Who: a.who(), When: a.now().UTC(), Reason: reason})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		a.decided(store)(ctx, x)
		a.printf("rejected #%d: %s\n", x.Number, term.Command(x.Command))
	}
	return errors.Join(errs...)
}

// who is the person, as the system knows them.
func (a *app) who() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	host, _ := os.Hostname()
	return "uid@" + host
}
