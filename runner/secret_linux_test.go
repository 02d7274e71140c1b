package runner

import (
	"syscall"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
)

// While keys are in memory nobody else of the same user may read it.
func TestMemoryIsKeptFromOthersWhereThereAreReceipts(t *testing.T) {
	const get, set = 3, 4 // PR_GET_DUMPABLE, PR_SET_DUMPABLE
	dumpable := func(option, value uintptr) uintptr {
		r, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, option, value, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		return r
	}
	for _, enabled := range []bool{false, true} {
		dumpable(set, 1)
		n := newNight(t, sim.Any(say("ok")), "first")
		n.o.Receipts.Enabled = enabled
		n.run(t.Context())
		if got := dumpable(get, 0); (got == 0) != enabled {
			t.Errorf("receipts: %t, dumpable: %d", enabled, got)
		}
	}
}
