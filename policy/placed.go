package policy

import (
	"fmt"
	"slices"
	"strings"
)

// placed says of the hits where they stand. Words in a file are no words of
// the call, and what is only not known there is no reason to hold it.
func (r *reading) placed(hits []Hit, file, text string, line int) []Hit {
	out := hits[:0]
	for _, h := range hits {
		if h.Mention {
			continue
		}
		if h.File == "" {
			h = h.at(file, text, line, r.shown(file))
		}
		if h.Opaque && h.Tier == External && r.onlyUnknown(h) {
			h.Tier = Local
		}
		out = append(out, h)
	}
	return out
}

func (h Hit) at(file, text string, line int, shown string) Hit {
	if line == 0 {
		line = lineIn(text, h.Text)
	}
	h.File, h.Line = file, line
	where := fmt.Sprintf("in %s", shown)
	if line > 0 {
		where += fmt.Sprintf(", line %d", line)
	}
	h.Why = fmt.Sprintf("%s (%s).", strings.TrimSuffix(h.Why, "."), where)
	return h
}

// shown is a file's name for people, hostile as it is.
func (r *reading) shown(file string) string {
	if r.tree != nil && r.tree.cwd != "" {
		file = strings.TrimPrefix(file, strings.TrimSuffix(r.tree.cwd, "/")+"/")
	}
	for _, c := range file {
		if c < ' ' || c > '~' || c == '"' {
			return fmt.Sprintf("%q", file)
		}
	}
	return file
}

// lineIn finds the line on which a command stands in a file: as it is, or the
// first line with all its words.
func lineIn(text, command string) int {
	first, _, _ := strings.Cut(command, "\n")
	if i := strings.Index(text, first); i >= 0 && first != "" {
		return strings.Count(text[:i], "\n") + 1
	}
	words := strings.FieldsFunc(first, func(c rune) bool { return strings.ContainsRune(" \t\"'", c) })
	if len(words) == 0 {
		return 0
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if !slices.ContainsFunc(words[:min(len(words), 3)], func(w string) bool { return !strings.Contains(line, w) }) {
			return n
		}
	}
	return 0
}

// onlyUnknown: the hit says that something is not known, and nothing in it
// speaks of the network or of an outward deed.
func (r *reading) onlyUnknown(h Hit) bool {
	switch h.Rule {
	case "dynamic-program", "opaque-payload", "opaque-depth":
	default:
		return false
	}
	if strings.Contains(h.Text, "://") {
		return false
	}
	for _, w := range strings.FieldsFunc(h.Text, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') }) {
		switch w {
		case "curl", "wget", "base64", "nc", "ncat", "socat", "ssh", "xxd", "openssl", "gpg":
			return false
		}
		if r.set.table().verbs.has(w) {
			return false
		}
	}
	return true
}

// seenThrough drops what was said of a name alone, once all that stands
// behind the name has been looked at.
func seenThrough(hits []Hit) []Hit {
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Opaque && h.File == "" })
}
