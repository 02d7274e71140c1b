package policy

import "strings"

// joiner collects words: what an operator joins is one of them.
type joiner struct {
	value
	between string
	format  bool // what follows is put into the last word's places
}

// listing: the words stand in a list, where one that is not known is left out.
func (j *joiner) listing() bool {
	return len(j.list) == 0 || j.items || strings.ContainsAny(j.between, ",[]*") && !j.format
}

func (j *joiner) add(v value) {
	between := strings.Trim(j.between, " \t\n()")
	if strings.ContainsAny(between, "[]*,") {
		j.items = j.items || !j.format
	}
	n := len(j.list) - 1
	j.between = ""
	switch {
	case len(v.list) == 0:
	case j.format && n >= 0:
		for _, w := range v.list {
			j.list[n] = fill(j.list[n], w)
		}
	case n >= 0 && !v.items && !j.items && joinsText(between):
		j.list = append(j.list[:n:n], j.list[n]+v.list[0])
		j.list = append(j.list, v.list[1:]...)
	default:
		j.list = append(j.list, v.list...)
		j.items = j.items || v.items
	}
}

// joinsText: the operator makes one text of two.
func joinsText(op string) bool {
	switch op {
	case "", "+", ".", "..", "<>", "~", "&", "+ f", "+f", "f":
		return true
	}
	return false
}

// split makes words of the last text, as .split() does.
func (j *joiner) split() {
	if n := len(j.list) - 1; n >= 0 {
		j.list = append(j.list[:n:n], strings.Fields(j.list[n])...)
		j.items = true
	}
}

// fill puts a text into the first place of a format: %s, {}, {0}, {name}.
func fill(format, w string) string {
	at, n := strings.Index(format, "%s"), 2
	if o := strings.IndexByte(format, '{'); o >= 0 && (at < 0 || o < at) {
		if c := strings.IndexByte(format[o:], '}'); c > 0 {
			at, n = o, c+1
		}
	}
	if at < 0 {
		return format
	}
	return format[:at] + w + format[at+n:]
}

// variable is the value of a name: what is assigned and added to it, what it
// runs through in a loop, or what the function that it is a parameter of is
// called with.
func (e *expander) variable(name string, depth int) (value, bool) {
	if name == "" || !plainWord(strings.TrimLeft(name, "$@")) || len(name) > 64 {
		return value{}, false
	}
	if v, busy := e.open[name]; busy {
		return v, len(v.list) > 0
	}
	if e.open == nil {
		e.open = map[string]value{}
	}
	defer delete(e.open, name)
	all := e.assigned(name, depth)
	if len(all) == 0 {
		all = e.parameter(name, depth)
	}
	if len(all) == 0 {
		return value{}, false
	}
	return all[min(e.which, len(all)-1)], true
}

// assigned lists the values that a name is given, one for each assignment.
func (e *expander) assigned(name string, depth int) []value {
	code := e.s.code
	all := e.handed(name)
	for at := 0; len(all) <= maxValues; {
		i := strings.Index(code[at:], name)
		if i < 0 {
			return all
		}
		i += at
		at = i + len(name)
		if i > 0 && (isIdent(code[i-1]) || code[i-1] == '.' || code[i-1] == '$' && e.s.lang != "php") || at < len(code) && isIdent(code[at]) {
			continue
		}
		op, start := e.assignment(i, at)
		if op == 0 {
			continue
		}
		start += at
		end := start + expressionEnd(code[start:])
		e.open[name] = value{}
		if n := len(all); n > 0 {
			e.open[name] = all[n-1]
		}
		v := e.words(start, end, depth+1)
		switch {
		case op == '=' || op == 'i' && len(v.list) <= 1:
			all = append(all, v)
		case op == 'i':
			for _, w := range v.list {
				all = append(all, value{list: []string{w}})
			}
		case len(all) > 0:
			n := len(all) - 1
			all[n] = grown(all[n], v, op)
		}
	}
	return all
}

// grown is a value with another added: to the list, or to the text.
func grown(old, v value, op byte) value {
	if op == '(' || old.items || v.items || len(old.list) != 1 || len(v.list) != 1 {
		return value{append(old.list[:len(old.list):len(old.list)], v.list...), true}
	}
	return value{list: []string{old.list[0] + v.list[0]}}
}

// handed is the value that awk's -v gives a name.
func (e *expander) handed(name string) []value {
	if e.s.lang != "awk" || e.given == nil {
		return nil
	}
	for i, w := range e.given.cmd.Argv {
		text := strings.TrimPrefix(w.Text, "-v")
		if n, v, ok := strings.Cut(text, "="); ok && n == name && (text != w.Text || i > 0 && e.given.cmd.Argv[i-1].Text == "-v") {
			return []value{{list: []string{v}}}
		}
	}
	return nil
}

