package queue

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// pidAlive reports whether a process with the owner's pid runs. A pid that was
// given to another process counts as alive: the action then keeps waiting
// instead of being called dead.
func pidAlive(o Owner) bool {
	p, err := os.FindProcess(o.Pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if runtime.GOOS == "windows" {
		return true // FindProcess has opened it
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}
