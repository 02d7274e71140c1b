package main

import (
	"slices"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// sessionCode is the exit code of a session: the gravest of interrupted,
// stopped, failed, waiting.
func sessionCode(s queue.Snapshot) int {
	switch s.Session.StopKind {
	case queue.Interrupted:
		return exitInterrupted
	case queue.Limit, queue.Auth, queue.Unguarded, queue.HostFailed, queue.Outage, queue.Blocked, queue.Budget:
		return exitStopped
	case queue.CouldNotStart:
		return exitFailed
	case queue.Done, queue.Unproven, queue.GateFailed, queue.AgentFailed, queue.Hung, queue.Unchanged, queue.Question, queue.Conflict:
	}
	if s.Session.Stopped != "" {
		return exitFailed
	}
	// A story that asked, or still waits for its answer, has not failed: its
	// question is among what waits.
	passed := map[string]bool{}
	for _, f := range s.Findings {
		if f.Kind == "asked" && f.Attempt == "" {
			passed[f.Story] = true
		}
	}
	for _, a := range s.Attempts {
		passed[a.Story] = a.Outcome.Passed() || a.Outcome == queue.Question
	}
	for _, id := range s.Session.StoryOrder {
		if !passed[id] {
			return exitFailed
		}
	}
	for _, f := range s.Findings {
		if f.Kind == "asked" && f.Attempt == "" {
			return exitWaiting // the question is an earlier session's
		}
	}
	return waitingCode(s)
}

// waitingCode says whether something waits for a person; mentions count, and so
// does a replay of which nobody knows whether it took effect.
func waitingCode(s queue.Snapshot) int {
	external, mentions := report.Waiting(s)
	if external+mentions > 0 || slices.ContainsFunc(s.Actions, func(a queue.Action) bool { return a.Status == queue.Unknown }) {
		return exitWaiting
	}
	return exitDone
}