// assignment says what the text round a name does with it: '=' sets it, '+'
// adds to the text or list, '(' adds to the list, 'i' runs it through a list;
// start is where the expression begins.
func (e *expander) assignment(from, behind int) (op byte, start int) {
	after := e.s.code[behind:]
	t := strings.TrimLeft(after, " \t")
	start = len(after) - len(t)
	before := strings.TrimRight(e.s.code[max(0, from-16):from], " (")
	if strings.HasPrefix(t, ",") && strings.HasSuffix(before, "push") { // push @a, "x"
		return '(', start + 1
	}
	if strings.HasPrefix(t, "[]=") || strings.HasPrefix(t, "[] =") {
		return '(', start + strings.IndexByte(t, '=') + 1
	}
	for _, m := range []string{".append(", ".extend(", ".push(", ".concat(", ".insert(0,", ".add("} {
		if strings.HasPrefix(t, m) {
			return '(', start + len(m)
		}
	}
	for _, m := range []string{"+=", ".=", "<<", "..="} {
		if strings.HasPrefix(t, m) {
			return '+', start + len(m)
		}
	}
	for _, m := range []string{":=", "||=", "//=", "="} {
		if rest, ok := strings.CutPrefix(t, m); ok && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, ">") && !strings.HasPrefix(rest, "~") {
			return '=', start + len(m)
		}
	}
	for _, m := range []string{"in ", "of "} {
		if strings.HasPrefix(t, m) && start > 0 {
			return 'i', start + len(m)
		}
	}
	return 0, 0
}

// parameter lists what a function's calls give the parameter of this name.
func (e *expander) parameter(name string, depth int) []value {
	code := e.s.code
	var out []value
	for _, word := range []string{"def ", "function ", "lambda ", "=>"} {
		for at := 0; ; {
			i := strings.Index(code[at:], word)
			if i < 0 || len(out) >= maxValues {
				break
			}
			i += at
			at = i + len(word)
			fn, params, own := e.function(word, i)
			for n, p := range strings.Split(params, ",") {
				p, _, _ = strings.Cut(p, ":")
				p, _, _ = strings.Cut(p, "=")
				if strings.TrimLeft(strings.TrimSpace(p), "*.&") == name && fn != "" {
					e.open[name] = value{}
					out = append(out, e.passed(fn, own, n, strings.ContainsAny(p, "*.&"), depth)...)
				}
			}
		}
	}
	return out
}

// function reads the head of a function at i: its name, its parameters, and
// where its own parenthesis opens, which is no call.
func (e *expander) function(word string, i int) (name, params string, own int) {
	code := e.s.code
	switch word {
	case "def ", "function ":
		rest := code[i+len(word):]
		n := identLength(rest)
		if n == len(rest) || rest[n] != '(' {
			return "", "", -1
		}
		end := matching(rest[n:])
		return rest[:n], rest[n+1 : n+end], i + len(word) + n
	case "lambda ":
		params, _, _ = strings.Cut(code[i+len(word):], ":")
	default:
		before := strings.TrimRight(code[:i], " ")
		from := strings.LastIndexAny(before, "(=;\n") + 1
		params = strings.Trim(before[from:], " ()")
		i = from - 1
		if i > 0 && code[i] == '(' {
			i--
		}
	}
	before := strings.TrimRight(code[:max(i, 0)], " =(")
	return before[strings.LastIndexAny(before, " ;\n,{(")+1:], params, -1
}

// passed lists the n-th arguments, or all from there on, of a function's calls.
func (e *expander) passed(fn string, own, n int, rest bool, depth int) []value {
	var out []value
	for _, k := range e.s.calls() {
		if k.name != fn || k.start-1 == own || len(out) >= maxValues {
			continue
		}
		from := k.start
		for range n {
			next := argument(e.s.code[from:k.end])
			if from += next; from >= k.end {
				break
			}
			from++
		}
		if from >= k.end {
			continue
		}
		end := from + argument(e.s.code[from:k.end])
		if rest {
			end = k.end
		}
		if v := e.words(from, end, depth+1); len(v.list) > 0 {
			v.items = v.items || rest
			out = append(out, v)
		}
	}
	return out
}

// expressionEnd is how far an expression goes: to the end of its statement, or
// of what it stands in.
func expressionEnd(code string) int {
	depth := 0
	for i := range len(code) {
		switch c := code[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth < 0 {
				return i
			}
		case c == ';' && depth == 0, c == '\n' && depth == 0, c == ':' && depth == 0 && (i+1 == len(code) || code[i+1] != ':'):
			return i
		case c == ',' && depth == 0 && strings.Contains(code[i:min(len(code), i+40)], "="):
			return i // the next variable of const a = 1, b = 2
		}
		if i > maxArguments {
			return i
		}
	}
	return len(code)
}

// argument is how far the first argument of a list goes.
func argument(code string) int {
	depth := 0
	for i := range len(code) {
		switch code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(code)
}

// matching is the index of the bracket that closes the one at the beginning.
func matching(t string) int {
	depth := 0
	for i := range len(t) {
		switch t[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth <= 0 {
				return i
			}
		}
		if i > maxArguments {
			break
		}
	}
	return max(len(t)-1, 0)
}

func identLength(t string) int {
	n := 0
	for n < len(t) && isIdent(t[n]) {
		n++
	}
	return n
}
