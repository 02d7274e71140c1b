//go:build unix

package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opaque are fields whose inside is data, or longer lists with the client.
var opaque = map[string]bool{
	"input": true, "tool_input": true, "modelUsage": true, "model_usage_since_last_result": true, "by_type": true,
	"mcp_servers": true, "plugins": true, "permission_denials": true, "structuredPatch": true, "iterations": true,
}

// shape lists the paths of a value with the kinds of their ends.
func shape(prefix string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if opaque[k] {
				into[prefix+"."+k] = true
				continue
			}
			shape(prefix+"."+k, x, into)
		}
	case []any:
		into[prefix+"[]"] = true
		for _, x := range v {
			shape(prefix+"[]", x, into)
		}
	case nil: // a field that may be null
		into[prefix] = true
	default:
		into[prefix] = true
	}
}

func shapeOf(o object) string {
	paths := map[string]bool{}
	shape("", o, paths)
	return strings.Join(slices.Sorted(maps.Keys(paths)), "\n")
}

// kinds sorts the records of a run into kinds that have one shape each. A
// tool result is told by its tool and by how it ended.
func kinds(records []object) map[string][]object {
	out := map[string][]object{}
	tools := map[string]string{}
	for _, r := range records {
		kind := fmt.Sprint(r["type"], " ", r["subtype"])
		if r["agent_id"] != nil {
			kind += " sub"
		}
		if r["error"] != nil {
			kind += fmt.Sprint(" ", r["error"], r["api_error"] != nil, r["api_error_status"] != nil)
		}
		if r["type"] == "result" {
			kind += fmt.Sprint(" ", r["terminal_reason"], " ", r["api_error_status"])
		}
		if kind == "rate_limit_event <nil>" {
			kind += fmt.Sprint(" ", r["rate_limit_info"].(object)["status"])
		}
		message, _ := r["message"].(object)
		content, _ := message["content"].([]any)
		for _, b := range content {
			block, _ := b.(object)
			kind += fmt.Sprint(" ", block["type"])
			switch block["type"] {
			case "tool_use":
				id, _ := block["id"].(string)
				tools[id], _ = block["name"].(string)
				if strings.HasPrefix(tools[id], "mcp__") {
					tools[id] = "mcp"
					kind += " mcp"
				}
			case "tool_result":
				id, _ := block["tool_use_id"].(string)
				kind += fmt.Sprint(" ", tools[id], " ", block["is_error"], " ", outcomeOf(r))
			}
		}
		out[kind] = append(out[kind], r)
	}
	return out
}

// outcomeOf tells results apart that have fields of their own.
func outcomeOf(r object) string {
	parts := []string{}
	if meta, ok := r["tool_result_meta"].([]any); ok {
		m := meta[0].(object)
		parts = append(parts, fmt.Sprint(m["non_execution_kind"], m["permission_decision"] != nil))
	}
	if result, ok := r["tool_use_result"].(object); ok {
		parts = append(parts, fmt.Sprint(result["type"]))
		if git, ok := result["gitOperation"].(object); ok {
			parts = append(parts, slices.Collect(maps.Keys(git))...)
		}
	}
	return strings.Join(parts, " ")
}

func captured(t *testing.T, name string) []object {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "client", name))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(b))
}

// everything is a script that makes every kind of record that a good run has.
func everything() Script {
	path := "${dir}/a/n.txt"
	sub := Call("Agent", map[string]string{"description": "a part", "prompt": "SUBTASK", "subagent_type": "general-purpose"})
	sub.Steps = []Step{
		Bash("echo sub", "run"), Bash("git push origin main", "push"), Bash("false", "fail"), {Text: "Sub done."},
	}
	mcp := Call("mcp__twitter__post_tweet", map[string]string{"text": "hello"})
	mcpFails := mcp
	mcpFails.Output, mcpFails.Fails = "failed: hello", true
	return Any(
		Step{Text: "hello"}, Bash("mkdir -p a", "make"), Bash("echo out; exit 4", "fail"), Bash("touch SILENT", "x"), Bash("touch EXIT3", "x"),
		Call("Write", map[string]string{"file_path": path, "content": "one\n"}),
		Call("Write", map[string]string{"file_path": path, "content": "two\n"}),
		Call("Read", map[string]string{"file_path": path}),
		Call("Read", map[string]string{"file_path": "${dir}/none"}),
		Call("Edit", map[string]string{"file_path": path, "old_string": "two", "new_string": "three"}),
		Call("Edit", map[string]string{"file_path": path, "old_string": "nope", "new_string": "three"}),
		Bash("git commit --allow-empty -m 'b commit'", "commit"), Bash("git add -A && git push origin main", "push"),
		Call("Nope", map[string]int{"x": 1}), Call("ScheduleWakeup", map[string]int{"delaySeconds": 60}),
		sub, mcp, mcpFails, Call("Write", map[string]string{"file_path": "${dir}/.claude/settings.json", "content": "{}"}),
		Step{RateLimit: "allowed_warning"}, Step{Text: "All done."},
	)
}

