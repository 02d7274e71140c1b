package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// given is what an interpreter's program gets beside its text.
type given struct {
	cmd      *shell.Command
	operands []shell.Word // behind the code
	noInput  bool         // its standard input was the program
}

// The bounds of putting strings together: how many expressions are looked at,
// how deep variables stand in variables, and how many values of one count.
const (
	maxComposed    = 64       // calls of one line
	maxComposedIn  = 64 << 10 // the length of a text
	maxExpressions = 200
	maxValueDepth  = 5
	maxValues      = 4
)

// assembled classifies the command of a call whose arguments are put together
// of variables, lists, formats and what the program is given: c = ['git'];
// c.append('push'); subprocess.run(c). Only what reaches outside counts: what
// its strings alone say has been classified.
func (r *reading) assembled(s *source, k call) []Hit {
	if r.skims() || !namesStart(k.name) && k.name != "open" || len(s.text) > maxComposedIn || !s.composes(k) {
		return nil
	}
	if r.composed++; r.composed > maxComposed {
		return nil
	}
	if r.runsInput(s, k) {
		return []Hit{opaqueHit("opaque-payload", excerpt(s.text, k.start, k.end), "It runs the lines that it reads.")}
	}
	var out []Hit
	seen := map[string]bool{}
	for which := range maxValues {
		e := expander{s: s, given: r.given, which: which}
		words := e.words(k.start, k.end, 0).list
		line := lineOfWords(words)
		if line == "" || seen[line] || !r.set.namesProgram(line) {
			break
		}
		seen[line] = true
		for _, h := range r.line(line) {
			if h.Tier == External && !h.Mention {
				out = append(out, h)
			}
		}
	}
	return out
}

// runsInput: the command is a line, or a field of one, of an input that is not
// known.
func (r *reading) runsInput(s *source, k call) bool {
	if g := r.given; g == nil || g.cmd.Stdin.Known || k.name == "open" {
		return false
	}
	switch args := strings.Trim(s.code[k.start:k.end], " ()"); s.lang {
	case "awk":
		return len(args) == 2 && args[0] == '$' && args[1] >= '0' && args[1] <= '9'
	case "perl", "ruby":
		return args == "$_"
	}
	return false
}

// composes: the arguments hold something beside strings and named arguments,
// or more than one string that an operator joins.
func (s *source) composes(k call) bool {
	args := strings.TrimSpace(s.code[k.start:k.end])
	return strings.Trim(args, "\" \n\t,[]()") != "" || s.lang == "ruby" && strings.Contains(s.text[k.start:k.end], "#{")
}

// lineOfWords is the shell line of a program and its arguments; one text with
// a blank is a line already.
func lineOfWords(words []string) string {
	for len(words) > 0 && strings.TrimSpace(words[0]) == "" {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return ""
	case strings.ContainsAny(strings.TrimSpace(words[0]), " \t\n;|&"):
		return words[0]
	case len(words) > 1 && words[0] == words[1]:
		words = words[1:] // execvp("git", ["git", ...])
	}
	return quoteWords(words)
}

// value is what an expression makes: one text, or the items of a list.
type value struct {
	list  []string
	items bool
}

// expander evaluates the expressions of a program text, as far as strings,
// lists and their variables go.
type expander struct {
	s     *source
	given *given
	which int // which of several values of a variable
	steps int
	open  map[string]value // the variables that are being looked up
}

