package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/replay"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/stories"
)

type runOptions struct {
	stories, only, level, model, claude string
	billing                             string
	max, parallel                       int
	dryRun, oldClient, noBaseline       bool
	git                                 gitFlags
}

const runLong = `Work through the open stories, one fresh client process each, and print the report.

A client that loop has not tested is tested first, in seconds (loop doctor --live).
The work goes to a branch of its own, loop/DATE-SESSION: one commit for each story that
passed. What the others did is put aside under refs/loop/parked and the work tree is
put back; nothing is thrown away, and the report says where it all is. Uncommitted changes
of yours stop the run before it begins, loop.toml and the story file apart.
With --parallel N so many stories that do not depend on each other are worked on at the
same time, each in a work tree and on a branch of its own; what passed is put onto the session's branch
one after the other, and the gates decide about what comes out. Your checkout stays as it is.
External calls are refused and queued; read them in the report, then decide with
loop approve and loop reject. One signal (Ctrl-C) ends the run after the client has
been asked to leave and what it did has been kept; a second one ends it at once.

` + exitHelp

func newRun(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run", Short: "Work through the open stories", Long: runLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runStories(cmd.Context(), o, cmd.Flags().Changed("max-stories"))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.stories, "stories", "", "story file or folder of stories (loop stories --forms lists what is read)")
	f.StringVar(&o.only, "only", "", "work on this story only")
	f.IntVar(&o.max, "max-stories", 0, "stop after this many stories; 0 is all")
	f.IntVar(&o.parallel, "parallel", 0, "work on so many stories at the same time, each in a work tree of its own")
	f.StringVar(&o.level, "level", "", "autonomy level: supervised, unattended or lockdown")
	f.BoolVar(&o.dryRun, "dry-run", false, "show order, first prompt, command line and rules; start nothing")
	f.BoolVar(&o.noBaseline, "no-baseline", false, "do not run the gates before the first story")
	f.StringVar(&o.model, "model", "", "model for the client")
	f.StringVar(&o.claude, "claude", "", "client program to start")
	f.StringVar(&o.billing, "billing", "", "what the client's work may be charged to: subscription or api-key")
	f.BoolVar(&o.oldClient, "old-client", false, "run a client that is too old to be relied on; the report says so")
	o.git.add(cmd)
	return cmd
}

func (a *app) runStories(ctx context.Context, o runOptions, maxSet bool) error {
	w, c, set, err := a.configured(ctx)
	if err != nil {
		return err
	}
	if err := o.apply(&c, maxSet); err != nil {
		return err
	}
	ro, err := a.runnerOptions(w, c, set, o.only)
	if err != nil {
		return err
	}
	if ro.Account, ro.Env, err = runner.Account(a.env, a.clientLogin(), c.Billing); err != nil {
		return err
	}
	ro.Keyless = c.Billing == runner.BillSubscription
	if o.dryRun {
		if ro.Store, err = a.store(w, true); err != nil {
			return err
		}
		return a.dryRun(ctx, &ro, c)
	}
	a.collectSooner()
	ro.Git.Output = a.outputs()
	store, err := a.store(w, false)
	if err != nil {
		return err
	}
	if err := a.forPeople(ctx, store, "loop run"); err != nil {
		return err
	}
	if _, err := replay.Recover(ctx, store); err != nil {
		return err
	}
	ro.Store = store
	p := newProgress(a)
	ro.Progress = p
	v := &vet{a: a, c: c, root: w.Root, notice: p.Notice}
	ro.Vet, ro.ClientMark = v.check, v.mark
	tell, closeAway := a.away(w, c.Notify, p.Notice)
	ro.Tell = tell
	s, err := runner.Run(ctx, ro)
	closeAway()
	p.close()
	if errors.Is(err, runner.ErrNoOpen) {
		a.printf("Nothing to do: %s in %s.\n", term.Quote(err.Error()), term.Quote(rel(w.Root, ro.Stories)))
		return nil
	}
	if s.ID == "" {
		return err
	}
	// The report comes after a failure too: that is when it is needed most.
	return errors.Join(err, a.reportRun(context.WithoutCancel(ctx), w, store, s.ID))
}

// collectSooner makes the garbage collector keep the process small: a run lives
// for a night beside a client that needs the memory, and nearly always waits.
// What the user has set in the environment holds.
func (a *app) collectSooner() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(25)
	}
}

func (a *app) reportRun(ctx context.Context, w workspace.Workspace, store *queue.Store, session string) error {
	snap, err := store.Snapshot(ctx, session)
	if err != nil {
		return err
	}
	a.printf("\n")
	if err := a.printReport(ctx, store, snap, false); err != nil {
		return err
	}
	if code := sessionCode(snap); code != exitDone {
		return &codeError{code: code}
	}
	return nil
}

// apply puts the flags over the configuration.
func (o *runOptions) apply(c *config.Config, maxSet bool) error {
	flag := func(key string, dst *string, v string) {
		if v != "" {
			*dst, c.Sources[key] = v, "flag"
		}
	}
	flag("stories", &c.Stories, o.stories)
	flag("model", &c.Model, o.model)
	flag("claude", &c.Claude, o.claude)
	if b := o.billing; b != "" && b != runner.BillKey && b != runner.BillSubscription {
		return usagef("--billing subscription or --billing api-key", "unknown --billing %q", b)
	}
	flag("billing", &c.Billing, o.billing)
	if maxSet {
		if o.max < 0 {
			return usagef("--max-stories 0 is all", "--max-stories cannot be negative")
		}
		c.Budget.Stories, c.Sources["budget.stories"] = o.max, "flag"
	}
	if o.level != "" {
		l, err := policy.ParseLevel(o.level)
		if err != nil {
			return usagef("--level supervised, unattended or lockdown", "%w", err)
		}
		c.Level, c.Sources["level"] = l, "flag"
	}
	if o.oldClient {
		c.OldClient, c.Sources["firewall.old_client"] = true, "--old-client"
	}
	if o.noBaseline {
		c.Checks.Baseline, c.Sources["checks.baseline"] = false, "flag"
	}
	if err := o.git.apply(c); err != nil {
		return err
	}
	if err := o.beside(c); err != nil {
		return err
	}
	if c.Level == policy.Interactive {
		return usagef("--level unattended", "in a run nobody can be asked, so the level cannot be interactive")
	}
	return nil
}

