package replay

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// noteEvery is how often output is put into the queue while a replay goes on.
const noteEvery = time.Second / 2

// soFar keeps what a replay has printed until now in the queue, so that it is
// there when loop itself is killed.
type soFar struct {
	mu   sync.Mutex
	tail []byte
	cut  bool
	wake chan struct{}
}

func (s *soFar) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.tail = append(s.tail, p...)
	if n := len(s.tail) - proc.DefaultTail; n > 0 {
		s.tail, s.cut = append([]byte(nil), s.tail[n:]...), true
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

// keep begins to keep an action's output. What it returns ends that; the
// outcome is written after it.
func (r Request) keep(ctx context.Context, a queue.Action) (s *soFar, end func()) {
	s = &soFar{wake: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.wake:
			}
			s.mu.Lock()
			output, cut := strings.ToValidUTF8(string(s.tail), "\ufffd"), s.cut
			s.mu.Unlock()
			// One that fails is made good by the next, or by the outcome.
			_ = r.Store.NoteOutput(ctx, a.ID, output, cut)
			t := time.NewTimer(noteEvery)
			select {
			case <-ctx.Done():
			case <-t.C:
			}
			t.Stop()
		}
	}()
	return s, func() {
		cancel()
		<-done
	}
}
