package stories

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxDepth is how deep a document may nest; the same as in encoding/json.
const maxDepth = 10000

// node is one JSON value together with the bytes it stands in. The standard
// decoder gives neither positions nor duplicate keys, and both are needed: the
// first to change one flag and nothing else, the second because a file with
// two "passes" in one story must not be read as either.
type node struct {
	kind       byte // '{', '[', '"', '0' (number), 't', 'f' or 'n'
	start, end int
	text       string // a string decoded, or the literal as it stands
	members    []member
	items      []node
}

type member struct {
	key              string
	keyStart, keyEnd int
	value            node
}

// get is the value of a key, or nil.
func (n *node) get(key string) *node {
	for i := range n.members {
		if n.members[i].key == key {
			return &n.members[i].value
		}
	}
	return nil
}

// what names the kind of a value for a message.
func (n *node) what() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "true or false"
	}
}

// parser reads one document, strictly by RFC 8259, or with what JSONC and
// JSON5 add that people use: comments, trailing commas, single quotes and keys
// without quotes.
type parser struct {
	src   *source
	data  []byte
	pos   int
	depth int
	loose bool
}

func (p *parser) document() (node, error) {
	root, err := p.value()
	if err != nil {
		return node{}, err
	}
	p.space()
	if p.pos < len(p.data) {
		return node{}, p.expected("nothing more after the end of the document")
	}
	if err := checkKeys(p.src, &root); err != nil {
		return node{}, err
	}
	return root, nil
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		case '/':
			if !p.loose || !p.comment() {
				return
			}
		default:
			return
		}
	}
}

// peek is the next byte after space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos >= len(p.data) {
		return 0
	}
	return p.data[p.pos]
}

// expected is the error for a place where something else should stand.
func (p *parser) expected(what string) error {
	if p.pos >= len(p.data) {
		return p.src.fault(len(p.data), "expected "+what+", but the text ends")
	}
	if p.conflictMarker() {
		return p.src.fault(p.pos, "a merge conflict was left in the file")
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	hint := ""
	if r == '/' && !p.loose {
		hint = " (JSON has no comments; in a .jsonc file they are read)"
	}
	return p.src.fault(p.pos, fmt.Sprintf("expected %s, found %q%s", what, r, hint))
}

func (p *parser) conflictMarker() bool {
	line := p.src.lineText(p.src.line(p.pos))
	for _, marker := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
		if bytes.HasPrefix(line, []byte(marker)) {
			return true
		}
	}
	return false
}

func (p *parser) value() (node, error) {
	switch c := p.peek(); {
	case c == '{':
		return p.nested(p.object)
	case c == '[':
		return p.nested(p.array)
	case c == '"', c == '\'' && p.loose:
		return p.str()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.literal("true")
	case c == 'f':
		return p.literal("false")
	case c == 'n':
		return p.literal("null")
	default:
		return node{}, p.expected("a value")
	}
}

func (p *parser) nested(read func() (node, error)) (node, error) {
	if p.depth++; p.depth > maxDepth {
		return node{}, p.src.fault(p.pos, "nested too deep")
	}
	n, err := read()
	p.depth--
	return n, err
}

func (p *parser) object() (node, error) {
	n := node{kind: '{', start: p.pos}
	p.pos++
	for first := true; ; first = false {
		c := p.peek()
		if c == '}' && (first || p.loose) {
			break
		}
		key, err := p.key(c)
		if err != nil {
			return n, err
		}
		if p.peek() != ':' {
			return n, p.expected("':' after the key")
		}
		p.pos++
		value, err := p.value()
		if err != nil {
			return n, err
		}
		n.members = append(n.members, member{key.text, key.start, key.end, value})
		if p.peek() == '}' {
			break
		}
		if p.peek() != ',' {
			return n, p.expected("',' or '}' after the value")
		}
		p.pos++
	}
	p.pos++
	n.end = p.pos
	return n, nil
}

