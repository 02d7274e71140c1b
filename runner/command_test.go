package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// What keeps the firewall live and the attempt to itself.
func TestCommandLine(t *testing.T) {
	o := &Options{Client: []string{"claude"}, Level: policy.Unattended, Model: "m", CostUSD: 2.5}
	got := strings.Join(clientArgs(o, "ID", files{settings: "S", rules: "R", mcp: "M"}), " ")
	want := "claude --print --output-format stream-json --verbose --session-id ID --permission-mode dontAsk --setting-sources  " +
		"--strict-mcp-config --mcp-config M --settings S --append-system-prompt-file R --append-subagent-system-prompt-file R " +
		"--disallowedTools AskUserQuestion,CronCreate,EnterWorktree,ListAgents,Monitor,ScheduleWakeup,SendMessage,Workflow " +
		"--model m --max-budget-usd 2.5"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if args := clientArgs(o, "ID", files{}); slices.Contains(args, "--mcp-config") {
		t.Error("--mcp-config without servers")
	}
	o.Level = policy.Lockdown
	if got := strings.Join(clientArgs(o, "ID", files{}), " "); !strings.Contains(got, ",WebFetch,WebSearch") {
		t.Errorf("lockdown reads the network: %s", got)
	}
	if slices.Contains(disallowed, "WebFetch") {
		t.Error("taking tools away in lockdown changed the other levels")
	}
}

func TestEnvironment(t *testing.T) {
	o := &Options{Env: []string{
		"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_SIMPLE=1", "CLAUDE_CODE_MAX_RETRIES=1", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=0",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=0", "LOOP_ATTEMPT=old", "ODD",
	}}
	env := clientEnv(o, "new")
	for _, want := range []string{
		"PATH=/bin", "CLAUDE_CODE_MAX_RETRIES=1", "LOOP_ATTEMPT=new", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "GIT_TERMINAL_PROMPT=0",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
	for _, kv := range env {
		if kv == "CLAUDECODE=1" || kv == "CLAUDE_CODE_SIMPLE=1" || kv == "LOOP_ATTEMPT=old" || strings.HasSuffix(kv, "=0") && kv != "GIT_TERMINAL_PROMPT=0" {
			t.Errorf("%s reaches the client", kv)
		}
	}
	o.AutoMemory = true
	if env := clientEnv(o, "new"); slices.Contains(env, "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1") {
		t.Error("the client's memory is off although it was asked for")
	}
}
