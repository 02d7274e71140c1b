package receipt

import "strings"

// Candidate is a piece of text that looks like a receipt.
type Candidate struct {
	Start, End int // bytes of the text it was found in
	Text       string
	Token      Token // set when Strict
	Strict     bool  // it is a receipt in the one strict form
	Encoded    Token // the one receipt in form that it is in a code; else zero
	Disguised  bool  // it looks like one to the eye, and is written in another way
}

// Fault says what is wrong with a candidate that is not Strict.
func (c Candidate) Fault() string {
	if c.Disguised {
		return "it only looks like a receipt: some of its letters or marks are others, hidden, turned round, or written in a code"
	}
	return "it is not written as a receipt is"
}

// Find gives what looks like a receipt, in order: the prefix in any case, and
// then a number, with or without a sign, or as much as a digest. Words like
// "zc-receipt-format" are none. Whether a candidate is a receipt is for Strict
// to say, and whether the receipt is good for a Judge. What only looks like one
// to the eye is found too, and is never Strict.
func Find(text string) []Candidate { return disguised(text, findPlain(text)) }

// findPlain finds what is written in plain letters.
func findPlain(text string) []Candidate {
	var found []Candidate
	next := hop{text: text}
	for at := next.from(0); at >= 0; {
		c, ok := candidate(text, at)
		if ok {
			found = append(found, c)
		}
		at = next.from(max(c.End, at+1))
	}
	return found
}

// hop goes from one prefix to the next. Few letters of a text are a z, so it
// looks for that one first.
type hop struct {
	text         string
	lower, upper int // where the next z and Z stand, if not before the place
}

func (h *hop) from(at int) int {
	for {
		h.lower = nextByte(h.text, 'z', h.lower, at)
		h.upper = nextByte(h.text, 'Z', h.upper, at)
		if at = min(h.lower, h.upper); at == len(h.text) {
			return -1
		}
		if hasPrefixFold(h.text[at:]) || spelled(h.text[at:]) > 0 {
			return at
		}
		at++
	}
}

// nextByte gives known again while it is not yet passed.
func nextByte(text string, b byte, known, at int) int {
	if known > at || at == len(text) {
		return max(known, at)
	}
	if i := strings.IndexByte(text[at:], b); i >= 0 {
		return at + i
	}
	return len(text)
}

func hasPrefixFold(s string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// candidate reads what stands at a prefix.
func candidate(text string, at int) (Candidate, bool) {
	if !hasPrefixFold(text[at:]) {
		end := at + spelled(text[at:])
		return Candidate{Start: at, End: end, Text: text[at:end], Disguised: true}, true
	}
	end := at + len(prefix)
	for end < len(text) && isLooseByte(text[end]) && !hasPrefixFold(text[end:]) {
		end++ // the next may be joined to this one by a slash, or by nothing
	}
	if t, n, ok := leading(text[at:end]); ok {
		return Candidate{Start: at, End: at + n, Text: text[at : at+n], Token: t, Strict: true}, true
	}
	c := Candidate{Start: at, End: end, Text: text[at:end]}
	return c, looksIssued(c.Text[len(prefix):]) && !isPattern(c.Text[len(prefix):], text[end:])
}

// isPattern reports whether rest, after seconds without a digest, says that what
// goes before is the form of a receipt and none.
func isPattern(s, rest string) bool {
	if seconds, ok := strings.CutSuffix(s, "-"); !ok || strings.Trim(seconds, "0123456789") != "" {
		return false
	}
	for _, mark := range []string{"...", "…", "<", "{", "[", "*", "$", "%"} {
		if strings.HasPrefix(rest, mark) {
			return true
		}
	}
	return false
}

// isLooseByte takes in what people and models put into a receipt that does not
// belong there: padding, the other base64 alphabet, a sign.
func isLooseByte(b byte) bool {
	return isDigestByte(b) || b == '+' || b == '/' || b == '='
}

// leading finds a token that is followed by nothing or by marks that close or
// join: emphasis, a dash, a slash. A letter or a padding after it makes
// another digest of it, which no one issued.
func leading(s string) (Token, int, bool) {
	dash := strings.IndexByte(s[len(prefix):], '-')
	n := len(prefix) + dash + 1 + digestChars
	if dash < 0 || n > len(s) || !closes(s[n:]) {
		return Token{}, 0, false
	}
	t, err := ParseToken(s[:n])
	return t, n, err == nil
}

func closes(s string) bool {
	return strings.Trim(s, "_-/") == "" || strings.HasPrefix(s, "--") || strings.HasPrefix(s, "__")
}

func looksIssued(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	return digits != "" && isDigit(digits[0]) || len(s) >= digestChars
}
