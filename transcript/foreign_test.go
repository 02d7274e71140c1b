package transcript

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOtherAgents holds that calls and results in the records of other agents
// are recognised.
func TestOtherAgents(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{
			"codex session", `{"timestamp":"2026-11-30T03:05:39Z","type":"response_item","payload":{"type":"function_call","id":"fc_1","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"git push\"]}","call_id":"c1"}}`,
			[]string{`call c1 shell {"command":["bash","-lc","git push"]}`},
		},
		{
			"docker's log", `{"log":"{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Bash\",\"input\":{\"command\":\"git push\"}}]}}\n","stream":"stdout","time":"t"}`,
			[]string{`call c1 Bash {"command":"git push"}`},
		},
		{
			"journald", `{"_PID":"1","MESSAGE":"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"Bash\",\"input\":{\"command\":\"git push\"}}]}}"}`,
			[]string{`call c1 Bash {"command":"git push"}`},
		},
		{
			"an input kept as text", `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash","input":"{\"command\":\"git push\"}"}]}}`,
			[]string{`call c1 Bash {"command":"git push"}`},
		},
		{
			"codex session result", `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}"}}`,
			[]string{`result c1 error "{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}"`},
		},
		{
			"codex session text", `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"},{"type":"text","text":"y"}]}}`,
			[]string{`text "y"`},
		},
		{
			"codex shell call", `{"type":"response_item","payload":{"type":"local_shell_call","call_id":"c1","action":{"type":"exec","command":["git","push"]}}}`,
			[]string{`call c1 local_shell {"type":"exec","command":["git","push"]}`},
		},
		{
			"codex exec starts", `{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"bash -lc 'git push'","status":"in_progress"}}`,
			[]string{`call i1 shell {"command":"bash -lc 'git push'"}`},
		},
		{
			"codex exec ends", `{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"git push","aggregated_output":"done","exit_code":0,"status":"completed"}}`,
			[]string{`call i1 shell {"command":"git push"}`, `result i1 "done"`},
		},
		{
			"codex exec declined", `{"type":"item.completed","item":{"id":"i1","type":"mcp_tool_call","server":"s","tool":"post","arguments":{"a":1},"status":"declined"}}`,
			[]string{`call i1 mcp__s__post {"a":1}`, `result i1 notrun ""`},
		},
		{
			"copilot", `{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"bash","arguments":{"command":"git push"}}}` + "\n" +
				`{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":false,"result":{"content":"no"}}}`,
			[]string{`call c1 bash {"command":"git push"}`, `result c1 error "no"`},
		},
		{
			"pi", `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"git push"}}]}}` + "\n" +
				`{"type":"message","message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"done"}],"isError":false}}`,
			[]string{`call c1 bash {"command":"git push"}`, `result c1 "done"`},
		},
		{
			"gemini", `{"type":"tool_use","tool_name":"run_shell_command","tool_id":"c1","parameters":{"command":"git push"}}` + "\n" +
				`{"type":"tool_result","tool_id":"c1","status":"error","output":"no"}`,
			[]string{`call c1 run_shell_command {"command":"git push"}`, `result c1 error "no"`},
		},
		{
			"chat", `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"git push\"}"}}]}` + "\n" +
				`{"role":"tool","tool_call_id":"c1","content":"done"}`,
			[]string{`call c1 bash {"command":"git push"}`, `result c1 "done"`},
		},
		{"arguments that are no JSON", `{"type":"function_call","name":"x","call_id":"c1","arguments":"{git push"}`, []string{`call c1 x "{git push"`}},
		{"nothing in it", `{"type":"item.started"}` + "\n" + `{"type":"response_item"}` + "\n" + `{"type":"tool.execution_start","data":1}`, []string{"other", "other", "other"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, stats := decodeAll(t, []byte(tt.in), Options{})
			var got []string
			for _, ev := range events {
				s := kindNames[ev.Kind]
				switch {
				case ev.Call != nil:
					s += fmt.Sprintf(" %s %s %s", ev.Call.ID, ev.Call.Name, ev.Call.Input)
					if !json.Valid(ev.Call.Input) {
						t.Errorf("input %q", ev.Call.Input)
					}
				case ev.Result != nil:
					s += " " + ev.Result.CallID
					if ev.Result.IsError {
						s += " error"
					}
					if ev.Result.NotRun {
						s += " notrun"
					}
					s += fmt.Sprintf(" %q", ev.Result.Text)
				case ev.Text != "":
					s += fmt.Sprintf(" %q", ev.Text)
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || stats.Broken+stats.Plain > 0 {
				t.Errorf("events (-want +got):\n%s%+v", diff, stats)
			}
		})
	}
}
