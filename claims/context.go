package claims

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// context is what stands around a number and says what it is the number of.
type context struct {
	noun  []string // what it counts: the words right behind it
	label []string // other words of its sentence, or of its part of a line
	head  []string // of a line with several numbers: the words in front of them
	per   string   // 12 MB per second
	ended string   // what became of it: pass, fail
	unit  string   // that its label or its column names
	table bool     // it stands in a column with a head
	col   []string // the head of its column
	cols  []string // the heads of the others
	which string   // of several of a kind: p99, max, mean
}

// claimed is the context of a number in prose; key is that of a JSON value.
func claimed(text, key string, n number) context {
	from, to := sentence(text, n.start, n.end)
	var c context
	rest := c.counted(text[n.end:to])
	before, after := parts(text[from:n.start]), content(upToNumber(rest))
	c.label = append(before[max(0, len(before)-8):], after[:min(6, len(after))]...)
	c.ended = cmp.Or(ending(c.noun), ending(content(upTo(rest))), ending(content(downTo(text[from:n.start]))))
	c.which = which(ownPart(text[from:n.start]), true)
	if c.which == "" {
		c.which = which(strings.Join(firstFields(upTo(text[n.end:to]), 2), " "), false)
	}
	if key != "" {
		c.keyed(key)
	}
	return c
}

// parts are the words of a text, with "" between those that a comma or a number
// keeps apart.
func parts(text string) []string {
	var out []string
	for i, p := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;:()|/", r) }) {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, content(p)...)
	}
	return out
}

// ending is the word for what became of what is counted.
func ending(words []string) string {
	if i := slices.IndexFunc(words, func(w string) bool { return outcomes[w] }); i >= 0 {
		return words[i]
	}
	return ""
}

// ownPart is what stands before a number and belongs to it: the text after the
// number before it, or, of "from 40 ms to 12 ms", after the one before that.
func ownPart(before string) string {
	for end := len(before); ; {
		i := lastDigit(before[:end])
		if i < 0 || !joins(before[i+1:end]) {
			return before[i+1:]
		}
		for end = i; end > 0 && isDigit(before[end-1]); end-- {
		}
	}
}

// joins: nothing but a unit and a word that joins two numbers.
func joins(text string) bool {
	return !slices.ContainsFunc(tokens(text), func(w string) bool {
		return units[strings.ToLower(w)] == "" && w != "to" && w != "and" && w != "vs"
	})
}

// lastDigit is the end of the last number of a text; -1 = none.
func lastDigit(text string) int {
	for i := len(text) - 1; i >= 0; i-- {
		if isDigit(text[i]) && !inWord(text, i) {
			return i
		}
	}
	return -1
}

// upTo is a text up to the next number or comma, and downTo from the last.
func upTo(text string) string {
	if i := strings.IndexAny(text, ",;0123456789"); i >= 0 {
		return text[:i]
	}
	return text
}

// upToNumber is a text up to the next number.
func upToNumber(text string) string {
	for i := range len(text) {
		if isDigit(text[i]) && !inWord(text, i) {
			return text[:i]
		}
	}
	return text
}

func downTo(text string) string { return text[strings.LastIndexAny(text, ",;0123456789")+1:] }

// keyed adds the words of the JSON key whose value a number is.
func (c *context) keyed(key string) {
	words := strings.ReplaceAll(key, "_", " ")
	of, per, _ := perOf(words)
	if per != "" && c.per == "" {
		c.per, words = per, of
	}
	c.noun = append(content(words), c.noun...)
	c.ended = cmp.Or(ending(c.noun), c.ended)
	if c.which == "" {
		c.which = which(words, true)
	}
}

// counted reads what a number counts from the words behind it, and returns
// those that are left.
func (c *context) counted(after string) (rest string) {
	if i := strings.IndexAny(after, "!?\n()[]{}|,;"); i >= 0 {
		after, rest = after[:i], after[i:]
	}
	if strings.HasPrefix(after, ".") {
		return after + rest
	}
	of, per, behind := perOf(after)
	if per != "" {
		c.per, rest, after = per, behind+rest, of
	}
	i, taken := 0, 0
	for taken < 4 {
		for i < len(after) && !unicode.IsLetter(rune(after[i])) && after[i] < 0x80 && after[i] != '%' {
			i++
		}
		j := i
		for j < len(after) && after[j] != ' ' && after[j] != '\t' {
			j++
		}
		word := strings.ToLower(strings.Trim(after[i:j], ".:'\"`*_-"))
		switch {
		case word == "", len(c.noun) > 0 && (openers[word] || word == "of"), openers[word]:
			return after[i:] + rest
		case word != "of" && !idle[word]:
			c.noun = append(c.noun, content(after[i:j])...)
			taken++
		}
		if j < len(after) && after[j-1] == ':' {
			return after[j:] + rest
		}
		i = j
	}
	return after[i:] + rest
}

