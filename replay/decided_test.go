package replay

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// Who asks is told of the yes and of what came of it, as the queue has them;
// of a no and of a dry run there is nothing to tell.
func TestDecidedIsTold(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		change        func(*Request)
		want          []string
	}{
		{"done", "echo out", func(*Request) {}, []string{"replaying ", "replayed out\n"}},
		{"failed", "echo out; exit 3", func(*Request) {}, []string{"replaying ", "failed out\n"}},
		{"dry run", "echo out", func(r *Request) { r.DryRun = true }, nil},
		{"declined", "echo out", func(r *Request) { r.Yes, r.IsTerminal, r.In = false, true, strings.NewReader("no\n") }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			a := b.add(b.action(tt.command))
			r := b.request(a)
			var got []string
			r.Decided = func(_ context.Context, x queue.Action) {
				if stored := b.stored(a); stored.Status != x.Status {
					t.Errorf("told %q, stored %q", x.Status, stored.Status)
				}
				got = append(got, string(x.Status)+" "+x.Replay.Output)
			}
			tt.change(&r)
			_, _ = Run(t.Context(), r)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
