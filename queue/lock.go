package queue

import (
	"context"
	"fmt"
	"os"
	"time"
)

// lockFile takes the exclusive lock on the file at path, which it makes when
// missing, and waits for it as long as ctx lets it and at most so long: then the
// error is context.DeadlineExceeded. The system frees the lock when the process
// dies, however it dies.
func lockFile(ctx context.Context, path string, wait time.Duration) (unlock func(), err error) {
	f, err := openLocked(ctx, path, os.O_CREATE, wait)
	if err != nil {
		return nil, err
	}
	return func() { release(f) }, nil
}

// openLocked opens a file with the lock on it, which release gives back.
func openLocked(ctx context.Context, path string, flag int, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, err
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		err = waitLock(limited, f)
	} else if err != nil {
		_ = f.Close()
		err = fmt.Errorf("lock %q: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// release gives the lock back by name and not only by closing: a child that is
// just being forked has a copy of the descriptor until it execs.
func release(f *os.File) {
	_ = unlockFile(f)
	_ = f.Close()
}
