package proc

import (
	"io"
	"os"
	"time"
)

// sink takes the output of a run through our own pipe, so that we decide when
// it ends: a process that holds the other end cannot keep us.
type sink struct {
	r    *stream
	w    *os.File // the child's end; ours is closed by started
	tee  io.Writer
	tail tail
	done chan struct{}
}

func newSink(keep int, tee io.Writer) (*sink, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if keep <= 0 {
		keep = DefaultTail
	}
	return &sink{r: &stream{f: r}, w: w, tee: tee, tail: tail{keep: keep}}, nil
}

// started lets go of the child's end and begins to read.
func (s *sink) started() {
	if s.done != nil {
		return
	}
	_ = s.w.Close()
	s.done = make(chan struct{})
	go s.copy()
}

func (s *sink) copy() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.r.Read(buf)
		s.tail.write(buf[:n])
		if s.tee != nil && n > 0 {
			_, _ = s.tee.Write(buf[:n]) // the child must not stall because a reader failed
		}
		if err != nil {
			return
		}
	}
}

// finish waits for the end of the output, at most a drain time, and gives
// what was kept.
func (s *sink) finish() (kept []byte, cut bool) {
	t := time.AfterFunc(DefaultDrain, s.r.over)
	defer t.Stop()
	<-s.done
	return s.tail.bytes()
}

// close may come at any time and twice.
func (s *sink) close() {
	_ = s.w.Close()
	_ = s.r.Close()
}

// tail keeps the last bytes of what is written, in twice their room.
type tail struct {
	keep int
	buf  []byte
	cut  bool
}

func (t *tail) write(p []byte) {
	if len(p) > t.keep {
		p, t.buf, t.cut = p[len(p)-t.keep:], t.buf[:0], true
	}
	if len(t.buf)+len(p) > 2*t.keep {
		n := copy(t.buf, t.buf[len(t.buf)-(t.keep-len(p)):])
		t.buf, t.cut = t.buf[:n], true
	}
	t.buf = append(t.buf, p...)
}

func (t *tail) bytes() ([]byte, bool) {
	if len(t.buf) > t.keep {
		return t.buf[len(t.buf)-t.keep:], true
	}
	return t.buf, t.cut
}
