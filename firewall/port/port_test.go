package port

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
)

type handlerFunc func(context.Context, firewall.Request) firewall.Reply

func (f handlerFunc) Handle(ctx context.Context, r firewall.Request) firewall.Reply { return f(ctx, r) }

// decides lets run what is called local.
func decides(_ context.Context, r firewall.Request) firewall.Reply {
	if strings.Contains(string(r.Input), "local") {
		return firewall.Allow()
	}
	return firewall.Deny("it reaches out")
}

func denies(body string) bool { return strings.Contains(body, `"permissionDecision":"deny"`) }

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
	s := listen(t, handlerFunc(decides))
	for words, want := range map[string]bool{"local": false, "external": true} {
		status, body := post(t, s, firewall.EventPreToolUse, strings.Replace(preInput, "%", words, 1))
		if status != 200 || denies(body) != want || !want && body != firewall.Allow().Stdout {
			t.Errorf("%s: %d %s", words, status, body)
		}
	}
}

// A file of some megabytes in a Write must not be cut or refused.
func TestServerTakesALargeCall(t *testing.T) {
	s := listen(t, handlerFunc(func(_ context.Context, r firewall.Request) firewall.Reply {
		if len(r.Input) < 8<<20 {
			return firewall.Failure(r.Event, errors.New("short"))
		}
		return firewall.Allow()
	}))
	if status, body := post(t, s, firewall.EventPreToolUse, strings.Replace(preInput, "%", strings.Repeat("x", 8<<20), 1)); status != 200 || body != firewall.Allow().Stdout {
		t.Errorf("%d %s", status, body)
	}
}

// Whatever goes wrong before a call, the call does not run: it is denied in so
// many words where the event is known, and answered with a status that the
// client takes for a failed hook, which blocks, where it is not.
func TestEveryFailureBeforeACallBlocks(t *testing.T) {
	allows := handlerFunc(func(context.Context, firewall.Request) firewall.Reply { return firewall.Allow() })
	good := strings.Replace(preInput, "%", "local", 1)
	tests := map[string]struct {
		h      Handler
		in     string
		status int
	}{
		"supervisor panics": {handlerFunc(func(context.Context, firewall.Request) firewall.Reply { panic("bug") }), good, 200},
		"guard fails": {handlerFunc(func(context.Context, firewall.Request) firewall.Reply {
			return firewall.Failure(firewall.EventPreToolUse, errors.New("disk full"))
		}), good, 200},
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
			status, body := post(t, listen(t, tt.h), firewall.EventPreToolUse, tt.in)
			if status != tt.status || !strings.Contains(body, "refused") {
				t.Fatalf("%d %s", status, body)
			}
			if status == 200 && !denies(body) {
				t.Errorf("%s", body)
			}
		})
	}
}

// Nobody without the token learns or changes anything.
func TestStrangersGetNothing(t *testing.T) {
	asked := false
	s := listen(t, handlerFunc(func(context.Context, firewall.Request) firewall.Reply {
		asked = true
		return firewall.Allow()
	}))
	in := strings.Replace(preInput, "%", "external", 1)
	right := settingsOf(t, s).Hooks[firewall.EventPreToolUse][0].Hooks[0].Headers["Authorization"]
	for _, auth := range []string{"", "Bearer ", "Bearer x", right + "x", strings.TrimPrefix(right, "Bearer "), strings.ToLower(right)} {
		if status, body := request(t, http.MethodPost, s.URL(), auth, in); status != 401 || strings.TrimSpace(body) != "no" {
			t.Errorf("%q: %d %s", auth, status, body)
		}
	}
	if status, _ := request(t, http.MethodGet, s.URL(), right, ""); status != 401 {
		t.Errorf("GET: %d", status)
	}
	if asked {
		t.Error("a stranger was listened to")
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
	s := listen(t, handlerFunc(func(context.Context, firewall.Request) firewall.Reply { return firewall.Allow() }))
	if status, _ := post(t, s, firewall.EventPreToolUse, strings.Replace(preInput, "%", "local", 1)); status != 200 {
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
	s := listen(t, handlerFunc(func(context.Context, firewall.Request) firewall.Reply { return firewall.Allow() }))
	if !strings.Contains(string(s.Settings()), `"disableAllHooks": false`) {
		t.Error("disableAllHooks is not false in so many words")
	}
	hooks := settingsOf(t, s).Hooks
	for _, event := range []string{firewall.EventUserPromptSubmit, firewall.EventPreToolUse, firewall.EventPostToolUse, firewall.EventPostToolUseFailure} {
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

func TestSettingsHoldDenials(t *testing.T) {
	s := listen(t, handlerFunc(decides))
	var out struct {
		Permissions struct {
			Deny []string `json:"deny"`
		} `json:"permissions"`
	}
	if err := json.Unmarshal(s.Settings(firewall.PlainDenials()...), &out); err != nil || !slices.Contains(out.Permissions.Deny, "Bash(git push)") {
		t.Errorf("error %v, deny %v", err, out.Permissions.Deny)
	}
	if strings.Contains(string(s.Settings()), "permissions") {
		t.Error("permissions without denials")
	}
}