// words evaluates the text from start to end.
func (e *expander) words(start, end, depth int) value {
	if e.steps++; e.steps > maxExpressions || depth > maxValueDepth {
		return value{}
	}
	var out joiner
	for i := start; i < end; {
		t := e.s.code[i:end]
		if l, ok := e.literalAt(i); ok {
			out.add(value{list: []string{e.interpolated(l, depth)}})
			i = max(l.end, i+1)
			continue
		}
		if n := e.bareWords(i, end, &out); n > 0 {
			i += n
			continue
		}
		if v, n := e.outside(i, end); n > 0 {
			out.add(v)
			i += n
			continue
		}
		switch c := t[0]; {
		case c == '{' && e.s.lang != "perl":
			i += matching(t) + 1 // options
		case c == '%' && i+1 < end && !isIdent(t[1]) && e.s.lang == "python", strings.HasPrefix(t, ".format("):
			out.format = len(out.list) > 0
			i += max(1, strings.IndexByte(t[:min(len(t), len(".format("))], '('))
		case strings.HasPrefix(t, ".split("):
			out.split()
			i += 1 + len(".split") + matching(t[len(".split"):])
		case c == '.' && i+1 < end && isIdent(t[1]): // a method or a field
			i += 1 + identLength(t[1:])
		case isIdent(c) && (c < '0' || c > '9') || c == '$' || c == '@':
			n := 1 + identLength(t[1:])
			i += e.name(i, n, end, depth, &out)
		default:
			out.between += string(c)
			i++
		}
	}
	return out.value
}

// name reads the identifier at i: a named argument, a call, or a variable. It
// returns how far to go.
func (e *expander) name(i, n, end, depth int, out *joiner) int {
	name, after := e.s.code[i:i+n], strings.TrimLeft(e.s.code[i+n:end], " \t\n")
	switch name {
	case "if", "else", "or", "and", "not", "in", "for", "await", "new", "return", "unless", "do", "is", "None", "True", "False", "null", "nil":
		out.between += ","
		return n
	}
	if i+n < end && e.s.code[i+n] == '"' && e.s.lang == "python" {
		return n // f, r, b in front of a string
	}
	switch {
	case strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "=="), strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "::"):
		if name == "args" {
			return n + strings.IndexAny(e.s.code[i+n:end], "=:") + 1
		}
		return n + argument(e.s.code[i+n:end])
	case strings.HasPrefix(after, "("), strings.HasPrefix(after, "::"):
		return n // what it is called with may still be it
	}
	v, ok := e.variable(name, depth)
	if ok {
		out.add(v)
	} else if !out.listing() {
		out.add(value{list: []string{"$X"}})
	}
	return n
}

func (e *expander) literalAt(i int) (literal, bool) {
	if c := e.s.code[i]; c != '"' {
		return literal{}, false
	}
	for _, l := range e.s.within(i, len(e.s.code)) {
		return l, l.start == i
	}
	return literal{}, false
}

// interpolated is a string with its variables put in, as the language does it.
func (e *expander) interpolated(l literal, depth int) string {
	s := e.s
	open := ""
	switch {
	case s.lang == "ruby" && l.quote != '\'':
		open = "#{"
	case s.lang == "javascript" && l.quote == '`':
		open = "${"
	case s.lang == "python" && l.start > 0 && strings.HasSuffix(s.code[:l.start], "f"):
		open = "{"
	case (s.lang == "perl" || s.lang == "php") && l.quote != '\'':
		return e.sigils(l.text, depth)
	default:
		return l.text
	}
	text, out := l.text, ""
	for {
		before, rest, ok := strings.Cut(text, open)
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return out + text
		}
		put := "$X"
		if v, ok := e.variable(strings.TrimSpace(name), depth); ok {
			put = strings.Join(v.list, " ")
		}
		out, text = out+before+put, after
	}
}

// sigils is a text with the variables put in that are known.
func (e *expander) sigils(text string, depth int) string {
	out := ""
	for {
		i := strings.IndexAny(text, "$@")
		if i < 0 {
			return out + text
		}
		n := 1 + identLength(text[i+1:])
		put := text[i : i+n]
		if v, ok := e.variable(put, depth); ok && n > 1 {
			put = strings.Join(v.list, " ")
		}
		out, text = out+text[:i]+put, text[i+n:]
	}
}

