package queue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// empty reports whether nothing was ever stored: no file, or one of no bytes.
func (s *Store) empty() (bool, error) {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("open queue: %w", err)
	case info.IsDir():
		return false, &CorruptError{Path: s.path, Err: errors.New("it is a folder")}
	}
	return info.Size() == 0, nil
}

// create makes the file where nothing was ever stored. It is made under
// another name and renamed when whole, so that a kill or a power cut leaves no
// half-made queue that the next opener takes for a damaged one.
func (s *Store) create() error {
	if empty, err := s.empty(); !empty || err != nil {
		return err
	}
	fresh := *s
	fresh.path = s.path + ".new"
	if err := os.Truncate(fresh.path, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make queue: %w", err)
	}
	err := fresh.withDB(false, func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error { return migrate(tx, fresh.path) })
	})
	if err != nil {
		return err
	}
	if err := os.Rename(fresh.path, s.path); err != nil {
		return fmt.Errorf("make queue: %w", err)
	}
	return syncDir(s.dir)
}

// withDB opens the file, runs fn and closes it. bbolt panics on some damaged
// files and faults on one that was cut off: both become a CorruptError, and
// the file's own lock is let go, by name because the mapping of the file that is
// left behind would hold it.
func (s *Store) withDB(readOnly bool, fn func(*bolt.DB) error) (err error) {
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if file != nil {
				release(file) // not db.Close, which may wait for what the panic left locked
			}
			err = &CorruptError{Path: s.path, Err: fmt.Errorf("%v", p)}
		}
	}()
	db, err := bolt.Open(s.path, 0o600, &bolt.Options{
		Timeout:      s.o.Timeout,
		ReadOnly:     readOnly,
		FreelistType: bolt.FreelistMapType,
		NoStatistics: true,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag, mode)
			file = f
			return f, err
		},
	})
	if err != nil {
		return s.openError(err)
	}
	err = fn(db)
	if cerr := db.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close queue %q: %w", s.path, cerr)
	}
	return err
}

// openError says in our words what bbolt said.
func (s *Store) openError(err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("open queue %q: %w", s.path, ErrBusy)
	case errors.As(err, &path):
		return fmt.Errorf("open queue: %w", err)
	}
	return &CorruptError{Path: s.path, Err: err}
}
