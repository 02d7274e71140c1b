package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// heldBack makes the stories of a plan depend on those that a person is to
// look at, where they come after them: the file may say that by its order
// alone.
func heldBack(f *stories.File, plan []stories.Story) {
	for _, s := range f.Stories {
		if !s.Checkpoint && !s.Approval {
			continue
		}
		for _, after := range f.After(s.ID) {
			i := slices.IndexFunc(plan, func(p stories.Story) bool { return p.ID == after.ID })
			if i >= 0 && !slices.Contains(plan[i].Depends, s.ID) {
				plan[i].Depends = append(slices.Clone(plan[i].Depends), s.ID)
			}
		}
	}
}

// askLook asks a person to look at a story with a checkpoint that has passed.
// It has the attempt's own id: whoever asks again after a crash asks once.
func askLook(ctx context.Context, o *Options, s stories.Story, a *queue.Attempt, f *stories.File) (queue.Action, error) {
	x := queue.Action{
		ID: a.ID, Attempt: a.ID, Session: a.Session, GitHead: a.HeadAfter, Checkpoint: queue.CheckpointAfter,
		Why: "The story file asks for a look at this story before what comes after it is begun.",
	}
	var ids []string
	for _, after := range f.After(s.ID) {
		x.Holds = append(x.Holds, queue.HeldStory{ID: after.ID, Hash: after.Hash})
		ids = append(ids, after.ID)
	}
	x.Command = fmt.Sprintf("Story %s has passed and is a checkpoint: look at what it did.\n%s", s.ID, holdsText(ids))
	return addCheckpoint(ctx, o, s, x)
}

// askApproval asks a person whether a story may be begun, once.
func (r *run) askApproval(ctx context.Context, s stories.Story) error {
	list, err := checkpoints(ctx, r.o)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(x queue.Action) bool {
		return x.Checkpoint == queue.CheckpointBefore && x.Story == s.ID && x.StoryHash == s.Hash
	}) {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	x, err := addCheckpoint(ctx, r.o, s, queue.Action{
		ID: id.String(), Session: r.session.ID, Checkpoint: queue.CheckpointBefore,
		Command: fmt.Sprintf("May story %s be begun? Its text asks for your approval first.", s.ID),
		Why:     "The story file asks for your approval before this story, and what comes after it, is begun.",
	})
	if err == nil {
		r.here.tell(HappenedQuestion, fmt.Sprintf("story %q asks for your approval (#%d)", s.ID, x.Number), nil, []queue.Action{x})
	}
	return err
}

func addCheckpoint(ctx context.Context, o *Options, s stories.Story, x queue.Action) (queue.Action, error) {
	x.Kind, x.Tier, x.FoundBy, x.Cwd, x.DetectedAt = queue.KindQuestion, policy.Local, queue.ByScan, o.Root, o.Now().UTC()
	x.Story, x.StoryTitle, x.StoryHash = s.ID, s.Title, s.Hash
	x, _, err := o.Store.Add(ctx, x)
	return x, err
}

// holdsText names what is held back.
func holdsText(ids []string) string {
	const shown = 10
	switch more := len(ids) - shown; {
	case len(ids) == 0:
		return "Nothing waits for it."
	case more > 0:
		return fmt.Sprintf("Until you have, these are not worked on: %s and %d more.", strings.Join(ids[:shown], ", "), more)
	}
	return "Until you have, these are not worked on: " + strings.Join(ids, ", ") + "."
}

// looked asks for a look at a story that has just passed, where it is a
// checkpoint.
func (r *run) looked(ctx context.Context, s stories.Story, a *queue.Attempt, f *stories.File) error {
	if !s.Checkpoint {
		return nil
	}
	x, err := askLook(ctx, r.o, s, a, f)
	if err != nil {
		return err
	}
	r.o.Progress.Notice(fmt.Sprintf("story %q is a checkpoint: what comes after it waits for you (#%d)", s.ID, x.Number))
	r.here.tell(HappenedQuestion, fmt.Sprintf("story %q has passed and waits for you to look at it (#%d)", s.ID, x.Number), a, []queue.Action{x})
	return nil
}

// checkpoints are the newest of each story, oldest first.
func checkpoints(ctx context.Context, o *Options) ([]queue.Action, error) {
	all, err := o.Store.Actions(ctx, queue.Filter{Kind: queue.KindQuestion})
	if err != nil {
		return nil, err
	}
	var out []queue.Action
	for _, x := range all {
		if x.Checkpoint == "" {
			continue
		}
		out = slices.DeleteFunc(out, func(y queue.Action) bool {
			return y.Story == x.Story && y.StoryHash == x.StoryHash && y.Checkpoint == x.Checkpoint
		})
		out = append(out, x)
	}
	return out, nil
}

// about reports whether a checkpoint is about a story, or holds it back. Ids
// are used again in other files, so that texts decide.
func about(ctx context.Context, o *Options, x *queue.Action, s stories.Story) bool {
	if x.Checkpoint == queue.CheckpointBefore && x.Story == s.ID {
		return x.StoryHash == s.Hash
	}
	if x.Story == s.ID {
		return false // it may be worked on again itself
	}
	if slices.Contains(x.Holds, queue.HeldStory{ID: s.ID, Hash: s.Hash}) {
		return true
	}
	if !slices.Contains(s.Depends, x.Story) {
		return false
	}
	// The text of what is held back may have changed since.
	if x.Checkpoint == queue.CheckpointBefore {
		f, err := stories.Read(o.Stories)
		return err == nil && slices.ContainsFunc(f.Stories, func(of stories.Story) bool { return of.ID == x.Story && of.Hash == x.StoryHash })
	}
	state, err := o.Store.Story(ctx, o.storiesName(), x.Story)
	return err == nil && state.Hash == x.StoryHash
}

// checkpointOf is why a checkpoint holds a story back; "" = none does.
func checkpointOf(ctx context.Context, o *Options, s stories.Story) (why string, err error) {
	if o.Store == nil {
		return "", nil
	}
	list, err := checkpoints(ctx, o)
	if err != nil {
		return "", err
	}
	for _, x := range list {
		if x.Status == queue.Answered || !about(ctx, o, &x, s) {
			continue
		}
		return holdText(&x, s), nil
	}
	return "", nil
}

func holdText(x *queue.Action, s stories.Story) string {
	own := x.Story == s.ID
	switch rejected := x.Status == queue.Rejected; {
	case own && rejected:
		return fmt.Sprintf("you did not approve it (#%d; loop approve %d lets it go on)", x.Number, x.Number)
	case own:
		return fmt.Sprintf("it waits for your approval (#%d; loop approve %d)", x.Number, x.Number)
	case rejected:
		return fmt.Sprintf("story %q, which it comes after, was not approved (#%d; loop approve %d lets it go on)", x.Story, x.Number, x.Number)
	case x.Checkpoint == queue.CheckpointBefore:
		return fmt.Sprintf("story %q, which it comes after, waits for your approval (#%d; loop approve %d)", x.Story, x.Number, x.Number)
	}
	return fmt.Sprintf("it waits for you to look at story %q (#%d; loop approve %d)", x.Story, x.Number, x.Number)
}

// saidOf is what a person said when letting a story go on.
func saidOf(ctx context.Context, o *Options, s stories.Story) ([]prompts.Word, error) {
	list, err := checkpoints(ctx, o)
	if err != nil {
		return nil, err
	}
	var out []prompts.Word
	for _, x := range list {
		if text := x.AnswerText(); text != "" && about(ctx, o, &x, s) {
			out = append(out, prompts.Word{Story: x.Story, Text: text})
		}
	}
	return out, nil
}
