package queue

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A write that finds the disk full frees the reserve and is done once more;
// without a reserve, or with another error, it is not.
func TestReserveIsFreedForAFullDisk(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "queue.db", Err: syscall.ENOSPC}
	other := errors.New("other")
	for name, tt := range map[string]struct {
		reserve bool
		errs    []error
		want    error
		calls   int
		left    bool
	}{
		"fine":            {true, []error{nil}, nil, 1, true},
		"full":            {true, []error{full, nil}, nil, 2, false},
		"still full":      {true, []error{full, full}, syscall.ENOSPC, 2, false},
		"without reserve": {false, []error{full}, syscall.ENOSPC, 1, false},
		"another trouble": {true, []error{other}, other, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Store{dir: t.TempDir()}
			path := filepath.Join(s.dir, reserveName)
			if tt.reserve {
				free, err := s.Reserve()
				if err != nil {
					t.Fatal(err)
				}
				defer free()
				if info, err := os.Stat(path); err != nil || info.Size() != ReserveSize {
					t.Fatalf("reserve: %v, %v", info, err)
				}
			}
			calls := 0
			err := s.withRoom(func() error { calls++; return tt.errs[calls-1] })
			if !errors.Is(err, tt.want) || calls != tt.calls {
				t.Errorf("%v after %d calls, want %v after %d", err, calls, tt.want, tt.calls)
			}
			if _, err := os.Stat(path); (err == nil) != tt.left {
				t.Errorf("the reserve: %v", err)
			}
		})
	}
}

// What was freed is filled up again, and what is there is left alone.
func TestReserveAgain(t *testing.T) {
	s := &Store{dir: t.TempDir()}
	path := filepath.Join(s.dir, reserveName)
	for _, before := range []string{"nothing", "part"} {
		if before == "part" {
			if err := os.Truncate(path, 5); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Reserve(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != ReserveSize {
			t.Errorf("from %s: %v, %v", before, info, err)
		}
	}
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	free, err := s.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(path); err != nil || !is.ModTime().Equal(was.ModTime()) {
		t.Errorf("a whole one was written anew: %v", err)
	}
	if free(); exists(path) {
		t.Error("not freed")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
