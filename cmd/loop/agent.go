package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
)

// insideAgent says why this process looks like a part of an agent's session,
// or "". An agent can clear its environment, so the line of parents is looked
// at too.
func (a *app) insideAgent(ctx context.Context, s *queue.Store) string {
	for _, name := range []string{runner.AttemptVar, "CLAUDECODE", proc.MarkVar} {
		if a.getenv(name) != "" {
			return name + " is set"
		}
	}
	running := runningPids(ctx, s)
	for _, p := range proc.Ancestors(proc.Self().Pid) {
		if p.Comm == "claude" || slices.Contains(running, p.Pid) {
			return fmt.Sprintf("it was started below %s (pid %d)", filepath.Base(p.Comm), p.Pid)
		}
	}
	return ""
}

// runningPids are the runs and clients at work on this repository. A process
// that an agent detached has the run among its parents, because the run takes
// orphans in; what either is called does not matter.
func runningPids(ctx context.Context, s *queue.Store) (pids []int) {
	// A queue that cannot be read is reported by the command itself.
	if sessions, err := s.Sessions(ctx); err == nil {
		for _, se := range sessions {
			if se.Ended.IsZero() && proc.Running(se.Pid, se.PidStart, se.BootID) {
				pids = append(pids, se.Pid)
			}
		}
	}
	if open, err := s.OpenAttempts(ctx); err == nil {
		for _, at := range open {
			if proc.Alive(at.ChildPid, at.ChildStart) {
				pids = append(pids, at.ChildPid)
			}
		}
	}
	return pids
}

// forPeople refuses a command that only a person may give.
func (a *app) forPeople(ctx context.Context, s *queue.Store, verb string) error {
	if why := a.insideAgent(ctx, s); why != "" {
		return fmt.Errorf("%s is for people, and this looks like an agent's session: %s", verb, why)
	}
	return nil
}
