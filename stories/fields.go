package stories

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// text is a value as text: a string decoded, a list line by line, anything
// else as it stands in the file.
func text(n *node) string {
	if n == nil || n.kind == 'n' {
		return ""
	}
	switch n.kind {
	case '[':
		var lines []string
		for i := range n.items {
			if t := itemText(&n.items[i]); t != "" {
				lines = append(lines, t)
			}
		}
		return strings.Join(lines, "\n")
	case '{':
		return itemText(n)
	}
	return strings.TrimSpace(n.text)
}

// itemText is one entry of a list. An object stands for its text; when it has
// none of the usual names, for all its values.
func itemText(n *node) string {
	if n.kind != '{' {
		return text(n)
	}
	if t := firstOf(n, "text", "description", "title", "criterion", "name"); t != "" {
		return t
	}
	var parts []string
	for i := range n.members {
		if t := text(&n.members[i].value); t != "" {
			parts = append(parts, n.members[i].key+": "+t)
		}
	}
	return strings.Join(parts, "; ")
}

// firstOf is the text of the first key that has any.
func firstOf(n *node, keys ...string) string {
	for _, k := range keys {
		if t := text(n.get(k)); t != "" {
			return t
		}
	}
	return ""
}

// joined is the text of all the keys, each once.
func joined(n *node, sep string, keys ...string) string {
	var parts []string
	for _, k := range keys {
		if t := text(n.get(k)); t != "" && !slices.Contains(parts, t) {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, sep)
}

// lists is the entries of all the keys, each once.
func lists(n *node, keys ...string) []string {
	var all []string
	for _, k := range keys {
		for _, item := range entries(n.get(k)) {
			if !slices.Contains(all, item) {
				all = append(all, item)
			}
		}
	}
	return all
}

// entries is a list's entries. A string is a list written as Markdown.
func entries(n *node) []string {
	if n == nil {
		return nil
	}
	if n.kind == '"' {
		return bullets(n.text)
	}
	if n.kind != '[' {
		if t := text(n); t != "" {
			return []string{t}
		}
		return nil
	}
	var all []string
	for i := range n.items {
		if t := itemText(&n.items[i]); t != "" {
			all = append(all, t)
		}
	}
	return all
}

func verifyKeys() []string {
	return []string{
		"testSteps", "completionCriteria", "qualityGates",
		"testCommand", "typecheckCommand", "lintCommand", "verify",
	}
}

// verifyOf collects the commands that an object names for verification. They
// are shown to a person; nothing here or elsewhere runs them unasked.
func verifyOf(n *node) []string {
	var all []string
	for _, key := range verifyKeys() {
		for _, c := range commands(n.get(key)) {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// commands is the commands in a value: a string, a list, an object with one
// under a usual name, or an object of named ones.
func commands(n *node) []string {
	if n == nil || n.kind == 'n' {
		return nil
	}
	var all []string
	switch n.kind {
	case '[':
		for i := range n.items {
			all = append(all, commands(&n.items[i])...)
		}
		return all
	case '{':
		for _, key := range []string{"commands", "command", "cmd", "run"} {
			if v := n.get(key); v != nil {
				return commands(v)
			}
		}
		for i := range n.members {
			all = append(all, commands(&n.members[i].value)...)
		}
		return all
	}
	if t := text(n); t != "" {
		all = append(all, t)
	}
	return all
}

// priority puts all the ways to write a priority on one scale, smaller first:
//
//	a number, also in quotes     itself (1, 1.5, "3")
//	P0 to P99                    its number
//	critical, high, medium, low  0, 1, 2, 3
//
// so that words, P-numbers and the 0 to 4 of issue trackers mix as they are
// meant. Equal ones keep the order of the file.
func priority(s string) (float64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "critical":
		return 0, true
	case "high":
		return 1, true
	case "medium":
		return 2, true
	case "low":
		return 3, true
	}
	if rest, ok := strings.CutPrefix(s, "p"); ok && len(rest) >= 1 && len(rest) <= 2 && leadingDigits(rest) == rest {
		s = rest
	}
	if strings.Trim(s, "0123456789+-.e") != "" { // no "inf", "nan", hexadecimal
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

func isTrue(n *node) bool {
	return n != nil && (n.kind == 't' || n.kind == '"' && strings.EqualFold(n.text, "true"))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// isCheckType: a story of this type looks at something and changes no file.
func isCheckType(s string) bool {
	return slices.Contains([]string{"check", "review", "audit", "verification", "investigation", "spike"}, strings.ToLower(strings.TrimSpace(s)))
}
