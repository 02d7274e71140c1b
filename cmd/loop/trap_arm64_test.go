//go:build linux

package main

import "golang.org/x/sys/unix"

const machine = unix.AUDIT_ARCH_AARCH64

// olderCalls: this machine has none.
func olderCalls() map[int32]string { return nil }
