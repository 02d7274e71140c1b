package policy

import (
	"sort"
	"strings"
)

// call is one call in a program text: its dotted name and where its arguments
// stand.
type call struct {
	name       string
	start, end int // of the arguments, without the parentheses
}

// calls lists the calls of the text. In languages that allow it, a name
// followed by a string is a call too.
func (s *source) calls() []call {
	if s.called == nil {
		s.called = s.findCalls()
	}
	return s.called
}

func (s *source) findCalls() []call {
	out := []call{}
	for i := 0; i < len(s.code) && len(out) < maxCalls; i++ {
		switch c := s.code[i]; {
		case c == '(':
			switch name := s.nameAt(i); {
			case name == "" && i > 0 && s.code[i-1] == ']':
				if name, ok := s.indexed(i - 1); ok {
					out = append(out, call{name, i + 1, s.closing(i)})
				}
			case name == "" && i > 1 && s.code[i-1] == ')' && (s.lang == "javascript" || s.lang == "python"):
				if name := s.nameBefore(i - 1); name != "" { // promisify(cp.exec)('ls'), (0, cp.exec)('ls')
					out = append(out, call{name, i + 1, s.closing(i)})
				} else if n := len(strings.TrimRight(s.code[:i-1], ")")); n > 0 && n < i-1 {
					if name := s.nameBefore(n); name != "" {
						out = append(out, call{name, i + 1, s.closing(i)})
					}
				}
			case name == "getattr", name == "require":
				out = append(out, call{name, i + 1, s.closing(i)})
				if k, ok := s.calledResult(name, i); ok {
					out = append(out, k)
				}
			case name != "":
				out = append(out, call{s.moduleBefore(i-len(name)) + name, i + 1, s.closing(i)})
			}
		case c == '{' && (s.lang == "lua" || s.lang == "ruby"):
			name := s.nameBefore(len(strings.TrimRight(s.code[:i], " ")))
			if name != "" && (s.lang == "lua" || strings.Contains(name, ".")) {
				out = append(out, call{name, i + 1, i + matching(s.code[i:])})
			}
		case c == '.' && s.lang == "ruby" && strings.HasPrefix(s.code[i:], ".deliver"):
			if end := i + 1 + identLength(s.code[i+1:]); end == len(s.code) || s.code[end] != '(' {
				out = append(out, call{s.nameBefore(end), end, end})
			}
		case c == '=' && s.propertyCalls():
			if k, ok := s.assignment(i); ok {
				out = append(out, k)
			}
		case c == ' ' && (s.lang == "perl" || s.lang == "ruby"):
			if k, ok := s.bareStart(i); ok {
				out = append(out, k)
			}
		case c == '"' && s.bareCalls():
			if i > 0 && s.code[i-1] == ' ' || i > 0 && s.lang != "awk" && isIdent(s.code[i-1]) {
				if name := s.nameBefore(len(strings.TrimRight(s.code[:i], " "))); name != "" {
					out = append(out, call{name, i, s.statementEnd(i)})
				}
			}
		}
	}
	return out
}

// bareStart is the call of a function that starts a command, without
// parentheses and with a variable: system @c, open F, "|git push".
func (s *source) bareStart(i int) (call, bool) {
	name := s.nameBefore(i)
	switch name {
	case "system", "exec", "spawn":
	case "open":
		if s.lang != "perl" {
			return call{}, false
		}
	default:
		return call{}, false
	}
	rest := strings.TrimLeft(s.code[i:], " ")
	if rest == "" || strings.IndexByte("\"(=.;,)\n", rest[0]) >= 0 {
		return call{}, false
	}
	return call{name, i + 1, s.statementEnd(i)}, true
}

// propertyCalls: in the language a request or a process is told what to do by
// setting its properties: r.httpMethod = "POST". Such an assignment counts as a
// call of that name with "=" behind it.
func (s *source) propertyCalls() bool {
	switch s.lang {
	case "swift", "java", "groovy", "dart", "scala", "osascript":
		return true
	}
	return s.lang == "python" && (strings.Contains(s.code, "sys.argv") || strings.Contains(s.code, "get_method"))
}

// assignment is the one whose sign stands at i.
func (s *source) assignment(i int) (call, bool) {
	if i+1 < len(s.code) && strings.IndexByte("=~>", s.code[i+1]) >= 0 {
		return call{}, false
	}
	name := s.nameBefore(len(strings.TrimRight(s.code[:i], " ")))
	if name == "" {
		return call{}, false
	}
	return call{name + "=", i + 1, s.statementEnd(i)}, true
}

