package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// runJudged runs a command of the person's, unless it would run something of the
// agents' that reaches outside.
func (r *run) runJudged(ctx context.Context, a *queue.Attempt, mark, command string) (queue.Gate, []proc.Leftover, error) {
	why := r.leaving(ctx, command)
	if why == "" {
		g, left := runGate(ctx, r.o, mark, command)
		return g, left, nil
	}
	g := queue.Gate{Command: command, ExitCode: -1, Error: "not run as the agent left it: " + why}
	return g, nil, addFinding(context.WithoutCancel(ctx), r.o, a, "tampered", fmt.Sprintf("%q was not run as the agent left what it runs: %s", command, why))
}

// leaving says what of the agent's a gate would run that reaches outside; "" is
// nothing that can be seen. No hook is asked about what loop itself runs, so it
// is judged here, as the agent's own call of it would be. What the person's files
// and the person's command do is the person's.
func (r *run) leaving(ctx context.Context, command string) string {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return ""
	}
	changed := sync.OnceValue(func() []string { return r.agentFiles(ctx) }) // most gates need not know
	readable := firewall.FilesOf(r.o.Root, r.o.Env)
	call := policy.Call{
		Tool: "Bash", Input: input, Cwd: r.o.Root, NoWords: true,
		ReadFile:  func(name string) (string, bool) { return readable.Read(r.o.Root, name) },
		ReadDir:   func(name string) ([]string, bool) { return readable.List(r.o.Root, name) },
		ProgramOf: func(name string) string { return readable.Program(r.o.Root, name) },
		Builds:    r.builds,
	}
	without := sync.OnceValue(func() []policy.Hit { return outside(r.o.Set.Classify(call)) })
	known := call
	known.Changed = changed
	for _, h := range outside(r.o.Set.Classify(known)) {
		if !r.ofAgents(ctx, h.File, changed()) && slices.ContainsFunc(without(), func(w policy.Hit) bool {
			return w.Rule == h.Rule && w.File == h.File && w.Line == h.Line
		}) {
			continue
		}
		where := relativeTo(r.o.Root, h.File)
		if h.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, h.Line)
		}
		return fmt.Sprintf("%s would leave the machine (%s: %s)", clip(oneLine(h.Text), 200), where, h.Rule)
	}
	return ""
}

func outside(res policy.Result) []policy.Hit {
	return slices.DeleteFunc(slices.Clone(res.Hits), func(h policy.Hit) bool {
		return h.Tier < policy.External || h.Mention || h.Opaque || h.File == ""
	})
}

// ofAgents: the file is not as it was when the session began. Of one that git
// leaves out only the time is known.
func (r *run) ofAgents(ctx context.Context, file string, changed []string) bool {
	if slices.Contains(changed, file) {
		return true
	}
	info, err := os.Lstat(file)
	return err == nil && !changeTime(info).Before(r.begun()) && ignoredHere(ctx, r.o, file)
}

// ignoredHere: git does not look at the file.
func ignoredHere(ctx context.Context, o *Options, file string) bool {
	return isUnder(o.Root, file) && gitLine(ctx, o, o.Root, "check-ignore", "--", file) != ""
}

// pushedBy queues the pushes that were noted since before while loop ran what
// the agent wrote.
func (r *run) pushedBy(ctx context.Context, a *queue.Attempt, before map[string]bool) error {
	sent, err := unseenPushes(ctx, r.o, earlier{pushes: before}, nil, *a)
	for i := range sent {
		sent[i].Why = "It was made while the gates ran: what they ran of the agent's work did it, or you did."
	}
	if len(sent) == 0 {
		return err
	}
	_, added := r.o.Store.AddAll(ctx, sent)
	return errors.Join(err, added)
}
