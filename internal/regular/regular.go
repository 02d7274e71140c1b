// Package regular reads files from places where an agent can put anything: a
// pipe that would hold whoever opens it, a device that never ends, or more
// bytes than there is memory.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Errors of what is there and is not read.
var (
	ErrNot   = errors.New("not a regular file")
	ErrLarge = errors.New("too large")
)

// Open opens a regular file for reading, and never waits for it.
func Open(name string) (*os.File, error) {
	f, _, err := open(name)
	return f, err
}

func open(name string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %q: %w", name, ErrNot)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Read is the text of a regular file of at most max bytes.
func Read(name string, max int64) ([]byte, error) {
	f, info, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > max {
		return nil, fmt.Errorf("read %q: %w: %d bytes, and %d are read", name, ErrLarge, info.Size(), max)
	}
	text := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case int64(len(text)) > max:
			return nil, fmt.Errorf("read %q: %w: it grows", name, ErrLarge)
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return nil, err
		}
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}
