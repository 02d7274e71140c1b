package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

var yamlLine = pattern(`line (\d+)`)

// parseYAML reads a list of tasks in YAML. The decoder gives each value's line
// and column; the mark is edited in the bytes there, so that comments, quotes
// and layout stay.
func parseYAML(src *source, from int) (*File, error) {
	if i := bytes.IndexAny(src.data, "\u0085\u2028\u2029"); i >= 0 {
		return nil, src.at(i, "YAML takes the character here for a line break and editors do not")
	}
	if i := loneReturn(src.data); i >= 0 {
		return nil, src.at(i, "a carriage return without a line feed")
	}
	root, err := decodeYAML(src, from)
	if err != nil {
		return nil, err
	}
	if states := root.get("development_status"); states != nil {
		return nil, fmt.Errorf("%q: %w: it holds only the states of stories that lie in other files; name the folder or the list with their text",
			src.path, ErrNoStories)
	}
	list, err := storyList(src, &root)
	if err != nil {
		return nil, err
	}
	for i := range list.items {
		if err := resolveMarks(src, &list.items[i]); err != nil {
			return nil, err
		}
	}
	f := &File{}
	readHead(f, &root)
	if f.Project == "" && root.kind == '{' {
		if meta := root.get("metadata"); meta != nil {
			f.Project = nameOf(meta)
		}
	}
	key := flagKey(list, "completed")
	if err := f.readList(src, list, func(item *node) slot { return yamlSlot(src, item, key) }); err != nil {
		return nil, err
	}
	for i := range f.Stories {
		if s := &f.Stories[i]; f.impl.places[i].derived {
			s.ID = textID(s.Title, s.Title, nil, "")
		}
	}
	return f, nil
}

func loneReturn(data []byte) int {
	for i, c := range data {
		if c == '\r' && (i+1 >= len(data) || data[i+1] != '\n') {
			return i
		}
	}
	return -1
}

// decodeYAML reads the one document of a file.
func decodeYAML(src *source, from int) (node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(src.data[from:]))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return node{}, fmt.Errorf("%q: %w: the document is empty", src.path, ErrNoStories)
		}
		return node{}, yamlError(src, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			return node{}, yamlError(src, err)
		}
		return node{}, &FormatError{Path: src.path, Line: more.Line, Problem: "a second YAML document begins; a list of stories has one"}
	}
	if len(doc.Content) == 0 {
		return node{}, fmt.Errorf("%q: %w: the document is empty", src.path, ErrNoStories)
	}
	r := yamlReader{src: src, from: from}
	root, err := r.node(doc.Content[0], 0)
	if err != nil {
		return node{}, err
	}
	return root, checkKeys(src, &root)
}

func yamlError(src *source, err error) error {
	e := &FormatError{Path: src.path, Problem: visible(strings.TrimPrefix(err.Error(), "yaml: "))}
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= len(src.lines) {
			e.Line = n
			e.Problem = strings.TrimPrefix(e.Problem, m[0]+": ")
		}
	}
	return e
}

// yamlReader turns nodes of the decoder into the ones that every list of
// stories is read from.
type yamlReader struct {
	src  *source
	from int
}

func (r *yamlReader) node(y *yaml.Node, depth int) (node, error) {
	start := r.offset(y)
	n := node{start: start, end: start}
	if depth > maxDepth {
		return n, r.src.at(start, "nested too deep")
	}
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = '{'
		for i := 0; i+1 < len(y.Content); i += 2 {
			m, err := r.member(y.Content[i], y.Content[i+1], depth)
			if err != nil {
				return n, err
			}
			n.members = append(n.members, m)
		}
	case yaml.SequenceNode:
		n.kind = '['
		for _, c := range y.Content {
			item, err := r.node(c, depth+1)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
	case yaml.ScalarNode:
		r.scalar(y, &n)
	default:
		return n, r.src.at(start, "an alias (*name) is not read in a list of stories; write the value out")
	}
	return n, nil
}

