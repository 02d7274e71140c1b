package transcript

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape appends src with the escapes of JSON strings resolved to dst. It
// needs no quotes round them and leaves alone what is no escape, so that it
// works on whole records, on torn ones, and on text that is no JSON.
func Unescape(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '\\')
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		r, n := escape(src[i:])
		dst = utf8.AppendRune(dst, r)
		src = src[i+n:]
	}
}

// unescape is Unescape for a string.
func unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i >= 0 {
		b.WriteString(s[:i])
		r, n := escape(s[i:])
		b.WriteRune(r)
		s = s[i+n:]
		i = strings.IndexByte(s, '\\')
	}
	b.WriteString(s)
	return b.String()
}

// escape reads the escape at the start of s, which begins with a backslash,
// and says how long it is. A backslash that begins none stands for itself.
func escape[T string | []byte](s T) (r rune, n int) {
	if len(s) < 2 {
		return '\\', 1
	}
	switch c := s[1]; c {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case '"', '\\', '/':
		return rune(c), 2
	case 'u':
		return escapedRune(s)
	}
	return '\\', 1
}

// escapedRune reads a \uXXXX, and the second half of a surrogate pair.
func escapedRune[T string | []byte](s T) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return '\\', 1
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func hex4[T string | []byte](s T) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
