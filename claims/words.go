package claims

import (
	"strings"
	"unicode"
)

// idle words say nothing of what a number counts.
var idle = wordSet("a an and are as at be been by for from has have in into is it its more less than of on only or over per that the this to under up was were with about around approximately nearly almost roughly some just now then all each every we i our my new")

// unitWords are the stems of what a number counts: its suffix, the words after
// it, and those just before it.
func unitWords(text string, n number) []string {
	var out []string
	add := func(w string) {
		if s := stem(w); len(s) > 1 && !idle[s] || s == "%" || s == "x" || s == "$" {
			out = append(out, s)
		}
	}
	if n.unit != "" {
		add(n.unit)
	}
	for _, w := range firstWords(text[n.end:], 4) {
		add(w)
	}
	for _, w := range lastWords(text[:n.start], 3) {
		add(w)
	}
	return out
}

// phraseEnds stand between a number and words that do not belong to it.
const phraseEnds = ".;!?\n()[]{}|,"

// firstWords are the words at the start of a text, up to the end of its phrase.
func firstWords(text string, n int) []string {
	if i := strings.IndexAny(text, phraseEnds); i >= 0 {
		text = text[:i]
	}
	words := splitWords(clip(text, 80))
	return words[:min(n, len(words))]
}

func lastWords(text string, n int) []string {
	if i := strings.LastIndexAny(text, phraseEnds); i >= 0 {
		text = text[i+1:]
	}
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[len(text)-80:], "")
	}
	words := splitWords(text)
	return words[max(0, len(words)-n):]
}

// splitWords splits at everything that is no letter, and inside of camelCase.
// A sign of a percentage is a word too.
func splitWords(text string) []string {
	var words []string
	from, was := -1, rune(0)
	end := func(i int) {
		if from >= 0 {
			words = append(words, text[from:i])
		}
		from = -1
	}
	for i, r := range text {
		switch {
		case r == '%':
			end(i)
			words = append(words, "%")
		case !unicode.IsLetter(r):
			end(i)
		case from >= 0 && unicode.IsUpper(r) && unicode.IsLower(was):
			end(i)
			from = i
		case from < 0:
			from = i
		}
		was = r
	}
	end(len(text))
	return words
}

// lineAround is the line of a text in which start lies, of a long one the part
// around it.
func lineAround(text string, start, end int) string {
	const reach = 120
	from := strings.LastIndexByte(text[:start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		to = end + i
	}
	from, to = max(from, start-reach), min(to, end+reach)
	return strings.TrimSpace(strings.ToValidUTF8(text[from:to], ""))
}

// clip cuts a text to n bytes, at the end of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
