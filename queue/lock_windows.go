package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const (
	firstWait = time.Millisecond
	maxWait   = 20 * time.Millisecond
)

func tryLock(f *os.File) (bool, error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

// waitLock polls: a blocked LockFileEx on a plain handle cannot be given up.
func waitLock(ctx context.Context, f *os.File) error {
	timer := time.NewTimer(firstWait)
	defer timer.Stop()
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		select {
		case <-timer.C:
		case <-ctx.Done():
			_ = f.Close()
			return ctx.Err()
		}
		ok, err := tryLock(f)
		if ok {
			return nil
		}
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("lock %q: %w", f.Name(), err)
		}
		timer.Reset(wait)
	}
}

// syncDir does nothing: a folder cannot be flushed here.
func syncDir(string) error { return nil }
