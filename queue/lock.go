package queue

import (
	"context"
	"fmt"
	"os"
)

// lockFile takes the exclusive lock on the file at path, which it makes when
// missing, and waits for it as long as ctx lets it. The system frees the lock
// when the process dies, however it dies.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		return waitLock(ctx, f)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	return func() { release(f) }, nil
}

// release gives the lock back by name and not only by closing: a child that is
// just being forked has a copy of the descriptor until it execs.
func release(f *os.File) {
	_ = unlockFile(f)
	_ = f.Close()
}
