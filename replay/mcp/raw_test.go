package mcp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// raw is a server that writes its own lines, and does with a call what its name
// says.
func raw(how string) int {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 32<<20)
	say := func(lines ...string) {
		for _, l := range lines {
			fmt.Println(l)
		}
	}
	if how == "banner" {
		say("Server v1.2 is up on stdio", "", `{"level":"info","msg":"starting"}`, "{not json", "42", "null", `[]`, `["x"]`, "\x1b[31mwarn\x1b[0m of "+os.Getenv("TOKEN"), `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","id":1,"result":{}}`)
	}
	for in.Scan() {
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if json.Unmarshal(in.Bytes(), &req) != nil || req.ID == nil || req.Method == "" {
			continue
		}
		id := string(req.ID)
		result := func(text string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + text + `}` }
		done := func(text string) string {
			b, _ := json.Marshal(text)
			return result(`{"content":[{"type":"text","text":` + string(b) + `}]}`)
		}
		switch req.Method {
		case "initialize":
			say(result(`{"protocolVersion":"` + req.Params.ProtocolVersion + `","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`))
			continue
		case "tools/list":
			say(result(`{"tools":[{"name":"post","inputSchema":{"type":"object"}}]}`))
			continue
		}
		switch how {
		case "banner":
			say("posting ...", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`, "half a line of \xff\xfe", done("posted"))
		case "several":
			say(done("first"), done("second"))
		case "long":
			say(done(strings.Repeat("0123456789abcdef", 64<<10)))
		case "longest":
			fmt.Print(strings.Repeat("x", maxMessage+1), "\n")
			time.Sleep(time.Hour)
		case "endless":
			for {
				fmt.Print(strings.Repeat("x", 1<<20))
			}
		case "another":
			say(strings.Replace(done("of another"), `"id":`+id, `"id":4711`, 1))
			time.Sleep(time.Hour)
		case "closes":
			os.Stdout.Close()
			time.Sleep(time.Hour)
		case "half":
			fmt.Print(done("posted")[:30])
			return 0
		case "no":
			say(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"no, by ` + os.Getenv("TOKEN") + `"}}`)
		case "nothing":
			say(result(`{}`))
		case "wrong":
			say(result(`"posted"`))
		case "asks":
			say(`{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`,
				`{"jsonrpc":"2.0","id":"s2","method":"elicitation/create","params":{"message":"the password?","requestedSchema":{"type":"object"}}}`,
				`{"jsonrpc":"2.0","id":"s3","method":"roots/list"}`)
			var got []string
			for range 3 {
				if in.Scan() {
					var answer struct {
						ID     string
						Error  json.RawMessage
						Result json.RawMessage
					}
					_ = json.Unmarshal(in.Bytes(), &answer)
					got = append(got, fmt.Sprint(answer.ID, " ", answer.Error != nil))
				}
			}
			say(done(strings.Join(got, ", ")))
		}
	}
	return 0
}

// Whatever a server writes, the call ends, nobody waits for more than the limit,
// and nothing of it stays.
func TestServersThatAreNotAsTheyShouldBe(t *testing.T) {
	needProcesses(t)
	for how, c := range map[string]struct {
		text, err string // what the answer is, or why there is none
		isError   bool
		said      string
		limit     time.Duration // 0 = a minute
	}{
		"banner":  {text: "posted\n", said: "Server v1.2 is up on stdio\n{\"level\":\"info\",\"msg\":\"starting\"}\n{not json\n42\nnull\n[]\n[\"x\"]\n\x1b[31mwarn\x1b[0m of [TOKEN]\n"},
		"several": {text: "first\n"},
		"long":    {text: strings.Repeat("0123456789abcdef", 64<<10) + "\n"},
		"longest": {err: "a line that is longer than 16 MiB"},
		"endless": {err: "a line that is longer than 16 MiB"},
		"another": {err: "too long", limit: time.Second},
		"closes":  {err: "closed its output before it answered"},
		"half":    {err: "ended (exit 0) before it answered"},
		"no":      {text: "no, by [TOKEN]", isError: true},
		"nothing": {text: ""},
		"wrong":   {err: "unmarshal"},
		"asks":    {text: "s1 true, s2 true, s3 false\n"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			session, err := Open(t.Context(), stdio("raw "+how), "post", o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), cmp.Or(c.limit, time.Minute), errors.New("too long"))
			defer cancel()
			res, err := session.Call(ctx, []byte(`{"text":"x"}`))
			session.Close()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
			} else if err != nil || res.Text != c.text || res.IsError != c.isError {
				t.Errorf("%.80q, %v, %v; want %.80q", res.Text, res.IsError, err, c.text)
			}
			if !strings.Contains(session.Said(), c.said) || strings.Contains(session.Said(), token) || len(session.Said()) > maxSaid {
				t.Errorf("said %.200q", session.Said())
			}
			if left, err := proc.EndMarked(o.Mark); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
