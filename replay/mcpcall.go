package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay/mcp"
)

// MCPPlaces say where the configurations of MCP servers are.
type MCPPlaces struct {
	Runs   string            // the folder with one for each run, in which lies what it had; "" = none
	Config string            // the file that a run would be given now; "" = none
	Client string            // the client's own file; "" = none
	HTTP   http.RoundTripper // for servers on HTTP; nil = straight to them
}

// ServerCall is the call of an MCP tool, as it would be made now.
type ServerCall struct {
	Name     string     // the server's, as the tool's name has it
	Server   mcp.Server // as the configuration has it: values in it may be secrets
	Tool     string
	Dir      string   // where it is started
	Recorded bool     // the configuration is from the time of the call
	Changed  []string // what of it is not the same now
	Gone     string   // the configuration that has no such server any more; "" = none
	Unset    []string // variables that it names and that are not set
	Problem  string   // why the server is not known; "" = it is
}

func isMCP(tool string) bool { return strings.HasPrefix(tool, "mcp__") }

// LookServer finds the server of an MCP call: in what its run was given, else
// in the configurations of the client as they are now.
func LookServer(a queue.Action, session queue.Session, p MCPPlaces, env []string) ServerCall {
	c := ServerCall{Name: mcp.ServerOf(a.Tool), Dir: serverDir(a, session)}
	list, recorded, err := p.servers(a, session)
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	ok := false
	if c.Server, c.Tool, ok = mcp.Find(list, a.Tool); !ok {
		c.Problem = "no configuration has the server"
		if recorded {
			c.Problem = "the configuration of its run has no such server"
		}
		return c
	}
	c.Recorded = recorded
	if c.Server.Helper != "" {
		c.Problem = "its headers come from a program (headersHelper), which loop does not run"
	}
	_, c.Unset = c.Server.Expand(lookup(env, c.Dir))
	if recorded && p.Config != "" {
		c.compare(p.Config, a.Tool)
	}
	return c
}

// servers are those that the call could be about, the first of a name first.
func (p MCPPlaces) servers(a queue.Action, session queue.Session) (list []mcp.Server, recorded bool, err error) {
	if p.Runs != "" && session.ID != "" && !session.Scan {
		list, err = mcp.Read(filepath.Join(p.Runs, session.ID, "mcp.json"))
		return list, true, err
	}
	folders := mcp.Folders(a.Cwd)
	var own []mcp.Server
	if p.Client != "" {
		if own, err = mcp.ReadClient(p.Client, folders); err != nil {
			return nil, false, err
		}
	}
	var project []mcp.Server
	for _, f := range folders {
		more, err := mcp.Read(filepath.Join(f, ".mcp.json"))
		if err != nil {
			return nil, false, err
		}
		project = append(project, more...)
	}
	return slices.Concat(own, project), false, nil
}

// compare holds what was recorded against what the file has now.
func (c *ServerCall) compare(path, tool string) {
	list, err := mcp.Read(path)
	now, _, ok := mcp.Find(list, tool)
	if err != nil || !ok {
		c.Gone = path
		return
	}
	c.Changed = c.Server.Differences(now)
}

// serverDir is where the client was started, and so its servers.
func serverDir(a queue.Action, session queue.Session) string {
	if session.Work != nil && session.Work.Mode == queue.WorkWorktree && unusable(session.Work.Dir) == "" {
		return session.Work.Dir
	}
	return firstOf(session.Dir, a.Cwd)
}

// lookup gives the values of variables as the client has them.
func lookup(env []string, dir string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == "CLAUDE_PROJECT_DIR" {
			return dir, dir != ""
		}
		for i := len(env) - 1; i >= 0; i-- {
			if n, v, _ := strings.Cut(env[i], "="); n == name {
				return v, true
			}
		}
		return "", false
	}
}

// refuse says why the call cannot be made.
func (c *ServerCall) refuse(a queue.Action) error {
	why := c.Problem
	if why == "" {
		why = unusable(c.Dir)
	}
	if why == "" {
		return nil
	}
	return &RefusedError{
		Action: a.Number, Reason: fmt.Sprintf("the MCP server %q: %s", c.Name, term.Line(why)),
		Advice: fmt.Sprintf("put it into the configuration again, or do it by hand, then loop reject %d --reason done-by-hand", a.Number),
	}
}

func (c *ServerCall) same(o *ServerCall) bool {
	return c == nil && o == nil || c != nil && o != nil && c.Tool == o.Tool && c.Dir == o.Dir && c.Problem == o.Problem &&
		len(c.Server.Differences(o.Server)) == 0
}

// callServer makes the call that was shown. The server is asked first whether
// it has the tool: what is not there any more leaves the action as it is.
func (r Request) callServer(ctx context.Context, a queue.Action, c *ServerCall) (Result, error) {
	timeout := r.timeout()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("ended after %s", timeout))
	defer cancel()
	began := r.Now()
	server, _ := c.Server.Expand(lookup(r.Env, c.Dir))
	tee := &visible{w: r.Out}
	kept, end := r.keep(ctx, a)
	session, err := mcp.Open(ctx, server, c.Tool, mcp.Options{
		Env: r.Env, Dir: c.Dir, Client: r.Version, HTTP: r.MCP.HTTP, Connect: r.Connect, Mark: mark(a), Out: io.MultiWriter(tee, kept),
	})
	var missing *mcp.MissingError
	if errors.As(err, &missing) {
		end()
		tee.end()
		return Result{Action: a}, &RefusedError{
			Action: a.Number, Reason: fmt.Sprintf("the MCP server %q: %s", c.Name, term.Line(err.Error())), Err: err,
			Advice: fmt.Sprintf("it still waits; do it by hand, then loop reject %d --reason done-by-hand", a.Number),
		}
	}
	begun, beginErr := r.begin(ctx, a)
	if beginErr != nil {
		end()
		if session != nil {
			session.Close()
		}
		return Result{Action: a}, beginErr
	}
	var res mcp.Result
	var said string
	var broken *mcp.BrokenError
	if errors.As(err, &broken) {
		said = broken.Said
	}
	if err == nil {
		res, err = session.Call(ctx, json.RawMessage(a.AsRun().Input))
		session.Close()
		said = session.Said()
		_, _ = tee.Write([]byte(res.Text))
	}
	end()
	tee.end()
	rec := serverRecord(begun, res, said, err)
	if err != nil && broken == nil {
		rec.Error += "; whether it took effect is not known"
	}
	rec.Duration = r.Now().Sub(began)
	return r.conclude(ctx, begun, rec, nil, interruption(err))
}

// serverRecord puts what came of a call into words.
func serverRecord(a queue.Action, res mcp.Result, said string, err error) queue.Replay {
	rec := queue.Replay{Output: strings.ToValidUTF8(said+res.Text, "\ufffd")}
	if n := len(rec.Output) - proc.DefaultTail; n > 0 {
		rec.Output, rec.Cut = strings.ToValidUTF8(rec.Output[n:], ""), true
	}
	if a.Replay != nil {
		rec.Started = a.Replay.Started
	}
	switch {
	case errors.Is(err, context.Canceled):
		rec.ExitCode, rec.Error = -1, "interrupted"
	case err != nil:
		rec.ExitCode, rec.Error = -1, err.Error()
	case res.IsError:
		rec.ExitCode, rec.Error = 1, "the tool says that it failed"
	}
	return rec
}

// interruption is the context's error, if it was that.
func interruption(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func (r Request) timeout() time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	return DefaultTimeout
}
