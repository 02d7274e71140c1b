package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// fleet works on several stories at the same time, each in a lane, and puts what
// passed onto the session's branch, one after the other. One goroutine decides;
// attempts, one integration and the waiting for a limit go on beside it and say
// when they have ended.
type fleet struct {
	r      *run
	admin  *checkout // for what is done while another goroutine uses the session's
	tip    string    // where the session's branch stands
	beside *pushesBeside
	events chan event
	busy   int // goroutines that will send an event

	todo    []planned // not begun, in the order of the plan
	total   int
	lanes   []*lane // stories under way
	want    []*lane // of these: the next attempt is still to begin
	ready   []*lane // of these: passed their gates, to be integrated
	merging bool
	hold    *hold
	blocked int  // stories in a row that got nowhere
	over    bool // no further attempt is begun

	mu   sync.Mutex
	paid float64 // as r.cost, for those who show it
}

// planned is a story with its place in the plan.
type planned struct {
	stories.Story

	number int
}

// event is the end of something that went on beside.
type event struct {
	l      *lane
	a      *queue.Attempt // of an attempt
	merged bool           // l was integrated, or was not
	tip    string         // with merged
	slept  time.Duration  // without a lane: of a wait
	err    error
}

// brokenError is the cause of a context that an error of loop's own ended.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return "loop itself failed at another story: " + e.err.Error() }

func (e *brokenError) Unwrap() error { return e.err }

// workBeside works on Options.Parallel stories at the same time. A story begins
// when all that it depends on are on the session's branch.
func (r *run) workBeside(ctx context.Context, plan []stories.Story) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f, err := r.newFleet(ctx, plan)
	if err != nil {
		return err
	}
	defer func() { r.checkout.beside = false }()
	for {
		if err == nil {
			err = f.begin(ctx)
		}
		if err != nil {
			// What is under way is asked to leave; the next run looks after it.
			cancel(&brokenError{err})
		} else {
			f.merge(ctx)
			f.doze(ctx)
		}
		if f.busy == 0 {
			return err
		}
		ev := <-f.events
		f.busy--
		switch {
		case ev.err != nil:
			err = errors.Join(err, fmt.Errorf("story %q: %w", ev.l.s.ID, ev.err))
		case err == nil:
			err = f.take(ctx, ev)
		}
	}
}

func (r *run) newFleet(ctx context.Context, plan []stories.Story) (*fleet, error) {
	r.checkout.beside = true
	admin := *r.checkout
	admin.paths = nil
	f := &fleet{
		r: r, admin: &admin, total: len(plan), events: make(chan event),
		beside: &pushesBeside{under: map[string]map[string]bool{}, told: map[string]bool{}},
	}
	for i, s := range plan {
		f.todo = append(f.todo, planned{s, i + 1})
	}
	keep := context.WithoutCancel(ctx)
	if c := r.o.Caps.SessionUSD; c > 0 && r.o.CostUSD == 0 && r.o.Caps.StoryUSD == 0 {
		r.o.Progress.Notice(fmt.Sprintf("one attempt may cost all that is left of the session's $%.2f, so only one runs at a time: set budget.cost_usd", c))
	}
	err := r.commitMarks(keep)
	f.tip = admin.commitOf(keep, admin.branch)
	return f, err
}

// commitMarks commits the marks that were taken back before the first story:
// every lane begins with what is committed.
func (r *run) commitMarks(ctx context.Context) error {
	t := r.checkout
	at := t.commitOf(ctx, t.branch)
	tree, err := t.treeOf(ctx, at)
	if err != nil {
		return err
	}
	marked, err := t.withMark(ctx, tree)
	if err != nil || marked == tree {
		return err
	}
	commit, err := t.commit(ctx, marked, fmt.Sprintf("stories that are open again\n\nLoop-Session: %s\n", r.session.ID), at)
	if err != nil {
		return err
	}
	return errors.Join(t.moveHead(ctx, commit, "loop: stories that are open again"), t.quit(ctx))
}

