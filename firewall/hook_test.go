package firewall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/policy"
)

type handlerFunc func(context.Context, Request) Reply

func (f handlerFunc) Handle(ctx context.Context, r Request) Reply { return f(ctx, r) }

func listen(t *testing.T, h Handler) *Server {
	t.Helper()
	s, err := Listen(h, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// hook runs the hook process's side as the client would.
func hook(t *testing.T, socket, event, in string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Hook(t.Context(), socket, event, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

const preInput = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/r","tool_name":"Bash","tool_input":{"command":"%"},"tool_use_id":"t"}`

func TestHookCarriesTheDecisionAcrossTheSocket(t *testing.T) {
	s := listen(t, newGuard(policy.Unattended, &memQueue{}))
	for words, want := range map[string]string{"local": "allow", "external": "deny"} {
		in := strings.Replace(strings.Replace(preInput, "%", words, 1), `"t"`, `"`+words+`"`, 1)
		code, out, errOut := hook(t, s.Socket(), EventPreToolUse, in)
		if got, _ := decision(t, Reply{Stdout: out}); code != 0 || got != want || errOut != "" {
			t.Errorf("%s: code %d, %s, stderr %q", words, code, got, errOut)
		}
	}
}

// A file of some megabytes in a Write must not be cut or refused.
func TestHookCarriesALargeCall(t *testing.T) {
	s := listen(t, handlerFunc(func(_ context.Context, r Request) Reply {
		if len(r.Input) < 8<<20 {
			return Failure(r.Event, errors.New("short"))
		}
		return Allow()
	}))
	in := strings.Replace(preInput, "%", strings.Repeat("x", 8<<20), 1)
	if code, out, errOut := hook(t, s.Socket(), EventPreToolUse, in); code != 0 || out != Allow().Stdout {
		t.Errorf("code %d, %q", code, errOut)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("torn") }

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

// Whatever goes wrong before a call, the call does not run.
func TestEveryFailureBeforeACallBlocks(t *testing.T) {
	panics := listen(t, handlerFunc(func(context.Context, Request) Reply { panic("bug") }))
	allows := listen(t, handlerFunc(func(context.Context, Request) Reply { return Allow() }))
	gone := listen(t, allows.handler)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	good := strings.Replace(preInput, "%", "local", 1)
	tests := map[string]struct {
		socket, event, in string
	}{
		"no supervisor":           {filepath.Join(t.TempDir(), "s"), EventPreToolUse, good},
		"supervisor gone":         {gone.Socket(), EventPreToolUse, good},
		"supervisor panics":       {panics.Socket(), EventPreToolUse, good},
		"empty input":             {allows.Socket(), EventPreToolUse, ""},
		"broken input":            {allows.Socket(), EventPreToolUse, good[:40]},
		"two objects":             {allows.Socket(), EventPreToolUse, good + good},
		"no tool name":            {allows.Socket(), EventPreToolUse, strings.Replace(good, `"Bash"`, `""`, 1)},
		"no tool use id":          {allows.Socket(), EventPreToolUse, strings.Replace(good, `"t"`, `""`, 1)},
		"no input object":         {allows.Socket(), EventPreToolUse, strings.Replace(good, "tool_input", "tool_inptu", 1)},
		"an event nobody named":   {filepath.Join(t.TempDir(), "s"), "", good},
		"an event of the future":  {filepath.Join(t.TempDir(), "s"), "PreToolUse2", good},
		"no event in the request": {allows.Socket(), EventPreToolUse, "{}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, out, errOut := hook(t, tt.socket, tt.event, tt.in)
			if code != 2 || out != "" || !strings.Contains(errOut, "refused") {
				t.Errorf("code %d, stdout %q, stderr %q", code, out, errOut)
			}
		})
	}
	t.Run("input cannot be read", func(t *testing.T) {
		if code := Hook(t.Context(), allows.Socket(), EventPreToolUse, failingReader{}, io.Discard, io.Discard); code != 2 {
			t.Errorf("code %d", code)
		}
	})
	t.Run("answer cannot be written", func(t *testing.T) {
		if code := Hook(t.Context(), allows.Socket(), EventPreToolUse, strings.NewReader(good), failingWriter{}, io.Discard); code != 2 {
			t.Errorf("code %d", code)
		}
	})
	t.Run("no answer in time", func(t *testing.T) {
		release := make(chan struct{})
		silent := listen(t, handlerFunc(func(context.Context, Request) Reply { <-release; return Allow() }))
		defer close(release)
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(50*time.Millisecond))
		defer cancel()
		if code := Hook(ctx, silent.Socket(), EventPreToolUse, strings.NewReader(good), io.Discard, io.Discard); code != 2 {
			t.Errorf("code %d", code)
		}
	})
}

// A handshake that fails must not hold up the client: the missing handshake
// itself stops the attempt.
func TestAFailedHandshakeDoesNotBlock(t *testing.T) {
	code, _, errOut := hook(t, filepath.Join(t.TempDir(), "s"), EventSessionStart, `{"hook_event_name":"SessionStart"}`)
	if code != 0 || errOut == "" {
		t.Errorf("code %d, stderr %q", code, errOut)
	}
}

// What the client's documentation and section on failure modes ask of a hook.
func TestSettings(t *testing.T) {
	var s struct {
		DisableAllHooks *bool
		Hooks           map[string][]struct {
			Matcher *string
			Hooks   []struct {
				Type, Command, OnFailure string
				Args                     []string
				Timeout                  int
			}
		}
	}
	if err := json.Unmarshal(Settings([]string{"/bin/loop", "hook"}, "/tmp/s"), &s); err != nil {
		t.Fatal(err)
	}
	if s.DisableAllHooks == nil || *s.DisableAllHooks {
		t.Error("disableAllHooks is not false in so many words")
	}
	for _, event := range []string{EventSessionStart, EventPreToolUse} {
		m := s.Hooks[event]
		if len(m) != 1 || m[0].Matcher != nil || len(m[0].Hooks) != 1 {
			t.Fatalf("%s: %+v", event, m)
		}
		h := m[0].Hooks[0]
		want := "hook --socket /tmp/s --event " + event
		if h.Type != "command" || h.Command != "/bin/loop" || strings.Join(h.Args, " ") != want || h.OnFailure != "block" || h.Timeout != HookTimeout {
			t.Errorf("%s: %+v", event, h)
		}
	}
}

// A long TMPDIR must not keep a run from starting: socket paths are short.
func TestALongTemporaryFolderIsNoObstacle(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	s := listen(t, handlerFunc(func(context.Context, Request) Reply { return Allow() }))
	if code, _, errOut := hook(t, s.Socket(), EventPreToolUse, strings.Replace(preInput, "%", "local", 1)); code != 0 {
		t.Errorf("code %d: %s", code, errOut)
	}
}
