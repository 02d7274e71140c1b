package policy

import "strings"

// readYAML reads as much YAML as project files are written in: maps, lists,
// plain and quoted scalars, blocks, and flow collections on one line. What it
// does not know becomes a string. It gives maps, lists and strings.
func readYAML(text string) any {
	y := &yamlReader{}
	for raw := range strings.Lines(text) {
		line := strings.TrimRight(raw, " \r\n")
		bare := strings.TrimLeft(line, " ")
		if bare == "---" && len(y.lines) > 0 || len(y.lines) >= maxYAMLLines {
			break
		}
		if bare == "---" || strings.HasPrefix(line, "%") {
			continue
		}
		y.lines = append(y.lines, yamlLine{indent: len(line) - len(bare), text: bare})
	}
	return y.node(0, 0)
}

// The bounds of reading YAML.
const (
	maxYAMLLines = 10000
	maxYAMLDepth = 24
)

type yamlLine struct {
	indent int
	text   string
}

type yamlReader struct {
	lines []yamlLine
	at    int
}

// skip goes to the next line that says something.
func (y *yamlReader) skip() bool {
	for ; y.at < len(y.lines); y.at++ {
		if t := y.lines[y.at].text; t != "" && t[0] != '#' {
			return true
		}
	}
	return false
}

// node reads the map, list or scalar that begins at the next line, if that is
// indented enough.
func (y *yamlReader) node(indent, depth int) any {
	if !y.skip() || y.lines[y.at].indent < indent || depth > maxYAMLDepth {
		return nil
	}
	l := y.lines[y.at]
	switch {
	case l.text == "-" || strings.HasPrefix(l.text, "- "):
		return y.list(l.indent, depth)
	case yamlKey(l.text) >= 0:
		return y.mapping(l.indent, depth)
	}
	y.at++
	return yamlScalar(l.text)
}

func (y *yamlReader) list(indent, depth int) any {
	out := []any{}
	for y.skip() {
		l := &y.lines[y.at]
		if l.indent != indent || l.text != "-" && !strings.HasPrefix(l.text, "- ") {
			break
		}
		rest := strings.TrimLeft(l.text[1:], " ")
		switch {
		case rest == "" || rest[0] == '#':
			y.at++
			out = append(out, y.node(indent+1, depth+1))
		case strings.HasPrefix(rest, "- ") || yamlKey(rest) >= 0:
			l.indent += len(l.text) - len(rest) // the item begins here
			l.text = rest
			out = append(out, y.node(l.indent, depth+1))
		default:
			out = append(out, y.value(rest, indent, depth))
		}
	}
	return out
}

func (y *yamlReader) mapping(indent, depth int) any {
	out := map[string]any{}
	for y.skip() {
		l := y.lines[y.at]
		i := yamlKey(l.text)
		if l.indent != indent || i < 0 {
			break
		}
		key := strings.Trim(strings.TrimSpace(l.text[:i]), `"'`)
		rest := strings.TrimSpace(l.text[i+1:])
		if rest == "" || rest[0] == '#' || rest[0] == '&' && !strings.Contains(rest, " ") {
			y.at++
			if y.skip() && (y.lines[y.at].indent > indent || y.lines[y.at].indent == indent && strings.HasPrefix(y.lines[y.at].text, "-")) {
				out[key] = y.node(indent, depth+1)
			} else {
				out[key] = ""
			}
			continue
		}
		out[key] = y.value(rest, indent, depth)
	}
	return out
}

