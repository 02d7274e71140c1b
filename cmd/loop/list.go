package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// listRequest says which actions are listed.
type listRequest struct {
	all, mentions bool
	search        string
}

const listLong = `List the waiting actions of all sessions, a line for each.
--search WORDS lists those in which every one of the words stands, in whatever case: in the command,
in what a tool was given, story, tool, target, status, number, or the agent's words before it.

`

func newList(a *app) *cobra.Command {
	var o listRequest
	cmd := &cobra.Command{
		Use: "list", Short: "List the waiting actions of all sessions", Long: listLong + exitHelp,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.list(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "decided ones and mentions too")
	cmd.Flags().BoolVar(&o.mentions, "mentions", false, "mentions too")
	cmd.Flags().StringVar(&o.search, "search", "", "only those with all of the `WORDS` in them")
	return cmd
}

func (a *app) list(ctx context.Context, o listRequest) error {
	_, store, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	var f queue.Filter
	if !o.all {
		f.Status = []queue.Status{queue.Pending, queue.Approved, queue.Failed, queue.Unknown, queue.Replaying}
	}
	var actions []queue.Action
	err = readQueue(func() (err error) {
		actions, err = store.Actions(ctx, f)
		return err
	})
	if err != nil {
		return err
	}
	for i := range actions {
		actions[i] = store.AsFound(actions[i])
	}
	if !o.all {
		actions = slices.DeleteFunc(actions, func(x queue.Action) bool {
			return x.Status == queue.Replaying || x.Evidence == policy.Mentioned && !o.mentions
		})
	}
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return err
	}
	n, search := len(actions), queue.NewSearch(o.search)
	actions = slices.DeleteFunc(actions, func(x queue.Action) bool { return !search.Finds(&x) })
	if n > 0 && len(actions) == 0 {
		_, err := fmt.Fprintf(a.stdout, "No actions: of %d none has that in it.\n", n)
		return err
	}
	return report.List(a.stdout, actions, ro)
}

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one action whole", Long: "Show one action whole: number, id or the end of an id.\n\n" + exitHelp,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			w, store, err := a.openStore(cmd.Context(), true)
			if err != nil {
				return err
			}
			x, err := store.Get(cmd.Context(), refs[0])
			if err != nil {
				return err
			}
			x = store.AsFound(a.looked(cmd.Context(), w, store, x))
			ro, err := a.queueOptions(cmd.Context(), store)
			if err != nil {
				return err
			}
			if ro.Said, err = saidOf(cmd.Context(), store, x); err != nil {
				return err
			}
			return report.Show(a.stdout, x, ro)
		},
	}
}

func newExport(a *app) *cobra.Command {
	var o struct{ format, session string }
	cmd := &cobra.Command{
		Use: "export", Short: "Print the actions of a session as JSON", Args: args(cobra.NoArgs),
		Long: "Print the actions of a session as JSON; the last session by default.\n" +
			"--format state prints the plain state-file shape: session_id and deferred_actions with\ncommand_pattern, story_id and detected_at.\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.format != "json" && o.format != "state" {
				return usagef("--format json or --format state", "unknown format %q", o.format)
			}
			var refs []string
			if o.session != "" {
				refs = []string{o.session}
			}
			var store *queue.Store
			var snap queue.Snapshot
			err := readQueue(func() (err error) {
				store, snap, err = a.snapshot(cmd.Context(), refs)
				return err
			})
			if err != nil {
				return err
			}
			return report.Export(a.stdout, snap.Actions, snap.Session.ID, o.format, report.Options{Known: known(cmd.Context(), store)})
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "json", "json or state")
	cmd.Flags().StringVar(&o.session, "session", "", "session; the last one by default")
	return cmd
}
