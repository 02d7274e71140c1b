package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// worked is one story of the session, in the order in which they ended.
type worked struct {
	story  string
	passed bool
	checks []string // its own, which passed with it
}

// note keeps that a story was worked on.
func (k *gatekeeper) note(o *Options, s stories.Story, a *queue.Attempt) {
	w := worked{story: s.ID, passed: a.Outcome.Passed()}
	if o.Verify && w.passed {
		for _, g := range a.Gates {
			if g.Passed && slices.Contains(s.Verify, g.Command) {
				w.checks = append(w.checks, g.Command)
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.worked = append(k.worked, w)
}

// verifyAgain runs the checks of the stories that passed once more at the end
// of the session, and names what a later story broke. All of it together takes
// at most as long as one gate may.
func (r *run) verifyAgain(ctx context.Context) error {
	deadline := r.o.Now().Add(r.o.GateTime)
	seen := map[string]bool{}
	for i, w := range r.gates.worked {
		after := r.gates.after(i)
		if len(after) == 0 {
			continue // nothing was worked on since
		}
		for _, command := range w.checks {
			if ctx.Err() != nil || seen[command] {
				continue
			}
			seen[command] = true
			session := &queue.Attempt{Session: r.session.ID, Story: w.story}
			if !r.o.Now().Before(deadline) {
				return addFinding(context.WithoutCancel(ctx), r.o, session, "broke", "not every check of the stories that passed could be run again in the time of one gate")
			}
			r.o.Progress.Notice(fmt.Sprintf("check of story %s, again: %s", w.story, command))
			g, left, err := r.runJudged(ctx, session, r.session.ID, command)
			if err := errors.Join(err, r.leftovers(context.WithoutCancel(ctx), left, session, "a gate")); err != nil {
				return err
			}
			if g.Passed || ctx.Err() != nil {
				continue
			}
			if err := addFinding(ctx, r.o, session, "broke", brokeText(command, howFailed(g), after)); err != nil {
				return err
			}
		}
	}
	return nil
}

// after are the stories that were worked on after the i-th, each once.
func (k *gatekeeper) after(i int) (out []string) {
	for _, w := range k.worked[i+1:] {
		if name := fmt.Sprintf("%q", w.story); w.story != k.worked[i].story && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func brokeText(command, how string, after []string) string {
	text := fmt.Sprintf("its check %q passed with it and does not pass at the end of the session (%s): ", command, how)
	if len(after) == 1 {
		return text + "story " + after[0] + " broke it"
	}
	return text + "one of the stories " + strings.Join(after, ", ") + " broke it"
}
