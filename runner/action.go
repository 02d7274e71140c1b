package runner

import (
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/scanner"
)

// gravest is the first of a hit's rules.
func gravest(rules []string) string {
	if len(rules) == 0 {
		return ""
	}
	return rules[0]
}

// ActionOf makes the queue's entry of a scanner's hit.
func ActionOf(set *policy.Set, h scanner.Hit, a queue.Attempt, now time.Time) queue.Action {
	at := h.Time
	if at.IsZero() {
		at = now
	}
	return queue.Action{
		Kind: "call", Session: a.Session, Story: a.Story, StoryTitle: a.StoryTitle, Attempt: a.ID,
		Tool: h.Tool, ToolUseID: h.ToolUseID, Agent: h.Agent, Input: h.Input, Command: h.Command, Cwd: h.Cwd,
		GitHead: a.HeadAfter, Family: set.FamilyOf(gravest(h.Rules)), Target: h.Target,
		Rules: h.Rules, Why: h.Why, Undo: set.Undo(h.Rules), Tier: h.Tier, Evidence: h.Evidence, Opaque: h.Opaque, Tampering: h.Tampering,
		Transcript: h.File, Line: h.Line, Excerpt: h.Excerpt, Outcome: h.Outcome,
		DetectedAt: at.UTC(), FoundBy: queue.ByScan,
	}
}
