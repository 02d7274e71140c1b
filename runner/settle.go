package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/scanner"
	"github.com/seed-b23e517c/loop/stories"
)

// earlier is how things stood before an attempt.
type earlier struct {
	stories   *stories.File
	memory    memory
	pushes    map[string]bool
	beside    *pushesBeside               // nil = no other attempt is under way
	cleared   func(toolUseID string) bool // what the firewall let through on sight of its files; nil when not known
	integrity integrity
	git       *keptGit        // nil = there is none
	guarded   *policy.Guarded // what the run keeps from the agent; nil when not known
	tree      tree            // the work tree
	worked    bool            // earlier attempts at the story have left work in the tree
	left      tree            // the work tree as the agent left it
}

// settle does all that follows an attempt: scan, claims, memory, gates, mark,
// record. The order is the order in which a crash loses least: what reached
// outside is in the queue before anything else is looked at.
func (r *run) settle(ctx, keep context.Context, s stories.Story, a *queue.Attempt, was earlier) error {
	if err := r.examine(ctx, keep, s, a, &was); err != nil {
		return err
	}
	if r.lane != nil && a.Outcome.Passed() {
		return r.offer(keep, a, was)
	}
	return r.conclude(keep, s, a, was)
}

// examine reads what an attempt did and decides what it is worth.
func (r *run) examine(ctx, keep context.Context, s stories.Story, a *queue.Attempt, was *earlier) error {
	if err := scan(keep, r.o, a, *was); err != nil {
		return err
	}
	r.here.ranIn(a)
	if err := r.claims(keep, a, was.stories); err != nil {
		return err
	}
	now, mem, left := r.lookAround(keep)
	if err := r.tampered(keep, a, was.integrity, now); err != nil {
		return err
	}
	was.left = left
	a.TreeBefore, a.TreeAfter = was.tree.id, was.left.id
	if err := r.weakened(keep, a, *was); err != nil {
		return err
	}
	a.Memory = was.memory.changes(mem)
	if err := r.cited(keep, a, r.trees.receiptLines(keep, was.tree, was.left)); err != nil {
		return err
	}
	if err := r.weigh(keep, s, a, *was); err != nil {
		return err
	}
	if err := ask(keep, r.o, a); err != nil {
		return err
	}
	if a.Outcome == queue.Done {
		noted := pushes(keep, r.o)
		left, err := r.verify(ctx, s, a)
		if err := errors.Join(err, r.pushedBy(keep, a, noted), r.leftovers(keep, left, a, "a gate"), r.tellGates(keep, a)); err != nil {
			return err
		}
		// What the gates run is the agent's work too.
		if err := r.mendGit(keep, a, was.git); err != nil {
			return r.withoutGit(keep, a, *was, err)
		}
	}
	return nil
}

// conclude sets the mark, keeps the work and writes the end.
func (r *run) conclude(keep context.Context, s stories.Story, a *queue.Attempt, was earlier) error {
	// The verdict is kept before the mark is set: whoever picks up after a
	// crash knows whether the mark is loop's own.
	a.Verified = a.Outcome.Passed()
	if err := r.o.Store.PutAttempt(keep, *a); err != nil {
		return err
	}
	if a.Verified {
		if err := r.o.withRoom(func() error { return r.mark(keep, s, a, was.stories) }); err != nil {
			return err
		}
	}
	r.gates.note(r.o, s, a)
	if err := r.closeStory(keep, a); err != nil {
		return err
	}
	if err := r.o.withRoom(func() error { return r.keepWork(keep, a) }); err != nil {
		return err
	}
	if r.checkout != nil {
		r.checkout.worked = worksOn(a, was)
	}
	return r.record(keep, a, a.Parked == nil && worksOn(a, was))
}

// record writes the end of an attempt, and what became of its story.
func (r *run) record(keep context.Context, a *queue.Attempt, worked bool) error {
	a.Ended = r.o.Now().UTC()
	state := queue.StoryState{
		File: r.o.storiesName(), Story: a.Story, Hash: a.StoryHash, Outcome: a.Outcome, Session: a.Session, When: a.Ended,
		Worked: worked,
	}
	return r.o.Store.PutEnd(keep, *a, state)
}

