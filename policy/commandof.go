package policy

import "strings"

// CommandOf is one line for people that says what a call is: the command of a
// shell tool as it is, the file of one that writes, else name and input. It
// is hostile text.
func CommandOf(c Call) string {
	in, ok := c.input()
	if !ok || len(c.Input) == 0 {
		return strings.TrimSpace(c.Tool + " " + string(c.Input))
	}
	if !strings.HasPrefix(c.Tool, "mcp__") {
		if cmd, ok := commandField(in); ok && !isFileTool(toolKey(c.Tool)) {
			return cmd
		}
		for _, k := range []string{"file_path", "notebook_path", "path", "url", "query", "skill", "description", "text"} {
			if v, ok := in[k].(string); ok {
				return c.Tool + " " + v
			}
		}
	}
	return c.Tool + " " + string(c.Input)
}

// codeRules describes the rules that are part of the classifier and stand in
// no pack, and a user's patterns.
func codeRules(patterns []string) []RuleInfo {
	out := []RuleInfo{
		{ID: "opaque-payload", Tier: External, Why: "It runs what cannot be seen before: a decoded or downloaded text."},
		{ID: "decoded-command", Tier: External, Why: "It decodes what it then tells a program to do."},
		{ID: "opaque-script", Tier: External, Why: "A script that is not looked into is named like one that reaches outside."},
		{ID: "git-alias", Tier: External, Why: "Git has no such command: it may be an alias that cannot be seen."},
		{ID: "opaque-skill", Tier: External, Why: "A skill or slash command is named like one that reaches outside."},
		{ID: "mcp-statement", Tier: External, Why: "The statement given to an MCP tool changes a database."},
		{ID: "opaque-verb", Tier: External, Why: "An unknown program is told to do what reaches outside."},
		{ID: "cloud-cmdlet", Tier: External, Why: "A PowerShell command changes something in a cloud or at a service."},
		{ID: "dotnet-send", Tier: External, Why: "PowerShell sends through a class of .NET."},
		{ID: "platform-env", Tier: External, Why: "A command run with a platform's environment changes the database that it names."},
		{ID: "opaque-depth", Tier: External, Why: "Payloads inside payloads go deeper than is looked at."},
		{ID: "dynamic-program", Tier: External, Why: "The program is not known before the line runs."},
		{ID: "remote-command", Tier: External, Why: "The command runs on another machine."},
		{ID: "opaque-server", Tier: External, Why: "An unknown program is given the address of a server on another machine."},
		{ID: "opaque-sender", Tier: External, Why: "An unknown program is named for a service that carries words to people."},
		{ID: "workflow-action", Tier: External, Why: "A step of a workflow that is written publishes, deploys or tells others."},
		{ID: "task-request", Tier: External, Why: "A task that is written sends an HTTP request that writes."},
		{ID: "code-tcl-send", Tier: External, Why: "Tcl sends a request or opens a connection to another machine."},
		{ID: "applescript-send", Tier: External, Why: "AppleScript tells a mail, chat or calendar program to act."},
		{ID: "guard-settings", Tier: External, Why: "It switches off the hooks by which a session is guarded."},
		{ID: "code-exfil", Tier: External, Why: "What code asks the network for is made of what a file holds."},
		{ID: "net-redirect", Tier: External, Why: "The shell itself opens a network connection."},
		{ID: "unread-text", Tier: External, Why: "Part of a line could not be read, and its text names what reaches outside."},
		{ID: "unread-input", Tier: External, Why: "The input of a call could not be read."},
		{ID: "mcp-write", Tier: External, Why: "An MCP tool's name says that it changes something on its server."},
		{ID: "mcp-unknown", Tier: External, Why: "Neither an MCP server nor the verb of its tool is known."},
		{ID: "mcp-read", Tier: Local, Why: "An MCP tool's name says that it only reads."},
		{ID: "tool-annotated", Tier: Local, Why: "Nothing is known of a tool, and its server says that it only reads."},
		{ID: "tool-verb", Tier: External, Why: "A tool's name says that it changes something."},
		{ID: "tool-unknown", Tier: External, Why: "Nothing is known of a tool."},
		{ID: "tool-read", Tier: Local, Why: "A tool's name says that it only reads."},
		{ID: "net-read-tool", Tier: Local, Why: "A tool reads the network."},
		{ID: "classifier-failed", Tier: External, Why: "The classifier failed on the call."},
	}
	for _, p := range classics() {
		out = append(out, RuleInfo{ID: p.of.id, Tier: External, Why: p.of.why})
	}
	for i := range out {
		out[i].Pack = "engine"
	}
	for _, p := range patterns {
		out = append(out, RuleInfo{ID: "pattern:" + p, Pack: "patterns", Tier: External, Why: "A text that your configuration lists as external."})
	}
	return out
}
