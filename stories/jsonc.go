package stories

import "bytes"

// parseText reads a document as strict JSON, or with comments.
func parseText(src *source, from int, comments bool) (node, error) {
	return (&parser{src: src, data: src.data, pos: from, loose: comments}).document()
}

// comment moves behind a comment, if one begins here and ends.
func (p *parser) comment() bool {
	rest := p.data[p.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			p.pos += end
		} else {
			p.pos = len(p.data)
		}
		return true
	case bytes.HasPrefix(rest, []byte("/*")):
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			p.pos += end + 4
			return true
		}
	}
	return false
}

// key reads the name of a member that begins with c.
func (p *parser) key(c byte) (node, error) {
	switch {
	case c == '"', c == '\'' && p.loose:
		return p.str()
	case p.loose && isWordByte(c) && (c < '0' || c > '9'):
		start := p.pos
		for p.pos < len(p.data) && isWordByte(p.data[p.pos]) {
			p.pos++
		}
		return node{kind: '"', start: start, end: p.pos, text: string(p.data[start:p.pos])}, nil
	case p.loose:
		return node{}, p.expected("a key")
	}
	return node{}, p.expected("a key in double quotes")
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// doubleQuoted writes a string of JSON5 as JSON has it.
func doubleQuoted(raw []byte) []byte {
	out := []byte{'"'}
	for i := 1; i < len(raw)-1; i++ {
		switch c := raw[i]; {
		case c == '\\' && raw[i+1] == '\'':
			out = append(out, '\'')
			i++
		case c == '\\':
			out = append(out, c, raw[i+1])
			i++
		case c == '"':
			out = append(out, '\\', '"')
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
