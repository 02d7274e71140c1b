package queue

import (
	"encoding/json"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// maxNested is how deep values may be nested that jsonText skips.
const maxNested = 100

// jsonText reads JSON in the one form in which encode writes it: no white space,
// the members of an object in the order of the type. Whatever is otherwise, a
// member that this version does not know among it, makes it bad; then
// encoding/json has the word. It never reads a text otherwise than that does.
type jsonText struct {
	text string
	at   int
	bad  bool
}

// whole reports whether all was read, and nothing of it was bad.
func (j *jsonText) whole() bool { return !j.bad && j.at == len(j.text) }

func (j *jsonText) peek() byte {
	if j.at < len(j.text) {
		return j.text[j.at]
	}
	return 0
}

// take reads one byte, which has to be c.
func (j *jsonText) take(c byte) {
	if j.peek() != c {
		j.bad = true
		return
	}
	j.at++
}

// has reads the name of a member, if that is what comes next.
func (j *jsonText) has(name string) bool {
	rest := j.text[j.at:]
	if j.bad || len(rest) < len(name)+3 || rest[0] != '"' || rest[1:1+len(name)] != name || rest[1+len(name):3+len(name)] != `":` {
		return false
	}
	j.at += len(name) + 3
	return true
}

// next goes on behind a member's value.
func (j *jsonText) next() {
	switch j.peek() {
	case ',':
		if j.at++; j.peek() != '"' {
			j.bad = true
		}
	case '}':
	default:
		j.bad = true
	}
}

func (j *jsonText) string(name string, to *string) {
	if j.has(name) {
		*to = j.str()
		j.next()
	}
}

func readText[T ~string](j *jsonText, name string, to *T) {
	if j.has(name) {
		*to = T(j.str())
		j.next()
	}
}

func (j *jsonText) int(name string, to *int) {
	if j.has(name) {
		n := j.number()
		if n < math.MinInt || n > math.MaxInt {
			j.bad = true
			return
		}
		*to = int(n)
		j.next()
	}
}

func (j *jsonText) flag(name string, to *bool) {
	if !j.has(name) {
		return
	}
	*to = j.peek() == 't'
	if *to {
		j.word("true")
	} else {
		j.word("false")
	}
	j.next()
}

// word reads one that has to be there.
func (j *jsonText) word(w string) {
	if !strings.HasPrefix(j.text[j.at:], w) {
		j.bad = true
		return
	}
	j.at += len(w)
}

func (j *jsonText) time(name string, to *time.Time) {
	if !j.has(name) {
		return
	}
	if j.peek() != '"' || to.UnmarshalJSON([]byte(j.skip(0))) != nil {
		j.bad = true
		return
	}
	j.next()
}

// texts reads a list of texts.
func (j *jsonText) texts(name string, to *[]string) {
	if !j.has(name) {
		return
	}
	if j.peek() == 'n' {
		j.word("null")
	} else {
		*to = readList(j, (*jsonText).str)
	}
	j.next()
}

// readList reads a list, item by item.
func readList[T any](j *jsonText, item func(*jsonText) T) []T {
	out := []T{}
	j.take('[')
	if !j.bad && j.peek() == ']' {
		j.at++
		return out
	}
	for !j.bad {
		out = append(out, item(j))
		if j.peek() == ']' {
			j.at++
			break
		}
		j.take(',')
	}
	return out
}

// value reads a member of any other type, as encoding/json does.
func (j *jsonText) value(name string, to any) {
	if j.has(name) {
		if b := j.skip(0); j.bad || json.Unmarshal([]byte(b), to) != nil {
			j.bad = true
			return
		}
		j.next()
	}
}

// bytes keeps a member as it stands.
func (j *jsonText) bytes(name string, to *json.RawMessage) {
	if j.has(name) {
		*to = json.RawMessage(j.skip(0))
		j.next()
	}
}

// number reads an integer that is no longer than any that is counted here.
func (j *jsonText) number() int64 {
	negative := j.peek() == '-'
	if negative {
		j.at++
	}
	from, n := j.at, int64(0)
	for c := j.peek(); c >= '0' && c <= '9'; c = j.peek() {
		n = n*10 + int64(c-'0')
		j.at++
		if j.at-from > 18 {
			break
		}
	}
	digits := j.at - from
	if digits == 0 || digits > 18 || digits > 1 && j.text[from] == '0' {
		j.bad = true
	}
	if negative {
		return -n
	}
	return n
}

// str reads a string.
func (j *jsonText) str() string {
	if j.take('"'); j.bad {
		return ""
	}
	plain := true
	for i := j.at; i < len(j.text); i++ {
		switch c := j.text[i]; {
		case c == '"':
			s := j.text[j.at:i]
			j.at = i + 1
			if !plain && !utf8.ValidString(s) {
				j.bad = true // encoding/json puts another rune there
			}
			return s
		case c == '\\':
			return j.escaped(i)
		case c < ' ':
			j.bad = true
			return ""
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	j.bad = true
	return ""
}

// escaped reads a string whose first escape is at i.
func (j *jsonText) escaped(i int) string {
	b := make([]byte, 0, i-j.at+64)
	b = append(b, j.text[j.at:i]...)
	for ; i < len(j.text); i++ {
		switch c := j.text[i]; {
		case c == '"':
			j.at = i + 1
			if !utf8.Valid(b) {
				j.bad = true
			}
			return string(b)
		case c < ' ':
			j.bad = true
			return ""
		case c != '\\':
			b = append(b, c)
		default:
			r, n := escape(j.text[i:])
			if n == 0 {
				j.bad = true
				return ""
			}
			b = utf8.AppendRune(b, r)
			i += n - 1
		}
	}
	j.bad = true
	return ""
}

// escape reads one escape; n is 0 for none, and for half of a pair.
func escape(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	if r = hex4(s); r < 0 || !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, 6
}

// hex4 is the number of an escape with four hex digits; less than 0 for none.
func hex4(s string) (r rune) {
	if len(s) < 6 || s[1] != 'u' {
		return -1
	}
	for i := 2; i < 6; i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return -1
		}
	}
	return r
}
