package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// Tell gathers what the next attempt at a story is told. Without a store it
// knows nothing of earlier attempts.
func Tell(ctx context.Context, o *Options, s stories.Story) (t Told, err error) {
	if t.ClaudeMD, err = readClaudeMD(o); err != nil {
		return t, err
	}
	return t, t.add(ctx, o, s)
}

// add gathers what the store knows.
func (t *Told) add(ctx context.Context, o *Options, s stories.Story) (err error) {
	if o.Store == nil {
		return nil
	}
	if t.Waiting, err = waiting(ctx, o, s); err != nil {
		return err
	}
	if t.Answers, err = answers(ctx, o, s); err != nil {
		return err
	}
	if t.Said, err = saidOf(ctx, o, s); err != nil {
		return err
	}
	if t.Left, err = leftBefore(ctx, o, s); err != nil {
		return err
	}
	t.LastFailed, err = lastFailed(ctx, o, s)
	return err
}

// tellIn is Tell in a session, whose agents may have made of CLAUDE.md what
// cannot be told: that is a finding, and ends nothing.
func (r *run) tellIn(ctx context.Context, a *queue.Attempt, s stories.Story) (t Told, err error) {
	if t.ClaudeMD, err = readClaudeMD(r.o); err != nil {
		err = addFinding(ctx, r.o, a, "tampered", "the agent was not given the project's CLAUDE.md: "+err.Error())
	}
	return t, errors.Join(err, t.add(ctx, r.o, s))
}

// tellDenied says in the report which calls a rule of the user's refused for
// good, and how often.
func tellDenied(ctx context.Context, o *Options, a *queue.Attempt, calls []firewall.DeniedCall) error {
	for _, c := range calls {
		text := fmt.Sprintf("your rule %q refused for good: %s", c.Rule, c.Command)
		if c.Times > 1 {
			text += fmt.Sprintf(" (%d times)", c.Times)
		}
		if err := addFinding(ctx, o, a, "denied", text); err != nil {
			return err
		}
	}
	return nil
}

// waiting lists the story's calls that already wait for a person, so that the
// agent does not spend its time on them again.
func waiting(ctx context.Context, o *Options, s stories.Story) ([]string, error) {
	actions, err := o.Store.Actions(ctx, queue.Filter{
		Story: s.ID, Status: []queue.Status{queue.Pending}, Evidence: []policy.Evidence{policy.Blocked},
	})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range actions {
		out = append(out, fmt.Sprintf("#%d: %s", a.Number, clip(strings.ReplaceAll(a.Command, "\n", " "), 200)))
	}
	return out, nil
}

// toldOutput is how much of a failed gate's output the next attempt reads.
const toldOutput = 3000

// lastFailed says why the last attempt at the story, as its text is now, did
// not pass; what was not the agent's doing is not told.
func lastFailed(ctx context.Context, o *Options, s stories.Story) (string, error) {
	state, err := o.Store.Story(ctx, o.storiesName(), s.ID)
	if errors.Is(err, queue.ErrNotFound) {
		return "", nil
	}
	if err != nil || state.Hash != s.Hash {
		return "", err
	}
	attempts, err := o.Store.Attempts(ctx, state.Session)
	if err != nil {
		return "", err
	}
	cut := ""
	for i := len(attempts) - 1; i >= 0; i-- {
		a := attempts[i]
		if a.Story != s.ID || a.Outcome == "" { // "" is the one that is asked for
			continue
		}
		switch a.Outcome {
		case queue.GateFailed:
			return joinTold(gateFailed(a), cut), nil
		case queue.Conflict:
			return joinTold(conflictTold(a), cut), nil
		case queue.AgentFailed, queue.Hung, queue.Unchanged:
			return joinTold(a.Reason, cut), nil
		case queue.Limit, queue.Outage, queue.HostFailed:
			// It was cut short; what it was to mend still holds.
			if a.Calls > 0 {
				cut = toldCut
			}
			continue
		case queue.Interrupted:
			// By a person, or by loop's own death; what it had done was put aside,
			// and what it was to mend still holds.
			continue
		case queue.Question: // the answer is told
		case queue.Done, queue.Unproven, queue.Auth, queue.CouldNotStart, queue.Unguarded, queue.Blocked, queue.Budget:
		}
		return cut, nil
	}
	return cut, nil
}

// toldCut is said of an attempt that a limit, an outage or the machine ended.
const toldCut = "It was cut short by a usage limit, an outage of the provider or a lack of memory or disk, not by a fault of the work. What it had changed until then is in the work tree, or kept as is said below: look at it first and go on from there."

func joinTold(parts ...string) string {
	return strings.TrimSpace(strings.Join(parts, "\n\n"))
}

// conflictTold is what an attempt is told whose predecessor's work met that of
// other stories.
func conflictTold(a queue.Attempt) string {
	var b strings.Builder
	b.WriteString("It passed, but other stories were finished meanwhile, and its changes do not go together with theirs in:\n\n")
	for _, name := range a.Merged.Conflicts {
		fmt.Fprintf(&b, "- %q\n", name)
	}
	b.WriteString("\nThe work tree is what they left: do the story in it again. What the last attempt did is kept; read it, but take over no whole files of it, because theirs are not in them.")
	return b.String()
}

func gateFailed(a queue.Attempt) string {
	for _, g := range a.Gates {
		if g.Passed {
			continue
		}
		out := g.Output
		if len(out) > toldOutput {
			out = strings.ToValidUTF8(out[len(out)-toldOutput:], "")
		}
		before := ""
		if g.Before != "" {
			before = " (it " + g.Before + ")"
		}
		if g.Merged {
			before += ". It had passed before the work of other stories came in that were finished meanwhile; that is in the work tree now, together with yours"
		}
		return fmt.Sprintf("The gate `%s` ended with exit code %d%s. The end of its output:\n\n%s", g.Command, g.ExitCode, before, out)
	}
	return a.Reason
}

// maxClaudeMD bounds the project's instructions in the prompt.
const maxClaudeMD = 256 << 10

// readClaudeMD reads the project's CLAUDE.md, which the client itself does not
// read when its setting sources are off.
func readClaudeMD(o *Options) (string, error) {
	if !o.ClaudeMD {
		return "", nil
	}
	for _, name := range []string{"CLAUDE.md", filepath.Join(".claude", "CLAUDE.md")} {
		data, err := regular.Read(filepath.Join(o.Root, name), maxWatched)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if len(data) > maxClaudeMD {
			return "", fmt.Errorf("%s has %d KiB, more than a prompt should carry: shorten it, or set claude_md = false under [prompt] in loop.toml", name, len(data)>>10)
		}
		return string(data), nil
	}
	return "", nil
}
