package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/scanner"
	"github.com/seed-b23e517c/loop/transcript"
)

// shown is a call as the stream showed it.
type shown struct {
	tool  string
	agent string
	input json.RawMessage // nil of one that is too long to be judged by
}

// show keeps what the result of a call may have to be held against.
func show(ev transcript.Event) *shown {
	s := &shown{tool: ev.Call.Name, agent: ev.Agent}
	if len(ev.Call.Input) <= policy.MaxInput {
		s.input = ev.Call.Input
	}
	return s
}

// escape is a call that ran although it was to be kept back, or nobody had
// asked about it, or of which the client itself says that something left the
// machine.
type escape struct {
	shown

	id     string
	fate   firewall.Fate
	vcs    []string // what the client saw it do
	failed bool
}

// escaped tells of such a call at once: a person who hears of it within the
// minute can still do something. What reaches outside is queued first, as the
// scan will find it again: one call is one action.
func (r *run) escaped(ctx context.Context, a *queue.Attempt, base queue.Action, e escape) {
	x := r.escapedAction(ctx, base, e)
	if x.Tier < policy.External || e.id == "" {
		how := "that loop was not asked about"
		if e.fate == firewall.Refused {
			how = "that loop had refused"
		}
		r.here.tell(HappenedExecuted, fmt.Sprintf("story %q ran a call %s: %s", a.Story, how, clip(x.Command, 300)), a, []queue.Action{x})
		return
	}
	stored, _, err := r.o.Store.Add(ctx, x)
	if err != nil {
		// The scan adds it; whoever is away hears of it now.
		r.o.Log.Warn("a call that reached outside could not be queued at once", "call", e.id, "error", err)
		stored = x
	}
	r.here.ran(a, []queue.Action{stored})
}

// escapedAction is the queue's entry of such a call. Its place in the
// transcript is left to the scan.
func (r *run) escapedAction(ctx context.Context, base queue.Action, e escape) queue.Action {
	call := policy.Call{Tool: e.tool, Input: e.input, Cwd: r.o.Root, Guarded: Guarded(ctx, r.o)}
	x := base
	x.Kind, x.Tool, x.ToolUseID, x.Agent, x.Input = queue.KindCall, e.tool, e.id, e.agent, e.input
	x.Evidence, x.FoundBy, x.DetectedAt, x.Outcome = policy.Executed, queue.ByScan, r.o.Now().UTC(), scanner.OutcomeOK
	if e.failed {
		x.Outcome = scanner.OutcomeFailed
	}
	if x.Command = policy.CommandOf(call); x.Command == "" {
		x.Command = e.tool
	}
	if e.fate == firewall.LetRun {
		// The firewall had looked at it; what the client saw it do decides.
		x.Tier, x.Rules, x.Why = policy.External, []string{scanner.RuleVCS}, scanner.WhyVCS
		return x
	}
	res := r.o.Set.Classify(call)
	x.Tier, x.Rules, x.Opaque, x.Tampering = res.Tier, res.Rules(), res.Opaque, res.Tampers()
	x.Undo = r.o.Set.Undo(x.Rules)
	if len(res.Hits) > 0 {
		x.Why = res.Hits[0].Why
	}
	if len(e.vcs) > 0 {
		x.Tier = policy.External
	}
	return x
}
