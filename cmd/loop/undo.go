package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

const undoLong = `Take back what was decided about actions, as long as nothing has come of it: a rejected one, an
answered question or a checkpoint waits again. The decision and that it was taken back stay with the
action. What has run cannot be taken back here.

` + exitHelp

func newUndo(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "undo ID...", Short: "Take a rejection or an answer back", Long: undoLong, Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error { return a.undo(cmd.Context(), refs) },
	}
}

func (a *app) undo(ctx context.Context, refs []string) error {
	_, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	if err := a.forPeople(ctx, store, "loop undo"); err != nil {
		return err
	}
	var errs []error
	for _, ref := range refs {
		x, err := store.Undo(ctx, ref, queue.Decision{Who: a.who(), When: a.now().UTC()})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		a.printf("taken back: #%d is %s again: %s\n", x.Number, x.Status, term.Command(x.Command))
	}
	return errors.Join(errs...)
}
