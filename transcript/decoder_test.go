package transcript

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func brief(events []Event) []string {
	var out []string
	for _, ev := range events {
		s := fmt.Sprintf("%d.%d %s", ev.Line, ev.Part, kindNames[ev.Kind])
		switch {
		case ev.Call != nil:
			s += " " + ev.Call.ID + " " + ev.Call.Name
		case ev.Result != nil:
			s += " " + ev.Result.CallID
		case ev.Text != "":
			s += fmt.Sprintf(" %q", ev.Text)
		}
		out = append(out, s)
	}
	return out
}

const (
	callRow   = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git push"}}]}}`
	textRow   = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}`
	resultRow = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`
)

func TestShapes(t *testing.T) {
	pretty := "{\n  \"type\": \"assistant\",\n  \"message\": {\"content\": [\n    {\"type\": \"text\", \"text\": \"hello\"}\n  ]}\n}\n"
	tests := []struct {
		name, in string
		want     []string
		stats    Stats // Lines, Plain and Broken are compared
	}{
		{"empty", "", nil, Stats{}},
		{"blank lines", "\n\r\n \n", nil, Stats{Lines: 3}},
		{"plain", "$ git push\nEverything up-to-date", []string{`1.0 plain "$ git push"`, `2.0 plain "Everything up-to-date"`}, Stats{Lines: 2, Plain: 2}},
		{"CRLF", textRow + "\r\nplain\r\n", []string{`1.0 text "hello"`, `2.0 plain "plain"`}, Stats{Lines: 2, Plain: 1}},
		{"BOM", "\ufeff" + textRow, []string{`1.0 text "hello"`}, Stats{Lines: 1}},
		{"no line end", textRow, []string{`1.0 text "hello"`}, Stats{Lines: 1}},
		{"glued", callRow + resultRow + "\n" + textRow, []string{"1.0 call t1 Bash", "1.1 result t1", `2.0 text "hello"`}, Stats{Lines: 2}},
		{"glued with space", callRow + "  " + resultRow, []string{"1.0 call t1 Bash", "1.1 result t1"}, Stats{Lines: 1}},
		{"array", "[" + callRow + "," + resultRow + "]", []string{"1.0 call t1 Bash", "1.1 result t1"}, Stats{Lines: 1}},
		{"torn", textRow + "\n" + callRow[:60], []string{`1.0 text "hello"`, fmt.Sprintf("2.0 plain %q", callRow[:60])}, Stats{Lines: 2, Broken: 1}},
		{"torn, then whole on the same line", callRow[:40] + textRow, []string{fmt.Sprintf("1.0 plain %q", callRow[:40]), `1.1 text "hello"`}, Stats{Lines: 1, Broken: 1}},
		{"whole, then text", textRow + "Killed", []string{`1.0 text "hello"`, `1.1 plain "Killed"`}, Stats{Lines: 1, Plain: 1}},
		{"whole block in a torn record", callRow[:len(callRow)-3], []string{fmt.Sprintf("1.0 plain %q", callRow[:61]), "1.1 call t1 Bash"}, Stats{Lines: 1, Broken: 1}},
		{"log prefix", "app-1 | " + textRow, []string{`1.0 plain "app-1 | "`, `1.1 text "hello"`}, Stats{Lines: 1, Plain: 1}},
		{"JSON that is no record", `curl -d '{"type":"x"}' https://e.example`, []string{`1.0 plain "curl -d '{\"type\":\"x\"}' https://e.example"`}, Stats{Lines: 1, Plain: 1}},
		{"other JSON", `{"a":1}`, []string{"1.0 other"}, Stats{Lines: 1}},
		{"log with brackets", "[2026-11-30] git push", []string{`1.0 plain "[2026-11-30] git push"`}, Stats{Lines: 1, Plain: 1}},
		{"pretty", pretty + textRow, []string{`1.0 text "hello"`, `7.0 text "hello"`}, Stats{Lines: 7}},
		{"pretty CRLF", strings.ReplaceAll(pretty, "\n", "\r\n") + textRow, []string{`1.0 text "hello"`, `7.0 text "hello"`}, Stats{Lines: 7}},
		{"pretty array", "[\n  " + callRow + ",\n  " + resultRow + "\n]", []string{"1.0 call t1 Bash", "1.1 result t1"}, Stats{Lines: 4}},
		{"records of an array line by line", callRow + ",\n" + resultRow + ",", []string{"1.0 call t1 Bash", "2.0 result t1"}, Stats{Lines: 2}},
		{"lone bracket", "{\n" + textRow + "\n}\n", []string{`1.0 plain "{"`, `2.0 text "hello"`, `3.0 plain "}"`}, Stats{Lines: 3, Plain: 2}},
		{"code block", "{\n  git push\n}\n", []string{`1.0 plain "{"`, `2.0 plain "  git push"`, `3.0 plain "}"`}, Stats{Lines: 3, Plain: 3}},
		{"pretty, never closed", "{\n  \"a\": 1,\n  git push\n", []string{`1.0 plain "{"`, `2.0 plain "  \"a\": 1,"`, `3.0 plain "  git push"`}, Stats{Lines: 3, Plain: 3}},
		{"too deep", strings.Repeat(`[`, 5000), []string{fmt.Sprintf("1.0 plain %q", strings.Repeat(`[`, 5000))}, Stats{Lines: 1, Plain: 1}},
		{
			"request rows", `{"type":"api-request","body":"git push"}` + "\n" + `{"type":"prompt_snapshot","messages":[` + callRow + `]}`,
			[]string{"1.0 other", "2.0 other"},
			Stats{Lines: 2},
		},
		{
			"attached request", `{"type":"attachment","attachment":{"type":"prompt_snapshot","systemPrompt":["git push"]}}`,
			[]string{"1.0 other"},
			Stats{Lines: 1},
		},
		{
			"progress without a type", `{"type":"progress","data":{"type":"agent_progress","agentId":"a1","message":{"message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}}}`,
			[]string{"1.0 call t1 Bash"},
			Stats{Lines: 1},
		},
		{
			"call in progress", `{"type":"progress","parentToolUseID":"toolu_p","data":{"type":"agent_progress","agentId":"a1","message":` + callRow + `}}`,
			[]string{"1.0 call t1 Bash"},
			Stats{Lines: 1},
		},
		{"API message", `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}},{"type":"text","text":"x"}]}`, []string{"1.0 call t1 Bash", `1.0 text "x"`}, Stats{Lines: 1}},
		{"MCP connector", `{"type":"assistant","message":{"content":[{"type":"mcp_tool_use","id":"m1","name":"send","server_name":"mail","input":{}}]}}`, []string{"1.0 call m1 mcp__mail__send"}, Stats{Lines: 1}},
		{"content is a string", `{"type":"user","message":{"role":"user","content":"do it"}}`, []string{`1.0 prompt "do it"`}, Stats{Lines: 1}},
		{"escapes", `{"type":"assistant","message":{"content":[{"type":"text","text":"git\u0020push\n\ud83d\ude80"}]}}`, []string{`1.0 text "git push\n🚀"`}, Stats{Lines: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, stats := drain(t, NewDecoder(iotest.OneByteReader(strings.NewReader(tt.in)), Options{}))
			if diff := cmp.Diff(tt.want, brief(events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			tt.stats.Bytes = int64(len(tt.in))
			if diff := cmp.Diff(tt.stats, stats); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUTF16(t *testing.T) {
	in := "git push \U0001F680\r\n" + textRow + "\r\n"
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		data := order.AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(in)) {
			data = order.AppendUint16(data, u)
		}
		events, _ := drain(t, NewDecoder(iotest.HalfReader(bytes.NewReader(data)), Options{}))
		if diff := cmp.Diff([]string{`1.0 plain "git push 🚀"`, `2.0 text "hello"`}, brief(events)); diff != "" {
			t.Errorf("%s endian (-want +got):\n%s", name, diff)
		}
	}
}

func TestResults(t *testing.T) {
	row := func(content, more string) string {
		return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"` + content + `"}]}` + more + `}`
	}
	tests := []struct {
		name, in string
		want     Result
	}{
		{"no note, plain failure", row("Exit code 1", ""), Result{}},
		{"no note, refused by the client", row("<tool_use_error>Error: No such tool available: X</tool_use_error>", ""), Result{NotRun: true}},
		{"no note, hook", row("PreToolUse:Bash hook error: no", ""), Result{NotRun: true, DeniedBy: "hook"}},
		{"no note, rule", row("Permission to use Bash with command git push has been denied.", ""), Result{NotRun: true, DeniedBy: "config"}},
		{"no note, person", row("The user doesn't want to proceed with this tool use.", ""), Result{Interrupted: true}},
		{
			"the note is believed, not the text", row("PreToolUse:Bash hook error: no", `,"tool_result_meta":[{"id":"t1","permission_decision":{"decision":"accept","source":"config"}}]`),
			Result{},
		},
		{
			"on disk", row("x", `,"permissionDecision":{"decision":"reject","source":"hook","reasonType":"hook"}`),
			Result{NotRun: true, DeniedBy: "hook"},
		},
		{"on disk, kind only", row("PreToolUse:Bash hook error: no", `,"toolDenialKind":"permission-rule"`), Result{NotRun: true, DeniedBy: "hook"}},
		{"on disk, stopped", row("x", `,"toolDenialKind":"interrupted"`), Result{Interrupted: true}},
		{"kind only", row("x", `,"tool_result_meta":[{"id":"t1","non_execution_kind":"automode-blocked"}]`), Result{NotRun: true}},
		{
			"note of another call", row("x", `,"tool_result_meta":[{"id":"t2","permission_decision":{"decision":"reject","source":"hook"}}]`),
			Result{},
		},
	}
	for _, tt := range tests {
		events, _ := decodeAll(t, []byte(tt.in), Options{})
		if len(events) != 1 || events[0].Result == nil {
			t.Errorf("%s: %v", tt.name, brief(events))
			continue
		}
		got := *events[0].Result
		tt.want.CallID, tt.want.IsError, tt.want.Text = "t1", true, got.Text
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestRateLimit(t *testing.T) {
	at := time.Unix(1796015997, 0).UTC()
	for in, want := range map[string]RateLimit{
		`{"type":"rate_limit_event"}`:                                                                                        {},
		`{"type":"rate_limit_event","status":"rejected","resetsAt":1796015997}`:                                              {Status: "rejected", ResetsAt: at},
		`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":"1796015997"}}`:                        {Status: "rejected", ResetsAt: at},
		`{"type":"rate_limit_event","rate_limit_info":{"resetsAt":1796015997000}}`:                                           {ResetsAt: at},
		`{"type":"rate_limit_event","rate_limit_info":{"unifiedWindows":{"a":{"resetsAt":1796015997,"status":"rejected"}}}}`: {ResetsAt: at},
	} {
		events, _ := decodeAll(t, []byte(in), Options{})
		if len(events) != 1 || events[0].RateLimit == nil {
			t.Errorf("%s: %v", in, brief(events))
		} else if diff := cmp.Diff(want, *events[0].RateLimit); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

// TestNextIsPrompt holds that an event is there as soon as its line is, while
// the writer keeps the stream open.
func TestNextIsPrompt(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		io.WriteString(w, "ab\n")
		io.WriteString(w, callRow+"\n")
		// never closed: Next must not want more
	}()
	d := NewDecoder(r, Options{})
	for _, want := range []string{`1.0 plain "ab"`, "2.0 call t1 Bash"} {
		ev, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := brief([]Event{ev})[0]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken pipe")
	d := NewDecoder(io.MultiReader(strings.NewReader(textRow+"\ntail"), iotest.ErrReader(broken)), Options{})
	for _, want := range []string{`1.0 text "hello"`, `2.0 plain "tail"`} {
		ev, err := d.Next()
		if err != nil || brief([]Event{ev})[0] != want {
			t.Fatalf("got %v, %v, want %s", brief([]Event{ev}), err, want)
		}
	}
	if _, err := d.Next(); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`git\u0020push`: "git push", `a\nb\tc`: "a\nb\tc", `\"x\\n\"`: `"x\n"`, `\ud83d\ude80`: "🚀",
		`\ud83dx`: "\ufffdx", `\u12`: `\u12`, `C:\windows`: `C:\windows`, `end\`: `end\`, `\/`: "/", "": "",
	} {
		if got := string(Unescape(nil, []byte(in))); got != want {
			t.Errorf("Unescape(%q) = %q, want %q", in, got, want)
		}
	}
}
