package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Secret keeps what is in our memory to ourselves: no other process of the
// same user may trace us or read our memory, and no core is written. Children
// are not bound by it.
func Secret() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep the memory of this process to itself: %w", err)
	}
	return nil
}
