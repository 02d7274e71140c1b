package policy

import "slices"

import "strings"

// lower is what a hit of an unknown tool becomes by what the tool's server
// says of it. A tool that says that it destroys, and one that is given code,
// stays what it is.
func (a *Annotations) lower(hit Hit, in map[string]any) Hit {
	if a == nil || !isTrue(a.ReadOnly) || isTrue(a.Destructive) || takesCode(in) {
		return hit
	}
	return Hit{
		Rule: "tool-annotated", Tier: Local, Net: a.OpenWorld == nil || *a.OpenWorld, Text: hit.Text,
		Why: "Nothing is known of the tool, and its server says that it only reads.",
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// takesCode: an argument is named like code, or its text looks like a program.
func takesCode(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, "#!") || strings.HasPrefix(v, "```")
	case []any:
		if slices.ContainsFunc(v, takesCode) {
			return true
		}
	case map[string]any:
		for k, x := range v {
			if codeName(k) || takesCode(x) {
				return true
			}
		}
	}
	return false
}

func codeName(key string) bool {
	for _, w := range nameWords(key) {
		switch w {
		case "code", "cmd", "command", "commands", "cmdline", "commandline", "script", "scripts", "shell", "bash", "sh", "powershell", "python",
			"javascript", "js", "sql", "program", "expression", "expr", "eval", "exec", "argv", "function", "lambda", "snippet", "stdin", "mutation", "graphql":
			return true
		}
	}
	return false
}
