package replay

import (
	"context"
	"testing"

	"github.com/seed-b23e517c/loop/queue"
)

// Who is second is told who was first, also when that was while they looked.
func TestWhoWasQuickerIsTold(t *testing.T) {
	b := newBench(t)
	before, meanwhile := b.add(b.action("true")), b.add(b.action("true #"))
	reject := func(a queue.Action) {
		t.Helper()
		if _, err := b.store.Decide(t.Context(), a.ID, queue.Decision{Verb: queue.Reject, Who: "bob\x1b"}); err != nil {
			t.Fatal(err)
		}
	}
	want := `it was rejected (reject by bob\x1b at 2026-02-23T08:15:00Z)`
	reject(before)
	_, err := Run(t.Context(), b.request(before))
	wantRefused(t, err, want)
	r := b.request(meanwhile)
	r.Yes = false
	r.Agree = func(context.Context, queue.Action, Since) (bool, error) {
		reject(meanwhile)
		return true, nil
	}
	_, err = Run(t.Context(), r)
	wantRefused(t, err, want)
}
