// Package fakeapi is a scripted Messages API on loopback: the real client
// talks to it as if it were the service, and gets the turns of a Script.
//
// It judges nothing, keeps no state that a test could not see, and never
// leaves loopback. The one invariant: a turn is picked by the number of
// replies already in the request, so that a client which asks again is told
// the same thing again.
package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody bounds a request; the service itself takes 32 MB.
const maxBody = 32 << 20

// Server is the scripted service. Make it with New, then Start it.
type Server struct {
	URL string // http://127.0.0.1:PORT, set by Start

	script Script
	http   *http.Server
	done   chan struct{}
	once   sync.Once

	mu       sync.Mutex
	requests []Request
	attempts map[[2]int]int // conversation and turn -> times asked for
	changed  chan struct{}  // closed and renewed when a request is recorded
	serial   int
}

// New is a server of script, not yet listening.
func New(script Script) *Server {
	return &Server{
		script: script, done: make(chan struct{}), changed: make(chan struct{}),
		attempts: map[[2]int]int{},
	}
}

// Start listens on a free port of loopback and serves until Close.
func (s *Server) Start() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen on loopback: %w", err)
	}
	s.URL = "http://" + l.Addr().String()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.http.Serve(l) }()
	return nil
}

// Close drops every connection, held ones too.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.done) })
	if s.http == nil {
		return nil
	}
	return s.http.Close()
}

// Requests are the Messages API requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Wait returns the first request that ok accepts, waiting for it if it has
// not been made yet.
func (s *Server) Wait(ctx context.Context, ok func(Request) bool) (Request, error) {
	for seen := 0; ; {
		s.mu.Lock()
		fresh, changed := s.requests[seen:], s.changed
		s.mu.Unlock()
		for _, r := range fresh {
			if ok(r) {
				return r, nil
			}
		}
		seen += len(fresh)
		select {
		case <-changed:
		case <-s.done:
			return Request{}, errors.New("wait for a request: server closed")
		case <-ctx.Done():
			return Request{}, fmt.Errorf("wait for a request (%d seen): %w", seen, ctx.Err())
		}
	}
}

// ServeHTTP answers as the service would.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		writeJSON(w, http.StatusOK, nil, []byte("{}"))
	case strings.HasSuffix(r.URL.Path, "/messages/count_tokens"):
		writeJSON(w, http.StatusOK, nil, mustJSON(map[string]any{"input_tokens": 100}))
	case strings.HasSuffix(r.URL.Path, "/messages"):
		s.messages(w, r)
	default:
		writeJSON(w, http.StatusNotFound, nil, Fault{Status: http.StatusNotFound}.body())
	}
}

func (s *Server) messages(w http.ResponseWriter, hr *http.Request) {
	r := Request{Method: hr.Method, Path: hr.URL.Path, Header: hr.Header.Clone()}
	body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, maxBody))
	if err == nil {
		r.Body = body
		err = r.parse()
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, nil, Fault{Status: http.StatusBadRequest, Message: err.Error()}.body())
		return
	}
	turn := s.record(&r)
	fault := turn.fault(r.Attempt)
	if fault.Make != nil {
		fault = fault.Make()
	}
	if !s.pause(hr.Context(), fault.Delay) {
		return
	}
	if fault.Status != 0 {
		writeJSON(w, fault.Status, fault.Header, fault.body())
		return
	}
	maps.Copy(w.Header(), turn.Header)
	s.send(hr.Context(), w, s.reply(r, turn), r.Stream, fault)
}

// record finds the turn for r and keeps r.
func (s *Server) record(r *Request) Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := Say("nothing is scripted for this request")
	first := r.FirstUser()
	i := slices.IndexFunc(s.script, func(c Conversation) bool { return strings.Contains(first, c.Match) })
	r.Turn = r.replies()
	if i >= 0 {
		r.Conversation = s.script[i].Match
		if r.Turn < len(s.script[i].Turns) {
			r.Scripted, turn = true, s.script[i].Turns[r.Turn]
		}
	}
	key := [2]int{i, r.Turn}
	r.Attempt = s.attempts[key]
	s.attempts[key]++
	s.requests = append(s.requests, *r)
	close(s.changed)
	s.changed = make(chan struct{})
	return turn
}

func (t Turn) fault(attempt int) Fault {
	if attempt < len(t.Faults) {
		return t.Faults[attempt]
	}
	if n := len(t.Faults); n > 0 && t.Faults[n-1].Sticky {
		return t.Faults[n-1]
	}
	return Fault{}
}

// reply fills in what the script left out: ids and the stop reason.
func (s *Server) reply(r Request, t Turn) reply {
	p := reply{model: r.Model, stop: t.Stop, blocks: slices.Clone(t.Blocks)}
	if t.From != nil {
		p.blocks = append(p.blocks, t.From(r)...)
	}
	stop := "end_turn"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	p.id = fmt.Sprintf("msg_%024d", s.serial)
	for i := range p.blocks {
		if p.blocks[i].Tool == "" {
			continue
		}
		stop = "tool_use"
		if p.blocks[i].ID == "" {
			s.serial++
			p.blocks[i].ID = fmt.Sprintf("toolu_%024d", s.serial)
		}
	}
	if p.stop == "" {
		p.stop = stop
	}
	return p
}

func (s *Server) send(ctx context.Context, w http.ResponseWriter, p reply, stream bool, f Fault) {
	if (f.Events == 0 || f.Whole && !stream) && !s.interfere(ctx, w, f) {
		return
	}
	if !stream {
		writeJSON(w, http.StatusOK, nil, mustJSON(p.message()))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, e := range p.events() {
		if i > 0 && i == f.Events && !s.interfere(ctx, w, f) {
			return
		}
		if e.write(w) != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
	}
}

// interfere holds, cuts or ends as f says; false = nothing more is to be sent.
func (s *Server) interfere(ctx context.Context, w http.ResponseWriter, f Fault) bool {
	switch {
	case f.Cut, f.Reset:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok && f.Reset {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}
		return false
	case f.Error != "":
		if w.Header().Get("Content-Type") == "" {
			writeJSON(w, statusOf(f.Error), nil, f.object(f.Error))
			return false
		}
		_, _ = fmt.Fprintf(w, "event: error\ndata: %s\n\n", f.object(f.Error))
		return false
	case f.End:
		return false
	case f.Hold == nil:
		return true
	}
	select {
	case <-f.Hold:
		return true
	case <-ctx.Done():
	case <-s.done:
	}
	return false
}

func (s *Server) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.done:
	}
	return false
}

func writeJSON(w http.ResponseWriter, status int, h http.Header, body []byte) {
	maps.Copy(w.Header(), h)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
