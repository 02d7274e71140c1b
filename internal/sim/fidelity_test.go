//go:build unix

package sim

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// What the client makes of each thing that a hook can say.
func TestJudge(t *testing.T) {
	pre := func(s string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + s + `","permissionDecisionReason":"R"}}`
	}
	const failed = `[/h x]: failed; blocking because onFailure is "block"` + "\n"
	for _, c := range []struct {
		name             string
		a                answer
		decision, reason string // with onFailure block
		open             string // decision without
	}{
		{"silence", answer{}, "", "", ""},
		{"allow", answer{stdout: pre("allow")}, "allow", "R", "allow"},
		{"deny", answer{stdout: pre("deny")}, "deny", "R", "deny"},
		{"deny, exit 1", answer{stdout: pre("deny"), exit: 1}, "deny", "R", "deny"},
		{"ask", answer{stdout: pre("ask")}, "ask", "R", "ask"},
		{"exit 2 wins", answer{stdout: pre("allow"), stderr: "no\n", exit: 2}, "deny", "[/h x]: no", "deny"},
		{"exit 1", answer{stderr: "boom\n", exit: 1}, "deny", failed + "boom", ""},
		{"killed", answer{exit: -1}, "deny", failed, ""},
		{"not there", answer{exit: 127}, "deny", failed, ""},
		{"too late", answer{timedOut: true, exit: -1}, "deny", `[/h x]: timed out; blocking because onFailure is "block"`, ""},
		{"unknown decision", answer{stdout: pre("maybe")}, "deny", failed, ""},
		{"another event", answer{stdout: strings.Replace(pre("allow"), "PreToolUse", "Stop", 1)}, "deny", failed, ""},
		{"plain text", answer{stdout: "all well"}, "", "", ""},
		{"text before JSON", answer{stdout: "x " + pre("deny")}, "", "", ""},
		{"two objects", answer{stdout: pre("deny") + "\n" + pre("deny")}, "", "", ""},
		{"old form", answer{stdout: `{"decision":"block","reason":"R"}`}, "deny", "R", "deny"},
	} {
		blocking, open := c.a, c.a
		hook{Command: "/h", Args: []string{"x"}, OnFailure: "block"}.judge(&blocking, "PreToolUse")
		if blocking.decision != c.decision || blocking.reason != c.reason {
			t.Errorf("%s: %q %q, want %q %q", c.name, blocking.decision, blocking.reason, c.decision, c.reason)
		}
		if (hook{Command: "/h"}).judge(&open, "PreToolUse"); open.decision != c.open {
			t.Errorf("%s without onFailure: %q, want %q", c.name, open.decision, c.open)
		}
	}
}

func TestHookRun(t *testing.T) {
	in := []byte(`{"a":1}`)
	run := func(h hook) answer { return h.run(t.Context(), "PreToolUse", in, os.Environ(), t.TempDir()) }
	if a := run(hook{Command: "cat; exit 2"}); a.exit != 2 || a.stdout != string(in) {
		t.Errorf("through a shell: %+v", a)
	}
	if a := run(hook{Command: "/no/such", Args: []string{}}); a.exit != 127 || a.decision != "" {
		t.Errorf("not there: %+v", a)
	}
	if a := run(hook{Command: "sleep", Args: []string{"300"}, Timeout: 0.05, OnFailure: "block"}); !a.timedOut || a.decision != "deny" {
		t.Errorf("too late: %+v", a)
	}
}

func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		matcher, tool string
		want          bool
	}{
		{"", "Bash", true}, {"*", "Bash", true}, {"Bash", "Bash", true}, {"bash", "Bash", false},
		{"Bash|Write", "Write", true}, {"Bash,Write", "Write", true}, {"Ba", "Bash", false},
	} {
		if got := (hookGroup{Matcher: c.matcher}).matches(c.tool); got != c.want {
			t.Errorf("%q on %q: %v", c.matcher, c.tool, got)
		}
	}
}

