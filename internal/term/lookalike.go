package term

import (
	"strings"
	"unicode"
)

// Lookalikes shows letters that pass for ASCII ones as escapes, in a command
// or host that is meant to be ASCII: \u0430 for a Cyrillic a. Shown are
//
//   - letters of a confusable script (Cyrillic, Greek, ...) in a word that
//     also has ASCII letters, and whole words made of nothing but look-alikes
//     unless the text has other words in that script;
//   - forms of ASCII characters (fullwidth, mathematical, small capitals) and
//     of the separators / . : - @ next to an ASCII letter or digit;
//   - every letter beyond ASCII in the host of a URL.
//
// Other text, in any script, stays as it is.
func Lookalikes(s string) string {
	if isASCII(s) {
		return s
	}
	rs := []rune(s)
	mark := make([]bool, len(rs))
	honest := hasHonestWord(rs)
	for i := 0; i < len(rs); {
		end := wordEnd(rs, i)
		if end > i {
			markWord(rs[i:end], mark[i:end], honest)
			i = end
			continue
		}
		if strings.ContainsRune(falseSeparators, rs[i]) {
			mark[i] = nextToASCII(rs, i)
		}
		i++
	}
	markHosts(rs, mark)
	return escapeMarked(s, rs, mark)
}

// falseSeparators look like / . : - @ and split a host or a path in the eye
// of the reader only.
const falseSeparators = "\u2024\u2044\u2215\u29f8\uff0f\uff0e\u3002\uff61\ufe52" +
	"\u2010\u2011\u2212\uff0d\ufe63\ufe58\uff1a\ufe55\ua789\u02d0\u05c3\uff20\ufe6b\uff1d\uff06\uff5c\uff1b"

// lookLetters are the letters of other scripts that most typefaces draw
// exactly like an ASCII letter. A letter that is only similar is not one: a
// word that has it is honest.
const lookLetters = "асԁеһіјӏорԛѕѵԝхуҽүАВСЕНІЈКМОРЅТХУԌԜѴҮӀ" +
	"αγικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳϹոսցհօՕՏԼլ"

// markWord marks what passes for ASCII in one word.
func markWord(word []rune, mark []bool, honest bool) {
	ascii, allLook := false, true
	for _, r := range word {
		if r < unicode.MaxASCII {
			ascii = ascii || unicode.IsLetter(r)
			continue
		}
		if !isMark(r) && !strings.ContainsRune(lookLetters, r) {
			allLook = false
		}
	}
	for i, r := range word {
		switch {
		case r < unicode.MaxASCII:
		case isASCIIForm(r):
			mark[i] = true
		case isConfusableScript(r):
			mark[i] = ascii || allLook && !honest
		}
	}
}

// hasHonestWord reports whether the text holds a word in a confusable script
// that could not be read as ASCII: then it is written in that script, and a
// short word of look-alikes is just a word.
func hasHonestWord(rs []rune) bool {
	for i := 0; i < len(rs); {
		end := wordEnd(rs, i)
		ascii, odd := false, false
		for _, r := range rs[i:end] {
			ascii = ascii || r < unicode.MaxASCII && unicode.IsLetter(r)
			odd = odd || isConfusableScript(r) && !strings.ContainsRune(lookLetters, r)
		}
		if odd && !ascii {
			return true
		}
		i = max(end, i+1)
	}
	return false
}

// markHosts marks everything beyond ASCII between :// and the end of the
// host, as browsers do with names they do not trust.
func markHosts(rs []rune, mark []bool) {
	for i := 0; i+3 <= len(rs); i++ {
		if rs[i] != ':' || rs[i+1] != '/' || rs[i+2] != '/' {
			continue
		}
		for j := i + 3; j < len(rs) && !strings.ContainsRune("/?# \t\n\"'`<>|;&()", rs[j]); j++ {
			// The sign that Mask leaves in a password passes for nothing.
			if rs[j] > unicode.MaxASCII && rs[j] != '…' {
				mark[j] = true
			}
		}
	}
}

func escapeMarked(s string, rs []rune, mark []bool) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	// Ranging over s yields one rune per invalid byte, as []rune(s) does, and
	// keeps the byte where it is for Quote to show.
	n, pos := 0, 0
	for i := range s {
		if n > 0 {
			writeMarked(&b, s[pos:i], rs[n-1], mark[n-1])
		}
		pos = i
		n++
	}
	if n > 0 {
		writeMarked(&b, s[pos:], rs[n-1], mark[n-1])
	}
	return b.String()
}

func writeMarked(b *strings.Builder, raw string, r rune, marked bool) {
	if marked {
		raw = Escape(r)
	}
	b.WriteString(raw)
}

// wordEnd is the end of the run of letters, marks and digits at i.
func wordEnd(rs []rune, i int) int {
	for i < len(rs) && isWordRune(rs[i]) {
		i++
	}
	return i
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isASCIIForm(r)
}

func nextToASCII(rs []rune, i int) bool {
	at := func(j int) bool {
		return j >= 0 && j < len(rs) && rs[j] < unicode.MaxASCII && isWordRune(rs[j])
	}
	return at(i-1) || at(i+1)
}

func isConfusableScript(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian,
		unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret, unicode.Osage, unicode.Canadian_Aboriginal)
}

// isASCIIForm reports whether r is another form of an ASCII letter or digit,
// or a Latin letter that nobody writes a language with.
func isASCIIForm(r rune) bool {
	switch {
	case r < 0x17f:
		return false
	case r >= 0xff10 && r <= 0xff5a: // fullwidth
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	case r >= 0x1d400 && r <= 0x1d7ff: // mathematical
		return true
	case r >= 0x2100 && r <= 0x214f, r >= 0x2160 && r <= 0x217f: // letter-like, Roman numerals
		return unicode.IsLetter(r) || unicode.IsNumber(r)
	case r >= 0x1d00 && r <= 0x1d7f: // small capitals and phonetic letters
		return true
	case r >= 0x24b6 && r <= 0x24e9: // circled
		return true
	}
	return strings.ContainsRune("ſɑɡɩɪʏʀʜʟʙɴɢ", r)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}
