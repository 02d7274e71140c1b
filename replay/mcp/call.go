package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// legacyProtocol is the newest version with a handshake that servers of
	// every age answer; the one after it begins with a request that older ones
	// do not know.
	legacyProtocol = "2025-11-25"

	// DefaultConnectTimeout is how long a server may take to start and to say
	// what it has; some are downloaded first.
	DefaultConnectTimeout = time.Minute

	maxNamedTools = 20
	maxPages      = 100
)

// Options are what a call needs beside the server and the arguments.
type Options struct {
	Env     []string          // the person's own; the server's configuration is added
	Dir     string            // where a server on stdio is started
	Client  string            // what the server is told of our version
	HTTP    http.RoundTripper // for servers on HTTP; nil = straight to them
	Connect time.Duration     // 0 = DefaultConnectTimeout
	Mark    string            // what the server's processes bear, see internal/proc
	Out     io.Writer         // gets what a server on stdio prints beside its answers; nil = nobody
}

// MissingError says that there is no such server or tool: nothing was called.
type MissingError struct {
	What string
	Err  error
}

func (e *MissingError) Error() string {
	if e.Err == nil {
		return e.What
	}
	return e.What + ": " + e.Err.Error()
}

func (e *MissingError) Unwrap() error { return e.Err }

// BrokenError says that a server hung, died or could not be understood before
// anything was called.
type BrokenError struct {
	Err  error
	Said string // what it printed: hostile text
}

func (e *BrokenError) Error() string { return e.Err.Error() }

func (e *BrokenError) Unwrap() error { return e.Err }

// Result is what a tool answered.
type Result struct {
	Text    string // all that it is made of, as text; hostile
	IsError bool   // the tool says that it failed
}

// Session is a server that has been found to have the tool. It must be closed.
type Session struct {
	session *mcp.ClientSession
	process *process // nil: not ours
	tool    string
	hidden  secrets
	stop    context.CancelFunc // ends the connection
}

// Open starts or reaches a server, of which Expand has been made, and looks for
// the tool. A *MissingError says that one of them is not there, a *BrokenError
// that there is no use in it.
func Open(ctx context.Context, s Server, tool string, o Options) (*Session, error) {
	out := &Session{hidden: s.hide()}
	transport, err := out.transport(s, o)
	if err != nil {
		return nil, err // missing, or no pipe to be had
	}
	limit := o.Connect
	if limit <= 0 {
		limit = DefaultConnectTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the server did not answer within %s", limit))
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "loop", Version: o.Client}, &mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	if o.Dir != "" {
		client.AddRoots(&mcp.Root{URI: "file://" + o.Dir})
	}
	err = out.watched(ctx, func(ctx context.Context) (err error) {
		// The connection lives as long as the context with which it was made.
		life, stop := context.WithCancel(context.WithoutCancel(ctx))
		out.stop = stop
		late := context.AfterFunc(ctx, stop)
		out.session, err = client.Connect(life, transport, &mcp.ClientSessionOptions{ProtocolVersion: legacyProtocol})
		if err != nil {
			return unreached(ctx, s, err)
		}
		late()
		out.tool, err = find(ctx, out.session, tool)
		return err
	})
	if err == nil {
		return out, nil
	}
	out.Close()
	var missing *MissingError
	if errors.As(err, &missing) {
		return nil, &MissingError{What: out.hidden.in(err.Error())}
	}
	return nil, &BrokenError{Err: err, Said: out.Said()}
}

// unreached tells a server that is not there from one that hangs or dies.
func unreached(ctx context.Context, s Server, err error) error {
	if s.Way() == Stdio || ctx.Err() != nil {
		return err
	}
	if strings.Contains(err.Error(), "Unauthorized") || strings.Contains(err.Error(), "401") {
		return &MissingError{What: "the server wants a login, which only the client has", Err: err}
	}
	return &MissingError{What: "the server cannot be reached", Err: err}
}

// find is the tool's own name: the client's may be another spelling of it.
func find(ctx context.Context, s *mcp.ClientSession, tool string) (string, error) {
	var names []string
	cursor := ""
	for range maxPages {
		page, err := s.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		var answer *jsonrpc.Error
		if errors.As(err, &answer) {
			return "", &MissingError{What: "the server has no tools", Err: err}
		}
		if err != nil {
			return "", err
		}
		for _, t := range page.Tools {
			if t.Name == tool || clientName(t.Name) == tool {
				return t.Name, nil
			}
			names = append(names, t.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	has := "it has none"
	if len(names) > 0 {
		has = "it has " + strings.Join(names[:min(len(names), maxNamedTools)], ", ")
	}
	if n := len(names) - maxNamedTools; n > 0 {
		has += fmt.Sprintf(" and %d more", n)
	}
	return "", &MissingError{What: fmt.Sprintf("the server has no tool %q any more; %s", tool, has)}
}

// Call calls the tool with arguments that are a JSON object.
func (s *Session) Call(ctx context.Context, arguments json.RawMessage) (out Result, err error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	err = s.watched(ctx, func(ctx context.Context) error {
		res, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: s.tool, Arguments: arguments})
		var answer *jsonrpc.Error
		switch {
		case errors.As(err, &answer) && !undelivered(answer): // the server's no is an answer
			out = Result{Text: answer.Message, IsError: true}
			return nil
		case err != nil:
			return err
		case res.NeedsInput():
			out = Result{Text: "the tool asks for more, which loop cannot give", IsError: true}
			return nil
		}
		out = Result{Text: text(res), IsError: res.IsError}
		return nil
	})
	out.Text = s.hidden.in(out.Text)
	return out, err
}

// undelivered tells an error of the library's, for what a server on HTTP did not
// take or did not answer as it should, from a server's own.
func undelivered(e *jsonrpc.Error) bool { return e.Code == -32005 && e.Message == rejected }

const rejected = "rejected by transport"

// plain is an error of the library's without its own words round the cause.
func plain(err error) string {
	text := err.Error()
	for _, cut := range []string{`calling "tools/call": `, `sending "tools/call": `, rejected + ": "} {
		text = strings.Replace(text, cut, "", 1)
	}
	return strings.Join(strings.Fields(text), " ")
}

// watched runs something that the server must answer, and does not wait for
// one that has died.
func (s *Session) watched(ctx context.Context, do func(context.Context) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if s.process != nil {
		stop := context.AfterFunc(s.process.over, func() { cancel(errDied) })
		defer stop()
	}
	err := do(inner)
	var missing *MissingError
	switch {
	case err == nil || errors.As(err, &missing):
		return err
	case s.process != nil && errors.Is(s.process.out.why(), errTooLong):
		return errTooLong
	case ctx.Err() == nil && s.process != nil && s.process.died():
		return fmt.Errorf("the server ended (%s) before it answered", s.process.how())
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.process != nil && errors.Is(s.process.out.why(), io.EOF):
		return errors.New("the server closed its output before it answered")
	}
	return errors.New(s.hidden.in(plain(err)))
}

var errDied = errors.New("the server ended")

// Close ends the session and, of a server that was started for it, every
// process.
func (s *Session) Close() {
	if s.process != nil {
		s.process.end()
	}
	if s.session != nil {
		_ = s.session.Close() // the other side is gone
	}
	if s.stop != nil {
		s.stop()
	}
}

// Said is what a server on stdio has printed beside its answers.
func (s *Session) Said() string {
	if s.process == nil {
		return ""
	}
	return s.process.said()
}
