package receipt

import (
	"path"
	"slices"
	"strings"
)

// spokenCommands are commands whose names mean nothing else in a sentence.
// The second words are those that agents report results of.
var spokenCommands = map[string][]string{
	"go":        {"test", "vet"},
	"cargo":     {"test", "build", "check", "clippy", "fmt", "bench"},
	"npm":       {"test", "run", "ci", "audit", "publish"},
	"pnpm":      {"test", "run", "build"},
	"yarn":      {"test", "run", "build"},
	"git":       {"push", "commit", "status", "diff", "log", "merge", "rebase"},
	"dotnet":    {"test", "build"},
	"mvn":       {"test", "verify", "package"},
	"docker":    {"build", "run", "push"},
	"terraform": {"plan", "apply", "validate"},
}

// spokenPrograms are programs that are named alone.
var spokenPrograms = []string{
	"pytest", "mypy", "ruff", "pylint", "flake8", "eslint", "vitest", "jest", "tsc", "prettier", "biome", "playwright",
	"golangci-lint", "staticcheck", "gofmt", "gofumpt", "govulncheck", "clippy", "rustfmt", "rubocop", "rspec", "phpunit", "shellcheck",
}

// opaquePrograms run others that their line does not name.
var opaquePrograms = []string{
	"make", "just", "task", "rake", "tox", "nox", "npm", "npx", "pnpm", "yarn", "bun", "deno", "sh", "bash", "zsh", "node", "python",
	"python3", "uv", "poetry", "pre-commit", "docker", "podman", "ninja", "bazel", "gradle", "mvn", "xargs", "ssh", "act", "turbo", "nx",
}

// otherCommand gives the command that a sentence names when the call ran
// another one. It is quiet if one of several fits, if the result speaks of it,
// and if the call ran something that may have run it.
func otherCommand(claim string, src Source) string {
	named := commandsIn(claim)
	if len(named) == 0 || runsOthers(src.Tool) || isShell(src.Tool) && opaque(src.Input) {
		return ""
	}
	words := commandWords(src.Input)
	result := strings.ToLower(src.Result)
	for _, cmd := range named {
		if hasInOrder(words, strings.Fields(cmd)) || strings.Contains(result, cmd) {
			return ""
		}
	}
	return named[0]
}

func commandsIn(claim string) []string {
	words := commandWords(claim)
	var named []string
	for i, w := range words {
		if slices.Contains(spokenPrograms, w) {
			named = append(named, w)
		}
		if i+1 < len(words) && slices.Contains(spokenCommands[w], words[i+1]) {
			named = append(named, w+" "+words[i+1])
		}
	}
	return named
}

func commandWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func hasInOrder(words, wanted []string) bool {
	for _, w := range words {
		if len(wanted) > 0 && w == wanted[0] {
			wanted = wanted[1:]
		}
	}
	return len(wanted) == 0
}

// opaque reports whether a command line runs a script or a program that runs
// others.
func opaque(line string) bool {
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune("|&;\n(){}`$", r) }) {
		for word := range strings.FieldsSeq(part) {
			name := strings.Trim(word, `"'`)
			if strings.Contains(name, "=") {
				continue // a variable before the command
			}
			if slices.Contains(opaquePrograms, path.Base(name)) || strings.ContainsAny(name, "/.") {
				return true
			}
			if !isPrefixCommand(name) {
				break
			}
		}
	}
	return false
}

// isPrefixCommand is for words that stand before the command that matters.
func isPrefixCommand(name string) bool {
	switch name {
	case "sudo", "env", "time", "nice", "exec", "command", "timeout", "nohup", "then", "do", "if", "!":
		return true
	}
	return len(name) > 0 && (isDigit(name[0]) || name[0] == '-')
}

// spokenTools are tools whose names are no words of English.
var spokenTools = []string{"WebFetch", "WebSearch", "NotebookEdit", "TodoWrite", "MultiEdit"}

// plainTools are named only as "the Read tool".
var plainTools = []string{"Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task", "Agent"}

// otherTool gives a tool that a sentence names when the receipt is of another
// and the sentence does not name that one.
func otherTool(claim, tool string) string {
	words := strings.FieldsFunc(claim, func(r rune) bool { return !isToolName(string(r)) || r == '.' })
	var other string
	for i, w := range words {
		named := slices.Contains(spokenTools, w) || strings.HasPrefix(w, "mcp__") ||
			slices.Contains(plainTools, w) && i+1 < len(words) && words[i+1] == "tool"
		if named && w == tool {
			return ""
		}
		if named && other == "" {
			other = w
		}
	}
	return other
}
