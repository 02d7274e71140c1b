package receipt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	if said := ranNothing(claim, src); said != "" {
		return fmt.Sprintf("the sentence says %q, the receipt is of %q, which runs nothing of the kind: %q", said, src.Tool, shorten(src.Input))
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

// passing is what is said of tests, builds and linters that were run.
var passing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:tests|(?:test )?suite|specs|checks|build|linter)(?: (?:all|now|still|itself))* ` +
		`(?:pass|passes|passed|succeeds|succeeded|succeed|(?:is|are|was|were) (?:all )?(?:passing|green|clean))\b`)
})

// plainPrograms look, name and move, and run nothing else.
var plainPrograms = []string{"ls", "pwd", "mkdir", "touch", "rm", "rmdir", "mv", "cp", "ln", "chmod", "date", "whoami", "which", "stat", "du", "df", "true"}

// ranNothing gives what a sentence says of tests or a build when the call could
// run neither, and its result speaks of none.
func ranNothing(claim string, src Source) string {
	said := passing().FindString(claim)
	if said == "" || passing().MatchString(src.Result) {
		return ""
	}
	switch src.Tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "TodoWrite":
		return said
	}
	if !isShell(src.Tool) || strings.ContainsAny(src.Input, "|&;\n(){}`$<>") {
		return ""
	}
	if words := strings.Fields(src.Input); len(words) > 0 && slices.Contains(plainPrograms, words[0]) {
		return said
	}
	return ""
}