// value reads what stands behind a key or a dash on the same line.
func (y *yamlReader) value(rest string, indent, depth int) any {
	y.at++
	if rest[0] == '|' || rest[0] == '>' {
		var lines []string
		for ; y.at < len(y.lines); y.at++ {
			l := y.lines[y.at]
			if l.text != "" && l.indent <= indent {
				break
			}
			lines = append(lines, l.text)
		}
		sep := "\n"
		if rest[0] == '>' {
			sep = " "
		}
		return strings.TrimSpace(strings.Join(lines, sep))
	}
	for open := rest[0]; (open == '[' || open == '{') && !closedFlow(rest) || (open == '"' || open == '\'') && strings.Count(rest, string(open)) == 1; y.at++ {
		if y.at >= len(y.lines) {
			break
		}
		rest += " " + y.lines[y.at].text
	}
	if rest[0] != '"' && rest[0] != '\'' && rest[0] != '[' && rest[0] != '{' {
		for y.at < len(y.lines) && y.lines[y.at].indent > indent && y.lines[y.at].text != "" && yamlKey(y.lines[y.at].text) < 0 && !strings.HasPrefix(y.lines[y.at].text, "- ") {
			rest += " " + y.lines[y.at].text // a plain scalar that goes on
			y.at++
		}
	}
	return yamlFlow(rest, depth)
}

func closedFlow(s string) bool {
	return strings.Count(s, "[") <= strings.Count(s, "]") && strings.Count(s, "{") <= strings.Count(s, "}")
}

// yamlKey is where the colon behind a key stands; -1 when there is none.
func yamlKey(s string) int {
	if s == "" || s[0] == '[' || s[0] == '{' || s[0] == '|' {
		return -1
	}
	from := 0
	if s[0] == '"' || s[0] == '\'' {
		j := strings.IndexByte(s[1:], s[0])
		if j < 0 {
			return -1
		}
		from = j + 2
		if from < len(s) && s[from] != ':' {
			return -1
		}
	}
	for i := from; i < len(s); i++ {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ') {
			return i
		}
		if s[i] == '#' && i > 0 && s[i-1] == ' ' {
			return -1
		}
	}
	return -1
}

// yamlFlow reads [a, b], {a: b} or a scalar.
func yamlFlow(s string, depth int) any {
	s = strings.TrimSpace(s)
	if s == "" || depth > maxYAMLDepth {
		return s
	}
	inner, closer := s[1:], byte(0)
	switch s[0] {
	case '[':
		closer = ']'
	case '{':
		closer = '}'
	default:
		return yamlScalar(s)
	}
	i := strings.LastIndexByte(inner, closer)
	if i < 0 {
		return yamlScalar(s)
	}
	parts := flowParts(inner[:i])
	if closer == ']' {
		out := make([]any, 0, len(parts))
		for _, p := range parts {
			out = append(out, yamlFlow(p, depth+1))
		}
		return out
	}
	out := map[string]any{}
	for _, p := range parts {
		p = strings.TrimSpace(p)
		if k := yamlKey(p); k >= 0 {
			out[strings.Trim(p[:k], `"' `)] = yamlFlow(p[k+1:], depth+1)
		}
	}
	return out
}

// flowParts cuts a flow collection at its commas.
func flowParts(s string) []string {
	var out []string
	depth, from, quote := 0, 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	if strings.TrimSpace(s[from:]) != "" {
		out = append(out, s[from:])
	}
	return out
}

func yamlScalar(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && s[0] == '\'' {
		if j := strings.LastIndexByte(s, '\''); j > 0 {
			return strings.ReplaceAll(s[1:j], "''", "'")
		}
	}
	if len(s) > 1 && s[0] == '"' {
		if j := strings.LastIndexByte(s, '"'); j > 0 {
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(s[1:j])
		}
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	for _, mark := range []string{"&", "!"} { // an anchor or a tag
		if strings.HasPrefix(s, mark) {
			_, s, _ = strings.Cut(s, " ")
		}
	}
	return strings.TrimSpace(s)
}

// The parts of a document of maps, lists and strings.

func mapOf(v any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	m, _ := v.(map[string]any)
	return m
}

func listOf(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case nil:
		return nil
	case string:
		if v == "" {
			return nil
		}
	}
	return []any{v}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// commandLineOf is a command that is written as a line or as a list of words.
func commandLineOf(v any) string {
	if l, ok := v.([]any); ok {
		words := make([]string, 0, len(l))
		for _, w := range l {
			words = append(words, textOf(w))
		}
		return quoteWords(words)
	}
	return textOf(v)
}
