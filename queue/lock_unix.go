//go:build unix

package queue

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) error { return flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// waitLock lets the system wake it, which is quicker than polling and fair. A
// blocked flock cannot be called off, not even by closing the descriptor, so
// when ctx is over a goroutine is left that gives the lock back as soon as it
// gets it.
func waitLock(ctx context.Context, f *os.File) error {
	got := make(chan error, 1)
	go func() { got <- flock(f, unix.LOCK_EX) }()
	select {
	case err := <-got:
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("lock %q: %w", f.Name(), err)
		}
		return nil
	case <-ctx.Done():
		go func() { <-got; release(f) }()
		return ctx.Err()
	}
}

// syncDir makes a rename in dir last through a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("make queue: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("make queue: %w", err)
	}
	return nil
}