func (p *parser) array() (node, error) {
	n := node{kind: '[', start: p.pos}
	p.pos++
	if p.peek() == ']' {
		p.pos++
		n.end = p.pos
		return n, nil
	}
	for {
		item, err := p.value()
		if err != nil {
			return n, err
		}
		n.items = append(n.items, item)
		switch p.peek() {
		case ',':
			p.pos++
			if p.loose && p.peek() == ']' {
				p.pos++
				n.end = p.pos
				return n, nil
			}
		case ']':
			p.pos++
			n.end = p.pos
			return n, nil
		default:
			return n, p.expected("',' or ']' after the value")
		}
	}
}

func (p *parser) literal(word string) (node, error) {
	start := p.pos
	if end := start + len(word); end <= len(p.data) && string(p.data[start:end]) == word {
		p.pos = end
		return node{kind: word[0], start: start, end: end, text: word}, nil
	}
	return node{}, p.expected("a value")
}

func (p *parser) number() (node, error) {
	start := p.pos
	if p.data[p.pos] == '-' {
		p.pos++
	}
	if p.pos < len(p.data) && p.data[p.pos] == '0' {
		p.pos++
	} else if !p.digits() {
		return node{}, p.expected("a digit")
	}
	if p.pos < len(p.data) && p.data[p.pos] == '.' {
		p.pos++
		if !p.digits() {
			return node{}, p.expected("a digit")
		}
	}
	if p.pos < len(p.data) && (p.data[p.pos] == 'e' || p.data[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.data) && (p.data[p.pos] == '+' || p.data[p.pos] == '-') {
			p.pos++
		}
		if !p.digits() {
			return node{}, p.expected("a digit")
		}
	}
	return node{kind: '0', start: start, end: p.pos, text: string(p.data[start:p.pos])}, nil
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}

func (p *parser) str() (node, error) {
	start := p.pos
	plain, quote := true, p.data[p.pos]
	for p.pos++; p.pos < len(p.data); p.pos++ {
		switch c := p.data[p.pos]; {
		case c == quote:
			p.pos++
			text, err := p.decode(start, plain)
			return node{kind: '"', start: start, end: p.pos, text: text}, err
		case c == '\\':
			plain = false
			if !p.escape() {
				return node{}, p.expected("a valid escape")
			}
		case c < ' ':
			return node{}, p.src.fault(p.pos, fmt.Sprintf("a string may not hold %q as it is", c))
		}
	}
	return node{}, p.src.fault(start, "a string is not closed")
}

// escape moves to the last byte of an escape sequence.
func (p *parser) escape() bool {
	if p.pos++; p.pos >= len(p.data) {
		return false
	}
	switch p.data[p.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case '\'':
		return p.loose
	case 'u':
		for range 4 {
			if p.pos++; p.pos >= len(p.data) || !isHex(p.data[p.pos]) {
				return false
			}
		}
		return true
	}
	return false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// decode leaves the rare string with escapes or broken UTF-8 to the standard
// decoder, so that both read it alike.
func (p *parser) decode(start int, plain bool) (string, error) {
	raw := p.data[start:p.pos]
	if p.loose && !plain || raw[0] == '\'' {
		raw = doubleQuoted(raw)
	}
	if plain && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", p.src.fault(start, err.Error())
	}
	return s, nil
}

// checkKeys refuses an object that has a key twice, at any depth.
func checkKeys(src *source, n *node) error {
	var seen map[string]int
	if len(n.members) > 0 {
		seen = make(map[string]int, len(n.members))
	}
	for i := range n.members {
		m := &n.members[i]
		if first, twice := seen[m.key]; twice {
			return &FormatError{
				Path: src.path, Line: src.line(m.keyStart),
				Problem: fmt.Sprintf("the key %q stands twice in one object, on line %d and on line %d",
					m.key, src.line(first), src.line(m.keyStart)),
			}
		}
		seen[m.key] = m.keyStart
		if err := checkKeys(src, &m.value); err != nil {
			return err
		}
	}
	for i := range n.items {
		if err := checkKeys(src, &n.items[i]); err != nil {
			return err
		}
	}
	return nil
}
