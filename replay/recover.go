package replay

import (
	"context"
	"fmt"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// Recover gives up the replays whose process died, as queue.RecoverReplays
// does, and ends what those had started and is still running: unknown means
// that nothing more will come of it. It returns how many there were.
func Recover(ctx context.Context, s *queue.Store) (n int, err error) {
	going, err := s.Actions(ctx, queue.Filter{Status: []queue.Status{queue.Replaying}})
	if len(going) == 0 || err != nil {
		return 0, err
	}
	if n, err = s.RecoverReplays(ctx); n == 0 || err != nil {
		return n, err
	}
	for _, a := range going {
		if a, err = s.Get(ctx, a.ID); err != nil {
			return n, err
		}
		if a.Status != queue.Unknown {
			continue
		}
		if _, err := proc.EndMarked(mark(a)); err != nil {
			return n, fmt.Errorf("end what the replay of #%d left: %w", a.Number, err)
		}
	}
	return n, nil
}

// mark is what the processes of a replay bear in their environment, so that
// they can be found when their supervisor is gone.
func mark(a queue.Action) string { return "replay-" + a.ID }
