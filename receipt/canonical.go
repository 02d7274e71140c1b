package receipt

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxDepth is how deep ZeroClaw's reader goes before it gives up.
const maxDepth = 127

var errNoJSON = errors.New("no JSON value")

// Canonical gives a JSON value its one text: no spaces; keys sorted by their
// UTF-8 bytes at every depth, of keys that occur twice the last; strings raw
// but for quote, backslash and control characters; integers of 64 bits exact,
// every other number as the nearest float64, in the form that serde_json
// prints. The canonical text of a canonical text is the same.
//
// Refused are invalid UTF-8, numbers beyond a float64, more than 127 levels
// and anything after the value. Half of a surrogate pair cannot be written in
// UTF-8; it stays the escape it was, in lower case ("\ud83d"). The client
// writes such halves where it cut a long output; ZeroClaw refuses them.
func Canonical(raw json.RawMessage) ([]byte, error) { return canonical(raw, nearestFloat) }

// canonicalZC is what ZeroClaw signs. It differs from Canonical in numbers of
// many digits, which serde_json does not always read as the nearest float64.
func canonicalZC(raw json.RawMessage) ([]byte, error) { return canonical(raw, serdeFloat) }

func canonical(raw json.RawMessage, readFloat func(string) (float64, error)) ([]byte, error) {
	p := parser{in: raw, out: make([]byte, 0, len(raw)), readFloat: readFloat}
	p.space()
	if p.pos == len(p.in) {
		return nil, errNoJSON
	}
	if err := p.value(0); err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(p.in) {
		return nil, p.fail("something after the value")
	}
	return p.out, nil
}

// parser reads in and writes out at once: no tree stands between.
type parser struct {
	in  []byte
	pos int
	out []byte

	readFloat func(string) (float64, error)
}

func (p *parser) fail(what string) error {
	return fmt.Errorf("invalid JSON at byte %d: %s", p.pos, what)
}

// peek gives 0 at the end, which begins nothing in JSON.
func (p *parser) peek() byte {
	if p.pos < len(p.in) {
		return p.in[p.pos]
	}
	return 0
}

func (p *parser) space() {
	for p.pos < len(p.in) {
		switch p.in[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) take(b byte) bool {
	if p.peek() != b {
		return false
	}
	p.pos++
	return true
}

func (p *parser) value(depth int) error {
	switch b := p.peek(); {
	case b == '{' || b == '[':
		if depth == maxDepth {
			return p.fail("nested too deep")
		}
		p.pos++
		if b == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case b == '"':
		text, err := p.string()
		p.out = appendString(p.out, text)
		return err
	case b == '-' || isDigit(b):
		return p.number()
	}
	return p.literal()
}

func (p *parser) literal() error {
	for _, word := range []string{"true", "false", "null"} {
		if len(p.in)-p.pos >= len(word) && string(p.in[p.pos:p.pos+len(word)]) == word {
			p.pos += len(word)
			p.out = append(p.out, word...)
			return nil
		}
	}
	return p.fail("expected a value")
}

// items calls each for every item up to the closing byte.
func (p *parser) items(end byte, each func() error) error {
	p.space()
	if p.take(end) {
		return nil
	}
	for {
		if err := each(); err != nil {
			return err
		}
		p.space()
		if p.take(end) {
			return nil
		}
		if !p.take(',') {
			return p.fail("expected a comma or an end")
		}
		p.space()
	}
}

func (p *parser) array(depth int) error {
	p.out = append(p.out, '[')
	first := true
	err := p.items(']', func() error {
		if !first {
			p.out = append(p.out, ',')
		}
		first = false
		return p.value(depth)
	})
	p.out = append(p.out, ']')
	return err
}

// member is one key of an object and where "key":value stands in out.
type member struct {
	key      string
	from, to int
}

func (p *parser) object(depth int) error {
	start := len(p.out)
	var members []member
	err := p.items('}', func() error {
		m := member{from: len(p.out)}
		if err := p.key(&m); err != nil {
			return err
		}
		if err := p.value(depth); err != nil {
			return err
		}
		m.to = len(p.out)
		members = append(members, m)
		return nil
	})
	if err != nil {
		return err
	}
	p.arrange(start, lastOfEach(members))
	return nil
}

func (p *parser) key(m *member) error {
	if p.peek() != '"' {
		return p.fail("expected a key")
	}
	text, err := p.string()
	if err != nil {
		return err
	}
	m.key = string(text)
	p.out = append(appendString(p.out, text), ':')
	if p.space(); !p.take(':') {
		return p.fail("expected a colon")
	}
	p.space()
	return nil
}

// lastOfEach sorts members by key and keeps the last that bears each.
func lastOfEach(members []member) []member {
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	kept := members[:0]
	for i, m := range members {
		if i+1 == len(members) || members[i+1].key != m.key {
			kept = append(kept, m)
		}
	}
	return kept
}

// arrange rewrites what was read since start in the order of members.
func (p *parser) arrange(start int, members []member) {
	read := slices.Clone(p.out[start:])
	p.out = append(p.out[:start], '{')
	for i, m := range members {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		p.out = append(p.out, read[m.from-start:m.to-start]...)
	}
	p.out = append(p.out, '}')
}
