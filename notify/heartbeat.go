package notify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"
)

// Heartbeat lets a dead-man's switch know that a run lives.
type Heartbeat struct {
	File  string        // written with every beat: its time of change tells; "" = none
	URL   string        // asked for with every beat; "" = none
	Every time.Duration // between two beats
	Say   func() any    // what stands in the file

	Client *http.Client
	Failed func(text string) // told once; from another goroutine
}

// Start beats until the function that it returns is called. The first beat is
// now, and none comes after the end: silence is the message.
func (h Heartbeat) Start() (stop func()) {
	if h.File == "" && h.URL == "" || h.Every <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(h.Every)
		defer tick.Stop()
		said := false
		for {
			if err := h.beat(ctx); err != nil && ctx.Err() == nil && !said && h.Failed != nil {
				said = true
				h.Failed("heartbeat: " + err.Error() + "; further failures of it are not told")
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func (h Heartbeat) beat(ctx context.Context) error {
	return errors.Join(h.write(), h.get(ctx))
}

func (h Heartbeat) write() error {
	if h.File == "" {
		return nil
	}
	data, err := json.Marshal(h.Say())
	if err != nil {
		return err
	}
	if err := os.WriteFile(h.File+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(h.File+".new", h.File)
}

func (h Heartbeat) get(ctx context.Context) error {
	if h.URL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return errors.New("the address is none")
	}
	return Options{Client: h.Client}.do(req)
}
