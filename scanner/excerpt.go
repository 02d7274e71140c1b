package scanner

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const excerptRunes = 160

// excerpt is the text round text[start:end]: one line, about 160 runes.
func excerpt(text []byte, start, end int) string {
	start, end = min(start, len(text)), min(end, len(text))
	if utf8.RuneCount(text[start:end]) > excerptRunes {
		end = start + runesFrom(text[start:end], excerptRunes)
	}
	room := max(0, excerptRunes-utf8.RuneCount(text[start:end]))
	before := lastRunes(lineBefore(text[:start], 4*room), room/2)
	after := lineAfter(text[end:], 4*room)
	after = after[:runesFrom(after, room-room/2)]
	out := string(before) + oneLine(string(text[start:end])) + string(after)
	return strings.TrimSpace(out)
}

func lineBefore(b []byte, most int) []byte {
	b = b[max(0, len(b)-most):]
	return b[bytes.LastIndexAny(b, "\r\n\x00")+1:]
}

func lineAfter(b []byte, most int) []byte {
	b = b[:min(len(b), most)]
	if i := bytes.IndexAny(b, "\r\n\x00"); i >= 0 {
		return b[:i]
	}
	return b
}

// runesFrom is the length of the first n runes of b.
func runesFrom(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return i
}

func lastRunes(b []byte, n int) []byte {
	i := len(b)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRune(b[:i])
		i -= size
	}
	return b[i:]
}

func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}
