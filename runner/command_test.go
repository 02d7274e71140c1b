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
