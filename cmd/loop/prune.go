package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
)

const pruneLong = `Delete what sessions have left that ended longer ago than AGE (30d, 12h): transcripts and prompts,
the work trees of --worktree, and what attempts that did not pass did (refs/loop/parked).

The queue keeps its actions, receipts and audit trails. A session with actions that still wait keeps all.
A work tree stays when something in it is not committed, or its branch is not merged; branches always do.
Parked work stays when it is nowhere else: --parked done deletes it where the story has passed since, --parked all
everywhere. What stays is listed, with the reason.

` + exitHelp

type pruneOptions struct {
	older, parked string
	dryRun        bool
}

func newPrune(a *app) *cobra.Command {
	var o pruneOptions
	cmd := &cobra.Command{
		Use: "prune --older-than AGE", Short: "Delete what old sessions have left", Args: args(cobra.NoArgs), Long: pruneLong,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := parseAge(o.older)
			if err != nil {
				return usagef("loop prune --older-than 30d", "%w", err)
			}
			if !slices.Contains([]string{runner.ParkedSafe, runner.ParkedDone, runner.ParkedAll}, o.parked) {
				return usagef("loop prune --help", "--parked is done or all, not %q", o.parked)
			}
			w, store, err := a.openStore(cmd.Context(), true)
			if err != nil {
				return err
			}
			if err := a.forPeople(cmd.Context(), store, "loop prune"); err != nil {
				return err
			}
			return a.prune(cmd.Context(), w, store, a.now().Add(-age), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.older, "older-than", "", "age, like 30d or 12h")
	f.StringVar(&o.parked, "parked", "", "delete parked work that is nowhere else, too: done (of stories that have passed since) or all")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would go and what would stay, and delete nothing")
	return cmd
}

func (a *app) prune(ctx context.Context, w workspace.Workspace, store *queue.Store, before time.Time, o pruneOptions) error {
	sessions, err := store.Sessions(ctx)
	if err != nil {
		return err
	}
	ro := &runner.Options{Root: w.Root, State: w.State, Env: a.env, Store: store, Now: a.now}
	kept := 0
	var old []queue.Session
	for _, s := range sessions {
		if s.Ended.IsZero() || s.Ended.After(before) {
			continue
		}
		dir := filepath.Join(w.State, "runs", s.ID)
		waiting, err := store.Actions(ctx, queue.Filter{Session: s.ID, Status: []queue.Status{queue.Pending, queue.Approved}})
		if err != nil {
			return err
		}
		if len(waiting) > 0 {
			if isDir(dir) {
				kept++
			}
			continue
		}
		old = append(old, s)
	}
	work, err := runner.PruneWork(ctx, ro, old, runner.Prune{Parked: o.parked, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	pruned := 0
	for _, s := range old {
		dir := filepath.Join(w.State, "runs", s.ID)
		if !isDir(dir) {
			continue
		}
		pruned++
		if !o.dryRun {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	a.sayPruned(pruned, kept, work, o.dryRun)
	return nil
}

func (a *app) sayPruned(transcripts, kept int, work []runner.Pruned, dryRun bool) {
	verb := "Deleted"
	if dryRun {
		verb = "Would delete"
	}
	a.printf("%s the transcripts of %d session(s).\n", verb, transcripts)
	stays := 0
	for _, p := range work {
		if p.Kept != "" {
			stays++
			continue
		}
		a.printf("%s %s.\n", verb, term.Quote(p.Name))
	}
	if transcripts > 0 {
		a.printf("Their receipts and audit trails are kept; `loop receipts` lists them, without the command lines.\n")
	}
	if kept > 0 {
		a.printf("Kept %d old session(s) with actions that still wait; `loop list --mentions` shows them.\n", kept)
	}
	if stays == 0 {
		return
	}
	a.printf("Kept:\n")
	for _, p := range work {
		if p.Kept != "" {
			a.printf("  %s: %s\n", term.Quote(p.Name), term.Quote(p.Kept))
		}
	}
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
