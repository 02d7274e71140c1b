package transcript

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape appends src with the escapes of JSON strings resolved to dst. It
// needs no quotes round them and leaves alone what is no escape, so that it
// works on whole records, on torn ones, and on text that is no JSON.
func Unescape(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '\\')
		if i < 0 || i+1 >= len(src) {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		n := 2
		switch c := src[i+1]; c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'u':
			var r rune
			if r, n = escapedRune(src[i:]); n > 0 {
				dst = utf8.AppendRune(dst, r)
				break
			}
			fallthrough
		default:
			dst = append(dst, '\\')
			n = 1
		}
		src = src[i+n:]
	}
}

// escapedRune reads the \uXXXX at the start of b, and the second half of a
// surrogate pair; n = 0 when it is none.
func escapedRune(b []byte) (r rune, n int) {
	r, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(b[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return r, 6
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
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
