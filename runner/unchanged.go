package runner

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// treeSince is the tree that an attempt is held against: as it was before the
// first attempt at this story, as its text is now, that is not done yet. What
// an earlier attempt made and left there is work as well.
func treeSince(ctx context.Context, o *Options, s stories.Story, now string) (string, error) {
	state, err := o.Store.Story(ctx, o.storiesName(), s.ID)
	if errors.Is(err, queue.ErrNotFound) {
		return now, nil
	}
	if err != nil || state.Hash != s.Hash || state.Outcome.Passed() || state.Tree == "" {
		return now, err
	}
	return state.Tree, nil
}

// nothingDone reports whether an attempt left no trace: the tree, the branches
// and the tags are as they were, no call waits for a person, and none changed
// what the tree does not show. What is not known counts as done.
func (t *trees) nothingDone(ctx context.Context, a *queue.Attempt, since string, before, after tree) bool {
	if since == "" || after.id != since || after.open || a.Denied > 0 || a.SharedRuns > len(a.Shared) || !t.sameRefs(ctx, before.refs, after.refs) {
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
const reasonUnchanged = "claimed, but nothing was changed: no file and no commit is other than before (a story that only looks says `check: true`)"

// weigh looks at an attempt that ended well, before the gates: one that asks
// something, and one that did nothing, is not a pass.
func (r *run) weigh(ctx context.Context, s stories.Story, a *queue.Attempt, was earlier) error {
	if a.Outcome != queue.Done {
		return nil
	}
	idle := r.trees.nothingDone(ctx, a, was.since, was.tree, was.left)
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
