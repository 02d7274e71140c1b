package receipt

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string and gives what it means: UTF-8, but for half of a
// surrogate pair, which stands as the three bytes that UTF-8 would give it if
// it could. No valid input has those bytes, so nothing else means them.
func (p *parser) string() ([]byte, error) {
	p.pos++ // the quote
	from := p.pos
	var text []byte
	for p.pos < len(p.in) {
		switch b := p.in[p.pos]; {
		case b == '"':
			run := p.in[from:p.pos]
			p.pos++
			if text == nil {
				return run, nil
			}
			return append(text, run...), nil
		case b == '\\':
			text = append(text, p.in[from:p.pos]...)
			var err error
			if text, err = p.escape(text); err != nil {
				return nil, err
			}
			from = p.pos
		case b < 0x20:
			return nil, p.fail("control character in a string")
		case b < utf8.RuneSelf:
			p.pos++
		default:
			r, size := utf8.DecodeRune(p.in[p.pos:])
			if r == utf8.RuneError && size == 1 {
				return nil, p.fail("invalid UTF-8")
			}
			p.pos += size
		}
	}
	return nil, p.fail("a string without an end")
}

var escapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

func (p *parser) escape(text []byte) ([]byte, error) {
	p.pos++ // the backslash
	b := p.peek()
	if b == 'u' {
		return p.unicode(text)
	}
	c, ok := escapes[b]
	if !ok {
		return nil, p.fail("unknown escape")
	}
	p.pos++
	return append(text, c), nil
}

// unicode reads \uXXXX, and the second half of a pair if it follows.
func (p *parser) unicode(text []byte) ([]byte, error) {
	r, ok := p.hex4(p.pos)
	if !ok {
		return nil, p.fail("expected four hex digits")
	}
	p.pos += 5
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(text, r), nil
	}
	if p.peek() == '\\' {
		second, ok := p.hex4(p.pos + 1)
		if whole := utf16.DecodeRune(r, second); ok && whole != utf8.RuneError {
			p.pos += 6
			return utf8.AppendRune(text, whole), nil
		}
	}
	return append(text, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F), nil
}

// hex4 reads uXXXX at a place.
func (p *parser) hex4(at int) (rune, bool) {
	if at+5 > len(p.in) || p.in[at] != 'u' {
		return 0, false
	}
	digits := p.in[at+1 : at+5]
	for _, b := range digits {
		if !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'f') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(digits), 16, 32)
	return rune(n), err == nil
}

const hexDigits = "0123456789abcdef"

var shortEscapes = [0x20]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// appendString writes what a string means as a JSON string.
func appendString(out, text []byte) []byte {
	out = append(out, '"')
	from := 0
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b >= 0x20 && b != '"' && b != '\\' && !isHalf(text, i) {
			continue
		}
		out = append(out, text[from:i]...)
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b == 0xED:
			unit := uint16(0xD000) | uint16(text[i+1]&0x3F)<<6 | uint16(text[i+2]&0x3F)
			out = appendUnit(out, unit)
			i += 2
		case shortEscapes[b] != 0:
			out = append(out, '\\', shortEscapes[b])
		default:
			out = appendUnit(out, uint16(b))
		}
		from = i + 1
	}
	return append(append(out, text[from:]...), '"')
}

// isHalf reports whether half of a surrogate pair stands at i.
func isHalf(text []byte, i int) bool {
	return text[i] == 0xED && i+2 < len(text) && text[i+1] >= 0xA0
}

func appendUnit(out []byte, u uint16) []byte {
	return append(out, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
