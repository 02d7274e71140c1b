// Package port is the way from the client's hooks to the firewall: a port on
// loopback, and the settings by which the client finds it. It is apart from the
// firewall because the hook that answers alone needs no HTTP, and is started
// before every call.
package port

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
)

// maxRequest bounds one hook input. The client writes file contents into it.
const maxRequest = 64 << 20

// maxStrangers is how many requests of strangers are told one by one.
const maxStrangers = 20

// Handler answers one request.
type Handler interface {
	Handle(context.Context, firewall.Request) firewall.Reply
}

// Server answers the hooks of one attempt on a loopback port. Whoever speaks
// to it must bear its token, which stands in the client's settings file until
// the client has read it, and nowhere else: not in an environment, not on a
// command line. Everybody else gets nothing and is noted.
type Server struct {
	listener net.Listener
	http     *http.Server
	handler  Handler
	deadline time.Duration
	token    string
	wg       sync.WaitGroup

	mu        sync.Mutex
	strangers []string
	refused   int
}

// Listen makes the port and begins to answer.
func Listen(h Handler, deadline time.Duration) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a port for the client's hooks: %w", err)
	}
	s := &Server{listener: l, handler: h, deadline: deadline, token: rand.Text()}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: deadline, ErrorLog: nil,
		// One long-lived connection of the client must not outlast the attempt.
		IdleTimeout: deadline,
	}
	s.wg.Go(func() { _ = s.http.Serve(l) })
	return s, nil
}

// URL is where the hooks are answered.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/hook" }

// Port is the number of the port.
func (s *Server) Port() int {
	if a, ok := s.listener.Addr().(*net.TCPAddr); ok {
		return a.Port
	}
	return 0
}

// Close stops answering. Answers under way are waited for up to the deadline.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.deadline)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.wg.Wait()
	return err
}

// Strangers tells who else spoke to the port: a line for each of the first
// few, and how many there were in all.
func (s *Server) Strangers() (lines []string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strangers, s.refused
}

func (s *Server) serve(w http.ResponseWriter, hr *http.Request) {
	if !s.known(hr) {
		s.note(hr)
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithTimeout(hr.Context(), s.deadline)
	defer cancel()
	event, r := s.answer(ctx, hr.Body)
	if r.Exit != 0 && event == firewall.EventPreToolUse {
		r = firewall.Deny(strings.TrimSpace(r.Stderr))
	}
	if r.Exit != 0 {
		// The client takes a status like this for a hook that failed, and the
		// settings make a failed hook block.
		http.Error(w, r.Stderr, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, cmp.Or(r.Stdout, "{}"))
}

func (s *Server) known(hr *http.Request) bool {
	given, ok := strings.CutPrefix(hr.Header.Get("Authorization"), "Bearer ")
	return ok && hr.Method == http.MethodPost && subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) == 1
}

// note keeps what a stranger asked for; its text is hostile.
func (s *Server) note(hr *http.Request) {
	const shown = 300
	body, _ := io.ReadAll(io.LimitReader(hr.Body, shown))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused++
	if len(s.strangers) < maxStrangers {
		line := strings.TrimSpace(hr.Method + " " + hr.URL.Path + " " + string(body))
		s.strangers = append(s.strangers, strings.ToValidUTF8(line, "?"))
	}
}

func (s *Server) answer(ctx context.Context, body io.Reader) (event string, r firewall.Reply) {
	defer func() {
		if p := recover(); p != nil {
			r = firewall.Failure(event, fmt.Errorf("internal error: %v", p))
		}
	}()
	data, err := io.ReadAll(io.LimitReader(body, maxRequest+1))
	if err != nil {
		return event, firewall.Failure(event, err)
	}
	if len(data) > maxRequest {
		return event, firewall.Failure(event, fmt.Errorf("the call is larger than %d MiB", maxRequest>>20))
	}
	req, err := firewall.ParseRequest(data)
	event = req.Event
	if err != nil {
		return event, firewall.Failure(event, err)
	}
	return event, s.handler.Handle(ctx, req)
}
