package policy

import (
	"iter"
	"strings"
)

// matchGlob reports whether s matches pattern, where * stands for any run of
// bytes and nothing else is special.
func matchGlob(pattern, s string) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchAny reports whether s matches one of the patterns.
func matchAny(patterns []string, s string) bool {
	for _, p := range patterns {
		if matchGlob(p, s) {
			return true
		}
	}
	return false
}

// wordPattern is one word of a command pattern: alternatives with | between
// them, each a glob.
type wordPattern string

// wordPatterns are the words of a command pattern.
func wordPatterns(words []string) []wordPattern {
	out := make([]wordPattern, len(words))
	for i, w := range words {
		out[i] = wordPattern(w)
	}
	return out
}

func (w wordPattern) alternatives() iter.Seq[string] { return strings.SplitSeq(string(w), "|") }

func (w wordPattern) match(s string) bool {
	for p := range w.alternatives() {
		if matchGlob(p, s) {
			return true
		}
	}
	return false
}

// literal reports whether the word stands for exactly the words it lists.
func (w wordPattern) literal() bool { return !strings.Contains(string(w), "*") }
