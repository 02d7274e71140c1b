package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
)

const token = "hunter2hunter2"

func stdio(how string) Server {
	return Server{Name: "test", Command: os.Args[0], Args: []string{"--flag"}, Env: map[string]string{serverVar: how, "TOKEN": token}}
}

func options(t *testing.T) Options {
	return Options{Env: os.Environ(), Dir: t.TempDir(), Client: "1", Mark: "mcp-" + t.Name()}
}

// call opens a server, calls one tool and closes it.
func call(t *testing.T, s Server, tool, args string, o Options) (Result, string, error) {
	t.Helper()
	session, err := Open(t.Context(), s, tool, o)
	if err != nil {
		return Result{}, "", err
	}
	defer session.Close()
	res, err := session.Call(t.Context(), []byte(args))
	session.Close()
	return res, session.Said(), err
}

func TestCallOverEveryWay(t *testing.T) {
	needProcesses(t)
	bearer := map[string]string{"Authorization": "Bearer " + token}
	for name, s := range map[string]Server{
		"stdio":      stdio("stdio"),
		"streamable": {Type: "http", URL: onHTTP(t, "http"), Headers: bearer},
		"sse":        {Type: "sse", URL: onHTTP(t, "sse"), Headers: bearer},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			res, said, err := call(t, s, "echo", `{"n": 12345678901234567890, "text": "h\u00e9"}`, o)
			if err != nil || res.IsError || !strings.Contains(res.Text, "text:hé") || strings.Contains(res.Text+said, token) {
				t.Fatalf("%+v, %q, %v", res, said, err)
			}
			if name != "stdio" {
				return
			}
			real, _ := filepath.EvalSymlinks(o.Dir)
			for _, want := range []string{"in " + real, "args [--flag]", "token [TOKEN]"} {
				if !strings.Contains(res.Text, want) {
					t.Errorf("%q does not say %q", res.Text, want)
				}
			}
			if said != "server up, token [TOKEN]\n" {
				t.Errorf("said %q", said)
			}
			if left, err := proc.EndMarked(o.Mark); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// The client writes names of tools without what is not a letter or digit.
func TestToolIsFoundByTheClientsName(t *testing.T) {
	needProcesses(t)
	res, _, err := call(t, stdio("stdio"), "post_message", "", options(t))
	if err != nil || res.Text != "posted\n[an image, image/png, 3 bytes]\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestToolThatSaysNo(t *testing.T) {
	needProcesses(t)
	for tool, args := range map[string]string{"refuse": "{}", "echo": `[1]`} {
		res, _, err := call(t, stdio("stdio"), tool, args, options(t))
		if err != nil || !res.IsError || res.Text == "" || strings.Contains(res.Text, token) {
			t.Errorf("%s: %+v, %v", tool, res, err)
		}
	}
}

func TestWhatIsNotThereIsMissing(t *testing.T) {
	needProcesses(t)
	url := onHTTP(t, "http")
	bearer := map[string]string{"Authorization": "Bearer " + token}
	for name, c := range map[string]struct {
		server     Server
		tool, want string
	}{
		"tool":     {stdio("stdio"), "tweet", `no tool "tweet" any more; it has die, echo`},
		"program":  {Server{Command: "no-such-program-of-loop"}, "x", "program is not there"},
		"type":     {Server{Type: "ws", URL: "ws://x"}, "x", `type "ws"`},
		"address":  {Server{Type: "http", URL: "nowhere"}, "x", "none of HTTP"},
		"port":     {Server{Type: "http", URL: "http://127.0.0.1:1/"}, "x", "cannot be reached"},
		"login":    {Server{Type: "http", URL: url}, "x", "wants a login"},
		"redirect": {Server{Type: "http", URL: url + "/away", Headers: bearer}, "x", "another, example.invalid"},
	} {
		_, err := Open(t.Context(), c.server, c.tool, options(t))
		var missing *MissingError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestServerThatHangsOrDies(t *testing.T) {
	needProcesses(t)
	for name, c := range map[string]struct {
		how, tool, err, said string
	}{
		"dies at its start":  {"dies", "echo", "ended (exit 3) before it answered", "no database\n"},
		"hangs at its start": {"hangs", "echo", "did not answer within", "server up"},
		"dies in the call":   {"stdio", "die", "ended (exit 7) before it answered", "dying of [TOKEN]\n"},
		"hangs in the call":  {"stdio", "hang", "too long", "hanging\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			var out strings.Builder
			o.Out, o.Connect = &out, 20*time.Second
			if c.how == "hangs" {
				o.Connect = time.Second
			}
			session, err := Open(t.Context(), stdio(c.how), c.tool, o)
			if err == nil {
				ctx := t.Context()
				if c.tool == "hang" {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeoutCause(ctx, time.Second, errors.New("too long"))
					defer cancel()
				}
				_, err = session.Call(ctx, nil)
				session.Close()
			}
			var missing *MissingError
			if err == nil || errors.As(err, &missing) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if !strings.Contains(out.String(), c.said) || strings.Contains(out.String(), token) {
				t.Errorf("said %q, want %q", out.String(), c.said)
			}
			if left, err := proc.EndMarked(o.Mark); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func needProcesses(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("processes are not started there")
	}
}
