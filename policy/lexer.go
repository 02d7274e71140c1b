package policy

import (
	"sort"
	"strings"
)

// literal is one string literal of a program text.
type literal struct {
	start, end int // with the quotes
	text       string
	quote      byte
}

// source is a program text of a scripting language with its strings and
// comments set apart: code has the same length, with blanks in their place.
type source struct {
	lang string
	code string
	lits []literal
	text string

	doubles answer   // stubbed, once it is known
	here    answer   // loopbackOnly, once it is known
	read    []string // the variables that hold what a file holds
	scanned bool     // read is known
	modules []string // loads, once they are known
	called  []call   // calls, once they are known

	stands  map[string]string // moduleOf, of the names that were asked for
	renames map[string]string // renamed, of the names that were asked for
	held    map[string]bool   // heldInMemory, of the variables that were asked for
}

// answer is a question's answer that is looked for once.
type answer uint8

const (
	notAsked answer = iota
	yes
	no
)

// lex divides a program text. It knows quotes and comments, no grammar: that
// is enough to tell a call from a text that only speaks of one.
func lex(lang, text string) *source {
	s := &source{lang: lang, text: text}
	out := []byte(text)
	for i := 0; i < len(text); {
		switch n, isString := s.token(i); {
		case n == 0:
			i++
		case isString:
			blank(out[i:i+n], 'S')
			i += n
		default:
			blank(out[i:i+n], ' ')
			i += n
		}
	}
	s.code = string(out)
	s.fold()
	return s
}

// fold makes one string of those that the language joins before it uses them:
// 'pu' + 'sh', and in Python and awk strings that stand side by side.
func (s *source) fold() {
	out := s.lits[:0]
	for _, l := range s.lits {
		if n := len(out); n > 0 && out[n-1].end <= l.start {
			between := strings.TrimSpace(s.code[out[n-1].end:l.start])
			if s.joins(between) {
				out[n-1].text += l.text
				out[n-1].end = l.end
				continue
			}
		}
		out = append(out, l)
	}
	s.lits = out
}

// joins: what stands between two strings makes one of them.
func (s *source) joins(between string) bool {
	switch s.lang {
	case "python":
		return between == "" || between == "+" || between == "f" || between == "r" || between == "+ f"
	case "javascript", "ruby", "java", "go", "groovy", "scala", "swift", "dart":
		return between == "+"
	case "perl", "php":
		return between == "."
	case "awk":
		return between == ""
	case "lua":
		return between == ".."
	}
	return false
}

func blank(b []byte, with byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	if with != ' ' && len(b) > 0 {
		b[0] = '"'
	}
}

// token returns the length of the string or comment at i, 0 for neither.
func (s *source) token(i int) (n int, isString bool) {
	t := s.text[i:]
	switch {
	case s.hashComments() && t[0] == '#' && (i == 0 || s.text[i-1] != '$'):
		return lineLength(t), false
	case s.slashComments() && strings.HasPrefix(t, "//") && (i == 0 || s.text[i-1] != ':'):
		return lineLength(t), false
	case s.slashComments() && strings.HasPrefix(t, "/*"):
		if j := strings.Index(t[2:], "*/"); j >= 0 {
			return j + 4, false
		}
		return len(t), false
	case s.lang == "python" && (strings.HasPrefix(t, `"""`) || strings.HasPrefix(t, "'''")):
		return s.block(i, t[:3]), true
	case s.lang == "rust" && t[0] == '\'': // one character, or a lifetime
		switch {
		case len(t) > 3 && t[1] == '\\' && t[3] == '\'':
			return 4, false
		case len(t) > 2 && t[2] == '\'':
			return 3, false
		}
		return 0, false
	case t[0] == '"' || t[0] == '\'' && s.lang != "tclsh" && s.lang != "lisp" || t[0] == '`' && s.lang != "python":
		return s.quoted(i), true
	case s.lang == "ruby" && (strings.HasPrefix(t, "%q") || strings.HasPrefix(t, "%Q")):
		if n := s.delimited(i, 2); n > 0 {
			s.lits[len(s.lits)-1].quote = '"'
			return n, true
		}
	case s.lang == "perl" && t[0] == 'q' && (i == 0 || strings.IndexByte("$@%&>{", s.text[i-1]) < 0):
		skip := 1
		if len(t) > 1 && (t[1] == 'q' || t[1] == 'x') {
			skip = 2
		}
		if n := s.delimited(i, skip); n > 0 {
			if t[1] != 'x' {
				s.lits[len(s.lits)-1].quote = '\''
			}
			return n, true
		}
	case s.lang == "perl" && strings.HasPrefix(t, "qx") || s.lang == "ruby" && strings.HasPrefix(t, "%x"):
		if n := s.delimited(i, 2); n > 0 {
			return n, true
		}
	}
	return 0, false
}

func (s *source) hashComments() bool {
	switch s.lang {
	case "javascript", "go", "java", "groovy", "rust", "scala", "swift", "dart", "lisp", "generic":
		return false
	}
	return true
}

func (s *source) slashComments() bool {
	return !s.hashComments() && s.lang != "lisp" && s.lang != "generic" || s.lang == "php"
}

