package queue

import "strings"

// skip goes over one value and gives its text. It is as strict as
// encoding/json, and stricter: white space is bad.
func (j *jsonText) skip(depth int) string {
	from := j.at
	switch c := j.peek(); {
	case depth > maxNested:
		j.bad = true
	case c == '"':
		j.skipString()
	case c == '{':
		j.skipAll('}', func() {
			j.skipString()
			j.take(':')
			j.skip(depth + 1)
		})
	case c == '[':
		j.skipAll(']', func() { j.skip(depth + 1) })
	case c == '-' || c >= '0' && c <= '9':
		j.skipNumber()
	default:
		j.skipWord()
	}
	return j.text[from:j.at]
}

// skipAll goes over an object or a list.
func (j *jsonText) skipAll(end byte, item func()) {
	j.at++
	if j.peek() == end {
		j.at++
		return
	}
	for !j.bad {
		item()
		if j.peek() == end {
			j.at++
			return
		}
		j.take(',')
	}
}

func (j *jsonText) skipWord() {
	switch j.peek() {
	case 't':
		j.word("true")
	case 'f':
		j.word("false")
	default:
		j.word("null")
	}
}

func (j *jsonText) skipString() {
	j.take('"')
	for !j.bad && j.at < len(j.text) {
		switch c := j.text[j.at]; {
		case c == '"':
			j.at++
			return
		case c < ' ':
			j.bad = true
		case c == '\\':
			j.skipEscape()
		default:
			j.at++
		}
	}
	j.bad = true
}

func (j *jsonText) skipEscape() {
	s := j.text[j.at:]
	switch {
	case len(s) > 1 && strings.IndexByte(`"\/bfnrt`, s[1]) >= 0:
		j.at += 2
	case hex4(s) >= 0:
		j.at += 6
	default:
		j.bad = true
	}
}

func (j *jsonText) skipNumber() {
	if j.peek() == '-' {
		j.at++
	}
	if j.peek() == '0' {
		j.at++
	} else {
		j.skipDigits()
	}
	if j.peek() == '.' {
		j.at++
		j.skipDigits()
	}
	if c := j.peek(); c == 'e' || c == 'E' {
		j.at++
		if c := j.peek(); c == '+' || c == '-' {
			j.at++
		}
		j.skipDigits()
	}
}

func (j *jsonText) skipDigits() {
	from := j.at
	for c := j.peek(); c >= '0' && c <= '9'; c = j.peek() {
		j.at++
	}
	if j.at == from {
		j.bad = true
	}
}
