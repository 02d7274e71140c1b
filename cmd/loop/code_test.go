package main

import (
	"testing"

	"github.com/seed-b23e517c/loop/queue"
)

// What a replay that died has done, only a person can find out: until then the
// session is not over for who asks by exit code.
func TestWaitingCode(t *testing.T) {
	for status, want := range map[queue.Status]int{
		queue.Pending: exitWaiting, queue.Unknown: exitWaiting, queue.Replayed: exitDone, queue.Rejected: exitDone,
	} {
		if got := waitingCode(queue.Snapshot{Actions: []queue.Action{{Status: status}}}); got != want {
			t.Errorf("%s: %d, want %d", status, got, want)
		}
	}
}
