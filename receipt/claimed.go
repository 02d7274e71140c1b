package receipt

import (
	"slices"
	"strings"
)

// claimedFigures gives the numbers of a sentence that say something about a
// result. Left out are numbers in code and in names, dates and versions,
// places and ordinals, what is only expected or approximate, and what the
// agent did itself.
func claimedFigures(claim string) []figure {
	words := strings.Fields(withoutCode(claim))
	var all []figure
	for i, word := range words {
		if i == 0 && isListMark(word) || aboutElse(words, i) {
			continue
		}
		for part := range strings.SplitSeq(bare(word), "/") {
			f, ok := claimedFigure(part)
			if !ok || isYear(f) {
				continue
			}
			if f.unit == "" && i+1 < len(words) {
				next, _, _ := strings.Cut(strings.ToLower(bare(words[i+1])), "/") // ms/op
				if units[next] != "" {
					f.unit = next
				}
			}
			if all = append(all, f); len(all) == mostFigures {
				return all
			}
		}
	}
	return all
}

// mostFigures is more than a sentence has; beyond it stands pasted data.
const mostFigures = 40

// withoutCode blanks what stands between backticks.
func withoutCode(s string) string {
	parts := strings.Split(s, "`")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = " "
	}
	return strings.Join(parts, " ")
}

// bare takes off what surrounds a word in prose.
func bare(word string) string {
	return strings.TrimRight(strings.Trim(word, "()[]{}\"'“”‘’*_,;:!?|="), ".")
}

// claimedFigure reads a number that has a unit at most.
func claimedFigure(word string) (figure, bool) {
	word = strings.TrimLeft(word, "+-−$€£")
	end := len(word)
	if i := strings.IndexFunc(word, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '_' }); i >= 0 {
		end = i
	}
	f, ok := readFigure(word[:end])
	if !ok {
		return figure{}, false
	}
	f.unit = strings.ToLower(word[end:])
	return f, f.unit == "" || units[f.unit] != ""
}

func isListMark(word string) bool {
	digits := strings.TrimLeft(word, "0123456789")
	return len(digits) < len(word) && (digits == "." || digits == ")")
}

// isYear reports a number that is more likely a date.
func isYear(f figure) bool {
	return f.unit == "" && f.decimals == 0 && f.value >= 1990 && f.value < 2100
}

// aboutElse reports whether the words around say that a number is not one of
// the result.
func aboutElse(words []string, i int) bool {
	if strings.ContainsAny(words[i], "~≈<>≤≥±#") {
		return true
	}
	var before [2]string
	for k := range before {
		if i-1-k >= 0 {
			before[k] = strings.ToLower(bare(words[i-1-k]))
		}
	}
	if slices.Contains(otherWords, before[0]) || before[0] == "of" && before[1] == "instead" || before[0] == "to" && before[1] == "up" {
		return true
	}
	if i+1 < len(words) && (isMonth(words[i+1]) || slices.Contains(ownThings, strings.ToLower(bare(words[i+1])))) {
		return true
	}
	return i > 0 && isMonth(words[i-1])
}

func isMonth(word string) bool {
	word = bare(word)
	return len(word) >= 3 && len(word) <= 9 && slices.ContainsFunc(months, func(m string) bool { return strings.HasPrefix(m, word) })
}

var months = []string{
	"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
}

// otherWords, before a number, make it the number of something, an estimate,
// an expectation, a version or the agent's own work.
var otherWords = []string{
	"story", "step", "phase", "task", "issue", "ticket", "pr", "mr", "bug", "section", "chapter", "figure", "table", "page", "point",
	"item", "option", "line", "column", "row", "version", "port", "attempt", "round", "try", "day", "year", "level", "part", "number", "no",
	"rfc", "http", "utf", "sha", "iso", "code", "status", "stories", "steps", "lines", "issues", "criterion", "criteria",
	"go", "python", "node", "java", "ruby", "php", "rust", "typescript", "react", "django", "ubuntu", "debian", "postgres", "node.js",
	"expected", "expects", "expecting", "expect", "want", "wanted", "wants", "not", "target", "goal", "required", "requires",
	"about", "around", "approximately", "approx", "ca", "circa", "roughly", "nearly", "almost", "over", "under", "above", "below", "than", "least", "most",
	"within", "beyond", "some",
	"exit", "fix", "fixes", "add", "adds", "change", "changes", "write", "writes", "update", "updates", "remove", "removes", "create", "creates",
	"refactor", "refactors", "rename", "renames", "move", "moves", "implement", "implements",
	"fixed", "fixing", "added", "adding", "changed", "wrote", "updated", "removed", "created", "refactored", "renamed", "moved", "implemented",
	"touched", "edited", "introduced",
}

// ownThings, after a number, are counted by the agent, not by a tool.
var ownThings = []string{"stories", "steps", "criteria", "todos", "commits", "attempts", "tries"}
