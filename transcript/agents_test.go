package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAgents holds what is read of the records of other agents. The shapes of
// the files are those of real ones, their contents made up. LOOP_UPDATE=1
// rewrites the golden file.
func TestAgents(t *testing.T) {
	files, err := filepath.Glob("testdata/agents/*")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var got strings.Builder
	for _, file := range files {
		events, stats := decodeAll(t, read(t, file), Options{})
		fmt.Fprintf(&got, "== %s\n", filepath.Base(file))
		for _, ev := range events {
			if s := outline(ev); s != "" {
				fmt.Fprintf(&got, "%d %s\n", ev.Line, s)
			}
		}
		if stats.Plain+stats.Broken+stats.Oversize > 0 && !strings.HasSuffix(file, ".md") && filepath.Base(file) != "cline-ui.json" {
			t.Errorf("%s: not all was read: %+v", file, stats)
		}
	}
	const golden = "testdata/agents.golden"
	if os.Getenv("LOOP_UPDATE") == "1" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, golden)), got.String()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// outline is what an event says of calls, results and tools.
func outline(ev Event) string {
	switch {
	case ev.Call != nil:
		s := fmt.Sprintf("call %s%s %s %s", ev.Call.ID, ev.Call.Key, ev.Call.Name, ev.Call.Input)
		if ev.Call.Again {
			s += " again"
		}
		return s
	case ev.Result != nil:
		var s strings.Builder
		s.WriteString("result " + ev.Result.CallID)
		for i, set := range []bool{ev.Result.IsError, ev.Result.NotRun, ev.Result.Interrupted} {
			if set {
				s.WriteString([]string{" error", " notrun", " interrupted"}[i])
			}
		}
		return s.String() + fmt.Sprintf(" %q", ev.Result.Text)
	case len(ev.Tools) > 0:
		var s strings.Builder
		s.WriteString("tools")
		for _, tool := range ev.Tools {
			s.WriteString(" " + tool.Server + "/" + tool.Name)
		}
		return s.String()
	}
	return ""
}

// What is named like a call and cannot be made one is counted.
func TestUnreadCalls(t *testing.T) {
	for in, want := range map[string]int{
		`{"type":"tool_call","id":"a","blob":"AAAA"}`:                                        1,
		`{"type":"acme.toolCall","body":{"what":"git push"}}`:                                1,
		`{"type":"tool_call","id":"a","name":"bash","arguments":{"command":"ls"}}`:           0,
		`{"type":"tool_call_delta","id":"a","delta":"x"}`:                                    0,
		`{"type":"tool_result","tool_use_id":"a","content":"x"}`:                             0,
		`{"type":"progress","data":{"type":"bash_progress"},"uuid":"u","toolUseID":"toolu"}`: 0,
	} {
		if _, stats := decodeAll(t, []byte(in), Options{}); stats.Unread != want {
			t.Errorf("%s: %d, want %d", in, stats.Unread, want)
		}
	}
}

// What the client's assistant quotes of another agent is no call, and what a
// server of the model's ran has no result of ours.
func TestQuotedCalls(t *testing.T) {
	const xml = `<execute_command><command>git push</command></execute_command>`
	for in, want := range map[string]int{
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + xml + `"}]}}`:                                      0,
		`{"role":"assistant","content":"` + xml + `"}`:                                                                                              1,
		`{"role":"assistant","content":[{"type":"text","text":"` + xml + `"}]}`:                                                                     1,
		`{"role":"user","content":"` + xml + `"}`:                                                                                                   0,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}}`: 0,
	} {
		events, _ := decodeAll(t, []byte(in), Options{})
		got := 0
		for _, ev := range events {
			if ev.Call != nil || ev.Result != nil {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d, want %d", in, got, want)
		}
	}
}

// TestBrokenAgents holds that torn and glued records of other agents, and the
// encodings that shells give them, lose no call.
func TestBrokenAgents(t *testing.T) {
	push := `{"timestamp":"2026-11-30T03:05:39Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}`
	other := `{"timestamp":1,"part":{"tool":"bash","callID":"c2","state":{"status":"running","input":{"command":"git push"}}}}`
	wide := func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteByte(byte(r))
			b.WriteByte(0)
		}
		return b.String()
	}
	tests := map[string]struct {
		in   string
		want int
	}{
		"glued":              {push + push, 2},
		"glued, of no type":  {other + other, 2},
		"torn":               {push[:50] + push, 1},
		"torn, the client's": {callRow[:50] + push, 1},
		"comma behind":       {"[\n" + push + ",\n" + other + "\n]", 2},
		"one array":          {"[" + other + "," + push + "]", 2},
		"two of one line":    {push + "," + other, 2},
		"UTF-16, no mark":    {wide(push + "\n" + other + "\n"), 2},
		"UTF-16 array":       {wide("[" + other + "]"), 1},
		"CRLF":               {push + "\r\n" + other + "\r\n", 2},
		"pretty":             {"{\n  \"part\": {\"tool\": \"bash\", \"callID\": \"c2\",\n  \"state\": {\"input\": {\"command\": \"x\"}}}\n}\n", 1},
		"data, then text":    {`{"a":1} text`, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			events, _ := decodeAll(t, []byte(tt.in), Options{})
			calls := 0
			for _, ev := range events {
				if ev.Call != nil {
					calls++
				}
			}
			if calls != tt.want {
				t.Errorf("%d calls, want %d", calls, tt.want)
			}
		})
	}
}
