package claims

import (
	"slices"
	"strings"
	"unicode"
)

// idle words say nothing of what a number counts.
var idle = wordSet("a an and are as at be been by for from has have had in into is it its more less fewer than of on only or over per that the this to under up was were will with about around " +
	"approximately nearly almost roughly some just now then all each every we i our my new after before when while so but if there here they them you your did do does not no " +
	"can could would should which who what how very much many most least also still both between across within during plus total result time tim use used using get got make makes made tak count total sum number value amount real elaps duration wall finish done")

// openers end what a number counts: what follows them belongs to something else.
var openers = wordSet("in on at with from to for and or is are was were by after before when while than per into over under during across within that which but as via each vs versus while")

// outcomes are words for what became of something that is counted.
var outcomes = map[string]bool{"pass": true, "fail": true, "error": true, "skip": true, "warning": true, "todo": true, "flaky": true, "problem": true, "miss": true, "crash": true}

// tested are the things that a test runner counts without saying so.
var tested = wordSet("test cas check exampl assertion")

// words are the stems of the words of a text; those with a digit in them are
// one word: p99, sha256.
func words(text string) []string {
	var out []string
	for _, w := range tokens(text) {
		out = append(out, stem(w))
	}
	return out
}

// content are the stems of the words that say something.
func content(text string) []string {
	return slices.DeleteFunc(words(text), func(w string) bool { return len(w) < 2 && w != "x" && w != "%" && w != "s" || idle[w] })
}

// tokens splits a text into words that begin with a letter: at everything that
// is no letter or digit, and inside of camelCase. "99th" is p99.
func tokens(text string) []string {
	var out []string
	from, was := -1, rune(0)
	end := func(i int) {
		if from < 0 {
			return
		}
		w := text[from:i]
		from = -1
		if n, ok := strings.CutSuffix(w, "th"); ok && len(n) == 2 && isDigit(n[0]) {
			w = "p" + n
		}
		if !isDigit(w[0]) {
			out = append(out, w)
		}
	}
	for i, r := range text {
		switch {
		case r == '%':
			end(i)
			out = append(out, "%")
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
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
	return out
}

// splitWords splits at everything that is no letter or digit.
func splitWords(text string) []string { return tokens(text) }

// phraseEnds stand between a number and words that do not belong to it.
const phraseEnds = ".;!?\n()[]{}|,"

// sentence is the part of a text around start and end that is one sentence. A
// line that goes on with a small letter is the same sentence.
func sentence(text string, start, end int) (from, to int) {
	const reach = 300
	from, to = max(0, start-reach), min(len(text), end+reach)
	for i := start - 1; i >= from; i-- {
		if endsSentence(text, i) {
			from = i + 1
			break
		}
	}
	for i := end; i < to; i++ {
		if endsSentence(text, i) {
			to = i
			break
		}
	}
	return from, to
}

func endsSentence(text string, i int) bool {
	next := byte('\n')
	if i+1 < len(text) {
		next = text[i+1]
	}
	switch text[i] {
	case ';':
		return true
	case '.', '!', '?':
		return next == ' ' || next == '\n' || next == '"'
	case '\n':
		return next < 'a' || next > 'z'
	}
	return false
}

// lineAround is the line of a text in which start lies, of a long one the part
// around it.
func lineAround(text string, start, end int) string {
	const reach = 120
	from, to := lineBounds(text, start, end)
	from, to = max(from, start-reach), min(to, end+reach)
	return strings.TrimSpace(strings.ToValidUTF8(text[from:to], ""))
}

// lineBounds is the line of a text around start and end, bounded.
func lineBounds(text string, start, end int) (from, to int) {
	const reach = 4 << 10
	low, high := max(0, start-reach), min(len(text), end+reach)
	from, to = low+strings.LastIndexByte(text[low:start], '\n')+1, high
	if i := strings.IndexByte(text[end:high], '\n'); i >= 0 {
		to = end + i
	}
	return from, to
}

// clip cuts a text to n bytes, at the end of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
