package report

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

// A story that passed in the end hides nothing of what it took, and when.
func TestWhatWentWrongIsToldWithItsTime(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 30, 2, minute, 7, 0, time.UTC) }
	try := func(story string, from, to int, outcome queue.Outcome, reason string) queue.Attempt {
		return queue.Attempt{Story: story, Outcome: outcome, Reason: reason, Started: at(from), Ended: at(to)}
	}
	d := queue.Snapshot{
		Session: queue.Session{
			ID: "s", Started: at(0), Ended: at(59), StoryOrder: []string{"1", "2"},
			Waits: []queue.Wait{
				{Story: "1", From: at(1), Until: at(11), Ended: at(11), Cause: queue.FiveHourLimit},
				{Story: "1", From: at(12), Until: at(13), Ended: at(13), Cause: queue.Overloaded},
			},
		},
		Attempts: []queue.Attempt{
			try("2", 30, 32, queue.HostFailed, "the disk is full"),
			try("1", 0, 1, queue.Limit, "You've hit your limit\x1b[2J"), try("1", 11, 12, queue.Outage, "busy"), try("1", 13, 20, queue.Done, ""),
		},
	}
	tell := func(o Options) string {
		var b strings.Builder
		if err := Terminal(&b, d, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, all := range []bool{false, true} {
		want := "  02:01:07  1  limit, waited 10m00s: You've hit your limit\\x1b[2J\n  02:12:07  1  outage, waited 1m00s: busy\n  02:32:07  2  host failed\n"
		got := strings.NewReplacer("07 1 ", "07  1  ", "07 2 ", "07  2  ").Replace(tell(Options{Now: at(59), All: all}))
		if !strings.Contains(got, want) {
			t.Errorf("all %v: no\n%sin\n%s", all, want, got)
		}
	}
	// Where no attempt followed another the stories say it all.
	d.Attempts = d.Attempts[:1]
	if got := tell(Options{Now: at(59)}); strings.Contains(got, "went wrong") {
		t.Errorf("%s", got)
	}
}