func (r *yamlReader) member(k, v *yaml.Node, depth int) (member, error) {
	if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
		return member{}, r.src.at(r.offset(k), "a key that is not a plain word is not read in a list of stories")
	}
	value, err := r.node(v, depth+1)
	at := r.offset(k)
	return member{key: k.Value, keyStart: at, keyEnd: at, value: value}, err
}

// scalar finds the bytes of a scalar where they stand as they are read: on one
// line, plain or in quotes. resolved says so by end > start, or an empty value.
func (r *yamlReader) scalar(y *yaml.Node, n *node) {
	n.text = y.Value
	switch y.Tag {
	case "!!null":
		n.kind = 'n'
	case "!!bool":
		n.kind = 'f'
		if strings.EqualFold(y.Value, "true") {
			n.kind = 't'
		}
	case "!!int", "!!float":
		n.kind = '0'
	default:
		n.kind = '"'
	}
	rest := r.src.data[n.start:]
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	switch quote := firstByte(line); {
	case quote == '"' || quote == '\'':
		if end := closingQuote(line, quote); end > 0 {
			n.end = n.start + end
		}
	case y.Value != "" && bytes.HasPrefix(line, []byte(y.Value)):
		n.end = n.start + len(y.Value)
	}
}

func firstByte(b []byte) byte {
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// closingQuote is the length of a quoted scalar without escapes, 0 if it is
// none.
func closingQuote(line []byte, quote byte) int {
	end := bytes.IndexByte(line[1:], quote)
	if end < 0 || bytes.IndexByte(line[1:1+end], '\\') >= 0 {
		return 0
	}
	return end + 2
}

// offset is where a node begins. The decoder counts characters, from 1.
func (r *yamlReader) offset(y *yaml.Node) int {
	line := min(max(y.Line, 1), len(r.src.lines))
	at := r.src.lines[line-1]
	if line == 1 {
		at += r.from
	}
	text := r.src.data[at:]
	for range y.Column - 1 {
		if len(text) == 0 {
			break
		}
		size := runeSize(text)
		at, text = at+size, text[size:]
	}
	return at
}

// resolveMarks makes sure that the bytes of every mark of a story are known.
func resolveMarks(src *source, item *node) error {
	for i := range item.members {
		m := &item.members[i]
		v := &m.value
		if m.key != statusKey && !slices.Contains(flagKeys(), m.key) {
			continue
		}
		lead := len(src.data[:v.start]) - len(bytes.TrimRight(src.data[:v.start], " "))
		if v.kind == '{' || v.kind == '[' || v.end == v.start && v.text != "" || !bytes.HasSuffix(src.data[:v.start-lead], []byte(":")) {
			return src.at(m.keyStart, fmt.Sprintf("%q must be a plain value on the line of its key", m.key))
		}
		v.start -= lead // the space is part of the value, as an empty one has none
	}
	return nil
}

// yamlSlot is where a missing mark goes: before the second key, else before
// the first, in the manner of the mapping.
func yamlSlot(src *source, item *node, key string) slot {
	if len(item.members) == 0 {
		return slot{}
	}
	at := item.members[0].keyStart
	if firstByte(src.data[item.start:]) == '{' {
		return slot{key: key, at: at, before: key + ":", after: ", "}
	}
	if len(item.members) > 1 {
		at = item.members[1].keyStart
	}
	line := src.line(at)
	indent := at - src.textStart(line)
	eol := "\n"
	if bytes.Contains(src.data, []byte("\r\n")) {
		eol = "\r\n"
	}
	return slot{key: key, at: at, before: key + ":", after: eol + strings.Repeat(" ", indent)}
}

var plainWord = pattern(`^[A-Za-z][A-Za-z_-]*$`)

// yamlValue is how a mark is written in YAML.
func yamlValue(key, old, word string, done bool) string {
	quote := firstByte([]byte(old))
	if key != statusKey {
		word = fmt.Sprint(done)
		if old == "0" || old == "1" {
			word = map[bool]string{false: "0", true: "1"}[done]
		}
	}
	switch {
	case quote == '"', key == statusKey && !plainWord().MatchString(word):
		word = quoteJSON(word)
	case quote == '\'':
		word = "'" + word + "'"
	}
	return word
}