// claims puts back every done mark that the agent set or took away, and says
// what else it did to the story file.
func (r *run) claims(ctx context.Context, a *queue.Attempt, before *stories.File) error {
	restored, err := before.Restore()
	var texts []string
	if err != nil {
		texts = append(texts, fmt.Sprintf("the done marks could not all be put back: %v", err))
	}
	for _, c := range restored.Claims {
		texts = append(texts, claimText(c))
	}
	for i, rep := range restored.Replaced {
		kept := filepath.Join(a.Dir, fmt.Sprintf("stories-as-left-%d", i+1))
		if err := os.WriteFile(kept, rep.Broken, 0o600); err != nil {
			return err
		}
		texts = append(texts, fmt.Sprintf("%s was put back whole (%s); what the agent left is in %s", rep.Path, rep.Why, kept))
	}
	if after, err := stories.Read(r.o.Stories); err == nil {
		for _, c := range stories.Diff(before, after) {
			if c.Kind != stories.MarkedOn && c.Kind != stories.MarkedOff {
				texts = append(texts, changeText(c))
			}
		}
	}
	for _, text := range texts {
		if err := addFinding(ctx, r.o, a, "claim", text); err != nil {
			return err
		}
	}
	return nil
}

func claimText(c stories.Claim) string {
	what := "not done"
	if c.Done {
		what = "done"
	}
	return fmt.Sprintf("the agent marked story %q as %s; the mark was put back", c.ID, what)
}

func changeText(c stories.Change) string {
	text := fmt.Sprintf("story %q was %s by the agent", c.ID, c.Kind)
	if len(c.Fields) > 0 {
		text += ": " + strings.Join(c.Fields, ", ")
	}
	return text
}

// mark sets the story's done mark, and asks for a look at a checkpoint. A story whose text the agent changed is not
// the story that was worked on, and is not marked.
func (r *run) mark(ctx context.Context, s stories.Story, a *queue.Attempt, before *stories.File) error {
	err := before.SetDone(s.ID, true)
	switch {
	case err == nil && r.lane == nil:
		return r.looked(ctx, s, a, before)
	case err == nil:
		return nil // it is done when it is on the session's branch
	case isFull(err):
		return err
	}
	a.Outcome, a.Reason = queue.AgentFailed, "the work ended well, but the story could not be marked done: "+err.Error()
	return addFinding(ctx, r.o, a, "claim", a.Reason)
}

// scan reads an attempt's transcript and puts every hit into the queue, and
// with them the pushes that git noted and no call shows, when it is known what
// git had noted earlier.
func scan(ctx context.Context, o *Options, a *queue.Attempt, was earlier) error {
	path := filepath.Join(a.Dir, transcriptName)
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("scan the transcript: %w", err)
	}
	defer f.Close()
	var actions []queue.Action
	a.Shared, a.SharedRuns = nil, 0
	stats, err := scanner.Scan(ctx, f, scanner.Options{
		Set: o.Set, File: path, Cwd: o.Root, Ignore: rulesTexts(o), Cleared: was.cleared, Guarded: was.guarded,
		Shared: func(h scanner.Hit) error { noteShared(a, h); return nil },
	}, func(h scanner.Hit) error {
		if h.Denied && h.Evidence == policy.Blocked {
			return nil // decided for good: counted by the firewall
		}
		actions = append(actions, ActionOf(o.Set, h, *a, o.Now().UTC()))
		return nil
	})
	if err != nil {
		return fmt.Errorf("scan the transcript: %w", err)
	}
	o.Log.Debug("transcript scanned", "attempt", a.ID, "lines", stats.Lines, "bytes", stats.Bytes, "calls", stats.Calls, "hits", stats.Hits)
	a.ScanNote, a.Scanned = ScanNote(stats), true
	if was.pushes != nil {
		unseen, err := unseenPushes(ctx, o, was, actions, *a)
		if err != nil {
			return err
		}
		actions = append(actions, unseen...)
	}
	// What is said about an action must not keep the action out of the queue.
	if err := claimed(ctx, o, a, actions); err != nil {
		o.Log.Warn("what the actions claim could not be judged", "attempt", a.ID, "error", err)
	}
	if err := AddWords(f, actions); err != nil {
		o.Log.Warn("what the agent said before its calls could not be read", "attempt", a.ID, "error", err)
	}
	// A scan that is repeated after a crash finds its own actions again and
	// adds none twice.
	_, err = o.Store.AddAll(ctx, actions)
	return err
}

// keptShared is how many command lines of shared calls a report can show.
const keptShared = 20

func noteShared(a *queue.Attempt, h scanner.Hit) {
	if h.Evidence != policy.Executed {
		return
	}
	a.SharedRuns++
	if len(a.Shared) < keptShared {
		a.Shared = append(a.Shared, h.Command)
	}
}

// ScanNote says what a scan could not read as it stands; "" = nothing.
func ScanNote(s scanner.Stats) string {
	var parts []string
	note := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	note(s.Broken, "broken line(s), read as text")
	note(s.Oversize, "line(s) over the size limit, read as text")
	note(s.Unread, "call(s) of a shape that is not known, read as text")
	note(s.Opaque, "call(s) that could not be seen through")
	note(s.Folded, "repeated mention(s) left out")
	return strings.Join(parts, "; ")
}
