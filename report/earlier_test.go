package report

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

// A quiet night must not hide what an earlier one left undecided.
func TestActionsOfOtherSessionsAreNotForgotten(t *testing.T) {
	at := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)
	d := queue.Snapshot{
		Session:  queue.Session{ID: "s", Started: at, Ended: at, StoryOrder: []string{"1"}},
		Attempts: []queue.Attempt{{Story: "1", Outcome: queue.Done, Started: at, Ended: at}},
	}
	for earlier, want := range map[int][]string{
		0: {"nothing waits"},
		3: {"nothing new waits", "3 more of other sessions still wait; loop list shows them"},
	} {
		var b strings.Builder
		if err := Terminal(&b, d, Options{Now: at, Earlier: earlier}); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("with %d: no %q in\n%s", earlier, w, b.String())
			}
		}
	}
}
