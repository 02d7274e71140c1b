package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// gateTail is how much of a gate's output is kept.
const gateTail = 16 << 10

// gatekeeper is what a session knows of its gates.
type gatekeeper struct {
	kept map[string]map[string]keptFile // by gate: the files that it ran at the start
	red  map[string]queue.Gate          // by gate: how it failed before the first story

	mu    sync.Mutex           // stories can be worked on at the same time
	state map[string]gateState // by gate: how it stood last

	worked []worked
	left   map[string]string // by name: the hash of what an agent made of a file, of this session and of earlier ones
}

// gateState is how a gate ended last, and after which story that began.
type gateState struct {
	passed bool
	story  string // "" = before the first story
}

// runGate runs one gate as its files are now. mark is the id of the attempt, or
// of the session, by which the next run finds what a dead loop left of it. left
// is what it left running; it is gone by now.
func runGate(ctx context.Context, o *Options, mark, command string) (g queue.Gate, left []proc.Leftover) {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: []string{"sh", "-c", command}, Dir: o.Root, Env: gateEnv(o), Mark: mark,
		Timeout: o.GateTime, Tail: gateTail, Now: o.Now,
	})
	g = queue.Gate{
		Command: command, ExitCode: out.ExitCode, Duration: out.Duration, Output: string(out.Tail),
		Passed: out.Err == nil && out.ExitCode == 0 && !out.TimedOut,
	}
	switch {
	case out.TimedOut:
		g.Error = fmt.Sprintf("not finished after %v", o.GateTime)
	case out.Err != nil:
		g.Error = out.Err.Error()
	}
	return g, out.Leftovers
}

// runGates runs the gates in order and stops at the first that fails: what
// comes after it would only bury the cause. One that was red before the session
// is no such cause.
func (r *run) runGates(ctx context.Context, a *queue.Attempt, commands []string) (gates []queue.Gate, left []proc.Leftover, err error) {
	for _, command := range commands {
		r.o.Progress.Notice("gate: " + command)
		g, more, err := r.judgedGate(ctx, a, command)
		left = append(left, more...)
		if err != nil {
			return gates, left, err
		}
		r.compare(&g, a.Story)
		gates = append(gates, g)
		if !g.Passed && !g.WasRed {
			break
		}
	}
	return gates, left, nil
}

// judgedGate runs a gate once, and twice where the agent changed what it runs:
// as it was at the start, and as the agent left it. It passes if both do.
func (r *run) judgedGate(ctx context.Context, a *queue.Attempt, command string) (queue.Gate, []proc.Leftover, error) {
	now := queue.Gate{Command: command, ExitCode: -1}
	var left []proc.Leftover
	if held := r.gates.held(r.o, command); held != "" {
		now.Error = fmt.Sprintf("not run as the agent left it: %q is no file any more", held)
	} else {
		var err error
		if now, left, err = r.runJudged(ctx, a, a.ID, command); err != nil {
			return now, left, err
		}
	}
	changed := r.gates.changed(r.o, command)
	if len(changed) == 0 || ctx.Err() != nil {
		return now, left, nil
	}
	var was queue.Gate
	err := r.withKept(a, changed, func() {
		var more []proc.Leftover
		was, more = runGate(ctx, r.o, a.ID, command)
		left = append(left, more...)
	})
	var not *notKeptError
	if errors.As(err, &not) && !isFull(err) {
		now.Passed, now.Error = false, not.Error()
		return now, left, nil
	}
	if err != nil {
		return now, left, fmt.Errorf("run the gate %q as it was at the start: %w", command, err)
	}
	if err := r.noteLeft(changed); err != nil {
		return now, left, err
	}
	g := was
	if was.Passed {
		g = now
	}
	for _, f := range changed {
		g.Kept = append(g.Kept, f.name)
	}
	g.AtStart, g.WithChange = passWord(was), passWord(now)
	return g, left, nil
}

func passWord(g queue.Gate) string {
	if g.Passed {
		return "passes"
	}
	return "fails"
}

// compare says how a gate stands against how it stood before.
func (r *run) compare(g *queue.Gate, story string) {
	r.gates.mu.Lock()
	defer r.gates.mu.Unlock()
	before, known := r.gates.state[g.Command]
	if red, ok := r.gates.red[g.Command]; ok && !g.Passed {
		g.WasRed = red.ExitCode == g.ExitCode && (red.Error == "") == (g.Error == "")
	}
	switch {
	case g.Passed || !known:
	case g.WasRed:
		g.Before = "was red before the session"
	case before.passed && before.story == "":
		g.Before = "was green before the first story"
	case before.passed:
		g.Before = fmt.Sprintf("was green after story %q", before.story)
	case before.story == "":
		g.Before = "was red before the session, in another way"
	case before.story != story:
		g.Before = fmt.Sprintf("has been red since story %q", before.story)
	}
	if r.lane == nil { // what a lane has come to is not yet what the session has
		r.gates.stands(g, story)
	}
}

// stands keeps how a gate stands.
func (k *gatekeeper) stands(g *queue.Gate, story string) {
	if before, known := k.state[g.Command]; !known || g.Passed || before.passed {
		k.state[g.Command] = gateState{passed: g.Passed, story: story}
	}
}

// baseline runs the gates before the first story, all of them, so that what was
// red before is told from what was made red.
func (r *run) baseline(ctx context.Context) error {
	if !r.o.Baseline {
		return nil
	}
	for _, command := range r.o.Gates {
		if ctx.Err() != nil {
			return nil
		}
		r.o.Progress.Notice("gate, before the first story: " + command)
		g, left := runGate(ctx, r.o, r.session.ID, command)
		session := &queue.Attempt{Session: r.session.ID}
		if err := r.leftovers(context.WithoutCancel(ctx), left, session, "a gate"); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		r.session.Baseline = append(r.session.Baseline, g)
		r.gates.state[command] = gateState{passed: g.Passed}
		if g.Passed {
			continue
		}
		r.gates.red[command] = g
		text := fmt.Sprintf("the gate %q was red before the first story: %s", command, howFailed(g))
		r.o.Progress.Notice(text)
		if err := addFinding(ctx, r.o, session, "red-before", text); err != nil {
			return err
		}
	}
	return r.o.Store.PutSession(ctx, r.session)
}

func howFailed(g queue.Gate) string {
	if g.Error != "" {
		return g.Error
	}
	return fmt.Sprintf("exit %d", g.ExitCode)
}

// redGates are the gates that were red before the session, for the prompt.
func (r *run) redGates() (out []string) {
	for _, command := range r.o.Gates {
		if g, ok := r.gates.red[command]; ok {
			out = append(out, fmt.Sprintf("%s (%s)", command, howFailed(g)))
		}
	}
	return out
}
