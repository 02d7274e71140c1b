//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// The tests of this file hold what the runner relies on in the client, without
// loop in between: when the pin moves and one of them fails, the client has
// changed, not loop.

const clientSession = "019ad0b2-3f00-7abc-8def-0123456789ab"

// drive runs the client itself as the runner does, with the given hooks.
func (w *world) drive(prompt string, hooks map[string]any, extra ...string) (result, []map[string]any) {
	w.t.Helper()
	w.write("rules.txt", "RULE-TEXT: never push.\n")
	w.write("settings.json", marshal(map[string]any{"disableAllHooks": false, "hooks": hooks}))
	for _, name := range []string{"AUTO_MEMORY", "BACKGROUND_TASKS", "CRON", "WORKFLOWS"} {
		w.setenv("CLAUDE_CODE_DISABLE_"+name, "1")
	}
	args := append([]string{
		"--print", "--output-format", "stream-json", "--verbose", "--include-hook-events",
		"--session-id", clientSession, "--permission-mode", "dontAsk",
		"--setting-sources", "", "--strict-mcp-config", "--settings", filepath.Join(w.root, "settings.json"),
		"--append-system-prompt-file", filepath.Join(w.root, "rules.txt"),
		"--append-subagent-system-prompt-file", filepath.Join(w.root, "rules.txt"),
		"--disallowedTools", "AskUserQuestion,ScheduleWakeup,CronCreate,Monitor,Workflow,SendMessage,ListAgents,EnterWorktree",
	}, extra...)
	r := w.start(w.repo, []byte(prompt), filepath.Join(w.root, "bin", "claude"), args...).wait()
	var events []map[string]any
	for line := range strings.Lines(r.stdout) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.t.Fatalf("line of the stream: %v: %q", err, line)
		}
		events = append(events, e)
	}
	return r, events
}

// ownHooks calls this test binary for each of the events.
func (w *world) ownHooks(events ...string) map[string]any {
	hooks := map[string]any{}
	for _, e := range events {
		hooks[e] = []any{map[string]any{"hooks": []any{map[string]any{
			"type": "command", "command": self(w.t), "args": []string{"act-as-hook", filepath.Join(w.root, "hook.log")},
			"timeout": 10, "onFailure": "block",
		}}}}
	}
	return hooks
}

func TestClientTakesTheRunnersCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeapi.Script{
		{Match: "SUBTASK", Turns: []fakeapi.Turn{fakeapi.Call(fakeapi.Bash("git push origin main:sub")), fakeapi.Say("sub done")}},
		{Turns: []fakeapi.Turn{
			fakeapi.Call(fakeapi.Bash("echo x > n.txt && git add n.txt && git commit -qm x"), fakeapi.Bash("git push origin main:top")),
			fakeapi.Call(fakeapi.Agent("SUBTASK")),
			fakeapi.Call(fakeapi.Tool("mcp__chat__post_message", map[string]any{"text": "hello"})),
			fakeapi.Say("all done"),
		}},
	})
	w.write("mcp.json", w.mcpConfig())
	r, events := w.drive("Story: do it", w.ownHooks("SessionStart", "PreToolUse"), "--mcp-config", filepath.Join(w.root, "mcp.json"))
	if r.exit != 0 || r.stderr != "" {
		t.Fatalf("exit %d, stderr %q", r.exit, r.stderr)
	}
	if id := events[0]["session_id"]; id != clientSession {
		t.Errorf("session %v, want the UUIDv7 it was given", id)
	}
	last := events[len(events)-1]
	if last["type"] != "result" || last["is_error"] != false || last["terminal_reason"] != "completed" {
		t.Errorf("last event %v", last)
	}
	for _, branch := range []string{"top", "sub"} {
		if head := w.remoteHead(branch); head != "" {
			t.Errorf("branch %s was pushed", branch)
		}
	}
	if got := w.git(w.repo, "log", "-1", "--format=%s"); got != "x" {
		t.Errorf("last commit %q: an allowed call did not run", got)
	}
	if got := w.read("posted"); !strings.Contains(got, "hello") {
		t.Errorf("the MCP server got %q", got)
	}
	for _, q := range w.api.Requests() {
		if !strings.Contains(q.System, "RULE-TEXT") {
			t.Errorf("the rules are not in the system prompt of conversation %q", q.Conversation)
		}
	}
	if !strings.HasPrefix(w.read("hook.log"), `{"session_id":"`+clientSession) || strings.Count(w.read("hook.log"), `"SessionStart"`) != 1 {
		t.Errorf("hooks got %s", w.read("hook.log"))
	}
}

// Silence means no: what loop relies on when its hooks are switched off.
func TestClientRunsNothingThatWasNotAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeapi.Script{{Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("git push origin main:top"), fakeapi.Bash("echo x > n.txt")),
		fakeapi.Say("done"),
	}}})
	r, _ := w.drive("Story: do it", nil)
	if r.exit != 0 || w.remoteHead("top") != "" || w.read("repo/n.txt") != "" {
		t.Errorf("exit %d, pushed %q, written %q", r.exit, w.remoteHead("top"), w.read("repo/n.txt"))
	}
	for _, c := range w.api.Requests()[1].Results() {
		if !c.IsError {
			t.Errorf("the model was told %q", c.Text)
		}
	}
}

// marshal is v as JSON; the tests marshal only what can be.
func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// self is this test binary.
func self(t *testing.T) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
