package queue

import (
	"slices"

	"github.com/seed-b23e517c/loop/policy"
)

// grave ranks evidence: what ran is graver than what was stopped.
func grave(e policy.Evidence) int {
	switch e {
	case policy.Executed:
		return 4
	case policy.Blocked:
		return 3
	case policy.Written:
		return 2
	case policy.Mentioned:
		return 1
	}
	return 0
}

// merge is the stored action with what another sight of the same call adds.
// What was stored first stays, apart from evidence, tier and rules, which only
// grow. A call that was decided as a blocked one and then turns out to have
// run waits for a person again: the decision was about something else.
func merge(old, seen Action) Action {
	if refusedUnseen(old, seen) {
		seen.Evidence, seen.Outcome = policy.Blocked, ""
	}
	switch {
	case seen.Evidence != policy.Blocked:
	case old.Evidence == policy.Blocked:
		old.Asked = old.Asked && seen.Asked // one hook asked, another refused: it did not run
	default:
		old.Asked = seen.Asked
	}
	if grave(seen.Evidence) > grave(old.Evidence) {
		old.Evidence = seen.Evidence
		fill(&seen.Why, old.Why)
		old.Why = seen.Why
		if seen.Evidence == policy.Executed && slices.Contains([]Status{Approved, Rejected, Superseded}, old.Status) {
			old.Status = Pending
		}
	}
	old.Tier = max(old.Tier, seen.Tier)
	old.Opaque = old.Opaque || seen.Opaque
	old.Tampering = old.Tampering || seen.Tampering
	for _, r := range seen.Rules {
		if !slices.Contains(old.Rules, r) {
			old.Rules = append(old.Rules, r)
		}
	}
	if old.Outcome == outcomeUnknown {
		old.Outcome = ""
		fill(&seen.Outcome, outcomeUnknown)
	}
	for _, f := range []struct {
		to   *string
		from string
	}{
		{&old.Story, seen.Story},
		{&old.StoryTitle, seen.StoryTitle},
		{&old.Attempt, seen.Attempt},
		{&old.Tool, seen.Tool},
		{&old.Agent, seen.Agent},
		{&old.Command, seen.Command},
		{&old.Cwd, seen.Cwd},
		{&old.GitHead, seen.GitHead},
		{&old.GitBranch, seen.GitBranch},
		{&old.Why, seen.Why},
		{&old.Undo, seen.Undo},
		{&old.Excerpt, seen.Excerpt},
		{&old.Outcome, seen.Outcome},
		{&old.Family, seen.Family},
		{&old.Target, seen.Target},
		{&old.RelatedTo, seen.RelatedTo},
	} {
		fill(f.to, f.from)
	}
	if len(old.Claims) == 0 {
		old.Claims, old.MoreClaims = seen.Claims, seen.MoreClaims
	}
	if old.Said == nil {
		old.Said = seen.Said
	}
	if len(old.Input) == 0 {
		old.Input = seen.Input
	}
	if old.Transcript == "" {
		old.Transcript, old.Line = seen.Transcript, seen.Line
	} else if old.Transcript == seen.Transcript && old.Line == 0 {
		old.Line = seen.Line
	}
	return old
}

// refusedUnseen: loop refused the call, and then died before the transcript had
// the refusal. A call without a result is not one that ran.
func refusedUnseen(old, seen Action) bool {
	return old.Evidence == policy.Blocked && old.FoundBy == ByHook && !old.Asked &&
		seen.Evidence == policy.Executed && seen.Outcome == outcomeUnknown
}

// outcomeUnknown is a call's of which the transcript has no result.
const outcomeUnknown = "unknown"

// fill sets an empty text.
func fill(to *string, from string) {
	if *to == "" {
		*to = from
	}
}
