// Package serve is a small web page over the queue, for those who rather click:
// the list, one action whole, approve in two steps, reject with a reason, answer
// questions, let checkpoints go, take decisions back.
//
// It listens on loopback only and keeps nothing: each page is made of the queue
// as it is, and what decides and runs is behind Desk, as for loop review. A
// request counts when it bears the session that the printed link was exchanged
// for, names this server as its host, and comes from a page of its own. The
// invariants are that nothing changes but by a POST of a form that was shown,
// that what runs is what the form's page showed, and that every text of an
// agent's is quoted before it is put into a page. It does not keep out a process
// that reads this one's memory or the browser's.
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
	"github.com/seed-b23e517c/loop/report"
)

// DefaultIdle is how long nobody must have clicked for it to end.
const DefaultIdle = time.Hour

// How long requests may take: of a slow sender, and at the end.
const (
	readTime  = 30 * time.Second
	closeTime = 30 * time.Second
)

// Desk reads the queue and decides.
type Desk interface {
	Actions(ctx context.Context) ([]queue.Action, error)
	Get(ctx context.Context, ref string) (queue.Action, error)
	// Options are how the report prints an action now.
	Options(ctx context.Context, a queue.Action) (report.Options, error)
	// Decide records a decision about an action as it was seen.
	Decide(ctx context.Context, seen queue.Action, verb, reason string) (queue.Action, error)
	// Replay shows an action at w, asks agree, and runs it.
	Replay(ctx context.Context, seen queue.Action, insist replay.Insist, w io.Writer, agree Agree) (replay.Result, error)
}

// Agree answers for the person. a is as it would run.
type Agree = func(ctx context.Context, a queue.Action, since replay.Since) (bool, error)

// Options say where to listen and for how long.
type Options struct {
	Dir   string    // of the repository
	Out   io.Writer // where the link is printed
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	Idle  time.Duration // 0 = DefaultIdle
}

// Listen opens addr, which must be on loopback.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("address %q is not on loopback: loop serve is for this machine only", addr)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		l.Close()
		return nil, fmt.Errorf("address %q is not on loopback: it leads to %s", addr, l.Addr())
	}
	return l, nil
}

// Run serves until ctx ends, when its error is returned, or until nobody has
// asked for anything for a long time. A replay that is under way when ctx ends
// is interrupted and recorded as such.
func Run(ctx context.Context, l net.Listener, d Desk, o Options) error {
	s, err := newServer(ctx, l.Addr().String(), d, o)
	if err != nil {
		l.Close()
		return err
	}
	web := &http.Server{
		Handler: s, ReadHeaderTimeout: readTime, ReadTimeout: readTime, IdleTimeout: readTime, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // it would print what strangers send
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	if _, err := fmt.Fprintf(o.Out, "%s\nopen it in your browser: it can be used once. Ctrl-C ends it, and so do %d minutes without a click.\n", s.Link(), int(s.o.Idle.Minutes())); err != nil {
		web.Close()
		return err
	}
	idle := make(chan struct{})
	go s.waitIdle(ctx, idle)
	select {
	case err := <-ended:
		return err
	case <-idle:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := web.Shutdown(grace); err != nil {
		web.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// server answers requests.
type server struct {
	ctx  context.Context // its life, which a replay outlives the request in
	d    Desk
	o    Options
	host string // 127.0.0.1:PORT
	base string // the path below which everything is, with slashes
	link string // exchanged once for the session
	mux  *http.ServeMux
	page *pages

	session string // what the cookie holds
	key     []byte // of the forms

	replays sync.Mutex    // one at a time, as on the command line
	runs    atomic.Uint64 // its number

	mu   sync.Mutex
	used bool // the link
	last time.Time
	busy int
}

func newServer(ctx context.Context, host string, d Desk, o Options) (*server, error) {
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	p, err := newPages()
	if err != nil {
		return nil, err
	}
	// A cookie is sent to every port of a host: its path is what keeps it from
	// other servers on this machine.
	s := &server{
		ctx: ctx, d: d, o: o, host: host, base: "/" + rand.Text() + "/", page: p, last: o.Now(),
		link: rand.Text(), session: rand.Text(), key: []byte(rand.Text()), mux: http.NewServeMux(),
	}
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}": s.list, "GET /action/{n}": s.action, "GET /approve/{n}": s.ask,
		"POST /approve/{n}": s.approve, "POST /reject/{n}": s.reject, "POST /answer/{n}": s.answer, "POST /undo/{n}": s.undo,
	} {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				s.trouble(w, r, err)
			}
		})
	}
	return s, nil
}

// Link is what a person opens.
func (s *server) Link() string { return "http://" + s.host + s.base + "?token=" + s.link }

// begin and end count the requests of the person.
func (s *server) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.busy = s.o.Now(), s.busy+1
}

func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.busy = s.o.Now(), s.busy-1
}

// waitIdle closes idle when nobody has asked for anything for long enough.
func (s *server) waitIdle(ctx context.Context, idle chan<- struct{}) {
	for {
		s.mu.Lock()
		rest := s.o.Idle - s.o.Now().Sub(s.last)
		if rest <= 0 && s.busy > 0 {
			rest = s.o.Idle
		}
		s.mu.Unlock()
		if rest <= 0 {
			close(idle)
			return
		}
		select {
		case <-s.o.After(rest):
		case <-ctx.Done():
			return
		}
	}
}
