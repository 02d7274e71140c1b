package transcript

import (
	"strings"
	"testing"
	"unsafe"
)

// The client repeats the usage of a reply with each of its blocks; what a
// process has used in all stands in the account by model, with subagents.
func TestUsageOfAReply(t *testing.T) {
	const in = `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":5,"output_tokens":1,"cache_read_input_tokens":9000,"cache_creation_input_tokens":70}}}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"usage":{"input_tokens":5,"output_tokens":3,"cache_read_input_tokens":9000,"cache_creation_input_tokens":70}}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"no usage"}]}}
{"type":"result","subtype":"success","usage":{"input_tokens":5,"output_tokens":3},"modelUsage":{"a":{"inputTokens":10,"outputTokens":20,"cacheReadInputTokens":9000,"cacheCreationInputTokens":70},"b":{"inputTokens":1,"outputTokens":2}}}
`
	var got []Usage
	var final *Final
	err := Each(strings.NewReader(in), Options{}, func(ev Event) error {
		if u, ok := ev.Usage(); ok {
			got = append(got, u)
		}
		if ev.Final != nil {
			final = ev.Final
		}
		return nil
	})
	if err != nil || len(got) != 2 || got[0] != (Usage{"m1", 5, 1, 9000, 70}) || got[1].Output != 3 || got[1].Counted() != 78 {
		t.Fatalf("%+v, %v", got, err)
	}
	if final == nil || final.Tokens != 103 {
		t.Errorf("%+v", final)
	}
}

// Who keeps what the messages used, or the ids of calls, keeps a few bytes of
// each, not its line.
func TestIDsKeepNoLine(t *testing.T) {
	record := `{"type":"assistant","message":{"id":"msg_1","usage":{"input_tokens":1},"content":[{"type":"text","text":"` + strings.Repeat("x", 1000) + `"}]}}`
	u, ok := Event{Kind: KindText, Record: record}.Usage()
	if !ok || u.Message != "msg_1" {
		t.Fatalf("%+v, %v", u, ok)
	}
	apart := func(record string, parts ...string) {
		t.Helper()
		begin := uintptr(unsafe.Pointer(unsafe.StringData(record)))
		for _, p := range parts {
			if at := uintptr(unsafe.Pointer(unsafe.StringData(p))); p == "" || at >= begin && at < begin+uintptr(len(record)) {
				t.Errorf("%q is a part of the line, and keeps all of it in memory", p)
			}
		}
	}
	apart(record, u.Message)
	lines := `{"type":"assistant","parent_tool_use_id":"toolu_0","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","parent_tool_use_id":"toolu_0","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a"}]}}
`
	seen := 0
	err := Each(strings.NewReader(lines), Options{}, func(ev Event) error {
		switch {
		case ev.Call != nil:
			seen++
			apart(ev.Record, ev.Agent, ev.Call.ID, ev.Call.Name)
		case ev.Result != nil:
			seen++
			apart(ev.Record, ev.Agent, ev.Result.CallID)
		}
		return nil
	})
	if err != nil || seen != 2 {
		t.Errorf("%d events, %v", seen, err)
	}
}
