package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-b23e517c/loop/stories"
)

// ErrNoOpen says that every story is done already; ErrHeld that those that are
// not are held back by their status in the story file.
var (
	ErrNoOpen = errors.New("every story is done already")
	ErrHeld   = errors.New("no story can be worked on")
)

// Plan is the order in which the open stories would be worked on.
func Plan(ctx context.Context, o *Options) ([]stories.Story, *stories.File, error) {
	f, err := stories.Read(o.Stories)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(reopen(ctx, o, f), doneAway(ctx, o, f)); err != nil {
		return nil, nil, err
	}
	open, err := f.Order()
	if err != nil {
		return nil, nil, err
	}
	heldBack(f, open)
	if o.Only != "" {
		return planOnly(f, open, o.Only)
	}
	if away := awayText(f); len(open) == 0 && away != "" {
		return nil, f, fmt.Errorf("%w (%s)", ErrNoOpen, away)
	}
	if held := f.Held(); len(open) == 0 && len(held) > 0 {
		return nil, f, fmt.Errorf("%w: story %q %s (%d held)", ErrHeld, held[0].ID, held[0].Held, len(held))
	}
	if len(open) == 0 {
		return nil, f, ErrNoOpen
	}
	if o.Max > 0 && len(open) > o.Max {
		open = open[:o.Max]
	}
	return open, f, nil
}

func planOnly(f *stories.File, open []stories.Story, id string) ([]stories.Story, *stories.File, error) {
	for _, s := range open {
		if s.ID == id {
			return []stories.Story{s}, f, nil
		}
	}
	for _, s := range f.Stories {
		if s.ID == id && s.Held != "" {
			return nil, f, fmt.Errorf("%w: story %q %s", ErrHeld, id, s.Held)
		}
		if s.ID == id && strings.HasPrefix(s.Conflict, awayMark) {
			return nil, f, fmt.Errorf("story %q is %s: merge that, or delete it to have the story done anew", id, s.Conflict)
		}
		if s.ID == id {
			return nil, f, fmt.Errorf("story %q is done already: clear its done mark to work on it again", id)
		}
	}
	return nil, f, fmt.Errorf("no story %q in %s", id, f.Path)
}
