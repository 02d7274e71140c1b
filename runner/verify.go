package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// gatesOf are the gates of a story: the user's, and where the user lets loop
// run them, those that the story itself names.
func gatesOf(o *Options, s stories.Story) []string {
	if !o.Verify {
		return o.Gates
	}
	out := slices.Clone(o.Gates)
	for _, v := range s.Verify {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// verify turns "ended well" into done, unproven or gate-failed.
func (r *run) verify(ctx context.Context, s stories.Story, a *queue.Attempt) (left []proc.Leftover, err error) {
	gates := gatesOf(r.o, s)
	if len(gates) == 0 {
		a.Outcome, a.Reason = queue.Unproven, "no gates are configured, so nothing was checked"
		return nil, nil
	}
	a.Gates, left, err = r.runGates(ctx, a, gates)
	if err != nil {
		return left, err
	}
	if ctx.Err() != nil {
		a.Outcome, a.Reason = queue.Interrupted, "interrupted by a signal during the gates"
		return left, nil
	}
	r.weighGates(a)
	return left, nil
}

// weighGates decides by the gates. One that was red before the session, in the
// same way, holds the story back like any other unless the user says that it
// does not; then it proves nothing either.
func (r *run) weighGates(a *queue.Attempt) {
	passed, red := 0, []string{}
	for _, g := range a.Gates {
		switch {
		case g.Passed:
			passed++
		case g.WasRed && r.o.RedPass:
			red = append(red, fmt.Sprintf("%q", g.Command))
		case a.Outcome == queue.Done:
			a.Outcome, a.Reason = queue.GateFailed, gateReason(g)
		}
	}
	if a.Outcome != queue.Done || len(red) == 0 {
		return
	}
	a.Reason = "red before the session, and not counted: " + strings.Join(red, ", ")
	if passed == 0 {
		a.Outcome = queue.Unproven
	}
}

func gateReason(g queue.Gate) string {
	text := fmt.Sprintf("gate %q did not pass", g.Command)
	switch {
	case g.AtStart == "fails" && g.WithChange == "passes":
		text += fmt.Sprintf(" as it was at the start; it passes only as the agent changed it (%s)", strings.Join(g.Kept, ", "))
	case g.AtStart == "passes":
		text += fmt.Sprintf(" as the agent changed it (%s); as it was at the start it passes", strings.Join(g.Kept, ", "))
	}
	if g.Before != "" {
		text += "; it " + g.Before
	}
	return text
}

// tellGates says which gates ran with files as they were at the start.
func (r *run) tellGates(ctx context.Context, a *queue.Attempt) error {
	for _, g := range a.Gates {
		if len(g.Kept) == 0 {
			continue
		}
		text := fmt.Sprintf("the agent changed %s: as it was at the start of the session the gate %q %s; with the agent's version it %s",
			strings.Join(g.Kept, ", "), g.Command, g.AtStart, g.WithChange)
		if err := addFinding(ctx, r.o, a, "gate-copy", text); err != nil {
			return err
		}
	}
	return nil
}
