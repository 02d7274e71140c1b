package firewall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
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

// settingsOf is the settings file as the client reads it.
func settingsOf(t *testing.T, s *Server) (out settings) {
	t.Helper()
	if err := json.Unmarshal(s.Settings(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// post is a hook as the client calls it, with the settings it was given.
func post(t *testing.T, s *Server, event, in string) (status int, body string) {
	t.Helper()
	h := settingsOf(t, s).Hooks[event][0].Hooks[0]
	return request(t, http.MethodPost, h.URL, h.Headers["Authorization"], in)
}

func request(t *testing.T, method, url, auth, in string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", auth)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const preInput = `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/r","tool_name":"Bash","tool_input":{"command":"%"},"tool_use_id":"t"}`

func TestServerCarriesTheDecision(t *testing.T) {
	s := listen(t, newGuard(policy.Unattended, &memQueue{}))
	for words, want := range map[string]string{"local": "allow", "external": "deny"} {
		in := strings.Replace(strings.Replace(preInput, "%", words, 1), `"t"`, `"`+words+`"`, 1)
		status, body := post(t, s, EventPreToolUse, in)
		if got, _ := decision(t, Reply{Stdout: body}); status != 200 || got != want {
			t.Errorf("%s: %d %s", words, status, body)
		}
	}
}

// A file of some megabytes in a Write must not be cut or refused.
func TestServerTakesALargeCall(t *testing.T) {
	s := listen(t, handlerFunc(func(_ context.Context, r Request) Reply {
		if len(r.Input) < 8<<20 {
			return Failure(r.Event, errors.New("short"))
		}
		return Allow()
	}))
	if status, body := post(t, s, EventPreToolUse, strings.Replace(preInput, "%", strings.Repeat("x", 8<<20), 1)); status != 200 || body != Allow().Stdout {
		t.Errorf("%d %s", status, body)
	}
}

// Whatever goes wrong before a call, the call does not run: it is denied in so
// many words where the event is known, and answered with a status that the
// client takes for a failed hook, which blocks, where it is not.
func TestEveryFailureBeforeACallBlocks(t *testing.T) {
	allows := handlerFunc(func(context.Context, Request) Reply { return Allow() })
	good := strings.Replace(preInput, "%", "local", 1)
	tests := map[string]struct {
		h      Handler
		in     string
		status int
	}{
		"supervisor panics":      {handlerFunc(func(context.Context, Request) Reply { panic("bug") }), good, 200},
		"guard fails":            {handlerFunc(func(context.Context, Request) Reply { return Failure(EventPreToolUse, errors.New("disk full")) }), good, 200},
		"empty input":            {allows, "", 500},
		"broken input":           {allows, good[:40], 500},
		"two objects":            {allows, good + good, 500},
		"no tool name":           {allows, strings.Replace(good, `"Bash"`, `""`, 1), 200},
		"no tool use id":         {allows, strings.Replace(good, `"t"`, `""`, 1), 200},
		"no input object":        {allows, strings.Replace(good, "tool_input", "tool_inptu", 1), 200},
		"no event":               {allows, "{}", 500},
		"more than it will take": {allows, strings.Replace(preInput, "%", strings.Repeat("x", maxRequest), 1), 500},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			status, body := post(t, listen(t, tt.h), EventPreToolUse, tt.in)
			if status != tt.status || !strings.Contains(body, "refused") {
				t.Fatalf("%d %s", status, body)
			}
			if status == 200 {
				if got, _ := decision(t, Reply{Stdout: body}); got != "deny" {
					t.Errorf("%s", body)
				}
			}
		})
	}
}

// Nobody without the token learns or changes anything.
func TestStrangersGetNothing(t *testing.T) {
	q := &memQueue{}
	g := newGuard(policy.Unattended, q)
	s := listen(t, g)
	in := strings.Replace(preInput, "%", "external", 1)
	right := settingsOf(t, s).Hooks[EventPreToolUse][0].Hooks[0].Headers["Authorization"]
	for _, auth := range []string{"", "Bearer ", "Bearer x", right + "x", strings.TrimPrefix(right, "Bearer "), strings.ToLower(right)} {
		if status, body := request(t, http.MethodPost, s.URL(), auth, in); status != 401 || strings.TrimSpace(body) != "no" {
			t.Errorf("%q: %d %s", auth, status, body)
		}
	}
	if status, _ := request(t, http.MethodGet, s.URL(), right, ""); status != 401 {
		t.Errorf("GET: %d", status)
	}
	if len(q.actions) != 0 || g.Fate("t") != Unasked {
		t.Errorf("%d queued, asked %v", len(q.actions), g.Fate("t") != Unasked)
	}
	lines, n := s.Strangers()
	if n != 7 || len(lines) != 7 || !strings.HasPrefix(lines[0], "POST /hook {") {
		t.Errorf("%d: %q", n, lines)
	}
	for range maxStrangers {
		request(t, http.MethodPost, s.URL(), "", strings.Repeat("y", 4096))
	}
	if lines, n := s.Strangers(); n != 7+maxStrangers || len(lines) != maxStrangers || len(lines[19]) > 400 {
		t.Errorf("%d of %d kept", len(lines), n)
	}
}

// A server that is gone answers nobody, and does not hang on what is open.
func TestCloseEndsIt(t *testing.T) {
	s := listen(t, handlerFunc(func(context.Context, Request) Reply { return Allow() }))
	if status, _ := post(t, s, EventPreToolUse, strings.Replace(preInput, "%", "local", 1)); status != 200 {
		t.Fatal(status)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.Post(s.URL(), "application/json", bytes.NewReader(nil)); err == nil {
		_ = resp.Body.Close()
		t.Error("it still answers")
	}
}

// What the client's documentation and its behaviour on failures ask of a hook.
func TestSettings(t *testing.T) {
	s := listen(t, handlerFunc(func(context.Context, Request) Reply { return Allow() }))
	if !strings.Contains(string(s.Settings()), `"disableAllHooks": false`) {
		t.Error("disableAllHooks is not false in so many words")
	}
	hooks := settingsOf(t, s).Hooks
	for _, event := range []string{EventUserPromptSubmit, EventPreToolUse, EventPostToolUse, EventPostToolUseFailure} {
		if len(hooks[event]) != 1 || len(hooks[event][0].Hooks) != 1 {
			t.Fatalf("%s: %+v", event, hooks[event])
		}
		h := hooks[event][0].Hooks[0]
		if h.Type != "http" || !strings.HasPrefix(h.URL, "http://127.0.0.1:") || h.OnFailure != "block" || h.Timeout != HookTimeout {
			t.Errorf("%s: %+v", event, h)
		}
	}
	if strings.Contains(string(s.Settings()), "matcher") {
		t.Error("a matcher can be read wrong; none means all")
	}
}
