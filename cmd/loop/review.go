package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/review"
)

const reviewLong = `Go through what waits on the terminal: the list on one side, and on the other all that is known of
one action: exactly what it would run, what a push would push, what it would send, how it is read,
what changed since, and what stood round it in the transcript.

a approves (shows all of it, asks once, runs it), r rejects with a reason, e edits first, A and N
make a rule for good, m marks several, M all of one kind, u takes a decision back, / searches, ? tells the rest.
Where there is no terminal: loop list, loop show ID, loop approve ID.

Exit codes: 0 closed; 1 failed; 2 wrong use, or no terminal; 4 the queue is busy; 130 interrupted.`

func newReview(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "review", Short: "Decide what waits, on the terminal", Long: reviewLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return left(a.review(cmd.Context())) },
	}
}

func (a *app) review(ctx context.Context) error {
	if name := a.getenv("TERM"); !term.IsTerminal(a.stdin) || !term.IsTerminal(a.stdout) || name == "" || name == "dumb" {
		return &usageError{
			err:  errors.New("loop review needs a terminal to draw on"),
			hint: "loop list shows what waits, loop show ID all of one action, loop approve ID and loop reject ID decide",
		}
	}
	w, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return err
	}
	d := newDesk(a, w, store, ro)
	return review.Run(ctx, d, review.Options{
		In: a.stdin, Out: a.stdout, Env: a.env, Color: ro.Color, Now: a.now, ReadOnly: a.insideAgent(ctx, store),
	})
}
