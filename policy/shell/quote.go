package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape removes the backslashes of unquoted text; a backslash before a
// newline removes both.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeOnly removes backslashes in front of the bytes of special, as in
// double quotes and heredocs.
func unescapeOnly(s, special string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(special, s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the escapes of $'...', echo -e and printf.
func ansiC(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		i += escape(&b, s[i:]) - 1
	}
	return b.String()
}

// escape writes what the escape at the start of s (without its backslash)
// stands for and returns how many bytes it took.
func escape(b *strings.Builder, s string) int {
	const simple = "a\ab\be\x1bE\x1bf\fn\nr\rt\tv\v\\\\''\"\"??"
	switch c := s[0]; c {
	case 'x':
		return number(b, s, 1, 2, 16)
	case 'u':
		return number(b, s, 1, 4, 16)
	case 'U':
		return number(b, s, 1, 8, 16)
	case 'c':
		if len(s) > 1 {
			b.WriteByte(s[1] & 0x1f)
			return 2
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if c == '0' && len(s) > 1 { // echo -e and printf %b write \0nnn
			return number(b, s, 0, 4, 8)
		}
		return number(b, s, 0, 3, 8)
	default:
		for j := 0; j < len(simple); j += 2 {
			if simple[j] == c {
				b.WriteByte(simple[j+1])
				return 1
			}
		}
	}
	b.WriteByte('\\')
	b.WriteByte(s[0])
	return 1
}

// number writes the character whose code stands in s[from:], at most n digits.
func number(b *strings.Builder, s string, from, n, base int) int {
	end := from
	for end < len(s) && end-from < n && isDigit(s[end], base) {
		end++
	}
	v, err := strconv.ParseUint(s[from:end], base, 32)
	if err != nil {
		b.WriteByte('\\')
		b.WriteByte(s[0])
		return 1
	}
	if s[0] == 'u' || s[0] == 'U' {
		b.WriteString(string(utf8.AppendRune(nil, rune(v))))
	} else {
		b.WriteByte(byte(v))
	}
	return end
}

func isDigit(c byte, base int) bool {
	_, err := strconv.ParseUint(string(c), base, 8)
	return err == nil
}
