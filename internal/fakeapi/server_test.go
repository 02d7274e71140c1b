package fakeapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

func start(t *testing.T, script fakeapi.Script) *fakeapi.Server {
	t.Helper()
	s := fakeapi.New(script)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// body is a request with the given first user text and n replies already in it.
func body(first string, replies int, stream bool) string {
	msgs := []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "<system-reminder>\nRecent commits: SUBTASK\n</system-reminder>"},
		map[string]any{"type": "text", "text": first},
	}}}
	for range replies {
		msgs = append(msgs,
			map[string]any{"role": "assistant", "content": "so"},
			map[string]any{"role": "user", "content": []any{map[string]any{
				"type": "tool_result", "tool_use_id": "toolu_x", "is_error": true,
				"content": []any{map[string]any{"type": "text", "text": "refused"}},
			}}})
	}
	b, _ := json.Marshal(map[string]any{
		"model": "m", "stream": stream, "messages": msgs,
		"system": []any{map[string]any{"type": "text", "text": "be good"}},
		"tools":  []any{map[string]any{"name": "Bash"}},
	})
	return string(b)
}

func post(t *testing.T, s *fakeapi.Server, path, body string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

type block struct {
	Type, Text, ID, Name string
	Input                json.RawMessage
}

type message struct {
	Content    []block
	StopReason string `json:"stop_reason"`
}

func plain(t *testing.T, s *fakeapi.Server, body string) message {
	t.Helper()
	resp := post(t, s, "/v1/messages?beta=true", body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d", resp.StatusCode)
	}
	var m message
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTurnIsPickedByRepliesInTheRequest(t *testing.T) {
	s := start(t, fakeapi.Script{
		{Match: "SUBTASK", Turns: []fakeapi.Turn{fakeapi.Say("sub")}},
		{Match: "story", Turns: []fakeapi.Turn{fakeapi.Say("one"), fakeapi.Say("two")}},
	})
	ask := func(first string, replies int) string {
		return plain(t, s, body(first, replies, false)).Content[0].Text
	}
	got := []string{
		ask("the story", 0), ask("the story", 0), ask("the story", 1), ask("SUBTASK", 0),
		ask("the story", 2), ask("a stranger", 0),
	}
	none := "nothing is scripted for this request"
	if d := cmp.Diff([]string{"one", "one", "two", "sub", none, none}, got); d != "" {
		t.Errorf("replies (-want +got):\n%s", d)
	}
	var scripted []bool
	for _, r := range s.Requests() {
		scripted = append(scripted, r.Scripted)
	}
	if d := cmp.Diff([]bool{true, true, true, true, false, false}, scripted); d != "" {
		t.Errorf("Scripted (-want +got):\n%s", d)
	}
	if r := s.Requests()[1]; r.Attempt != 1 || r.Turn != 0 {
		t.Errorf("second request: turn %d attempt %d, want turn 0 attempt 1", r.Turn, r.Attempt)
	}
}

func TestRequestsAreReadable(t *testing.T) {
	s := start(t, nil)
	plain(t, s, body("hello", 1, false))
	r := s.Requests()[0]
	if r.FirstUser() != "hello" || r.System != "be good" || r.Model != "m" {
		t.Errorf("first user %q, system %q, model %q", r.FirstUser(), r.System, r.Model)
	}
	if d := cmp.Diff([]string{"Bash"}, r.Tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	want := []fakeapi.Content{{Type: "tool_result", ID: "toolu_x", Text: "refused", IsError: true}}
	if d := cmp.Diff(want, r.Results()); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
}

func TestStreamAndPlainSayTheSame(t *testing.T) {
	turn := fakeapi.Turn{
		Blocks: []fakeapi.Block{fakeapi.Text("going"), fakeapi.Bash("git push"), fakeapi.Tool("Nothing", nil)},
		From: func(r fakeapi.Request) []fakeapi.Block {
			return []fakeapi.Block{fakeapi.Text("asked: " + r.FirstUser())}
		},
	}
	s := start(t, fakeapi.Script{{Turns: []fakeapi.Turn{turn}}})
	p := plain(t, s, body("x", 0, false))
	resp := post(t, s, "/v1/messages", body("x", 0, true))
	got := assemble(t, resp.Body)
	if p.Content[1].ID == got.Content[1].ID {
		t.Errorf("both replies call with id %q, want fresh ids", got.Content[1].ID)
	}
	for _, m := range []*message{&p, &got} {
		for i := range m.Content {
			m.Content[i].ID = ""
		}
	}
	if d := cmp.Diff(p, got); d != "" {
		t.Errorf("stream (-plain +stream):\n%s", d)
	}
	if got.StopReason != "tool_use" || string(got.Content[2].Input) != "{}" {
		t.Errorf("stop %q, input of a call without one %q", got.StopReason, got.Content[2].Input)
	}
}

// assemble puts a stream together as a client does.
func assemble(t *testing.T, r io.Reader) message {
	t.Helper()
	var m message
	done := false
	for sc := bufio.NewScanner(r); sc.Scan(); {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type         string
			ContentBlock json.RawMessage `json:"content_block"`
			Delta        struct {
				Text       string
				Partial    string `json:"partial_json"`
				StopReason string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event %s: %v", data, err)
		}
		switch e.Type {
		case "content_block_start":
			m.Content = append(m.Content, block{})
			if err := json.Unmarshal(e.ContentBlock, &m.Content[len(m.Content)-1]); err != nil {
				t.Fatal(err)
			}
		case "content_block_delta":
			c := &m.Content[len(m.Content)-1]
			c.Text += e.Delta.Text
			if e.Delta.Partial != "" {
				c.Input = json.RawMessage(e.Delta.Partial)
			}
		case "message_delta":
			m.StopReason = e.Delta.StopReason
		case "message_stop":
			done = true
		}
	}
	if !done {
		t.Error("stream ended without message_stop")
	}
	return m
}

func TestFaultsBefallAttempts(t *testing.T) {
	reset := time.Unix(1796015997, 0)
	s := start(t, fakeapi.Script{
		{Match: "once", Turns: []fakeapi.Turn{{
			Blocks: []fakeapi.Block{fakeapi.Text("ok")},
			Faults: []fakeapi.Fault{{Status: 529}, fakeapi.UsageLimit(reset)},
		}}},
		{Match: "always", Turns: []fakeapi.Turn{fakeapi.Always(fakeapi.Fault{Status: 401, Message: "no"})}},
	})
	status := func(first string) *http.Response { return post(t, s, "/v1/messages", body(first, 0, true)) }
	if r := status("once"); r.StatusCode != 529 {
		t.Errorf("first attempt: status %d, want 529", r.StatusCode)
	}
	r := status("once")
	if got := r.Header.Get("anthropic-ratelimit-unified-reset"); r.StatusCode != 429 || got != "1796015997" {
		t.Errorf("second attempt: status %d, reset %q", r.StatusCode, got)
	}
	if r := status("once"); r.StatusCode != 200 {
		t.Errorf("third attempt: status %d, want 200", r.StatusCode)
	}
	for i := range 3 {
		r := status("always")
		b, _ := io.ReadAll(r.Body)
		if r.StatusCode != 401 || !strings.Contains(string(b), "authentication_error") {
			t.Errorf("attempt %d: status %d, body %s", i, r.StatusCode, b)
		}
	}
}

func TestHoldIsSilentUntilReleased(t *testing.T) {
	hold := make(chan struct{})
	s := start(t, fakeapi.Script{{Turns: []fakeapi.Turn{{
		Blocks: []fakeapi.Block{fakeapi.Text("late")},
		Faults: []fakeapi.Fault{{Hold: hold, Events: 2}},
	}}}})
	resp := post(t, s, "/v1/messages", body("x", 0, true))
	var b strings.Builder
	buf := make([]byte, 4096)
	for strings.Count(b.String(), "\n\n") < 2 {
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatalf("after %q: %v", b.String(), err)
		}
		b.Write(buf[:n])
	}
	if strings.Contains(b.String(), "late") {
		t.Errorf("the text came before the release: %q", b.String())
	}
	close(hold)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(rest), "late") {
		t.Errorf("after the release: %q, %v", rest, err)
	}
}

func TestCutEndsTheConnectionMidStream(t *testing.T) {
	s := start(t, fakeapi.Script{{Turns: []fakeapi.Turn{{
		Blocks: []fakeapi.Block{fakeapi.Text("never")},
		Faults: []fakeapi.Fault{{Cut: true, Events: 1}},
	}}}})
	resp := post(t, s, "/v1/messages", body("x", 0, true))
	b, err := io.ReadAll(resp.Body)
	if err == nil || !strings.Contains(string(b), "message_start") || strings.Contains(string(b), "never") {
		t.Errorf("read %q, %v; want the first event and an error", b, err)
	}
}

// The same reply, broken off in other ways after its first event.
func TestRepliesThatBreakOff(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  fakeapi.Fault
		broken bool   // the reader meets an error
		says   string // in the stream
	}{
		"reset":  {fakeapi.Fault{Reset: true, Events: 1}, true, "message_start"},
		"ended":  {fakeapi.Fault{End: true, Events: 1}, false, "message_start"},
		"failed": {fakeapi.Fault{Error: "overloaded_error", Message: "busy", Events: 1}, false, "event: error\ndata: {\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}"},
	} {
		s := start(t, fakeapi.Script{{Turns: []fakeapi.Turn{{
			Blocks: []fakeapi.Block{fakeapi.Text("never")}, Faults: []fakeapi.Fault{tt.fault},
		}}}})
		b, err := io.ReadAll(post(t, s, "/v1/messages", body("x", 0, true)).Body)
		if (err != nil) != tt.broken || !tt.broken && !strings.Contains(string(b), tt.says) || strings.Contains(string(b), "never") {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

// What is no stream is whole, unless the fault is meant for it as well.
func TestFaultsOfRepliesInOnePiece(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  fakeapi.Fault
		status int
		says   string
	}{
		"whole":  {fakeapi.Fault{Error: "overloaded_error", Events: 1}, 200, "hello"},
		"failed": {fakeapi.Fault{Error: "overloaded_error", Events: 1, Whole: true}, 529, "overloaded_error"},
		"empty":  {fakeapi.Fault{End: true, Events: 1, Whole: true}, 200, ""},
		"page":   {fakeapi.Fault{Status: 502, Body: "<html>"}, 502, "<html>"},
	} {
		s := start(t, fakeapi.Script{{Turns: []fakeapi.Turn{{
			Blocks: []fakeapi.Block{fakeapi.Text("hello")}, Faults: []fakeapi.Fault{tt.fault},
		}}}})
		r := post(t, s, "/v1/messages", body("x", 0, false))
		b, err := io.ReadAll(r.Body)
		if r.StatusCode != tt.status || err != nil || tt.says == "" && len(b) > 0 || !strings.Contains(string(b), tt.says) {
			t.Errorf("%s: status %d, %q, %v", name, r.StatusCode, b, err)
		}
	}
}

func TestCloseEndsHeldRequests(t *testing.T) {
	s := start(t, fakeapi.Script{{Turns: []fakeapi.Turn{fakeapi.Always(fakeapi.Fault{Hold: make(chan struct{})})}}})
	failed := make(chan error, 1)
	go func() {
		resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(body("x", 0, true)))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		failed <- err
	}()
	if _, err := s.Wait(t.Context(), func(r fakeapi.Request) bool { return r.FirstUser() == "x" }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-failed:
	case <-time.After(30 * time.Second):
		t.Error("the held request did not end")
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestWaitGivesUpWithItsContext(t *testing.T) {
	s := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Wait(ctx, func(fakeapi.Request) bool { return true }); err == nil {
		t.Error("Wait returned a request that nobody made")
	}
}

func TestOtherEndpoints(t *testing.T) {
	s := start(t, nil)
	resp, err := http.Head(s.URL + "/api/hello")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %v, %v", resp, err)
	}
	if r := post(t, s, "/v1/messages/count_tokens", "{}"); r.StatusCode != http.StatusOK {
		t.Errorf("count_tokens: status %d", r.StatusCode)
	}
	if r := post(t, s, "/v1/elsewhere", "{}"); r.StatusCode != http.StatusNotFound {
		t.Errorf("unknown endpoint: status %d", r.StatusCode)
	}
	if r := post(t, s, "/v1/messages", "{not json"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("broken body: status %d", r.StatusCode)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests recorded, want none", n)
	}
}

func TestTurnCarriesItsStopReasonAndHeaders(t *testing.T) {
	s := start(t, fakeapi.Script{{Turns: []fakeapi.Turn{{
		Blocks: []fakeapi.Block{fakeapi.Text("no")}, Stop: "refusal",
		Header: http.Header{"Anthropic-Ratelimit-Unified-Status": {"allowed_warning"}},
	}}}})
	resp := post(t, s, "/v1/messages", body("x", 0, true))
	if got := resp.Header.Get("anthropic-ratelimit-unified-status"); got != "allowed_warning" {
		t.Errorf("header %q", got)
	}
	if got := assemble(t, resp.Body).StopReason; got != "refusal" {
		t.Errorf("stop reason %q", got)
	}
}
