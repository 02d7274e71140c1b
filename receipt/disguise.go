package receipt

import (
	"html"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// disguised finds what a reader takes for a receipt and a plain search does not:
// with look-alike letters, other hyphens and digits, marks that nobody sees,
// in the escapes of HTML, URLs, JSON and Markdown, in base64 or hex, turned round,
// or broken after a hyphen.
// None of it is a receipt in form. What a plain search found whole stays.
func disguised(text string, plain []Candidate) []Candidate {
	plain = merge(plain, encoded(text))
	if !maybeDisguised(text) {
		return plain
	}
	p := unmask(text)
	var more []Candidate
	for _, c := range findPlain(p.text) {
		from, to := p.start(c.Start), p.end(c.End)
		if text[from:to] != c.Text {
			more = append(more, Candidate{Start: from, End: to, Text: text[from:to], Disguised: true})
		}
	}
	return merge(merge(plain, more), turned(text))
}

// merge puts both in order. Where two overlap, a receipt in form stays, and else
// what is longer.
func merge(plain, more []Candidate) []Candidate {
	if len(more) == 0 {
		return plain
	}
	var out []Candidate
	for len(plain)+len(more) > 0 {
		switch {
		case len(more) == 0 || len(plain) > 0 && plain[0].End <= more[0].Start:
			out, plain = append(out, plain[0]), plain[1:]
		case len(plain) == 0 || more[0].End <= plain[0].Start:
			out, more = append(out, more[0]), more[1:]
		case plain[0].Strict:
			more = more[1:]
		default:
			plain = plain[1:]
		}
	}
	return out
}

// escapeSigns are in every text that writes a plain character in another way.
var escapeSigns = []string{"&#", "&hyphen;", "&dash;", "%2", "%3", "%6", "%7", "=2D", `\u00`, `\x`, `\0`, `\1`, `\-`, `\_`, "**", "</", "<br", "<wbr", "''", `""`, "-\n", "-\r\n", "-\\\n", "\x1b"}

func maybeDisguised(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return true
		}
	}
	for _, sign := range escapeSigns {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// unmasked is a text in plain letters, and where its parts come from.
type unmasked struct {
	text  string
	plain []int // where a part begins, in text
	from  []int // and in what it was made of
}

// start is where something that starts in text did so before.
func (u *unmasked) start(at int) int {
	i := sort.SearchInts(u.plain, at+1) - 1 // behind what is not seen
	return u.from[i] + at - u.plain[i]
}

// end is where something that ends in text did so before.
func (u *unmasked) end(at int) int {
	i := sort.SearchInts(u.plain, at) // in front of what is not seen
	if i == len(u.plain) || u.plain[i] != at {
		i--
	}
	return u.from[i] + at - u.plain[i]
}

// unmask writes a text in plain letters, as far as a receipt could be made of
// it. Everything else stays as it is.
func unmask(text string) unmasked {
	u := unmasked{plain: []int{0}, from: []int{0}}
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	for i := 0; i < len(text); {
		if !maybeMask(text[i]) {
			i++
			continue
		}
		plain, n := unmaskAt(text, i)
		if n == 0 {
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		b.WriteString(text[done:i])
		u.plain, u.from = append(u.plain, b.Len()), append(u.from, i)
		b.WriteString(plain)
		i += n
		done = i
		u.plain, u.from = append(u.plain, b.Len()), append(u.from, i)
	}
	b.WriteString(text[done:])
	u.text = b.String()
	return u
}

// maybeMask is false of the bytes that stand for themselves.
func maybeMask(b byte) bool {
	return b >= utf8.RuneSelf || b < ' ' || b == '&' || b == '%' || b == '\\' || b == '=' || b == '*' || b == '<' || b == '\'' || b == '"' || b == 0x7F
}

// unmaskAt says what the n bytes at i stand for; n is 0 where they stand for
// themselves.
func unmaskAt(text string, i int) (plain string, n int) {
	switch b := text[i]; {
	case b >= utf8.RuneSelf:
		return unmaskRune(text[i:])
	case b == '&':
		return unmaskEntity(text[i:])
	case b == '%':
		if plain, n := unmaskHex(text[i:], "%25", 2); n > 0 {
			return plain, n
		}
		return unmaskHex(text[i:], "%", 2)
	case b == '=':
		return unmaskHex(text[i:], "=", 2)
	case b == '<':
		return "", tagLen(text[i:])
	case b == '\\':
		return unmaskEscape(text[i:])
	case b == '\x1b':
		return "", EscapeLen(text[i:])
	case b < ' ' && b != '\n' && b != '\r' && b != '\t' || b == 0x7F:
		return "", 1
	case (b == '\'' || b == '"' || b == '*') && i+1 < len(text) && text[i+1] == b:
		return "", 2 // nothing, to a shell; emphasis
	case (b == '\n' || b == '\r') && i > 0 && text[i-1] == '-':
		return "", breakLen(text[i:])
	}
	return "", 0
}

// breakLen is the length of a line break and of the indentation after it, if a
// receipt could go on there.
func breakLen(s string) int {
	rest := strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" || !isDigestByte(rest[0]) {
		return 0
	}
	return len(s) - len(rest)
}

// EscapeLen is the length of a sequence that colours a terminal.
func EscapeLen(s string) int {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return 1
	}
	rest = strings.TrimLeft(rest, "0123456789;?")
	return min(len(s), len(s)-len(rest)+1)
}

