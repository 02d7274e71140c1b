package claims

import (
	"strings"
	"unicode"
)

// marksListItem: "1. " and "2) " at the start of a line.
func marksListItem(text string, start, end int) bool {
	if end+1 >= len(text) || text[end] != '.' && text[end] != ')' || text[end+1] != ' ' {
		return false
	}
	low, _ := lineBounds(text, start, end)
	line := text[low:start]
	return strings.TrimLeft(line, " \t>*-(") == ""
}

// datesBefore are the words after which four digits are a year.
var datesBefore = map[string]bool{
	"in": true, "since": true, "of": true, "by": true, "until": true, "copyright": true, "c": true, "year": true,
	"jan": true, "feb": true, "mar": true, "apr": true, "may": true, "jun": true, "jul": true, "aug": true, "sep": true, "oct": true, "nov": true, "dec": true,
	"january": true, "february": true, "march": true, "april": true, "june": true, "july": true, "august": true, "september": true, "october": true, "november": true, "december": true,
}

func isYear(text string, start int, whole string, decimals int) bool {
	if decimals > 0 || len(whole) != 4 || whole < "1900" || whole > "2099" || strings.ContainsAny(whole, ",'") {
		return false
	}
	words := strings.FieldsFunc(text[max(0, start-20):start], func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) > 0 && datesBefore[strings.ToLower(words[len(words)-1])]
}

// isLineNumber: what a program that shows files puts in front of their lines.
func isLineNumber(text string, n number) bool {
	after := text[n.end:]
	if !strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "\t") && !strings.HasPrefix(after, "→") && !strings.HasPrefix(after, "-") {
		return false
	}
	from, _ := lineBounds(text, n.start, n.end)
	before := text[from:n.start]
	return strings.TrimSpace(before) == "" || strings.HasSuffix(before, ":") && !strings.Contains(before, " ")
}

// named: a number behind one of these words is a name, and measures nothing.
var named = wordSet("issue issues pr prs pull ticket tickets bug step steps section sections chapter page pages figure appendix line rfc port ports version versions release v iso http utf sha " +
	"phase story task item option rule go python node node.js java jdk php ruby rust perl swift kotlin scala postgres postgresql mysql sqlite redis ubuntu debian alpine fedora macos ios android " +
	"windows chrome firefox react vue angular django rails laravel typescript es c++ c# .net llvm gcc clang status")

var months = wordSet("jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december")

// isReference: the number names something, a page or a version or a day.
func isReference(text string, n number) bool {
	if n.unit != "" {
		return false
	}
	after := text[n.end:min(len(text), n.end+16)]
	if word, ok := strings.CutPrefix(after, " "); ok && n.value <= 31 && months[strings.ToLower(leadingWord(word))] {
		return true
	}
	before, spaced := strings.CutSuffix(strings.TrimRight(text[max(0, n.start-40):n.start], "<>=^~"), " ")
	if !spaced {
		return false
	}
	if day, ok := strings.CutSuffix(before, ","); ok && n.digits <= 4 { // Nov 30, 2026
		day = strings.TrimRight(day, "0123456789")
		return day != before[:len(before)-1] && months[lastField(day)]
	}
	word := lastField(before)
	if word == "lines" || word == "exit" {
		return strings.HasPrefix(after, "-") || strings.HasPrefix(after, "–")
	}
	if word == "code" || word == "request" {
		words := strings.Fields(strings.ToLower(before))
		return len(words) > 1 && wordSet("exit status error pull merge")[words[len(words)-2]]
	}
	return named[word] || months[word]
}

// lastField is the last word of a text, in small letters.
func lastField(text string) string {
	text = strings.TrimRight(text, " .")
	return strings.ToLower(strings.TrimLeft(text[strings.LastIndexAny(text, " \t\n(\"'`[")+1:], "*_"))
}
