package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// textChanged is why a story that is marked done is open again.
const textChanged = "its text was changed after loop had marked it done"

// reopen takes as open, in the file as it was read, the stories that loop
// marked done and whose text is another now: that story is not done. What
// somebody else marked is theirs.
func reopen(ctx context.Context, o *Options, f *stories.File) error {
	if o.Store == nil {
		return nil
	}
	for i := range f.Stories {
		s := &f.Stories[i]
		if !s.Done {
			continue
		}
		state, err := o.Store.Story(ctx, o.storiesName(), s.ID)
		if errors.Is(err, queue.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if state.Outcome.Passed() && state.Hash != s.Hash {
			s.Done, s.Conflict = false, textChanged
		}
	}
	return nil
}

// reopenPlanned takes back the done marks of such stories of the plan, says so,
// and forgets that they were done: a mark that a person sets from now on holds.
func (r *run) reopenPlanned(ctx context.Context, plan []stories.Story) error {
	for _, s := range plan {
		if s.Conflict != textChanged {
			continue
		}
		f, err := stories.Read(r.o.Stories)
		if err != nil {
			return err
		}
		if err := f.SetDone(s.ID, false); err != nil {
			return err
		}
		state, err := r.o.Store.Story(ctx, r.o.storiesName(), s.ID)
		if err != nil {
			return err
		}
		state.Outcome, state.Hash = "", s.Hash
		if err := r.o.Store.PutStory(ctx, state); err != nil {
			return err
		}
		text := "it is open again: " + textChanged
		r.o.Progress.Notice(fmt.Sprintf("story %q: %s", s.ID, text))
		if err := addFinding(ctx, r.o, &queue.Attempt{Session: r.session.ID, Story: s.ID}, "reopened", text); err != nil {
			return err
		}
	}
	return nil
}
