package main

import (
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// sessionCode is the exit code of a session: the gravest of interrupted,
// stopped, failed, waiting.
func sessionCode(s queue.Snapshot) int {
	switch s.Session.StopKind {
	case queue.Interrupted:
		return exitInterrupted
	case queue.Limit, queue.Auth, queue.Unguarded, queue.Outage, queue.Blocked, queue.Budget:
		return exitStopped
	case queue.CouldNotStart:
		return exitFailed
	case queue.Done, queue.Unproven, queue.GateFailed, queue.AgentFailed, queue.Hung:
	}
	if s.Session.Stopped != "" {
		return exitFailed
	}
	passed := map[string]bool{}
	for _, a := range s.Attempts {
		passed[a.Story] = a.Outcome.Passed()
	}
	for _, id := range s.Session.StoryOrder {
		if !passed[id] {
			return exitFailed
		}
	}
	return waitingCode(s)
}

// waitingCode says whether something waits for a person; mentions count.
func waitingCode(s queue.Snapshot) int {
	if external, mentions := report.Waiting(s); external+mentions > 0 {
		return exitWaiting
	}
	return exitDone
}