// bareCalls: the language calls a function without parentheses.
func (s *source) bareCalls() bool {
	switch s.lang {
	case "ruby", "perl", "php", "awk", "raku", "generic", "elixir":
		return true
	}
	return false
}

// nameAt is the name of the call whose arguments the parenthesis at i opens. In
// Lisp it stands behind it.
func (s *source) nameAt(i int) string {
	if s.lang != "lisp" {
		return s.nameBefore(i)
	}
	end := i + 1
	for end < len(s.code) && !strings.ContainsRune(" \t\n()[]\"", rune(s.code[end])) {
		end++
	}
	return s.code[i+1 : end]
}

// calledResult is the call of what getattr(x, 'post') or require('axios')
// gives: x.post(...), axios(...).
func (s *source) calledResult(name string, i int) (call, bool) {
	end := s.closing(i)
	lits := s.within(i, end)
	if end+1 >= len(s.code) || s.code[end+1] != '(' {
		return call{}, false
	}
	obj, key, _ := strings.Cut(s.code[i+1:end], ",")
	target := ""
	if len(lits) > 0 {
		target = lits[len(lits)-1].text
	} else if e := (expander{s: s}); name == "getattr" {
		if v, ok := e.variable(strings.TrimSpace(key), 0); ok {
			target = strings.Join(v.list, "")
		}
	}
	if target == "" {
		return call{}, false
	}
	if name == "getattr" {
		target = strings.TrimSpace(obj) + "." + target
	}
	return call{target, end + 2, s.closing(end + 1)}, true
}

// indexed is the name of a method that stands in brackets, which end at i:
// axios['post'](...), globalThis['fetch'](...).
func (s *source) indexed(i int) (string, bool) {
	open := strings.LastIndexByte(s.code[:i], '[')
	if open < 0 || i-open > 200 {
		return "", false
	}
	key := ""
	switch lits := s.within(open, i); {
	case len(lits) == 1 && strings.Trim(s.code[open+1:i], "\" +") == "":
		key = lits[0].text
	case len(lits) == 0 && plainWord(s.code[open+1:i]):
		e := expander{s: s}
		v, ok := e.variable(s.code[open+1:i], 0)
		if key = strings.Join(v.list, ""); !ok || v.items || !plainWord(key) {
			return "", false
		}
	default:
		return "", false
	}
	switch obj := s.nameBefore(open); obj {
	case "globalThis", "window", "self", "global":
		return key, true
	case "":
		return s.moduleBefore(open) + "." + key, true
	default:
		return obj + "." + key, true
	}
}

// moduleBefore is the module that the call which ends before i loads:
// __import__('subprocess').run, require('child_process').execSync.
func (s *source) moduleBefore(i int) string {
	if i < 2 || s.code[i-1] != ')' || i >= len(s.code) || s.code[i] != '.' && s.code[i] != '[' {
		return ""
	}
	at := sort.Search(len(s.lits), func(k int) bool { return s.lits[k].end >= i })
	if at == 0 || strings.TrimSpace(s.code[s.lits[at-1].end:i-1]) != "" {
		return ""
	}
	l := s.lits[at-1]
	switch before := strings.TrimSpace(s.code[:l.start]); {
	case strings.HasSuffix(before, "__import__("), strings.HasSuffix(before, "import_module("), strings.HasSuffix(before, "require("):
		return strings.TrimPrefix(l.text, "node:")
	}
	return ""
}

// nameBefore reads the dotted name that ends before i: requests.post,
// Net::HTTP.post, $ua->post, .post after another call's result.
func (s *source) nameBefore(i int) string {
	j := i
	for j > 0 {
		c := s.code[j-1]
		if isIdent(c) || c == '.' || c == '$' || c == ':' && (j > 1 && s.code[j-2] == ':' || j < len(s.code) && (s.code[j] == ':' || s.lang == "generic")) ||
			c == '>' && j > 1 && s.code[j-2] == '-' || c == '-' && j < len(s.code) && s.code[j] == '>' || c == '!' || c == '?' {
			j--
			continue
		}
		break
	}
	return s.code[j:i]
}

// The bounds of looking at calls: how many, and how long their arguments are.
const (
	maxCalls     = 4000
	maxArguments = 32 << 10
)

// closing finds the parenthesis that closes the one at i.
func (s *source) closing(i int) int {
	depth := 0
	limit := min(len(s.code), i+maxArguments)
	for k := i; k < limit; k++ {
		switch s.code[k] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return limit
}

func (s *source) statementEnd(i int) int {
	if j := strings.IndexAny(s.code[i:], ";\n"); j >= 0 {
		return i + j
	}
	return len(s.code)
}
