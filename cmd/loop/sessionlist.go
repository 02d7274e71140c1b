package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

func newSessions(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "sessions", Short: "List the sessions of this repository",
		Long: "List the sessions of this repository: when, how long, what became of their stories,\nwhat they cost, and how many actions of each still wait.\n\n" + exitHelp,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, store, err := a.openStore(cmd.Context(), true)
			if err != nil {
				return err
			}
			list, err := sessionList(cmd.Context(), store)
			if err != nil {
				return err
			}
			ro, err := a.queueOptions(cmd.Context(), store)
			if err != nil {
				return err
			}
			if asJSON {
				return report.SessionsJSON(a.stdout, list, ro)
			}
			return report.Sessions(a.stdout, list, ro)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sessionList is all sessions, oldest first, with what still waits of each.
func sessionList(ctx context.Context, store *queue.Store) ([]report.SessionOf, error) {
	sessions, err := store.Overviews(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]report.SessionOf, len(sessions))
	for i, o := range sessions {
		s := o.Session
		out[i] = report.SessionOf{
			Session: s, Attempts: o.Attempts, Waiting: o.Waiting, Alive: s.Ended.IsZero() && proc.Running(s.Pid, s.PidStart, s.BootID),
		}
	}
	return out, nil
}
