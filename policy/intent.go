package policy

import (
	"slices"
	"strings"
)

// FamilyOf is the pack of a rule, which groups what has one purpose; "" for a
// rule that is not known. What sends over HTTP has one family, whatever sends
// it.
func (s *Set) FamilyOf(rule string) string {
	r, _ := s.rule(rule)
	switch r.Pack {
	case "code", "engine", "patterns":
		return "http"
	default:
		return r.Pack
	}
}

// Target is where the gravest hit leads: the host of an address, the remote of
// a push, the server of an MCP tool; "" when the call does not say.
func (r Result) Target() string {
	if len(r.Hits) == 0 {
		return ""
	}
	text := r.Hits[0].Text
	if server, _ := splitMCP(text); strings.HasPrefix(text, "mcp__") && server != "" {
		return server
	}
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\n\"'`(),;<>", c) })
	for _, w := range words {
		if i := strings.Index(w, "://"); i >= 0 && hostOf(w[i:]) != "" {
			return strings.ToLower(hostOf(w[i:]))
		}
		if user, rest, ok := strings.Cut(w, "@"); ok && plainWord(user) {
			if host, _, ok := strings.Cut(rest, ":"); ok && host != "" {
				return strings.ToLower(host)
			}
		}
	}
	if i := slices.Index(words, "push"); i >= 0 {
		for _, w := range words[i+1:] {
			if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "$") {
				return w
			}
		}
	}
	return ""
}
