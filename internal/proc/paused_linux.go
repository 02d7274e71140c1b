package proc

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// GoOn lets a process go on that a signal has stopped, with its group. It
// reports whether it was stopped.
func GoOn(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	end := bytes.LastIndexByte(b, ')')
	if err != nil || end < 0 || pid <= 1 {
		return false
	}
	if f := bytes.Fields(b[end+1:]); len(f) == 0 || f[0][0] != 'T' {
		return false
	}
	// A group that is gone, or is none of its own, leaves the process.
	_ = unix.Kill(-pid, unix.SIGCONT)
	return unix.Kill(pid, unix.SIGCONT) == nil
}
