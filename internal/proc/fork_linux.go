package proc

import (
	"runtime"
	"syscall"
)

// bind asks the kernel for a TERM to the child when we die, however we die.
func bind(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// forker does its work on one thread that lives as long as the process: the
// kernel ties the signal of bind to the thread that forked, and Go ends
// threads when it likes.
type forker struct{ work chan func() }

// do is called under the registry's lock.
func (f *forker) do(fn func()) {
	if f.work == nil {
		f.work = make(chan func())
		go func() {
			runtime.LockOSThread()
			for w := range f.work {
				w()
			}
		}()
	}
	done := make(chan struct{})
	f.work <- func() { defer close(done); fn() }
	<-done
}
