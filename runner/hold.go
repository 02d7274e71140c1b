package runner

import (
	"context"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

// hold is a wait of the whole fleet: a limit that one attempt met holds for all.
// What is under way goes on; nothing is begun.
type hold struct {
	until  time.Time
	left   time.Duration // by the time that was slept: a clock that is put back makes it no longer
	asleep bool
}

// wait lets nothing begin until a time, or longer when something waits already.
func (f *fleet) wait(ctx context.Context, l *lane, until time.Time) error {
	r, a := f.r, l.a
	from := r.o.Now().Round(0)
	waits := r.session.Waits
	switch {
	case f.hold == nil:
		f.hold = &hold{until: until, left: until.Sub(from)}
		waits = append(waits, queue.Wait{From: from.UTC(), Until: until.UTC(), Cause: a.Cause, Why: a.Reason, Story: a.Story})
	case until.After(f.hold.until):
		f.hold.until, f.hold.left = until, until.Sub(from)
		last := &waits[len(waits)-1]
		last.Until, last.Cause, last.Why, last.Story = until.UTC(), a.Cause, a.Reason, a.Story
	default:
		return nil
	}
	r.session.Waits = waits
	if err := r.o.Store.PutSession(ctx, r.session); err != nil {
		return err
	}
	r.o.Log.Info("waiting", "story", a.Story, "cause", string(a.Cause), "until", until)
	r.o.Progress.Notice(waitText(a, until, from) + ": " + a.Cause.String())
	if l.tally.probes == 1 {
		r.here.tell(HappenedLimit, waitText(a, until, from)+": "+a.Reason, a, nil)
	}
	return nil
}

// doze sleeps for a step of the wait, beside everything else.
func (f *fleet) doze(ctx context.Context) {
	h, o := f.hold, f.r.o
	if h == nil || h.asleep {
		return
	}
	now := o.Now().Round(0)
	for _, l := range f.want {
		o.Progress.Live(Live{Story: l.s.ID, Dir: l.a.Dir, Cost: f.r.cost, Waiting: waitText(l.a, h.until, now), Until: h.until.UTC()})
	}
	ctx, cancel := f.r.asks.orStop(ctx)
	d := max(0, min(h.until.Sub(now), h.left, waitStep))
	h.asleep = true
	f.busy++
	go func() {
		defer cancel()
		if o.Sleep(ctx, d) != nil {
			d = -1
		}
		f.events <- event{slept: d}
	}()
}

// woken ends the wait when its time has come, or when it was called off.
func (f *fleet) woken(ctx context.Context, slept time.Duration) error {
	h, r := f.hold, f.r
	h.asleep = false
	h.left -= max(0, slept)
	now := r.o.Now().Round(0)
	if slept >= 0 && h.left > 0 && now.Before(h.until) {
		return nil
	}
	f.hold = nil
	r.session.Waits[len(r.session.Waits)-1].Ended = now.UTC()
	if why := r.stopped(ctx); slept < 0 && why != "" {
		f.over = true
		if len(f.want) > 0 {
			why += ", while it waited: " + f.want[0].a.Cause.String()
		}
		if r.session.StopKind == "" {
			r.interrupted(why)
		}
	}
	return r.o.Store.PutSession(context.WithoutCancel(ctx), r.session)
}
