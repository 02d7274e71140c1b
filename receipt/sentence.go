package receipt

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// sentence gives what a receipt is cited for: the sentence before a citation
// in brackets, the one around it otherwise. It gives nothing when that is
// unclear, most of all when several receipts stand together: nobody is accused
// on a guess.
func sentence(text string, c Candidate) string {
	text, start, end := window(text, c)
	from, to := block(text, start, end)
	head, bracketed := citation(text, start)
	head = max(head, from)
	before, after := text[from:head], strings.TrimLeft(text[end:to], "`*_])")
	if sharesClaim(after) {
		return ""
	}
	var claim string
	switch {
	case bracketed && hasLetter(before):
		claim = lastSentence(before, true)
	case bracketed && hasLetter(after):
		claim = firstSentence(after)
	case bracketed || !hasLetter(before) && !hasLetter(after):
		claim = blockBefore(text, from)
	default:
		claim = lastSentence(before, false) + " " + firstSentence(after)
	}
	claim = strings.Join(strings.Fields(strings.ToValidUTF8(claim, "")), " ")
	if !hasLetter(claim) || len(Find(claim)) > 0 {
		return ""
	}
	return claim
}

// opening is where a text begins in a command line: an opening quote, or what
// a here document is called.
var opening = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s=(])\\?["']|<<-?\s*\\?["']?\w+["']?`)
})

// message takes the command off that a sentence was given to: what it runs is
// not what it says.
func message(sentence string) string {
	words := strings.Fields(sentence)
	if all := opening().FindAllStringIndex(sentence, -1); len(all) > 0 {
		sentence = sentence[all[len(all)-1][1]:]
	} else if len(words) > 1 && slices.Contains(spokenCommands[words[0]], words[1]) {
		sentence = strings.Join(words[2:], " ")
	}
	if !hasLetter(sentence) {
		return ""
	}
	return strings.TrimSpace(sentence)
}

// Reach is how many bytes on either side of a token a sentence is looked for. A
// text of a million tokens is to cost a million times that, not its own length.
const Reach = 2 << 10

func window(text string, c Candidate) (near string, start, end int) {
	from, to := max(0, c.Start-Reach), min(len(text), c.End+Reach)
	return text[from:to], c.Start - from, c.End - from
}

// citation goes left from a token over what belongs to it: "[receipt: ".
func citation(text string, start int) (head int, bracketed bool) {
	const marks = " `*_([:"
	left := strings.TrimRight(text[:start], marks)
	if n := len(left) - len("receipt"); n >= 0 && strings.EqualFold(left[n:], "receipt") {
		left = strings.TrimRight(left[:n], " `*_([")
	}
	return len(left), strings.ContainsAny(text[len(left):start], "([")
}

// block gives the lines around a token that belong together: up to a blank
// line, or to one that begins an item, a row, a heading, a quotation or code.
func block(text string, start, end int) (from, to int) {
	from = strings.LastIndexByte(text[:start], '\n') + 1
	for from > 0 && !beginsBlock(text[from:]) {
		prev := strings.LastIndexByte(text[:from-1], '\n') + 1
		if strings.TrimSpace(text[prev:from]) == "" {
			break
		}
		from = prev
	}
	to = end
	for {
		i := strings.IndexByte(text[to:], '\n')
		if i < 0 {
			return from, len(text)
		}
		rest := text[to+i+1:]
		line, _, _ := strings.Cut(rest, "\n")
		if strings.TrimSpace(line) == "" || beginsBlock(rest) {
			return from, to + i
		}
		to += i + 1
	}
}

func beginsBlock(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if line == "" {
		return true
	}
	if strings.ContainsRune("#>|", rune(line[0])) || strings.HasPrefix(line, "```") {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") ||
		len(digits) < len(line) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") "))
}

// blockBefore gives the last sentence of the block before a place, for a
// trailer that stands alone after a blank line.
func blockBefore(text string, at int) string {
	before := strings.TrimRight(text[:at], " \t\r\n")
	if before == "" || strings.HasSuffix(before, "```") {
		return ""
	}
	from, _ := block(before, len(before), len(before))
	return lastSentence(before[from:], true)
}

// sharesClaim reports whether another receipt follows with nothing said in
// between.
func sharesClaim(after string) bool {
	found := Find(after)
	if len(found) == 0 {
		return false
	}
	between := strings.ToLower(after[:found[0].Start])
	for _, word := range []string{"receipts", "receipt", "and"} {
		between = strings.ReplaceAll(between, word, "")
	}
	return !hasLetter(between)
}

// lastSentence gives the end of a text from where its last sentence begins.
// A text that ends with a sentence has that as its last if whole, else an
// empty one that has just begun.
func lastSentence(text string, whole bool) string {
	body := text
	if whole {
		body = strings.TrimRight(text, " \t\r\n.!?:")
	}
	from := 0
	for i := range len(body) {
		if endsSentence(body, i) {
			from = i + 1
		}
	}
	return text[from:]
}

func firstSentence(text string) string {
	for i := range len(text) {
		if endsSentence(text, i) {
			return text[:i+1]
		}
	}
	return text
}

// endsSentence reports whether a sentence, or a part that stands alone, ends
// with the byte at i.
func endsSentence(text string, i int) bool {
	if i+1 < len(text) && !unicode.IsSpace(rune(text[i+1])) {
		return false
	}
	switch text[i] {
	case '!', '?', ';':
		return true
	case '.':
		word := text[strings.LastIndexAny(text[:i], " \t\n(")+1 : i]
		return !isAbbreviation(strings.ToLower(word))
	case ',':
		return joins(text[i+1:])
	}
	return false
}

func isAbbreviation(word string) bool {
	switch word {
	case "e.g", "i.e", "etc", "vs", "approx", "ca", "no", "fig", "cf":
		return true
	}
	return len(word) == 1 && isLetter(word[0])
}

// joins reports whether what follows a comma says another thing.
func joins(rest string) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(rest, " \n"), " ")
	switch word {
	case "and", "but", "so", "then", "while", "whereas":
		return true
	}
	return false
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }
