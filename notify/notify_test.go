package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const evil = "push \x1b]0;x\x07 \u202e ghp_0123456789abcdefghij0123456789abcdefgh\nsecond"

func message() Message {
	return Message{Event: "executed", Text: evil, Repository: "app", Session: "0190", Story: "US-1\n", When: time.Unix(0, 0).UTC(),
		Actions: slices.Repeat([]Action{{7, evil}}, 20)}
}

type got struct {
	mu    sync.Mutex
	posts []string
	heads []http.Header
}

func (g *got) server(t *testing.T, status int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		g.mu.Lock()
		g.posts, g.heads = append(g.posts, r.Method+" "+string(b)), append(g.heads, r.Header)
		g.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The same message by every way, and nothing in it that a terminal, a header or
// a log would act on.
func TestEveryWay(t *testing.T) {
	dir := t.TempDir()
	var hook, topic got
	failed := []string{}
	s := New(Options{
		Command: `cat > stdin; printf %s "$LOOP_MESSAGE" > line`, Webhook: hook.server(t, 200), Ntfy: topic.server(t, 200) + "/t",
		Events: []string{"executed"}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Failed: func(s string) { failed = append(failed, s) },
	})
	s.Send(message())
	m := message()
	m.Event = "end"
	s.Send(m) // not wanted
	s.Close()
	if len(failed) > 0 || len(hook.posts) != 1 || len(topic.posts) != 1 {
		t.Fatalf("failed %q, hook %q, topic %q", failed, hook.posts, topic.posts)
	}
	stdin, err := os.ReadFile(filepath.Join(dir, "stdin"))
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(filepath.Join(dir, "line"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"stdin": strings.TrimSpace(string(stdin)), "line": string(line), "webhook": hook.posts[0], "ntfy": topic.posts[0]} {
		if strings.Contains(text, "0123456789abcdefghij") || strings.ContainsAny(text, "\x1b\x07\u202e\n") {
			t.Errorf("%s: not clean: %q", name, text)
		}
		if !strings.Contains(text, "push ") {
			t.Errorf("%s: says nothing: %q", name, text)
		}
	}
	var back Message
	if err := json.Unmarshal(stdin, &back); err != nil || back.Event != "executed" || back.Schema != 1 || len(back.Actions) != mostActions {
		t.Errorf("%+v, %v", back, err)
	}
	if !strings.HasPrefix(string(line), "loop app: executed: push ") {
		t.Errorf("line %q", line)
	}
	if h := topic.heads[0]; h.Get("Title") != "loop: executed" || h.Get("Priority") != "5" {
		t.Errorf("headers %v", h)
	}
}

// A way that does not work is told once, without its address, and the others go on.
func TestFailureIsToldOnce(t *testing.T) {
	var hook, moved got
	for name, o := range map[string]Options{
		"answer":  {Ntfy: hook.server(t, 500) + "/secret-topic"},
		"moved":   {Ntfy: moved.server(t, 302) + "/secret-topic"},
		"nobody":  {Ntfy: "http://127.0.0.1:1/secret-topic"},
		"command": {Command: "echo why >&2; exit 3", Env: []string{"PATH=" + os.Getenv("PATH")}},
		"slow":    {Command: "sleep 600", Timeout: 50 * time.Millisecond, Env: []string{"PATH=" + os.Getenv("PATH")}},
	} {
		t.Run(name, func(t *testing.T) {
			var works got
			var failed []string
			o.Events, o.Dir, o.Webhook = []string{"executed"}, t.TempDir(), works.server(t, 204)
			o.Failed = func(s string) { failed = append(failed, s) }
			s := New(o)
			s.Send(message())
			s.Send(message())
			s.Close()
			s.Send(message()) // after the end: nothing
			if len(failed) != 1 || strings.Contains(failed[0], "secret-topic") {
				t.Errorf("told %q", failed)
			}
			if len(works.posts) != 2 {
				t.Errorf("the other way got %d messages", len(works.posts))
			}
		})
	}
}

// A run never waits, however slow a way is.
func TestSendNeverWaits(t *testing.T) {
	held := make(chan struct{})
	var failed []string
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-held }))
	defer server.Close()
	s := New(Options{Webhook: server.URL, Events: []string{"executed"}, Failed: func(s string) { failed = append(failed, s) }})
	for range 10 * pending {
		s.Send(message()) // would hang here for good
	}
	close(held)
	s.Close()
	if len(failed) != 1 || !strings.Contains(failed[0], "came too fast") {
		t.Errorf("told %q", failed)
	}
}

func TestNothingSetUp(t *testing.T) {
	s := New(Options{Events: []string{"end"}})
	s.Send(message())
	s.Close()
	Heartbeat{}.Start()()
}

func TestHeartbeat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "beat")
	beats := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { beats <- r.Method }))
	defer server.Close()
	stop := Heartbeat{File: file, URL: server.URL, Every: time.Millisecond, Say: func() any { return map[string]int{"pid": 42} }}.Start()
	for range 3 {
		if m := <-beats; m != http.MethodGet {
			t.Errorf("asked by %s", m)
		}
	}
	stop()
	if b, err := os.ReadFile(file); err != nil || string(b) != "{\"pid\":42}\n" {
		t.Errorf("%q, %v", b, err)
	}
	failed := make(chan string, 10)
	stop = Heartbeat{File: filepath.Join(file, "no", "folder"), Every: time.Millisecond, Say: func() any { return 1 }, Failed: func(s string) { failed <- s }}.Start()
	<-failed
	stop()
	if len(failed) > 0 {
		t.Error("a failure was told twice")
	}
}