// begin begins what can be begun: further attempts first, then stories.
func (f *fleet) begin(ctx context.Context) error {
	for _, l := range slices.Clone(f.want) {
		if err := f.further(ctx, l); err != nil {
			return err
		}
	}
	for len(f.lanes) < f.r.o.Parallel {
		p, ok, err := f.next(ctx)
		if err != nil || !ok {
			return err
		}
		if err := f.story(ctx, p); err != nil {
			return fmt.Errorf("story %q: %w", p.ID, err)
		}
	}
	return nil
}

// further begins a lane's next attempt, when nothing speaks against it.
func (f *fleet) further(ctx context.Context, l *lane) error {
	switch v := f.r.capped(verdict{do: tryAgain}, l.spent); {
	case v.do == block:
		return f.follow(ctx, l, v)
	case f.over || ctx.Err() != nil:
		return f.leave(ctx, l)
	case f.hold != nil:
		return nil
	}
	most, ok := f.affords(l.spent)
	if !ok {
		return nil
	}
	if err := f.r.vetAgain(ctx); err != nil {
		return err
	}
	f.want = without(f.want, l)
	f.try(ctx, l, most)
	return nil
}

// next is the next story to begin; ok is false when there is none now.
func (f *fleet) next(ctx context.Context) (p planned, ok bool, err error) {
	if err := f.skip(ctx); err != nil || f.over || f.hold != nil {
		return p, false, err
	}
	at := slices.IndexFunc(f.todo, func(p planned) bool { return f.reached(p.Story) })
	if len(f.todo) == 0 {
		return p, false, nil
	}
	if why := f.r.stopped(ctx); why != "" {
		f.r.interrupted(why)
		f.todo = nil
		return p, false, nil
	}
	if at < 0 {
		return p, false, nil
	}
	if why := f.r.noRoom(); why != "" {
		f.r.stop(queue.Attempt{Outcome: queue.HostFailed}, why)
		f.todo = nil
		return p, false, nil
	}
	if f.r.spentUp() {
		f.todo = nil
		return p, false, nil
	}
	if _, ok := f.affords(spending{}); !ok {
		return p, false, nil
	}
	p = f.todo[at]
	f.todo = slices.Delete(f.todo, at, at+1)
	return p, true, nil
}

// skip takes out of the plan what cannot be worked on in this session.
func (f *fleet) skip(ctx context.Context) error {
	for i := 0; i < len(f.todo) && !f.over; i++ {
		p := f.todo[i]
		if !f.reached(p.Story) {
			continue
		}
		waits, err := f.r.parked(ctx, p.Story)
		if err != nil {
			return err
		}
		dep := f.r.blockedBy(p.Story)
		if !waits && dep == "" {
			continue
		}
		if !waits {
			f.r.failed[p.ID] = true
			f.r.o.Progress.Notice(fmt.Sprintf("story %q is skipped: it depends on %q, which did not pass", p.ID, dep))
		}
		f.todo = slices.Delete(f.todo, i, i+1)
		i = -1 // others may depend on it
	}
	return nil
}

// reached: nothing that the story depends on is still to be worked on.
func (f *fleet) reached(s stories.Story) bool {
	return !slices.ContainsFunc(s.Depends, func(id string) bool {
		return slices.ContainsFunc(f.todo, func(p planned) bool { return p.ID == id }) ||
			slices.ContainsFunc(f.lanes, func(l *lane) bool { return l.s.ID == id })
	})
}

// story begins a story.
func (f *fleet) story(ctx context.Context, p planned) error {
	if err := f.r.vetAgain(ctx); err != nil {
		return err
	}
	l, err := f.open(context.WithoutCancel(ctx), p.number, p.Story)
	if err != nil {
		return err
	}
	f.lanes = append(f.lanes, l)
	f.r.o.Progress.StoryStart(p.number, f.total, p.Story)
	most, _ := f.affords(l.spent)
	f.try(ctx, l, most)
	return nil
}

// try begins an attempt that may use so much at most.
func (f *fleet) try(ctx context.Context, l *lane, most allowance) {
	own := l.r.at(l.s).allowed(most)
	own.o.OldClient, l.reserved = f.r.o.OldClient, most.most()
	number := l.tally.attempts + 1
	f.busy++
	go func() {
		a, err := own.attempt(ctx, l.s, number)
		f.events <- event{l: l, a: &a, err: err}
	}()
}