// perOf splits "slugs per second" and "slugs/s".
func perOf(text string) (of, per, behind string) {
	for i := range text {
		rest := ""
		switch {
		case text[i] == '/':
			rest = text[i+1:]
		case strings.HasPrefix(text[i:], " per "):
			rest = text[i+len(" per "):]
		case text[i] == '.' || text[i] == ',':
			return text, "", ""
		}
		if w := leadingWord(rest); w != "" {
			return text[:i], stem(w), rest[len(w):]
		}
	}
	return text, "", ""
}

// which finds the word that tells one number from others of its kind.
func which(text string, last bool) string {
	list := tokens(text)
	if last {
		slices.Reverse(list)
	}
	for _, w := range list[:min(len(list), 8)] {
		w = strings.ToLower(w)
		switch s := stem(w); {
		case w == "min" || w == "max" || s == "mean" || s == "median" || w == "minimum" || w == "maximum" || w == "stddev" || w == "stdev":
			return s
		case len(w) > 2 && w[0] == 'p' && strings.Trim(w[1:], "0123456789") == "":
			return w
		}
	}
	return ""
}

// printed is the context of a number in the output of a program: its part of
// the line, between numbers and delimiters.
func printed(text string, n number) context {
	const reach = 300
	from, to := lineBounds(text, n.start, n.end)
	from, to = max(from, n.start-reach), min(to, n.end+reach)
	var c context
	before := text[from:n.start]
	if strings.Contains(before, "p(") {
		before = percentiles().ReplaceAllString(before, "p$1")
	}
	left, part, labelled := labelBefore(before)
	c.unit = labelUnit(left)
	wordFirst := startsWithWord(part)
	right, numberNext := nounAfter(text[n.end:to])
	rest := c.counted(right)
	if numberNext && wordFirst && strings.TrimSpace(rest) == "" {
		c.noun = nil // "p50 12 ms p99 40 ms": it belongs to the next
	}
	if of, per, _ := perOf(left); per != "" && c.per == "" {
		left, c.per = of, per
	}
	if labelled || wordFirst || left == part {
		c.label = content(left)
		c.which = which(left, true)
	}
	c.label = append(c.label, content(rest)...)
	if line := strings.TrimSpace(text[from:n.start]); line != strings.TrimSpace(left) {
		if i := strings.IndexAny(line, ":0123456789"); i >= 0 && !strings.HasPrefix(line, "p") {
			line = line[:i]
		}
		c.head = content(line)
		if c.which == "" {
			c.which = which(line, false)
		}
	}
	if c.which == "" {
		c.which = which(strings.Join(firstFields(text[n.end:to], 2), " "), false)
	}
	c.columns(text, n)
	c.ended = cmp.Or(ending(c.noun), ending(c.label), ending(c.head))
	if w := strings.ToLower(leadingWord(strings.TrimSpace(right))); w == "total" || w == "collected" || w == "ran" {
		c.ended = "total"
	}
	if parents := jsonParents(text, n.start); len(parents) > 0 {
		c.head = append(c.head, parents...)
	}
	return c
}

// labelBefore is the label in front of a number: the words after the number
// before it, and the part of the line, up to a delimiter, in which it stands.
func labelBefore(line string) (label, part string, labelled bool) {
	part = strings.TrimRight(line, " \t\"'~≈±<>=$(")
	delimiters := ",;|{}()[]\t"
	if s := strings.TrimRight(line, " \t\"'"); strings.HasSuffix(s, ":") || strings.HasSuffix(s, "=") {
		labelled = true
		part, delimiters = strings.TrimRight(s, ":=\"' "), ",;|{\t"
	}
	part = strings.ReplaceAll(part, "│", "|")
	part = part[strings.LastIndexAny(part, delimiters)+1:]
	if i := strings.LastIndex(strings.TrimRight(part, " "), "  "); i >= 0 {
		part = part[i:]
	}
	label = part
	if i := lastDigit(part); i >= 0 {
		label = part[i+1:]
		if w := leadingWord(label); units[strings.ToLower(w)] != "" {
			label = label[len(w):]
		}
	}
	return label, part, labelled
}

// inWord: the digit is one of a name, like p99.
func inWord(s string, i int) bool {
	for i >= 0 && isDigit(s[i]) {
		i--
	}
	return i >= 0 && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] == '_')
}

// deviation: 2.03 ± 0.05 times.
var deviation = lazy(`^\s*(±|\+/-)\s*[\d.,]+\s*`)

func startsWithWord(part string) bool {
	part = strings.TrimLeft(part, " \t-*\"'")
	return part != "" && !isDigit(part[0])
}

// nounAfter is what stands behind a number up to a delimiter or the next one.
func nounAfter(line string) (noun string, numberNext bool) {
	if i := strings.IndexAny(line, ",;|{}()[]\t"); i >= 0 {
		line = line[:i]
	}
	if i := strings.Index(strings.TrimLeft(line, " "), "  "); i >= 0 {
		line = line[:i+len(line)-len(strings.TrimLeft(line, " "))]
	}
	if m := deviation().FindString(line); m != "" {
		line = line[len(m):]
	}
	for i := range len(line) {
		if isDigit(line[i]) && !inWord(line, i) {
			return line[:i], true
		}
	}
	return line, false
}
