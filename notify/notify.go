// Package notify tells a person who is away what happens in a run: by a command
// of theirs, a webhook, or a topic of ntfy; and lets a dead-man's switch know
// that the run lives.
//
// It never keeps a run waiting and never fails one: what cannot be told in time
// is dropped, and that a way does not work is said once. The one invariant:
// what it sends is masked and quoted, so that no secret and no control
// character of an agent's leaves the machine with it.
package notify

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
)

// Bounds of one telling.
const (
	DefaultTimeout = 15 * time.Second
	pending        = 32   // messages that may wait for a slow way
	longest        = 1000 // runes of one text
	mostActions    = 10
)

// Message is what is told. Its texts may be hostile until clean has gone over
// them.
type Message struct {
	Schema     int       `json:"schema"`
	Event      string    `json:"event"` // end, block, limit, question, executed
	Text       string    `json:"text"`  // one line
	Repository string    `json:"repository"`
	Session    string    `json:"session"`
	Story      string    `json:"story,omitempty"`
	Outcome    string    `json:"outcome,omitempty"`
	When       time.Time `json:"when"`
	Passed     int       `json:"passed"`
	Failed     int       `json:"failed"`
	Total      int       `json:"total"`
	CostUSD    float64   `json:"cost_usd"`
	Actions    []Action  `json:"actions,omitempty"` // the first ones
}

// Action is one that a message is about.
type Action struct {
	Number  uint64 `json:"number"`
	Command string `json:"command"`
}

// clean masks and quotes every text.
func (m Message) clean() Message {
	one := func(s string) string { return clip(term.Command(s)) }
	m.Schema = 1
	m.Text, m.Repository, m.Story = one(m.Text), one(m.Repository), one(m.Story)
	m.Event, m.Session, m.Outcome = one(m.Event), one(m.Session), one(m.Outcome)
	actions := m.Actions[:min(len(m.Actions), mostActions)]
	m.Actions = nil
	for _, a := range actions {
		m.Actions = append(m.Actions, Action{Number: a.Number, Command: one(a.Command)})
	}
	return m
}

func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > longest {
			return s[:i] + term.Ellipsis
		}
	}
	return s
}

// Line is the message on one line.
func (m Message) Line() string {
	return strings.TrimSpace(fmt.Sprintf("loop %s: %s: %s", m.Repository, m.Event, m.Text))
}

// Options say how to tell.
type Options struct {
	Command string // for sh; "" = none
	Webhook string
	Ntfy    string
	Events  []string // that are told

	Dir     string   // where the command runs
	Env     []string // its environment
	Client  *http.Client
	Timeout time.Duration     // of one telling by one way; 0 = DefaultTimeout
	Failed  func(text string) // told once that a way does not work; from another goroutine
}

// Sender tells messages in the order in which they came.
type Sender struct {
	o      Options
	ways   []way
	queue  chan Message
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	dropped int
	closed  bool
	said    map[string]bool // ways whose failure was told
}

type way struct {
	name string
	tell func(context.Context, Message) error
}

// New starts a sender, nil when there is no way to tell anything.
func New(o Options) *Sender {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	s := &Sender{o: o, queue: make(chan Message, pending), done: make(chan struct{}), said: map[string]bool{}}
	s.ways = o.ways()
	if len(s.ways) == 0 || len(o.Events) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.work(ctx)
	return s
}

// Send takes a message and returns at once.
func (s *Sender) Send(m Message) {
	if s == nil || !s.wants(m.Event) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	select {
	case s.queue <- m.clean():
	default:
		s.dropped++
	}
}

func (s *Sender) wants(event string) bool {
	return slices.Contains(s.o.Events, event)
}

// Close waits for what is still to be told, at most as long as each way may
// take once, and then gives it up.
func (s *Sender) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	s.mu.Unlock()
	timer := time.NewTimer(time.Duration(len(s.ways))*s.o.Timeout + time.Second)
	defer timer.Stop()
	defer s.cancel()
	select {
	case <-s.done:
	case <-timer.C:
		s.fail("queue", fmt.Errorf("the last messages could not be told in time"))
	}
	if s.dropped > 0 {
		s.fail("dropped", fmt.Errorf("%d messages came too fast to be told", s.dropped))
	}
}

func (s *Sender) work(ctx context.Context) {
	defer close(s.done)
	for m := range s.queue {
		for _, w := range s.ways {
			limited, cancel := context.WithTimeout(ctx, s.o.Timeout)
			err := w.tell(limited, m)
			cancel()
			if err != nil {
				s.fail(w.name, err)
			}
		}
	}
}

// fail tells once that a way does not work.
func (s *Sender) fail(name string, err error) {
	s.mu.Lock()
	first := !s.said[name]
	s.said[name] = true
	s.mu.Unlock()
	if first && s.o.Failed != nil {
		s.o.Failed(fmt.Sprintf("notify: %s: %v; further failures of it are not told", name, err))
	}
}
