package stories

import (
	"fmt"
	"strings"
)

// front is the front matter of a Markdown story: the lines between two "---".
type front struct {
	fields []field
	end    int // offset of the closing line; 0 = there is no front matter
	body   int // 0-based index of the first line after it
}

// field is one "key: value" of the front matter.
type field struct {
	key        string
	offset     int      // of the key
	start, end int      // bytes from behind the colon to the end of the value
	values     []string // one for a scalar, none for an empty value
	list       bool
}

// readFront reads the front matter strictly: it is the small part of YAML that
// people write there (key: value, [a, b], "- a" lines, quotes, comments), and
// a line that is anything else is an error rather than a guess.
func readFront(src *source, from int) (front, error) {
	var f front
	if !isRule(string(src.lineText(1))) {
		return f, nil
	}
	for i := 1; i < len(src.lines); i++ {
		line := string(src.lineText(i + 1))
		switch trimmed := strings.TrimSpace(line); {
		case isRule(line):
			f.end, f.body = src.lines[i], i+1
			return f, twice(src, f.fields)
		case trimmed == "" || trimmed[0] == '#':
			continue
		case trimmed == "-" || strings.HasPrefix(trimmed, "- "):
			if err := f.addItem(src, i, line); err != nil {
				return f, err
			}
		default:
			if err := f.addField(src, i, line); err != nil {
				return f, err
			}
		}
	}
	return f, src.at(from, `the front matter begins with "---" and does not end with another`)
}

func isRule(line string) bool { return strings.TrimRight(line, " \t") == "---" }

func twice(src *source, fields []field) error {
	seen := make(map[string]int, len(fields))
	for _, x := range fields {
		if first, twice := seen[x.key]; twice {
			return src.at(x.offset, fmt.Sprintf("the key %q stands twice in the front matter, on line %d and on line %d",
				x.key, src.line(first), src.line(x.offset)))
		}
		seen[x.key] = x.offset
	}
	return nil
}

func (f *front) addField(src *source, i int, line string) error {
	start := src.lines[i]
	key, rest, ok := strings.Cut(line, ":")
	if !ok || !isKey(key) || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return src.at(start, fmt.Sprintf("expected \"key: value\" in the front matter, found %q", firstWords(line)))
	}
	x := field{key: key, offset: start, start: start + len(key) + 1}
	value, used, isList, err := readValue(rest)
	if err != nil {
		return src.at(start, fmt.Sprintf("the value of %q: %v", key, err))
	}
	x.values, x.list, x.end = value, isList, x.start+used
	f.fields = append(f.fields, x)
	return nil
}

// addItem adds a "- a" line to the list that the key before it began.
func (f *front) addItem(src *source, i int, line string) error {
	n := len(f.fields) - 1
	if n < 0 || len(f.fields[n].values) > 0 && !f.fields[n].list {
		return src.at(src.lines[i], "a list item without a key before it")
	}
	x := &f.fields[n]
	rest := strings.TrimPrefix(strings.TrimLeft(line, " "), "-")
	value, _, isList, err := readValue(rest)
	if err != nil {
		return src.at(src.lines[i], fmt.Sprintf("the list %q: %v", x.key, err))
	}
	if isList || len(value) == 0 || x.list && x.end > x.start && strings.Contains(string(src.data[x.start:x.end]), "[") {
		return src.at(src.lines[i], fmt.Sprintf("the list %q: this item is not understood", x.key))
	}
	x.list, x.values = true, append(x.values, value...)
	return nil
}

func isKey(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || (r < '0' || r > '9') && r != '-') {
			return false
		}
	}
	return s != ""
}

// readValue reads what stands behind a colon or a dash. used is how many bytes
// of s the value takes, with the space before it and without a comment.
func readValue(s string) (values []string, used int, list bool, err error) {
	lead := len(s) - len(strings.TrimLeft(s, " \t"))
	v := s[lead:]
	switch {
	case v == "" || v[0] == '#' && lead > 0:
		return nil, 0, false, nil
	case v[0] == '[':
		values, n, err := readFlow(v)
		return values, lead + n, true, err
	case v[0] == '"' || v[0] == '\'':
		text, n, err := readQuoted(v)
		if err == nil {
			err = onlyComment(v[n:])
		}
		return []string{text}, lead + n, false, err
	}
	text, err := readPlain(v)
	return []string{text}, lead + len(text), false, err
}

// readPlain reads a value without quotes, up to a comment.
func readPlain(v string) (string, error) {
	if i := strings.Index(v, " #"); i >= 0 {
		v = v[:i]
	}
	if i := strings.Index(v, "\t#"); i >= 0 {
		v = v[:i]
	}
	v = strings.TrimRight(v, " \t")
	if strings.ContainsRune("{}]&*!|>%@`,#?", rune(v[0])) || v == "-" || strings.HasPrefix(v, "- ") {
		return "", fmt.Errorf("a value that begins with %q must stand in quotes", v[0])
	}
	if strings.Contains(v, ": ") || strings.HasSuffix(v, ":") {
		return "", fmt.Errorf("a value with a colon must stand in quotes")
	}
	return v, nil
}

// readQuoted reads a value in quotes and says where it ends.
func readQuoted(v string) (string, int, error) {
	quote := v[0]
	var b strings.Builder
	for i := 1; i < len(v); i++ {
		switch c := v[i]; {
		case c == quote && quote == '\'' && i+1 < len(v) && v[i+1] == quote:
			b.WriteByte(c)
			i++
		case c == quote:
			return b.String(), i + 1, nil
		case c == '\\' && quote == '"':
			i++
			if i >= len(v) || !strings.ContainsRune(`"\/nt`, rune(v[i])) {
				return "", 0, fmt.Errorf(`an escape other than \" \\ \/ \n \t is not understood`)
			}
			b.WriteString(strings.NewReplacer("n", "\n", "t", "\t").Replace(v[i : i+1]))
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, fmt.Errorf("the quote is not closed on its line")
}

// readFlow reads a list in brackets.
func readFlow(v string) ([]string, int, error) {
	var values []string
	i := 1
	skip := func() {
		for i < len(v) && (v[i] == ' ' || v[i] == '\t') {
			i++
		}
	}
	for skip(); i < len(v) && v[i] != ']'; skip() {
		if v[i] == '"' || v[i] == '\'' {
			text, n, err := readQuoted(v[i:])
			if err != nil {
				return nil, 0, err
			}
			values = append(values, text)
			i += n
		} else {
			n := strings.IndexAny(v[i:], ",]")
			if n < 0 {
				break
			}
			item := strings.TrimRight(v[i:i+n], " \t")
			if item == "" || strings.ContainsAny(item, "[{#:\"'") {
				return nil, 0, fmt.Errorf("the list item %q is not understood", firstWords(item))
			}
			values = append(values, item)
			i += n
		}
		if skip(); i < len(v) && v[i] == ',' {
			i++
		} else {
			break
		}
	}
	if i >= len(v) || v[i] != ']' {
		return nil, 0, fmt.Errorf("the list is not closed on its line")
	}
	return values, i + 1, onlyComment(v[i+1:])
}

func onlyComment(rest string) error {
	trimmed := strings.TrimLeft(rest, " \t")
	if trimmed == "" || trimmed[0] == '#' && len(trimmed) < len(rest) {
		return nil
	}
	return fmt.Errorf("%q after the end of the value", firstWords(trimmed))
}
