//go:build linux || darwin

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxTail bounds what is read after over: more than a socket or pipe buffer
// holds, so that nothing written before the end is lost, and finite, so that
// a holder that writes without end does not keep us.
const maxTail = 4 << 20

// stream reads our end of a child's output.
type stream struct {
	f     *os.File
	ended bool // the reader has seen the deadline; only what is there already is read
	tail  int
}

// over makes the reader take what is there and then end.
func (s *stream) over() { _ = s.f.SetReadDeadline(time.Unix(1, 0)) }

// Read reads like a file, and ends after over.
func (s *stream) Read(p []byte) (int, error) {
	if s.ended {
		return s.readTail(p)
	}
	n, err := s.f.Read(p)
	switch {
	case n > 0 || err == nil:
		return n, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.ended = true
		return s.readTail(p)
	case errors.Is(err, os.ErrClosed), errors.Is(err, syscall.ECONNRESET):
		return 0, io.EOF
	}
	return 0, err
}

// readTail reads without waiting.
func (s *stream) readTail(p []byte) (int, error) {
	if s.tail >= maxTail || s.f.SetReadDeadline(time.Time{}) != nil {
		return 0, io.EOF
	}
	raw, err := s.f.SyscallConn()
	if err != nil {
		return 0, io.EOF
	}
	n := 0
	err = raw.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), p)
		return true
	})
	if err != nil || n <= 0 {
		return 0, io.EOF
	}
	s.tail += n
	return n, nil
}

// Close closes our end; a Read that waits ends with io.EOF.
func (s *stream) Close() error { return s.f.Close() }

// files makes the child's standard files. closeFiles closes what is the
// child's own; feed writes stdin until stop is closed.
func (c *Child) files(o Options) (files []*os.File, closeFiles func(), feed func(stop <-chan struct{}), err error) {
	var mine []*os.File
	closeFiles = func() {
		for _, f := range mine {
			_ = f.Close()
		}
	}
	fail := func(err error) ([]*os.File, func(), func(<-chan struct{}), error) {
		closeFiles()
		return nil, nil, nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fail(err)
	}
	mine = append(mine, null)
	in, stdout, stderr := null, o.Stdout, o.Stderr
	feed = func(<-chan struct{}) {}
	if o.Input != nil {
		in = o.Input
	} else if o.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		in, mine = r, append(mine, r)
		feed = func(stop <-chan struct{}) { feedStdin(w, o.Stdin, stop) }
	}
	if stdout == nil {
		ours, theirs, err := socketpair()
		if err != nil {
			feed(nil)
			return fail(err)
		}
		c.out = &stream{f: ours}
		stdout, mine = theirs, append(mine, theirs)
	}
	if stderr == nil {
		stderr = null
	}
	return []*os.File{in, stdout, stderr}, closeFiles, feed, nil
}

// feedStdin writes b and closes w. A child that dies without reading gives
// EPIPE; one whose own child holds the pipe open unread is left when stop is
// closed. A nil stop means that no child came to be.
func feedStdin(w *os.File, b []byte, stop <-chan struct{}) {
	if stop == nil {
		_ = w.Close()
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = w.Write(b)
	}()
	select {
	case <-written:
	case <-stop:
	}
	_ = w.Close()
}

// socketpair is a connected pair: ours non-blocking, so that a read can be
// ended; theirs blocking, as programs expect of stdout.
func socketpair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		_ = unix.Close(fds[0])
		_ = unix.Close(fds[1])
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "child output"), os.NewFile(uintptr(fds[1]), "child stdout"), nil
}
