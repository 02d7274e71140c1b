package main

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
)

// dryRun shows what a run would do.
func (a *app) dryRun(ctx context.Context, ro *runner.Options, c config.Config) error {
	plan, file, err := runner.Plan(ctx, ro)
	if errors.Is(err, runner.ErrNoOpen) {
		a.printf("Nothing to do: %s in %s.\n", term.Quote(err.Error()), term.Quote(rel(ro.Root, ro.Stories)))
		return nil
	}
	if err != nil {
		return err
	}
	told, err := runner.Tell(ctx, ro, plan[0])
	if err != nil {
		return err
	}
	prompt, err := runner.Prompt(ro, plan[0], told)
	if err != nil {
		return err
	}
	a.printf("Stories (%s, %d of %d open)\n", term.Quote(rel(ro.Root, file.Path)), len(plan), len(file.Stories))
	for i, s := range plan {
		a.printf("  %d. %s  %s\n", i+1, term.Quote(s.ID), term.Quote(s.Title))
		if s.Conflict != "" {
			a.printf("     taken as open: %s\n", term.Quote(s.Conflict))
		}
		why, err := runner.WaitsFor(ctx, ro, s)
		if err != nil {
			return err
		}
		switch {
		case why != "":
			a.printf("     not now: %s\n", term.Quote(why))
		case s.Approval:
			a.printf("     asks for your approval before it is begun\n")
		}
		if s.Checkpoint {
			a.printf("     a checkpoint: what comes after it waits until you have looked\n")
		}
		level, warning := runner.StoryLevel(ro.Level, s)
		if level != ro.Level {
			a.printf("     level %s (from the story)\n", level)
		}
		if warning != "" {
			a.printf("     warning: %s\n", term.Quote(warning))
		}
		if held := steps(ro.Set, &s); len(held) > 0 {
			a.printf("     asks for what will wait for you: %s\n", term.Line(strings.Join(held, ", ")))
		}
	}
	for _, s := range file.Stories {
		if s.Done && s.Conflict != "" {
			a.printf("  done: %s  %s\n", term.Quote(s.ID), term.Quote(s.Conflict))
		}
	}
	for _, s := range file.Held() {
		a.printf("  held: %s  %s\n", term.Quote(s.ID), term.Quote(s.Held))
	}
	for _, text := range file.Warnings {
		a.printf("  note: %s\n", term.Quote(text))
	}
	a.printf("\nLevel %s (from %s)\n", c.Level, c.Source("level"))
	if ro.Parallel > 1 {
		a.printf("Up to %d stories at the same time, each in a work tree of its own (from %s)\n", ro.Parallel, c.Source("parallel"))
	}
	a.printf("Charged to %s\n", term.Quote(ro.Account))
	if err := a.dryHost(ctx, ro, len(plan)); err != nil {
		return err
	}
	a.dryGates(ro)
	a.dryRules(ro, c)
	a.dryEnv(ro)
	a.printf("\nCommand line of the first attempt (prompt on stdin)\n  %s\n", term.Quote(strings.Join(quoteArgs(runner.CommandLine(ro, plan[0])), " ")))
	a.printf("\nPrompt of the first attempt\n")
	for line := range strings.SplitSeq(strings.TrimRight(term.QuoteLines(prompt), "\n"), "\n") {
		a.printf("  | %s\n", line)
	}
	a.printf("\nNothing was started.\n")
	return nil
}

// dryHost says what the night will take, and whether there is room for it.
func (a *app) dryHost(ctx context.Context, ro *runner.Options, n int) error {
	past, err := pastStories(ctx, ro.Store)
	if err != nil {
		return err
	}
	a.printf("Estimate: %s\n", past.text(n, ro.Parallel))
	least, ok := runner.Tightest(ro)
	switch {
	case !ok:
		a.printf("Free space: not known\n")
	case least.Free < ro.Host.Space:
		a.printf("Free space: %s in %s, too little: a story wants %s (host.space)\n", runner.Bytes(least.Free), term.Quote(least.Dir), runner.Bytes(ro.Host.Space))
	default:
		a.printf("Free space: %s in %s\n", runner.Bytes(least.Free), term.Quote(least.Dir))
	}
	return nil
}

func (a *app) dryGates(ro *runner.Options) {
	if (ro.Parallel > 1 || ro.Git.Work == queue.WorkWorktree) && len(ro.Git.Setup) > 0 {
		a.printf("\nSetup of each new work tree (each at most %v)\n", ro.GateTime)
		for _, command := range ro.Git.Setup {
			a.printf("  %s\n", term.Quote(command))
		}
	}
	if len(ro.Gates) == 0 {
		a.printf("\nGates: none; a story that ends well will be called unproven\n")
		return
	}
	a.printf("\nGates (each at most %v)\n", ro.GateTime)
	for _, g := range ro.Gates {
		a.printf("  %s\n", term.Quote(g))
	}
	if ro.Baseline {
		a.printf("  and once before the first story\n")
	}
}

func (a *app) dryEnv(ro *runner.Options) {
	a.printf("\nCredentials kept from the agent and the gates\n")
	_, withheld := runner.Withheld(ro.Env, ro.KeepEnv)
	for _, name := range withheld {
		a.printf("  %s\n", term.Quote(name))
	}
	if len(withheld) == 0 {
		a.printf("  none in this environment\n")
	}
}

func (a *app) dryRules(ro *runner.Options, c config.Config) {
	counts := map[string]int{}
	var packs []string
	for _, r := range ro.Set.Rules() {
		if counts[r.Pack] == 0 {
			packs = append(packs, r.Pack)
		}
		counts[r.Pack]++
	}
	a.printf("\nRules\n")
	for _, p := range packs {
		a.printf("  %-14s %d\n", term.Quote(p), counts[p])
	}
	for _, p := range c.Patterns {
		a.printf("  pattern        %s\n", term.Quote(p))
	}
}

// quoteArgs makes words that a shell would take as they are.
func quoteArgs(args []string) []string {
	out := make([]string, len(args))
	for i, s := range args {
		if s != "" && !strings.ContainsFunc(s, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./=,:@+", c))
		}) {
			out[i] = s
			continue
		}
		out[i] = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return out
}