// updatedToolOutput is taken for Bash only in the tool's own shape.
func TestReplace(t *testing.T) {
	whole := `{"stdout":"a","stderr":"[receipt: x]","interrupted":false,"isImage":false}`
	for _, c := range []struct{ tool, updated, want string }{
		{"Bash", whole, "a\n[receipt: x]"},
		{"Bash", `{"stdout":"a"}`, "old"},
		{"Bash", `"text"`, "old"},
		{"Bash", `null`, "old"},
		{"mcp__x__y", `"text"`, `"text"`},
		{"Write", `{"filePath":"f"}`, "old"},
	} {
		o := outcome{text: "old"}
		o.replace(c.tool, json.RawMessage(c.updated))
		got, ok := o.text.(string)
		if raw, isRaw := o.text.(json.RawMessage); isRaw {
			got, ok = string(raw), true
		}
		if !ok || got != c.want {
			t.Errorf("%s %s: %v, want %q", c.tool, c.updated, o.text, c.want)
		}
	}
}

func TestOtherFormats(t *testing.T) {
	for format, want := range map[string]string{"text": "Said.\n", "json": `"result":"Said."`} {
		w := newWorld(t)
		w.write("script.json", encode(Any(Bash("echo hi", "x"), Step{Text: "Said."})))
		var out, errOut bytes.Buffer
		code := Main(t.Context(), Invocation{
			Args: []string{"-p", "--output-format=" + format, "--dangerously-skip-permissions"}, Script: w.path("script.json"),
			Stdin: strings.NewReader("go\n"), Stdout: &out, Stderr: &errOut, Env: os.Environ(), Dir: w.dir, Now: time.Now,
		})
		if code != 0 || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", format, code, out.String(), errOut.String())
		}
	}
}

func TestBashLimits(t *testing.T) {
	w := newWorld(t)
	w.sh("git init -q --bare ../origin.git && git remote add origin ../origin.git")
	r := w.run(Any(
		Call("Bash", map[string]any{"command": "echo began; sleep 300", "timeout": 2000}),
		Call("Bash", map[string]any{"cmd": "x"}),
		Call("Read", map[string]any{}),
		Call("Write", map[string]any{"file_path": "x"}),
		Bash("sleep 2 & echo background", "leave one behind"),
		Bash("yes | head -c 100000", "much"),
		Bash("git push origin main", "push"),
		Step{SleepMS: 1}, Step{RateLimit: "rejected", ResetsAt: 1796015997}, Step{Result: object{"result": "mine"}}, Step{Text: "after it"},
	), "1", "--permission-mode", "bypassPermissions", "--settings", "{}")
	for _, want := range []string{
		`"content":"Exit code 143\nCommand timed out after 2s\nbegan"`,
		"InputValidationError: Bash failed", "InputValidationError: Read failed", "InputValidationError: Write failed",
		`"stdout":"background"`, `"gitOperation":{"push":{"branch":"main"}}`, `"subtype":"vcs_state_changed"`, `"resetsAt":1796015997`,
		`"result":"mine"`,
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %s in the stream", want)
		}
	}
	if n := strings.Count(r.stdout, `"type":"result"`); n != 1 || r.exit != 0 {
		t.Errorf("%d results, exit %d", n, r.exit)
	}
	for _, rec := range r.records {
		if len(encode(rec)) > 4*bashShown {
			t.Errorf("a record of %d bytes", len(encode(rec)))
		}
	}
}

func TestServersOfTheMCPConfig(t *testing.T) {
	w := newWorld(t)
	w.write("mcp.json", `{"mcpServers":{"b":{},"a":{}}}`)
	r := w.run(Any(Step{Text: "x"}), "1", "--mcp-config", w.path("mcp.json"))
	if !strings.Contains(r.stdout, `"mcp_servers":[{"name":"a","source":"dynamic","status":"connected"},{"name":"b"`) {
		t.Error("the init record does not list them")
	}
	w.write("mcp.json", `{`)
	if r := w.run(Any(Step{Text: "x"}), "1", "--mcp-config", w.path("mcp.json")); r.exit != 1 || !strings.Contains(r.stderr, "Invalid MCP configuration") {
		t.Errorf("exit %d, %q", r.exit, r.stderr)
	}
}