// bareWords reads a list of words without quotes: %w[git push], qw(git push).
func (e *expander) bareWords(i, end int, out *joiner) int {
	t := e.s.text[i:end]
	if e.s.lang == "ruby" && strings.HasPrefix(t, "%w") || e.s.lang == "perl" && strings.HasPrefix(t, "qw") {
		if len(t) > 3 && (i == 0 || !isIdent(e.s.code[i-1])) {
			if words, ok := bracketed(t[2:]); ok {
				out.add(value{strings.Fields(words), true})
				return len(words) + 4
			}
		}
	}
	return 0
}

// outside is a value that the program is given: its arguments, its input, a
// variable of its environment.
func (e *expander) outside(i, end int) (value, int) {
	t, g := e.s.code[i:end], e.given
	if g == nil || i > 0 && (isIdent(e.s.code[i-1]) || e.s.code[i-1] == '.') {
		return value{}, 0
	}
	for _, w := range []string{"sys.argv", "process.argv", "@ARGV", "ARGV", "$argv", "commandArgs()", "args[:]"} {
		if strings.HasPrefix(t, w) && !(len(t) > len(w) && isIdent(t[len(w)])) {
			v, n := argvValue(t[len(w):], e.s.lang, wordTexts(g.operands))
			return v, len(w) + n
		}
	}
	for _, w := range []string{"os.environ", "os.getenv", "process.env", "ENV", "$ENV", "getenv", "System.get_env", "ENVIRON", "$_ENV", "$_SERVER"} {
		if strings.HasPrefix(t, w) && len(t) > len(w) && !isIdent(t[len(w)]) {
			return e.environment(i, len(w), end)
		}
	}
	for _, w := range []string{"sys.stdin.read()", "sys.stdin", "input()", "STDIN.read", "$stdin.read", "gets", "ARGF.read", "<STDIN>", "<>", "$0", "$_", "$1"} {
		if !strings.HasPrefix(t, w) || (w == "$0" || w == "$1") && e.s.lang != "awk" || len(t) > len(w) && isIdent(w[len(w)-1]) && isIdent(t[len(w)]) {
			continue
		}
		if !g.cmd.Stdin.Known || g.noInput {
			return value{}, 0
		}
		text := strings.TrimSpace(g.cmd.Stdin.Text)
		if w == "$1" {
			text, _, _ = strings.Cut(text, " ")
		}
		return value{list: []string{text}}, len(w)
	}
	return value{}, 0
}

// argvValue is the operands of the program, or one of them.
func argvValue(after, lang string, operands []string) (value, int) {
	if len(after) == 0 || after[0] != '[' {
		return value{operands, true}, 0
	}
	n := matching(after) + 1
	index := strings.Trim(after[:n], "[] ")
	if len(index) != 1 || index[0] < '0' || index[0] > '9' {
		return value{operands, true}, n
	}
	at := int(index[0] - '0')
	if lang == "python" || lang == "javascript" || lang == "php" {
		at--
	}
	if at < 0 || at >= len(operands) {
		return value{}, n
	}
	return value{list: operands[at : at+1]}, n
}

// environment is the variable of the environment that is named at i.
func (e *expander) environment(i, skip, end int) (value, int) {
	t := e.s.code[i+skip : end]
	name, n := "", 0
	if t[0] == '.' && strings.HasPrefix(e.s.code[i:], "process") {
		n = 1 + identLength(t[1:])
		name = t[1:n]
	} else {
		n = matching(t) + 1
		if o := strings.IndexAny(t, "[({"); o >= 0 {
			n = o + matching(t[o:]) + 1
		}
		name = strings.Trim(e.s.text[i+skip:min(i+skip+n, end)], "[](){}.get'\" ")
	}
	for k := len(e.given.cmd.Env) - 1; k >= 0; k-- {
		if a := e.given.cmd.Env[k]; a.Name == name {
			return value{list: []string{a.Value.Text}}, skip + n
		}
	}
	return value{list: []string{"$X"}}, skip + n
}
