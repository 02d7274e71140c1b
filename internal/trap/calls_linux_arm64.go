//go:build linux

package trap

import "golang.org/x/sys/unix"

const machine = unix.AUDIT_ARCH_AARCH64

// olderCalls: this machine has none.
func olderCalls() map[int32]string { return nil }
