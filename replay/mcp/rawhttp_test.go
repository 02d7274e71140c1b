package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hop is a server on HTTP that does with a call what its name says, and counts how
// often it was asked.
func hop(t *testing.T, how string) (url string, calls *atomic.Int32) {
	calls = &atomic.Int32{}
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &req) != nil || req.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer := func(result string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
		}
		event := func(text string) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
		switch req.Method {
		case "initialize":
			answer(`{"protocolVersion":"` + req.Params.ProtocolVersion + `","capabilities":{"tools":{}},"serverInfo":{"name":"hop","version":"1"}}`)
			return
		case "tools/list":
			answer(`{"tools":[{"name":"post","inputSchema":{"type":"object"}}]}`)
			return
		}
		calls.Add(1)
		done := `{"content":[{"type":"text","text":"posted"}]}`
		switch how {
		case "well":
			answer(done)
		case "events":
			event("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n")
			event("id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + string(req.ID) + ",\"result\":" + done + "}\n\n")
		case "events that end":
			event("id: 1\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n")
		case "resets":
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = c.(*net.TCPConn).SetLinger(0)
				c.Close()
			}
		case "half":
			w.Header().Set("Content-Length", "4000")
			answer(done)
		case "error":
			http.Error(w, "<html>upstream failed", http.StatusBadGateway)
		case "busy":
			w.Header().Set("Retry-After", "0")
			http.Error(w, "too many", http.StatusTooManyRequests)
		case "login":
			w.WriteHeader(http.StatusUnauthorized)
		case "page":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>please log in</html>")
		case "gone": // the session is over, for the server
			w.WriteHeader(http.StatusNotFound)
		case "away":
			http.Redirect(w, r, "http://example.invalid/mcp", http.StatusTemporaryRedirect)
		case "long":
			answer(`{"content":[{"type":"text","text":"` + strings.Repeat("0123456789abcdef", 64<<10) + `"}]}`)
		case "hangs":
			<-over
		}
	}))
	t.Cleanup(func() {
		close(over)
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL, calls
}

// Over HTTP, too, a call is sent once, whatever becomes of it.
func TestACallOverHTTPIsSentOnce(t *testing.T) {
	needProcesses(t) // what the system says of a connection is another there
	for how, c := range map[string]struct {
		text, err string
		limit     time.Duration
	}{
		"well": {text: "posted\n"}, "events": {text: "posted\n"}, "long": {text: strings.Repeat("0123456789abcdef", 64<<10) + "\n"},
		"events that end": {err: "failed to reconnect", limit: 3 * time.Second},
		"resets":          {err: "connection reset by peer"},
		"half":            {err: "unexpected EOF"},
		"error":           {err: "Bad Gateway"},
		"busy":            {err: "Too Many Requests"},
		"login":           {err: "Unauthorized"},
		"page":            {err: `content type "text/html"`},
		"gone":            {err: "Not Found"},
		"away":            {err: "sends on to another, example.invalid"},
		"hangs":           {err: "too long", limit: time.Second},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url, calls := hop(t, how)
			session, err := Open(t.Context(), Server{Type: "http", URL: url + "/?key=" + token}, "post", options(t))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), cmp.Or(c.limit, time.Minute), errors.New("too long"))
			defer cancel()
			res, err := session.Call(ctx, []byte(`{"text":"x"}`))
			session.Close()
			if n := calls.Load(); n != 1 {
				t.Errorf("sent %d times", n)
			}
			switch {
			case c.err == "" && (err != nil || res.Text != c.text || res.IsError):
				t.Errorf("%.80q, %v, %v", res.Text, res.IsError, err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), rejected) || strings.ContainsAny(err.Error(), "\n\x1b") || strings.Contains(err.Error(), token)):
				t.Errorf("%v, want %q", err, c.err)
			}
		})
	}
}
