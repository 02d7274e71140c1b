//go:build unix

package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// lockRun makes this process the only run in the repository. The lock is the
// kernel's, so it ends with the process, whatever way that dies; the pid in
// the file is for people.
func lockRun(state string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(state, "run.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the repository: %w", err)
	}
	if err := flockRun(f); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock the repository: %w", err)
		}
		return nil, &BusyError{Pid: holder(f)}
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// deadHolder is how long the lock of a run may outlive it.
const deadHolder = 5 * time.Second

// flockRun takes the lock. A child that was just being forked when its run was
// killed has a copy of the descriptor until it execs: what a dead process holds
// is waited for.
func flockRun(f *os.File) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(deadHolder); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		pid, convErr := strconv.Atoi(holder(f))
		if _, alive := proc.Find(pid); alive || convErr != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-over:
			return err
		}
	}
}

// Busy reports whether a run works in the repository of this state folder.
// It takes no lock that could keep one from starting for longer than a moment.
func Busy(state string) (pid string, busy bool) {
	f, err := os.Open(filepath.Join(state, "run.lock"))
	if err != nil {
		return "", false
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		return "", false
	}
	return holder(f), true
}

// holder is the pid that the holder of the lock wrote into the file.
func holder(f *os.File) string {
	b := make([]byte, 20)
	n, _ := f.ReadAt(b, 0)
	return strings.TrimSpace(string(b[:n]))
}
