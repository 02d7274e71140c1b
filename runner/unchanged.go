package runner

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// workedBefore reports whether earlier attempts at this story, as its text is
// now, that did not pass have left changes in the work tree: they are work as
// well.
func workedBefore(ctx context.Context, o *Options, s stories.Story) (bool, error) {
	state, err := o.Store.Story(ctx, o.storiesName(), s.ID)
	if errors.Is(err, queue.ErrNotFound) {
		return false, nil
	}
	return err == nil && state.Hash == s.Hash && !state.Outcome.Passed() && state.Worked, err
}

// worksOn reports whether the next attempt at the story would find work of this
// one, or of those before it, where it ended.
func worksOn(a *queue.Attempt, was earlier) bool {
	return !a.Outcome.Passed() && (was.worked || was.tree.id != was.left.id)
}

// nothingDone reports whether an attempt left no trace: the tree, the branches
// and the tags are as they were, no call waits for a person, and none changed
// what the tree does not show. What is not known counts as done.
func (t *trees) nothingDone(ctx context.Context, a *queue.Attempt, before, after tree) bool {
	if before.id == "" || after.id != before.id || after.open || a.Denied > 0 || a.SharedRuns > len(a.Shared) || !t.sameRefs(ctx, before.refs, after.refs) {
		return false
	}
	for _, command := range a.Shared {
		// What git does shows in the tree, the branches and the tags.
		if !strings.Contains(command, "git ") {
			return false
		}
	}
	return true
}

// reasonUnchanged says what is wrong with an attempt that did nothing.
const reasonUnchanged = "claimed, but nothing was changed (if it only looks: `check: true`)"

// weigh looks at an attempt that ended well, before the gates: one that asks
// something, and one that did nothing, is not a pass.
func (r *run) weigh(ctx context.Context, s stories.Story, a *queue.Attempt, was earlier) error {
	if a.Outcome != queue.Done {
		return nil
	}
	idle := !was.worked && r.trees.nothingDone(ctx, a, was.tree, was.left)
	asked := questionIn(a.FinalText)
	if asked == "" && idle {
		if asked = a.Question; asked == "" && !s.Check {
			asked = askedInWords(a.FinalText)
		}
	}
	switch {
	case asked != "":
		a.Outcome, a.Question = queue.Question, asked
		a.Reason = "it asks: " + clip(strings.Join(strings.Fields(asked), " "), 300)
	case idle && !s.Check:
		a.Outcome, a.Reason = queue.Unchanged, reasonUnchanged
	case a.Question != "":
		return addFinding(ctx, r.o, a, "asked", "the agent asked a question that nobody was there to answer, and went on: "+clip(a.Question, 500))
	}
	return nil
}