// affords is the most that an attempt may use. What those under way may use is
// reserved; ok is false when an attempt has to wait for one of them to end.
func (f *fleet) affords(story spending) (most allowance, ok bool) {
	o, spent := f.r.o, f.r.spent
	var reserved spending
	for _, l := range f.lanes {
		reserved.add(l.reserved)
	}
	own := o.allowance(story)
	end := own.most()
	ok = fits(o.Caps.SessionUSD, spent.usd, reserved.usd, end.usd) && fits(o.Caps.SessionTokens, spent.tokens, reserved.tokens, end.tokens)
	return own.and(o.Caps, spent), ok
}

// merge begins to put the next lane's work onto the session's branch.
func (f *fleet) merge(ctx context.Context) {
	if f.merging || len(f.ready) == 0 {
		return
	}
	l, tip := f.ready[0], f.tip
	f.ready, f.merging = f.ready[1:], true
	f.busy++
	go func() {
		tip, err := l.integrate(ctx, f.r.checkout, tip)
		f.events <- event{l: l, merged: true, tip: tip, err: err}
	}()
}

// take takes an event into account.
func (f *fleet) take(ctx context.Context, ev event) error {
	l := ev.l
	switch {
	case l == nil:
		return f.woken(ctx, ev.slept)
	case ev.merged:
		f.merging, f.tip = false, ev.tip
	default:
		l.a, l.reserved = ev.a, spending{}
		l.spent.add(f.r.charge(l.a))
		f.mu.Lock()
		f.paid = f.r.cost
		f.mu.Unlock()
		if l.a.Ended.IsZero() {
			f.ready = append(f.ready, l)
			return nil
		}
	}
	return f.follow(ctx, l, f.r.capped(l.tally.next(f.r.o, l.a, f.r.o.Now()), l.spent))
}

// follow does what follows an attempt.
func (f *fleet) follow(ctx context.Context, l *lane, v verdict) error {
	r, a, keep := f.r, l.a, context.WithoutCancel(ctx)
	switch v.do {
	case tryAgain:
		text := fmt.Sprintf("story %q: %s after attempt %d: %s; ", a.Story, a.Outcome, a.Number, a.Reason)
		if a.Outcome == queue.Conflict {
			text += "it is tried once more, from what is there now"
		} else {
			text += fmt.Sprintf("try %d of %d", l.tally.tries+1, r.o.Tries)
		}
		r.o.Progress.Notice(text)
		f.want = append(f.want, l)
		return nil
	case waitFirst:
		f.want = append(f.want, l)
		return errors.Join(r.tellHolds(keep, a, v.tell), f.wait(keep, l, v.until))
	case block:
		if err := r.block(keep, a, v.reason); err != nil {
			return err
		}
	case halt:
		if f.over = true; r.session.StopKind == "" {
			r.stop(*a, v.reason)
		}
	case goOn:
	}
	return f.leave(ctx, l)
}

// leave is done with a story.
func (f *fleet) leave(ctx context.Context, l *lane) error {
	r, a := f.r, l.a
	r.o.Progress.StoryEnd(*a)
	r.failed[l.s.ID] = !a.Outcome.Passed()
	f.lanes, f.want = without(f.lanes, l), without(f.want, l)
	if err := f.close(context.WithoutCancel(ctx), l); err != nil {
		return fmt.Errorf("story %q: %w", l.s.ID, err)
	}
	if a.Blocked == "" {
		f.blocked = 0
	} else if f.blocked++; f.blocked == r.o.StopAfter && len(f.todo) > 0 && r.session.StopKind == "" {
		r.session.StopKind, f.over = queue.Blocked, true
		r.session.Stopped = fmt.Sprintf("%d stories in a row got nowhere, the last one %q: %s", f.blocked, l.s.ID, a.Blocked)
	}
	if !a.Outcome.Passed() && r.session.StopKind == "" && r.spentUp() {
		f.over = true
	}
	return nil
}

// cost is that of the ended attempts.
func (f *fleet) cost() float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paid
}

func without(list []*lane, l *lane) []*lane {
	return slices.DeleteFunc(slices.Clone(list), func(x *lane) bool { return x == l })
}
