package queue

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reader reads the JSON that encoding/json writes, piece by piece. Each of its
// methods reports whether the next piece is what it reads. Texts are parts of
// the one string, not copies.
type reader struct {
	b  string
	at int
}

// skip passes one character.
func (r *reader) skip(c byte) bool {
	if r.at < len(r.b) && r.b[r.at] == c {
		r.at++
		return true
	}
	return false
}

// word passes a bare word.
func (r *reader) word(w string) bool {
	if strings.HasPrefix(r.b[r.at:], w) {
		r.at += len(w)
		return true
	}
	return false
}

// text reads a string.
func (r *reader) text() (string, bool) {
	raw, ok := r.quoted()
	if !ok {
		return "", false
	}
	body := raw[1 : len(raw)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return body, utf8.ValidString(body)
	}
	return unescape(raw)
}

// quoted passes a string with its quotes.
func (r *reader) quoted() (string, bool) {
	start := r.at
	if !r.skip('"') {
		return "", false
	}
	for {
		n := strings.IndexByte(r.b[r.at:], '"')
		if n < 0 {
			return "", false
		}
		r.at += n + 1
		raw := r.b[start:r.at]
		if slashes := len(raw) - 1 - len(strings.TrimRight(raw[1:len(raw)-1], `\`)) - 1; slashes%2 == 0 {
			return raw, !hasControl(raw)
		}
	}
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' {
			return true
		}
	}
	return false
}

// unescape reads the few escapes that are common here, and leaves the others
// to encoding/json.
func unescape(raw string) (string, bool) {
	var b strings.Builder
	for rest := raw[1 : len(raw)-1]; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		switch c := rest[i+1]; c {
		case '"', '\\':
			b.WriteByte(c)
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			var s string
			err := json.Unmarshal([]byte(raw), &s)
			return s, err == nil
		}
		rest = rest[i+2:]
	}
	return b.String(), utf8.ValidString(b.String())
}

// texts reads a list of strings.
func (r *reader) texts(to *[]string) bool {
	if !r.skip('[') {
		return false
	}
	*to = []string{}
	for first := true; !r.skip(']'); first = false {
		if !first && !r.skip(',') {
			return false
		}
		s, ok := r.text()
		if !ok {
			return false
		}
		*to = append(*to, s)
	}
	return true
}

// value passes one value of any kind and returns it as it is. What is inside
// is for others to check.
func (r *reader) value() (string, bool) {
	start, depth := r.at, 0
	for r.at < len(r.b) {
		switch r.b[r.at] {
		case '"':
			if _, ok := r.quoted(); !ok {
				return "", false
			}
			if depth == 0 {
				return r.b[start:r.at], true
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return r.b[start:r.at], r.at > start
			}
			if depth--; depth == 0 {
				r.at++
				return r.b[start:r.at], true
			}
		case ',':
			if depth == 0 {
				return r.b[start:r.at], r.at > start
			}
		}
		r.at++
	}
	return "", false
}

// readNumber reads a whole number without a sign.
func readNumber[T int | uint64](r *reader, to *T) bool {
	start := r.at
	for r.at < len(r.b) && r.b[r.at] >= '0' && r.b[r.at] <= '9' {
		r.at++
	}
	n, err := strconv.ParseInt(r.b[start:r.at], 10, 64)
	*to = T(n)
	return err == nil && (r.at == start+1 || r.b[start] != '0')
}
