package receipt

import (
	"fmt"
	"strings"
)

// misfit says why a sentence cannot rest on a call's result; empty if it may.
// It is made to be right when it accuses and to let pass what it is unsure of.
func misfit(claim string, src Source) string {
	if name := otherTool(claim, src.Tool); name != "" {
		return fmt.Sprintf("the sentence names the tool %q, the receipt is of %q", name, src.Tool)
	}
	if cmd := otherCommand(claim, src); cmd != "" {
		return fmt.Sprintf("the sentence names %q, the receipt is of %q: %q", cmd, src.Tool, shorten(src.Input))
	}
	if n := unseenNumber(claim, src); n != "" {
		return fmt.Sprintf("the sentence says %q, which does not stand in the result of %q", n, src.Tool)
	}
	return ""
}

// isShell reports whether a tool's input is a command line.
func isShell(tool string) bool {
	return strings.EqualFold(tool, "bash") || strings.EqualFold(tool, "shell")
}

// runsOthers reports whether anything may have run within a call.
func runsOthers(tool string) bool {
	switch tool {
	case "Task", "Agent", "Skill", "BashOutput", "TaskOutput":
		return true
	}
	return strings.HasPrefix(tool, "mcp__")
}
