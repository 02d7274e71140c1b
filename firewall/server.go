package firewall

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxRequest bounds one hook input. The client writes file contents into it.
const maxRequest = 64 << 20

// Handler answers one request.
type Handler interface {
	Handle(context.Context, Request) Reply
}

// Server listens on a unix socket in a private folder for one attempt.
type Server struct {
	dir      string
	listener net.Listener
	handler  Handler
	deadline time.Duration
	wg       sync.WaitGroup
}

// maxSocketPath is what every system takes as a socket's path.
const maxSocketPath = 100

// Listen makes the socket and begins to answer. The folder has mode 0700.
func Listen(h Handler, deadline time.Duration) (*Server, error) {
	dir, err := os.MkdirTemp("", "loop-")
	if err == nil && len(dir) > maxSocketPath-len("/s") {
		_ = os.Remove(dir)
		dir, err = os.MkdirTemp("/tmp", "loop-")
	}
	if err != nil {
		return nil, fmt.Errorf("make the hook socket: %w", err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("make the hook socket: %w", err)
	}
	s := &Server{dir: dir, listener: l, handler: h, deadline: deadline}
	s.wg.Add(1)
	go s.accept()
	return s, nil
}

// Socket is the path that hooks connect to.
func (s *Server) Socket() string { return filepath.Join(s.dir, "s") }

// Close stops answering, waits for answers under way, and removes the socket.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.wg.Wait()
	if rmErr := os.RemoveAll(s.dir); err == nil {
		err = rmErr
	}
	return err
}

func (s *Server) accept() {
	defer s.wg.Done()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer conn.Close()
			s.serve(conn)
		})
	}
}

func (s *Server) serve(conn net.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), s.deadline)
	defer cancel()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	// No answer is a refusal on the other side, so a failure to write needs
	// no handling here.
	if b, err := json.Marshal(s.answer(ctx, conn)); err == nil {
		_, _ = conn.Write(b)
	}
}

func (s *Server) answer(ctx context.Context, conn io.Reader) (r Reply) {
	event := ""
	defer func() {
		if p := recover(); p != nil {
			r = Failure(event, fmt.Errorf("internal error: %v", p))
		}
	}()
	data, err := io.ReadAll(io.LimitReader(conn, maxRequest+1))
	if err != nil {
		return Failure(event, err)
	}
	if len(data) > maxRequest {
		return Failure(event, fmt.Errorf("the call is larger than %d MiB", maxRequest>>20))
	}
	req, err := ParseRequest(data)
	if err != nil {
		return Failure(req.Event, err)
	}
	event = req.Event
	return s.handler.Handle(ctx, req)
}
