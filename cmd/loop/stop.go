package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/runner"
)

const stopLong = `Ask the run of this repository to stop: after the story that it works on, or with --now
as Ctrl-C does: the client is asked to leave, what it did is read and kept, and the report is
printed where loop run was started. A wait for a limit ends at once, either way.

Exit codes: 0 asked; 1 nothing runs here, or it failed; 2 wrong use.`

func newStop(a *app) *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use: "stop", Short: "End the run after this story, or --now", Long: stopLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stop(cmd.Context(), now) },
	}
	cmd.Flags().BoolVar(&now, "now", false, "as Ctrl-C does: end the client, keep what it did")
	return cmd
}

func (a *app) stop(ctx context.Context, now bool) error {
	w, store, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	if err := a.forPeople(ctx, store, "loop stop"); err != nil {
		return err
	}
	pid, busy := runner.Busy(w.State)
	p, ok := proc.Find(number(pid))
	if !busy || !ok {
		return &hintedError{err: errors.New("no run works in this repository"), hint: "`loop status` says how the last one ended"}
	}
	q := runner.StopRequest{Pid: p.Pid, Start: p.Start, How: runner.StopAfterStory, Who: a.who(), When: a.now().UTC()}
	if now {
		q.How = runner.StopNow
	}
	if err := runner.AskStop(w.State, q); err != nil {
		return err
	}
	st, known, err := runner.ReadStatus(w.State)
	known = known && err == nil && st.Pid == p.Pid && st.Story != ""
	switch {
	case known && st.Phase == runner.PhaseWaiting:
		a.printf("asked the run (pid %d) to stop; it only waits, and ends now\n", p.Pid)
	case now && known:
		a.printf("asked the run (pid %d) to stop now; story %s is cut short, what it did is kept\n", p.Pid, term.Quote(st.Story))
	case now:
		a.printf("asked the run (pid %d) to stop now\n", p.Pid)
	case known:
		a.printf("asked the run (pid %d) to stop after story %s (%d of %d)\n", p.Pid, term.Quote(st.Story), st.Number, st.Total)
	default:
		a.printf("asked the run (pid %d) to stop before its first story\n", p.Pid)
	}
	return nil
}