// unseenTags are the tags of HTML that go round letters and are not seen.
var unseenTags = []string{"a", "b", "i", "u", "s", "em", "tt", "br", "wbr", "code", "span", "font", "mark", "sub", "sup", "kbd", "small", "strong"}

// tagLen is the length of such a tag.
func tagLen(s string) int {
	const most = 64
	end := strings.IndexByte(s[:min(len(s), most)], '>')
	if end < 0 {
		return 0
	}
	name, _, _ := strings.Cut(strings.Trim(s[1:end], "/"), " ")
	if !slices.Contains(unseenTags, strings.ToLower(strings.TrimSuffix(name, "/"))) {
		return 0
	}
	return end + 1
}

func unmaskEntity(s string) (string, int) {
	const most = 10 // &hyphen; and &#x0002d;
	end := strings.IndexByte(s[:min(len(s), most+1)], ';')
	if end < 0 {
		return "", 0
	}
	r := []rune(html.UnescapeString(s[:end+1]))
	if len(r) != 1 {
		return "", 0
	}
	plain, ok := plainRune(r[0])
	if !ok {
		return "", 0
	}
	return plain, end + 1
}

func unmaskEscape(s string) (string, int) {
	switch {
	case strings.HasPrefix(s, `\u`):
		return unmaskHex(s, `\u`, 4)
	case strings.HasPrefix(s, `\x`):
		return unmaskHex(s, `\x`, 2)
	case strings.HasPrefix(s, "\\\n"):
		return "", 2
	case len(s) > 3 && (s[1] == '0' || s[1] == '1'):
		return unmaskOctal(s)
	case len(s) > 1 && (s[1] == '-' || s[1] == '_'):
		return s[1:2], 2
	}
	return "", 0
}

// unmaskHex reads a number of hex digits after a sign.
func unmaskHex(s, sign string, digits int) (string, int) {
	n := len(sign) + digits
	if len(s) < n {
		return "", 0
	}
	code, err := strconv.ParseUint(s[len(sign):n], 16, 32)
	if err != nil {
		return "", 0
	}
	plain, ok := plainRune(rune(code))
	if !ok {
		return "", 0
	}
	return plain, n
}

// unmaskOctal reads three octal digits after a backslash.
func unmaskOctal(s string) (string, int) {
	code, err := strconv.ParseUint(s[1:4], 8, 8)
	if err != nil {
		return "", 0
	}
	plain, ok := plainRune(rune(code))
	if !ok {
		return "", 0
	}
	return plain, 4
}

func unmaskRune(s string) (string, int) {
	r, n := utf8.DecodeRuneInString(s)
	if 0x3040 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3 {
		return "", 0 // kana, Han, Hangul: most of a text that has any
	}
	plain, ok := "", false
	if int(r) < mostLetters {
		x := letters()[r]
		plain, ok = x.plain, x.ok
	} else {
		plain, ok = plainRune(r)
	}
	if !ok {
		return "", 0
	}
	return plain, n
}

// mostLetters is up to where most scripts with an alphabet stand, and marks.
const mostLetters = 0x3000

type letter struct {
	plain string
	ok    bool
}

// letters has what plainRune says, for texts that are in no other script.
var letters = sync.OnceValue(func() *[mostLetters]letter {
	var table [mostLetters]letter
	for r := range table {
		table[r].plain, table[r].ok = plainRune(rune(r))
	}
	return &table
})

// plainRune is the letter, digit or mark of a receipt that a rune passes for,
// nothing for one that is not seen. It says false of all others.
func plainRune(r rune) (string, bool) {
	switch {
	case r < utf8.RuneSelf:
		return string(r), isDigestByte(byte(r))
	case 0xFF01 <= r && r <= 0xFF5E: // full width
		return plainRune(r - 0xFEE0)
	case 0x1D400 <= r && r <= 0x1D6A3: // mathematical letters, alphabet after alphabet
		return string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(r-0x1D400)%52]), true
	case 0x24D0 <= r && r <= 0x24E9: // in circles
		return string('a' + r - 0x24D0), true
	case unicode.Is(unicode.Dash, r) || r == '⁃' || r == '➖':
		return "-", true
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point, unicode.Cc):
		return "", true
	case unicode.Is(unicode.Nd, r):
		return string('0' + digitOf(r)), true
	}
	plain, ok := lookAlikes[unicode.ToLower(r)]
	return plain, ok
}

// digitOf is what a decimal digit of any script counts: they stand in tens.
func digitOf(r rune) rune {
	if 0x1D7CE <= r && r <= 0x1D7FF {
		return (r - 0x1D7CE) % 10
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

// lookAlikes pass for the letters of the prefix.
var lookAlikes = map[rune]string{
	'ᴢ': "z", 'ꮓ': "z", 'ζ': "z",
	'с': "c", 'ϲ': "c", 'ⅽ': "c", 'ᴄ': "c",
	'г': "r", 'ᴦ': "r", 'ⲅ': "r", 'ʀ': "r",
	'е': "e", 'ҽ': "e", 'є': "e", 'ε': "e", '℮': "e", 'ᴇ': "e",
	'і': "i", 'ı': "i", 'ι': "i", 'ⅰ': "i", 'ӏ': "i", 'ɪ': "i", 'ⅼ': "i",
	'р': "p", 'ρ': "p", 'ᴘ': "p",
	'т': "t", 'τ': "t", 'ᴛ': "t",
}
