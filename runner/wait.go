package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

// waitStep is how often a wait looks at the clock: a machine that slept wakes
// up in the middle of it, and one long timer would not know.
const waitStep = 15 * time.Second

// wait does nothing until a time, and reports whether it came: a signal ends
// it at once. The wall clock decides, but a clock that is put back makes the
// wait no longer.
func (r *run) wait(ctx, keep context.Context, a *queue.Attempt, until time.Time, probes int) (came bool, err error) {
	now := func() time.Time { return r.o.Now().Round(0) }
	from := now()
	w := queue.Wait{From: from.UTC(), Until: until.UTC(), Cause: a.Cause, Why: a.Reason, Story: a.Story}
	r.session.Waits = append(r.session.Waits, w)
	if err := r.o.Store.PutSession(keep, r.session); err != nil {
		return false, err
	}
	r.o.Log.Info("waiting", "story", a.Story, "cause", string(a.Cause), "until", until)
	r.o.Progress.Notice(waitText(a, until, from) + ": " + a.Cause.String())
	if probes == 1 {
		r.here.tell(HappenedLimit, waitText(a, until, from)+": "+a.Reason, a, nil)
	}
	ctx, cancel := r.asks.orStop(ctx)
	defer cancel()
	total := until.Sub(from)
	for slept := time.Duration(0); slept < total && now().Before(until) && ctx.Err() == nil; {
		r.o.Progress.Live(Live{Story: a.Story, Dir: a.Dir, Cost: r.cost, Waiting: waitText(a, until, now()), Until: until.UTC()})
		d := min(until.Sub(now()), total-slept, waitStep)
		if r.o.Sleep(ctx, d) != nil {
			break
		}
		slept += d
	}
	r.session.Waits[len(r.session.Waits)-1].Ended = now().UTC()
	return ctx.Err() == nil, r.o.Store.PutSession(keep, r.session)
}

// waitText is the live line of a wait.
func waitText(a *queue.Attempt, until, now time.Time) string {
	at := until.In(now.Location())
	clock := at.Format("15:04")
	if until.Sub(now) > 18*time.Hour {
		clock = at.Format("Mon 2 Jan 15:04")
	}
	return fmt.Sprintf("%s: waiting until %s (%s)", a.Outcome, clock, span(until.Sub(now)))
}

// sleep is the Options.Sleep of a real run.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
