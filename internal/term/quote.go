package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks may follow one letter before they are
// shown as escapes: real scripts need up to three, a stack of fifty paints
// over the lines around it.
const maxMarks = 4

// Quote makes hostile text visible on one line. Every rune that a terminal
// acts on or that cannot be seen (control characters, ESC, CR, tab, direction
// marks, zero-width and other format runes, odd spaces, private use and
// unassigned runes, invalid UTF-8) becomes an escape such as \x1b or \u202e;
// printable text in any script stays as it is. A backslash in the text also
// stays: the result is for eyes and cannot be read back.
func Quote(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := maxMarks // a mark at the start would attach to our own text
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			marks = maxMarks
		case !Visible(r), isMark(r) && marks >= maxMarks:
			b.WriteString(Escape(r))
			marks = maxMarks
		case isMark(r):
			b.WriteRune(r)
			marks++
		case r == ' ': // a mark after a space stands alone, and moves with a line break
			b.WriteByte(' ')
			marks = maxMarks
		default:
			b.WriteRune(r)
			marks = 0
		}
		i += n
	}
	return b.String()
}

// QuoteLines quotes text of several lines: newlines stay, a tab becomes four
// spaces, everything else is as in Quote.
func QuoteLines(s string) string {
	if isPlain(s) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Quote(strings.ReplaceAll(l, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// Escape is the visible form of a rune, whatever the rune: \n, \x1b, \u202e
// or \U000e0041.
func Escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// Visible reports whether a person sees r as itself: it is printable and not
// one of the letters and marks that Unicode calls printable but draws as
// nothing.
func Visible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(blank, r)
}

// blank holds the runes outside the format category that draw nothing:
// fillers, variation selectors, the grapheme joiner, the empty braille cell.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfffc, Hi: 0xfffc, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1d159, Hi: 0x1d159, Stride: 1},
		{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1},
	},
}

func isMark(r rune) bool {
	return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me)
}

// isPlain is the fast path: printable ASCII only.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
