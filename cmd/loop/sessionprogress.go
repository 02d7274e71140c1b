package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
)

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// progress says on a terminal how far the reading is; stop takes it away.
func (s *sessionScan) progress(files []sessionFile) (stop func()) {
	if !term.IsTerminal(s.a.stderr) {
		return func() {}
	}
	var total int64
	for _, f := range files {
		total += f.size
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(150 * time.Millisecond)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-done:
				if shown {
					fmt.Fprint(s.a.stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
				shown = true
				text := fmt.Sprintf("reading %d of %d session files, %s of %s", min(s.files.Load()+1, int64(len(files))), len(files), megabytes(s.bytes.Load()), megabytes(total))
				fmt.Fprintf(s.a.stderr, "\r\x1b[K%s", term.Truncate(text, max(term.Width(s.a.stderr), 20)-1))
			}
		}
	})
	return sync.OnceFunc(func() { close(done); wg.Wait() })
}

func megabytes(n int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/(1<<20)), ".0") + " MB"
}
