package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/queue"
)

func newPrune(a *app) *cobra.Command {
	var older string
	cmd := &cobra.Command{
		Use: "prune --older-than AGE", Short: "Delete the transcripts of old sessions", Args: args(cobra.NoArgs),
		Long: "Delete the transcripts and prompts of sessions that ended longer ago than AGE (30d, 12h).\n" +
			"The queue keeps its actions, receipts and audit trails; sessions with actions that still wait keep their transcripts.\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := parseAge(older)
			if err != nil {
				return usagef("loop prune --older-than 30d", "%w", err)
			}
			w, store, err := a.openStore(cmd.Context(), true)
			if err != nil {
				return err
			}
			if err := a.forPeople(cmd.Context(), store, "loop prune"); err != nil {
				return err
			}
			return a.prune(cmd.Context(), w, store, a.now().Add(-age))
		},
	}
	cmd.Flags().StringVar(&older, "older-than", "", "age, like 30d or 12h")
	return cmd
}

func (a *app) prune(ctx context.Context, w workspace.Workspace, store *queue.Store, before time.Time) error {
	sessions, err := store.Sessions(ctx)
	if err != nil {
		return err
	}
	pruned, kept := 0, 0
	for _, s := range sessions {
		dir := filepath.Join(w.State, "runs", s.ID)
		if s.Ended.IsZero() || s.Ended.After(before) || !isDir(dir) {
			continue
		}
		waiting, err := store.Actions(ctx, queue.Filter{Session: s.ID, Status: []queue.Status{queue.Pending, queue.Approved}})
		if err != nil {
			return err
		}
		if len(waiting) > 0 {
			kept++
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		pruned++
	}
	a.printf("Deleted the transcripts of %d session(s).\n", pruned)
	if pruned > 0 {
		a.printf("Their receipts and audit trails are kept; `loop receipts` lists them, without the command lines.\n")
	}
	if kept > 0 {
		a.printf("Kept %d old session(s) with actions that still wait; `loop list --mentions` shows them.\n", kept)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// maxDays is as far as a duration reaches, and farther than anybody looks.
const maxDays = 100_000

// parseAge reads a duration that may be given in days.
func parseAge(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n <= maxDays {
			d = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not an age like 30d or 12h", s)
	}
	return d, nil
}
