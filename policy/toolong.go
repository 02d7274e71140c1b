package policy

import (
	"bytes"
	"encoding/json"
)

// MaxInput is the longest input that is taken apart. A call with a longer one
// is judged by its beginning and by the words in all of it, without a copy.
const MaxInput = 4 << 20

// longHead is how much of a longer one is taken apart.
const longHead = 64 << 10

// tooLong judges a call whose input is over MaxInput.
func (s *Set) tooLong(c Call) Result {
	words := s.phrasesOf(c.Input)
	switch key, t := toolKey(c.Tool), s.table(); {
	case t.shellTools.has(key):
		head, _ := commandField(c.Shortened().in)
		r := s.readingOf(c)
		hits := r.line(head)
		rest := Hit{Rule: "unread-text", Tier: Local, Opaque: true, Why: "The line is too long to be read to its end.", Text: head[:min(len(head), maxProseLine)]}
		if len(words) > 0 || top(hits) == External {
			rest.Tier = External
		}
		return finish(append(append(hits, rest), words...), Mentioned)
	case isFileTool(key):
		return finish(words, Written)
	case !t.localTools.has(key) && !t.netTools.has(key) && !t.wordTools.has(key):
		words = append(words, opaqueHit("unread-input", c.Tool, "The input of the call is too long to be read."))
	}
	return finish(words, Mentioned)
}

// Shortened is the call, decoded, with what stands in the first 64 KiB of its
// input; a text that goes on from there is cut.
func (c Call) Shortened() Call {
	if len(c.Input) > longHead {
		c.Input = closed(c.Input[:longHead])
		c.in, c.readErr = nil, nil
	}
	return c.Decoded()
}

// closed makes a JSON object of the beginning of one: with the string at its
// end cut short, or else without its last field.
func closed(head []byte) json.RawMessage {
	var open []byte
	inString, comma := false, 0
	for i := 0; i < len(head); i++ {
		switch c := head[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		case c == ',' && len(open) == 1:
			comma = i
		}
	}
	var ends []byte
	for i := len(open) - 1; i >= 0; i-- {
		ends = append(ends, open[i])
	}
	if inString {
		whole := head
		if i := bytes.LastIndexByte(head, '\\'); i >= 0 && i > len(head)-longestEscape {
			whole = head[:i] // an escape may be torn
		}
		if js := append(append(bytes.Clone(whole), '"'), ends...); json.Valid(js) {
			return js
		}
	}
	if js := append(bytes.Clone(head[:comma]), '}'); json.Valid(js) {
		return js
	}
	return json.RawMessage("{}")
}
