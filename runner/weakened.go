package runner

import (
	"context"
	"fmt"

	"github.com/seed-b23e517c/loop/internal/weaken"
	"github.com/seed-b23e517c/loop/queue"
)

// maxWeakened is how many such findings one attempt makes; what comes after
// them is counted.
const maxWeakened = 20

// weakened tells what an attempt did to tests and checks, whatever became of
// it: the tree keeps it.
func (r *run) weakened(ctx context.Context, a *queue.Attempt, was earlier) error {
	found := weaken.Find(r.trees.diff(ctx, was.tree, was.left))
	for i, f := range found {
		if i == maxWeakened {
			return addFinding(ctx, r.o, a, "weakened", fmt.Sprintf("and %d more like these", len(found)-i))
		}
		if err := addFinding(ctx, r.o, a, "weakened", f.File+": "+f.Text); err != nil {
			return err
		}
	}
	return nil
}
