package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-b23e517c/loop/internal/proc"
)

const (
	partingTime = 2 * time.Second // for a server to end when its input has
	maxSaid     = 64 << 10        // of what it prints, the last of it
	maxLine     = 64 << 10        // of one line that does not end
)

// process is a server on stdio: in a group of its own, of which nothing stays.
type process struct {
	child  *proc.Child
	in     *os.File
	out    *messages
	errs   *os.File
	log    *log
	copied chan struct{}
	over   context.Context // done when the server has ended
	once   sync.Once
	state  proc.State
}

func start(s Server, o Options, hidden secrets) (p *process, err error) {
	path, err := proc.LookPath(s.Command, o.Env)
	if err != nil {
		return nil, &MissingError{What: "the server's program is not there", Err: err}
	}
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	errs, stderr, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	defer stderr.Close()
	child, err := proc.Start(proc.Options{
		Argv: append([]string{path}, s.Args...), Dir: o.Dir, Env: environment(o.Env, s.Env, o.Dir),
		Input: theirs, Stderr: stderr, Mark: o.Mark, Bound: true, Grace: partingTime,
	})
	if err != nil {
		_ = in.Close()
		_ = errs.Close()
		return nil, &MissingError{What: "the server cannot be started", Err: err}
	}
	over, cancel := context.WithCancel(context.Background())
	p = &process{child: child, in: in, errs: errs, log: &log{hidden: hidden, out: o.Out}, copied: make(chan struct{}), over: over}
	p.out = newMessages(child.Stdout(), p.log)
	go func() {
		<-child.Done()
		cancel()
	}()
	go func() {
		defer close(p.copied)
		_, _ = io.Copy(p.log, errs) // ends when the server has let go of it, or we have
		p.log.end()
	}()
	return p, nil
}

// environment is the person's own with what the configuration sets, and with
// what the client tells every server.
func environment(env []string, set map[string]string, dir string) []string {
	out := make([]string, 0, len(env)+len(set)+1)
	for _, kv := range env {
		name, _, _ := bytes.Cut([]byte(kv), []byte("="))
		if _, ok := set[string(name)]; !ok {
			out = append(out, kv)
		}
	}
	for k, v := range set {
		out = append(out, k+"="+v)
	}
	if _, ok := set[projectVar]; !ok && dir != "" {
		out = append(out, projectVar+"="+dir)
	}
	return out
}

// projectVar is what the client sets for each server that it starts.
const projectVar = "CLAUDE_PROJECT_DIR"

// end ends the server: by the end of its input, which is the way of the
// protocol, then by force.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.in.Close()
		t := time.NewTimer(partingTime)
		defer t.Stop()
		select {
		case <-p.over.Done():
			p.state = p.child.Wait()
		case <-t.C:
			p.state, _ = p.child.Terminate()
		}
		// A process that could not be ended may hold the other end.
		_ = p.errs.SetReadDeadline(time.Now().Add(partingTime))
		<-p.copied
		_ = p.errs.Close()
	})
}

// died reports whether the server has ended. What it has to say ends a moment
// before itself.
func (p *process) died() bool {
	t := time.NewTimer(partingTime)
	defer t.Stop()
	select {
	case <-p.over.Done():
		return true
	case <-t.C:
		return false
	}
}

// how says how a server that has ended did so.
func (p *process) how() string {
	s := p.child.Wait()
	if s.Signal != "" {
		return s.Signal
	}
	return fmt.Sprintf("exit %d", s.ExitCode)
}

func (p *process) said() string {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return string(p.log.tail)
}

// log keeps what a server prints, line by line, because a secret is found in
// whole lines only.
type log struct {
	hidden secrets
	out    io.Writer

	mu   sync.Mutex
	rest []byte
	tail []byte
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	if i := bytes.LastIndexByte(l.rest, '\n'); i >= 0 {
		l.put(l.rest[:i+1])
		l.rest = append([]byte(nil), l.rest[i+1:]...)
	}
	if len(l.rest) > maxLine {
		l.put(l.rest)
		l.rest = nil
	}
	return len(p), nil
}

// line takes a line that stands by itself.
func (l *log) line(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(append(bytes.TrimRight(text, "\r\n"), '\n'))
}

func (l *log) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.put(append(l.rest, '\n'))
		l.rest = nil
	}
}

func (l *log) put(lines []byte) {
	text := l.hidden.in(string(lines))
	l.tail = append(l.tail, text...)
	if n := len(l.tail) - maxSaid; n > 0 {
		l.tail = append([]byte(nil), l.tail[n:]...)
	}
	if l.out != nil {
		_, _ = io.WriteString(l.out, text) // the server goes on when nobody can watch
	}
}

// transport is the way to the server; one on stdio is started.
func (s *Session) transport(srv Server, o Options) (mcp.Transport, error) {
	switch srv.Way() {
	case Stdio:
		p, err := start(srv, o, s.hidden)
		if err != nil {
			return nil, err
		}
		s.process = p
		return &mcp.IOTransport{Reader: p.out, MaxLineLength: 2 * maxMessage, Writer: p.in}, nil
	case HTTP, SSE:
		return overHTTP(srv, o)
	}
	return nil, &MissingError{What: fmt.Sprintf("loop cannot reach a server of type %q", srv.Way())}
}
