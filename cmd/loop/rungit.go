package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
)

// gitFlags say where in git a run works.
type gitFlags struct {
	branch                          string
	none, worktree, stash, alsoMine bool
}

func (o *gitFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.branch, "branch", "", "name of the branch that the work goes to: a new one, or the one you are on")
	f.BoolVar(&o.none, "no-branch", false, "work where you are; commit nothing and put nothing back")
	f.BoolVar(&o.worktree, "worktree", false, "work in a work tree of its own; your checkout stays as it is")
	f.BoolVar(&o.stash, "stash", false, "put your uncommitted changes aside, and back at the end when nothing meets them")
	f.BoolVar(&o.alsoMine, "allow-dirty", false, "begin on your uncommitted changes; loop does not commit them")
}

// apply puts the flags over the configuration.
func (o *gitFlags) apply(c *config.Config) error {
	switch {
	case o.none && (o.branch != "" || o.worktree):
		return usagef("loop run --no-branch, or --branch NAME, or --worktree", "--no-branch works where you are: it goes with neither --branch nor --worktree")
	case o.none && (o.stash || o.alsoMine):
		return usagef("loop run --no-branch", "--no-branch leaves your uncommitted changes alone anyway: it goes with neither --stash nor --allow-dirty")
	case o.stash && o.alsoMine:
		return usagef("loop run --stash, or loop run --allow-dirty", "your uncommitted changes are put aside or stay: --stash or --allow-dirty")
	case o.stash && o.worktree:
		return usagef("loop run --worktree", "with --worktree your uncommitted changes stay where they are: there is nothing to stash")
	}
	flag := func(key string, given bool, set func()) {
		if given {
			set()
			c.Sources[key] = "flag"
		}
	}
	flag("git.branch", o.branch != "", func() { c.Git.Branch = o.branch })
	flag("git.branch", o.none, func() { c.Git.Branch, c.Git.Worktree = config.BranchNone, false })
	flag("git.worktree", o.worktree, func() { c.Git.Worktree = true })
	if o.worktree && c.Git.Branch == config.BranchNone {
		c.Git.Branch = config.BranchSession
	}
	flag("git.dirty", o.stash, func() { c.Git.Dirty = config.DirtyStash })
	flag("git.dirty", o.alsoMine, func() { c.Git.Dirty = config.DirtyAllow })
	return nil
}

// outputs are the files that this process writes to: nohup and a redirection put
// them where loop was started.
func (a *app) outputs() (list []os.FileInfo) {
	for _, w := range []any{a.stdout, a.stderr} {
		if f, ok := w.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				list = append(list, info)
			}
		}
	}
	return list
}

// gitOptions is the configuration as the runner takes it.
func gitOptions(c config.Config) runner.GitOptions {
	o := runner.GitOptions{Work: queue.WorkBranch, Setup: c.Git.Setup, Dirty: map[string]runner.Dirty{
		config.DirtyRefuse: runner.DirtyRefused, config.DirtyStash: runner.DirtyStashed, config.DirtyAllow: runner.DirtyAllowed,
	}[c.Git.Dirty]}
	switch c.Git.Branch {
	case config.BranchNone:
		return runner.GitOptions{}
	case config.BranchSession:
	default:
		o.Branch = c.Git.Branch
	}
	if c.Git.Worktree {
		o.Work = queue.WorkWorktree
	}
	return o
}
