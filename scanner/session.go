package scanner

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// The bounds of what the files of a session tell each other.
const (
	maxSessionWrites = 4096
	maxSessionBytes  = 16 << 20
)

// Session is what the files of one session have in common: a subagent's calls
// stand in a file of their own, and it may run what the main agent wrote, or
// the other way round. Each file is first gathered from, then scanned with the
// session in its Options; a call that stands in two files counts in the first.
// It is not for use by several goroutines at a time.
type Session struct {
	writes []sessionWrite // in the order of their times, when sorted
	bytes  int
	sorted bool
	known  *known
}

// sessionWrite is a call that puts something into files.
type sessionWrite struct {
	call policy.Call
	file string
	line int
	time time.Time
}

// NewSession returns a Session of no files.
func NewSession() *Session { return &Session{known: newKnown()} }

// Gather reads the transcript r for what its calls write into files.
func (ses *Session) Gather(ctx context.Context, r io.Reader, o Options) error {
	lines := transcript.NewLines(r, transcript.Options{MaxLine: o.MaxLine})
	cwd := o.Cwd
	var stats transcript.Stats
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		marks, _ := survey(l.Bytes)
		if l.Oversize || marks&(markCall|markNotice|markForeign) == 0 && shapeOf(l.Bytes) != shapeOdd {
			continue
		}
		for _, ev := range l.Events(&stats) {
			switch {
			case ev.Kind == transcript.KindInit && ev.Init.Cwd != "":
				cwd = ev.Init.Cwd
			case ev.Kind == transcript.KindCall:
				ses.gather(ev, o.File, cwd)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (ses *Session) gather(ev transcript.Event, file, cwd string) {
	c := policy.Call{Tool: ev.Call.Name, Input: ev.Call.Input, Cwd: cwd}
	if ev.Cwd != "" {
		c.Cwd = ev.Cwd
	}
	if !writesFiles(c.Tool) && !mayWrite(c.Input) || len(c.Input) > maxSessionBytes {
		return
	}
	ses.sorted = false
	ses.writes = append(ses.writes, sessionWrite{c, file, ev.Line, ev.Time})
	ses.bytes += len(c.Input)
	for len(ses.writes) > maxSessionWrites || ses.bytes > maxSessionBytes {
		ses.bytes -= len(ses.writes[0].call.Input)
		ses.writes = ses.writes[1:]
	}
}

// order sorts the writes by their times; one without a time comes first, so
// that it is known to every call.
func (ses *Session) order() {
	if !ses.sorted {
		slices.SortStableFunc(ses.writes, func(a, b sessionWrite) int { return a.time.Compare(b.time) })
		ses.sorted = true
	}
}

// catchUp remembers what other files of the session had written by then. A
// call without a time knows all of it.
func (s *scanning) catchUp(now time.Time) {
	ses := s.o.Session
	if ses == nil {
		return
	}
	ses.order()
	for ; s.due < len(ses.writes); s.due++ {
		w := &ses.writes[s.due]
		if !now.IsZero() && w.time.After(now) {
			return
		}
		if w.file == s.o.File {
			continue // it comes with its own line
		}
		s.files.from = w.file
		s.remember(w.call.Decoded(), w.line)
		s.files.from = ""
	}
}
