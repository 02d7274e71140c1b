package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// stopName is the file in the state folder by which a run is asked to stop.
const stopName = "stop.json"

// How a run can be asked to stop.
const (
	StopAfterStory = "after-story"
	StopNow        = "now" // as the first signal does
)

// stopPoll is how often a run looks whether it was asked to stop.
const stopPoll = 500 * time.Millisecond

// StopRequest asks one run to stop.
type StopRequest struct {
	Schema int       `json:"schema"`
	Pid    int       `json:"pid"`   // of the run that is meant
	Start  string    `json:"start"` // start time of that process
	How    string    `json:"how"`   // StopAfterStory or StopNow
	Who    string    `json:"who"`   // who asked
	When   time.Time `json:"when"`
}

// AskStop leaves the request for the run that works in this state folder.
func AskStop(state string, q StopRequest) error {
	q.Schema = 1
	data, err := json.Marshal(q)
	if err != nil {
		return err
	}
	path := filepath.Join(state, stopName)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("ask the run to stop: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("ask the run to stop: %w", err)
	}
	return nil
}

// stopWatch knows whether the run was asked to stop.
type stopWatch struct {
	state string
	pid   int
	start string

	mu    sync.Mutex
	asked StopRequest   // How is "" when nobody asked
	after chan struct{} // closed when no further story is wanted
}

// watchStop looks for requests until ctx ends. The context that it returns
// ends as well when the run is to stop now. A request from before is for a run
// that is gone.
func watchStop(ctx context.Context, state string, pid int, start string) (context.Context, *stopWatch, func()) {
	w := &stopWatch{state: state, pid: pid, start: start, after: make(chan struct{})}
	_ = os.Remove(filepath.Join(state, stopName)) // one that stays is for another process
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(stopPoll)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if w.look() == StopNow {
					q, _ := w.request()
					cancel(&stopError{q})
				}
			}
		}
	})
	return ctx, w, func() {
		cancel(nil)
		wg.Wait()
		_ = os.Remove(filepath.Join(state, stopName))
	}
}

// look reads the request, if there is one, and says how far it goes.
func (w *stopWatch) look() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	data, err := os.ReadFile(filepath.Join(w.state, stopName))
	var q StopRequest
	if errors.Is(err, fs.ErrNotExist) || err != nil || json.Unmarshal(data, &q) != nil {
		return w.asked.How
	}
	if q.Pid != w.pid || q.Start != w.start || q.How == w.asked.How || w.asked.How == StopNow {
		return w.asked.How
	}
	if w.asked.How == "" {
		close(w.after)
	}
	w.asked = q
	return q.How
}

// request is what was asked; looking costs a file, so that a story that begins
// just now is not begun.
func (w *stopWatch) request() (StopRequest, bool) {
	if w == nil {
		return StopRequest{}, false
	}
	w.look()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked, w.asked.How != ""
}

// orStop is a context that also ends when no further story is wanted: a run
// that only waits has nothing to end first.
func (w *stopWatch) orStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if w != nil {
		go func() {
			select {
			case <-w.after:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// reason is why a session that was asked to stop ended, for a person.
func (q StopRequest) reason() string {
	if q.How == StopNow {
		return "stopped by " + q.Who + " (loop stop --now)"
	}
	return "stopped before the next story by " + q.Who + " (loop stop)"
}

// bySignal is the reason of what a signal ended.
const bySignal = "interrupted by a signal"

// stopError is the cause of a context that loop stop --now ended.
type stopError struct{ q StopRequest }

func (e *stopError) Error() string { return e.q.reason() }

// interruption says who ended a context.
func interruption(ctx context.Context) string {
	var asked *stopError
	var broke *brokenError
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &asked):
		return asked.Error()
	case errors.As(cause, &broke):
		return broke.Error()
	}
	return bySignal
}

// stopped says why no further story is begun, "" when one may be.
func (r *run) stopped(ctx context.Context) string {
	if ctx.Err() != nil {
		return interruption(ctx)
	}
	if q, ok := r.asks.request(); ok {
		return q.reason()
	}
	return ""
}
