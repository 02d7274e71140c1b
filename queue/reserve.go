package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const reserveName = "reserve"

// ReserveSize is what Reserve keeps: room for the ends of some attempts, and
// for bbolt to grow by one step.
const ReserveSize = 16 << 20

// Reserve keeps space in the state folder, which the first write that finds the
// disk full frees for itself, so that an end can still be recorded. It is freed
// by the function that it returns; asking again fills up what was freed.
func (s *Store) Reserve() (free func(), err error) {
	path := filepath.Join(s.dir, reserveName)
	free = func() { _ = os.Remove(path) }
	if info, err := os.Stat(path); err == nil && info.Size() == ReserveSize {
		return free, nil // still there
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("reserve space for the queue: %w", err)
	}
	// Bytes are written: a file that is only made longer takes no space.
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 31) // nothing that a file system leaves out
	}
	for n := 0; n < ReserveSize && err == nil; n += len(block) {
		_, err = f.Write(block)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("reserve space for the queue: %w", err), os.Remove(path))
	}
	return free, nil
}

// FreeReserve gives the reserve to whoever writes next. false says that there
// was none.
func (s *Store) FreeReserve() bool { return os.Remove(filepath.Join(s.dir, reserveName)) == nil }

// withRoom runs a write again when the disk was full and there was a reserve to
// free.
func (s *Store) withRoom(write func() error) error {
	err := write()
	if !errors.Is(err, syscall.ENOSPC) || !s.FreeReserve() {
		return err
	}
	return write()
}