// beside is about stories at the same time.
func (o *runOptions) beside(c *config.Config) error {
	if o.parallel < 0 {
		return usagef("--parallel 2, or leave it out", "--parallel cannot be negative")
	}
	if o.parallel > 0 {
		c.Parallel, c.Sources["parallel"] = o.parallel, "flag"
	}
	switch {
	case c.Parallel < 2:
		return nil
	case c.Git.Branch == config.BranchNone:
		return usagef("--parallel 1, or leave --no-branch out", "stories can only be worked on at the same time where their work goes to a branch")
	case o.git.stash:
		return usagef("loop run --parallel N", "with --parallel your uncommitted changes stay where they are: there is nothing to stash")
	}
	c.Git.Worktree, c.Sources["git.worktree"] = true, c.Source("parallel")
	return nil
}

func (a *app) runnerOptions(w workspace.Workspace, c config.Config, set *policy.Set, only string) (runner.Options, error) {
	var ro runner.Options
	path, err := storyFile(w.Root, c)
	if err != nil {
		return ro, err
	}
	rules, err := rulesFor(c)
	if err != nil {
		return ro, err
	}
	return runner.Options{
		Root: w.Root, State: w.State, Client: []string{c.Claude}, Env: a.env, KeepEnv: c.KeepEnv,
		Stories: path, Only: only, Max: c.Budget.Stories, Level: c.Level, Model: c.Model, CostUSD: c.Budget.CostUSD,
		Baseline: c.Checks.Baseline, RedPass: !c.Checks.KnownRed, Verify: c.Checks.Stories,
		Tries: c.Retries.Attempts, StopAfter: c.Retries.StopAfter, Wait: c.Limits.Wait, Caps: runner.Caps{
			SessionUSD: c.Budget.SessionUSD, StoryUSD: c.Budget.StoryUSD,
			SessionTokens: c.Budget.SessionTokens, StoryTokens: c.Budget.StoryTokens,
		},
		Host:  runner.Host{Inhibit: c.Host.Inhibit, Space: c.Host.Space, Memory: c.Host.Memory},
		Gates: c.Gates, GateTime: c.Budget.Gate, Wall: c.Budget.Attempt, Silence: c.Budget.Silence,
		RulesText: rules(c.Level), RulesAt: rules, ClaudeMD: c.Prompt.ClaudeMD, MCPConfig: c.MCPConfig, AutoMemory: c.AutoMemory,
		Memory: c.MemoryFiles, ConfigHash: c.Hash, Watched: watched(w.Root, c), Protected: append(a.finder().Own(), c.Notify.HeartbeatFile), Set: set,
		Git: gitOptions(c), Parallel: c.Parallel,
		Receipts: runner.Receipts{Enabled: c.Receipts.Enabled, Format: receipt.Format(c.Receipts.Format)}, Log: a.log(), Kill: a.kill, Now: a.now,
	}, nil
}

// clientLogin reports whether the client keeps a login of its own in a file.
// Only that there is one is asked; where the system keeps it elsewhere, as
// macOS does, it is not seen.
func (a *app) clientLogin() bool {
	dir := a.getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		home := cmp.Or(a.getenv("HOME"), a.getenv("USERPROFILE"))
		if home == "" {
			return false
		}
		dir = filepath.Join(home, ".claude")
	}
	info, err := os.Stat(filepath.Join(dir, ".credentials.json"))
	return err == nil && info.Size() > 2
}

// watched are the files of the repository that tell a run what to do.
func watched(root string, c config.Config) []string {
	files := append([]string{filepath.Join(root, config.FileName)}, c.Rules...)
	for _, p := range []string{c.MCPConfig, c.Prompt.Replace} {
		if p != "" {
			files = append(files, p)
		}
	}
	return files
}

// storyFile is the flag's or the configuration's, else the one that is found.
func storyFile(root string, c config.Config) (string, error) {
	if c.Stories == "" {
		return stories.Discover(root)
	}
	if filepath.IsAbs(c.Stories) || c.Source("stories") == "flag" {
		return filepath.Abs(c.Stories)
	}
	return filepath.Join(root, c.Stories), nil
}

// rulesText is the constraint rules at the configured level.
func rulesText(c config.Config) (string, error) {
	rules, err := rulesFor(c)
	if err != nil {
		return "", err
	}
	return rules(c.Level), nil
}

// rulesFor renders the constraint rules for a level.
func rulesFor(c config.Config) (func(policy.Level) string, error) {
	o := prompts.RulesOptions{Append: c.Prompt.Append, Cite: c.Receipts.Enabled && c.Receipts.Cite}
	if c.Prompt.Replace != "" {
		data, err := os.ReadFile(c.Prompt.Replace)
		if err != nil {
			return nil, fmt.Errorf("read the rules that replace the embedded ones: %w", err)
		}
		o.Replace = string(data)
	}
	return func(l policy.Level) string {
		at := o
		at.Level = l
		return prompts.Rules(at)
	}, nil
}
