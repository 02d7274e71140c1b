package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/firewall/port"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/runner"
)

// lateAfter is how long the client waits for a call's hook in the scene of
// silence, in seconds. Elsewhere it waits as in a run: a slow machine is no
// broken client.
const lateAfter = 1

// answer is what the test's own hooks say: a status and a body, or nothing.
type answer struct {
	status int
	body   string
	cut    bool // close the connection
	late   bool // say nothing until the client has given up
}

func says(body string) answer { return answer{status: http.StatusOK, body: body} }

// of makes an answer of a reply of the firewall's.
func of(r firewall.Reply) answer {
	if r.Stdout == "" {
		return says("{}")
	}
	return says(r.Stdout)
}

// hooks answer the client in a scene, in place of the firewall, with the
// firewall's own settings: what a sound supervisor never says can be said.
type hooks struct {
	answer   func(firewall.Request) answer
	settings string // path of the file; removed at the handshake
	hurry    bool   // the client gives a call's hook up after lateAfter

	url  string
	http *http.Server

	mu      sync.Mutex
	started bool
	asked   map[string]int // PreToolUse by call
	results map[string]int // PostToolUse and PostToolUseFailure by call
}

func newHooks(settings string, answer func(firewall.Request) answer) (*hooks, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &hooks{answer: answer, settings: settings, url: "http://" + l.Addr().String() + "/hook", asked: map[string]int{}, results: map[string]int{}}
	h.http = &http.Server{Handler: h, ReadHeaderTimeout: limit}
	go func() { _ = h.http.Serve(l) }()
	return h, nil
}

func (h *hooks) close() { _ = h.http.Close() }

func (h *hooks) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	data, err := io.ReadAll(hr.Body)
	if err != nil {
		return
	}
	r, err := firewall.ParseRequest(data)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h.note(r)
	a := h.answer(r)
	switch {
	case a.late:
		select {
		case <-hr.Context().Done():
		case <-time.After(10 * lateAfter * time.Second):
		}
	case a.cut:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

func (h *hooks) note(r firewall.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.Event {
	case firewall.EventUserPromptSubmit:
		h.started = true
		_ = os.Remove(h.settings) // seen by the scene when it stays
	case firewall.EventPreToolUse:
		h.asked[r.ToolUseID]++
	case firewall.EventPostToolUse, firewall.EventPostToolUseFailure:
		h.results[r.ToolUseID]++
	}
}

func (h *hooks) live() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.started
}

func (h *hooks) askedOf(call string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked[call]
}

func (h *hooks) resultsOf(call string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.results[call]
}

// settings is where the settings file of a scene stands.
func (t *test) settings(scene string) string { return filepath.Join(t.dir, scene+"-settings.json") }

// settingsFor are the firewall's own settings, with the address of the test's
// hooks; with hurry the client waits for the answer to a call only as long as
// a scene can wait for it to give up.
func settingsFor(url string, hurry bool) ([]byte, error) {
	s, err := port.Listen(nil, time.Second)
	if err != nil {
		return nil, err
	}
	text, own := s.Settings(), s.URL()
	if err := s.Close(); err != nil {
		return nil, err
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), own, url)), &v); err != nil {
		return nil, err
	}
	if events, ok := v["hooks"].(map[string]any); ok && hurry {
		shorten(events[firewall.EventPreToolUse])
	}
	return json.Marshal(v)
}

// shorten shortens every timeout in v.
func shorten(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["timeout"]; ok {
			v["timeout"] = lateAfter
		}
		for _, x := range v {
			shorten(x)
		}
	case []any:
		for _, x := range v {
			shorten(x)
		}
	}
}

// start runs the client to its end with the scene's hooks, as a run would.
func (w *world) start(ctx context.Context, h *hooks, prompt string) error {
	settings, err := settingsFor(h.url, h.hurry)
	if err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	o := w.runOptions()
	rules := filepath.Join(w.dir, "rules.md")
	if err := errors.Join(os.WriteFile(rules, []byte(o.RulesText), 0o600), os.WriteFile(h.settings, settings, 0o600)); err != nil {
		return err
	}
	argv, env := runner.ClientStart(&o, id.String(), h.settings, rules, "")
	out := proc.Run(ctx, proc.RunOptions{
		Argv: argv, Dir: w.repo, Env: env, Stdin: []byte(prompt), Timeout: limit, Grace: 2 * time.Second, Mark: id.String(), Now: o.Now,
	})
	// How it ended is no matter: what it did is what counts. That it could
	// not be started at all shows in the model's requests.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.ended = lastWords(string(out.Tail))
	if out.Err != nil {
		w.ended = clip(out.Err.Error())
	}
	return nil
}

// lastWords is what a client that has ended said last: the text of its result,
// else the last line that is no record.
func lastWords(out string) string {
	words := "it said nothing"
	for line := range strings.Lines(out) {
		var e struct{ Type, Result string }
		switch line = strings.TrimSpace(line); {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			words = line
		case e.Type == "result":
			words = e.Result
		}
	}
	return clip(words)
}