func lineLength(t string) int {
	if j := strings.IndexByte(t, '\n'); j >= 0 {
		return j
	}
	return len(t)
}

func (s *source) block(i int, quote string) int {
	body := s.text[i+3:]
	n, end := len(body), len(s.text)-i
	if j := strings.Index(body, quote); j >= 0 {
		n, end = j, j+6
	}
	s.lits = append(s.lits, literal{i, i + end, body[:n], quote[0]})
	return end
}

// quoted reads a string in ' " or `. A plain one ends at the end of its line
// at the latest, except where the language lets it go on.
func (s *source) quoted(i int) int {
	q := s.text[i]
	var b strings.Builder
	for k := i + 1; k < len(s.text); k++ {
		switch c := s.text[k]; {
		case c == q:
			s.lits = append(s.lits, literal{i, k + 1, b.String(), q})
			return k + 1 - i
		case c == '\\' && k+1 < len(s.text):
			k++
			b.WriteByte(unescape(s.text[k]))
		case c == '\n' && q != '`' && (s.lang == "python" || s.lang == "javascript"):
			s.lits = append(s.lits, literal{i, k, b.String(), q})
			return k - i
		default:
			b.WriteByte(c)
		}
	}
	s.lits = append(s.lits, literal{i, len(s.text), b.String(), q})
	return len(s.text) - i
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	}
	return c
}

// delimited reads qx{...} and %x(...), skip bytes before the delimiter.
func (s *source) delimited(i, skip int) int {
	if i+skip >= len(s.text) || i > 0 && isIdent(s.text[i-1]) {
		return 0
	}
	closer := map[byte]byte{'(': ')', '{': '}', '[': ']', '<': '>', '/': '/', '!': '!', '|': '|'}[s.text[i+skip]]
	if closer == 0 {
		return 0
	}
	body := s.text[i+skip+1:]
	j := strings.IndexByte(body, closer)
	if j < 0 {
		return 0
	}
	s.lits = append(s.lits, literal{i, i + skip + j + 2, body[:j], '`'})
	return skip + j + 2
}

func isIdent(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// fullName is a name of a Python or JavaScript text with the alias of an import
// in front of it undone: s.run is subprocess.run after import subprocess as s.
func (s *source) fullName(name string) string {
	first, rest, _ := strings.Cut(name, ".")
	if s.lang == "javascript" {
		module := s.moduleOf(first)
		switch {
		case module == "" && rest == "":
			return s.renamed(name)
		case module == "":
			return name
		case rest == "":
			return module
		}
		return module + "." + rest
	}
	if s.lang == "python" && rest == "" && first != "" {
		if other := s.renamed(name); other != name {
			return s.fullName(other)
		}
	}
	if s.lang != "python" || first == "" || !strings.Contains(s.code, " as "+first) {
		return name
	}
	f := strings.FieldsFunc(s.code, func(r rune) bool { return r == ' ' || r == '\n' || r == ';' || r == ',' || r == '(' || r == ')' })
	for i := 1; i+1 < len(f); i++ {
		if f[i] == "as" && f[i+1] == first {
			if rest == "" {
				return f[i-1]
			}
			return f[i-1] + "." + rest
		}
	}
	return name
}

// renamed is the function that a name stands for: f = requests.post; f(...).
func (s *source) renamed(name string) string {
	if len(s.text) > maxComposedIn {
		return name
	}
	other, ok := s.renames[name]
	if !ok {
		if s.renames == nil {
			s.renames = map[string]string{}
		}
		other = s.standsFor(name)
		s.renames[name] = other
	}
	return other
}

func (s *source) standsFor(name string) string {
	for at := 0; ; {
		i := strings.Index(s.code[at:], name)
		if i < 0 {
			return name
		}
		i += at
		at = i + len(name)
		if i > 0 && (isIdent(s.code[i-1]) || s.code[i-1] == '.' || s.code[i-1] == '$') {
			continue
		}
		value, ok := strings.CutPrefix(strings.TrimLeft(s.code[at:], " "), "=")
		value = strings.TrimLeft(value, " ")
		n := 0
		for n < len(value) && (isIdent(value[n]) || value[n] == '.') {
			n++
		}
		if !ok || n == 0 || value[:n] == name {
			continue
		}
		start := len(s.code) - len(value)
		switch rest := value[n:]; {
		case strings.HasPrefix(rest, "["): // globalThis['fetch']
			if end := strings.IndexByte(rest, ']'); end > 0 {
				if lits := s.within(start+n, start+n+end); len(lits) == 1 {
					if value[:n] == "globalThis" || value[:n] == "window" || value[:n] == "global" {
						return lits[0].text
					}
					return value[:n] + "." + lits[0].text
				}
			}
		case strings.Contains(value[:n], ".") && (rest == "" || strings.IndexByte(";\n,)} ", rest[0]) >= 0):
			return value[:n]
		}
	}
}

// within lists the literals that stand in a part of the text.
func (s *source) within(start, end int) []literal {
	var out []literal
	from := sort.Search(len(s.lits), func(i int) bool { return s.lits[i].start >= start })
	for _, l := range s.lits[from:] {
		if l.start >= end {
			break
		}
		if l.end <= end {
			out = append(out, l)
		}
	}
	return out
}
