//go:build linux

package trap

import "golang.org/x/sys/unix"

const machine = unix.AUDIT_ARCH_X86_64

// olderCalls are the system calls of this machine that take a path as it is
// where the newer ones take a folder before it.
func olderCalls() map[int32]string {
	return map[int32]string{
		unix.SYS_OPEN: "open", unix.SYS_CREAT: "create", unix.SYS_RENAME: "rename", unix.SYS_LINK: "link", unix.SYS_UNLINK: "remove",
		unix.SYS_MKDIR: "mkdir", unix.SYS_RMDIR: "rmdir", unix.SYS_SYMLINK: "symlink",
	}
}
