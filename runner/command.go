package runner

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/stories"
)

// disallowed are the client's tools that make no sense with nobody there:
// they outlive the attempt, wait for an answer, or leave the work tree.
var disallowed = []string{
	"AskUserQuestion", "CronCreate", "EnterWorktree", "ListAgents", "Monitor", "ScheduleWakeup", "SendMessage", "Workflow",
}

// networkTools read the network; lockdown takes them away.
var networkTools = []string{"WebFetch", "WebSearch"}

// files are the files of one attempt that its command line names.
type files struct{ settings, rules, mcp string }

// clientArgs is the command line of one attempt.
func clientArgs(o *Options, sessionID string, f files) []string {
	args := append(slices.Clone(o.Client),
		"--print", "--output-format", "stream-json", "--verbose",
		"--session-id", sessionID,
		// With dontAsk only what our hook allows in so many words runs, so
		// hooks that are switched off stop the agent, not the firewall.
		"--permission-mode", "dontAsk",
		"--setting-sources", "",
		"--strict-mcp-config")
	if f.mcp != "" {
		args = append(args, "--mcp-config", f.mcp)
	}
	args = append(args,
		"--settings", f.settings,
		"--append-system-prompt-file", f.rules)
	if !o.OldClient {
		args = append(args, "--append-subagent-system-prompt-file", f.rules)
	}
	args = append(args,
		"--disallowedTools", strings.Join(disallowedTools(o.Level), ","))
	if o.Model != "" {
		args = append(args, "--model", o.Model)
	}
	if o.CostUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(o.CostUSD, 'f', -1, 64))
	}
	return args
}

func disallowedTools(l policy.Level) []string {
	if l >= policy.Lockdown {
		return append(slices.Clone(disallowed), networkTools...)
	}
	return disallowed
}

// denials are the client's own rules against the plainest spellings. They
// would outrank a rule by which the user lets one of them through.
func denials(o *Options) []string {
	if o.Set.Allows() {
		return nil
	}
	return firewall.PlainDenials()
}

// CommandLine is the command line of a story's attempt, with the places where
// its files would be.
func CommandLine(o *Options, s stories.Story) []string {
	o = forStory(o, s)
	dir := filepath.Join(o.State, "runs", "SESSION", folderName(s)+"-1")
	f := files{settings: filepath.Join(dir, settingsName), rules: filepath.Join(dir, rulesName)}
	if o.MCPConfig != "" {
		f.mcp = filepath.Join(o.State, "runs", "SESSION", "mcp.json")
	}
	return clientArgs(o, "UUID", f)
}