// Every record that is played has the fields that the real client's record of
// the same kind has: no more, no fewer.
func TestRecordsHaveTheClientsFields(t *testing.T) {
	files, err := filepath.Glob("testdata/client/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	client := map[string]map[string]bool{}
	for _, f := range files {
		if filepath.Base(f) == "hooks.jsonl" {
			continue
		}
		for kind, records := range kinds(captured(t, filepath.Base(f))) {
			for _, r := range records {
				if client[kind] == nil {
					client[kind] = map[string]bool{}
				}
				client[kind][shapeOf(r)] = true
			}
		}
	}
	runs := map[string]run{"everything": newWorld(t).run(everything(), "1", "--include-hook-events")}
	for _, fail := range []string{"usage-limit", "rate-limit", "auth", "forbidden", "not-logged-in", "credit", "server"} {
		runs[fail] = newWorld(t).run(Any(Step{Fail: fail}), "1")
	}
	runs["default mode"] = newWorld(t).run(Any(Bash("touch SILENT", "x"), Step{Text: "end."}), "1", "--permission-mode", "default")
	runs["bypass"] = newWorld(t).run(Any(Bash("echo SILENT", "x"), Step{Text: "end."}), "1", "--permission-mode", "bypassPermissions")
	runs["turns"] = newWorld(t).run(Any(Bash("echo 1", "x"), Step{Text: "end."}), "1", "--max-turns", "1")
	runs["budget"] = newWorld(t).run(Any(Bash("echo 1", "x"), Step{Text: "end."}), "1", "--max-budget-usd", "0.001")
	checked := 0
	for name, r := range runs {
		for kind, records := range kinds(r.records) {
			want, ok := client[kind]
			if !ok {
				t.Errorf("%s: the client was never seen to write %q: %s", name, kind, encode(records[0]))
				continue
			}
			for _, rec := range records {
				checked++
				if got := shapeOf(rec); !want[got] {
					t.Errorf("%s: %s (- client, + played)\n%s", name, kind, cmp.Diff(slices.Sorted(maps.Keys(want))[0], got))
				}
			}
		}
		wantExit := map[string]int{"everything": 0, "default mode": 0, "bypass": 0}
		if exit, ok := wantExit[name]; !ok && r.exit != 1 || ok && r.exit != exit {
			t.Errorf("%s: exit %d", name, r.exit)
		}
	}
	if checked < 60 {
		t.Errorf("only %d records checked", checked)
	}
}

// What hooks read has the client's fields.
func TestHookInputHasTheClientsFields(t *testing.T) {
	key := func(o object) string {
		_, sub := o["agent_id"]
		response, _ := o["tool_response"].(object)
		_, git := response["gitOperation"]
		return fmt.Sprint(o["hook_event_name"], " ", o["tool_name"], " ", sub, git)
	}
	want := map[string]string{}
	for _, o := range captured(t, "hooks.jsonl") {
		want[key(o)] = shapeOf(o)
	}
	w := newWorld(t)
	w.run(everything(), "1")
	seen := map[string]bool{}
	for line := range strings.Lines(w.read("hooks.jsonl")) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		k := key(o)
		seen[k] = true
		if w, ok := want[k]; ok && w != shapeOf(o) {
			t.Errorf("%s (- client, + played)\n%s", k, cmp.Diff(w, shapeOf(o)))
		}
	}
	for _, event := range []string{"SessionStart", "PreToolUse Bash", "PostToolUse Bash", "PostToolUseFailure Bash", "Stop", "SessionEnd"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(k string) bool { return strings.HasPrefix(k, event) }) {
			t.Errorf("no hook was run for %s", event)
		}
	}
}
