package policy

import (
	"maps"
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// makefile is what is read out of a Makefile and what it includes. The
// branches of its conditionals are taken together.
type makefile struct {
	vars    map[string]string
	given   map[string]bool // variables that the command line sets
	rules   []*makeRule
	goal    string       // what is made when nothing is named
	direct  []recipeLine // commands that run while it is read
	unclear bool         // a part was not found, or may say something else

	refs    int    // references expanded so far
	prefix  string // of a recipe line
	inIf    int
	current []*makeRule
}

type makeRule struct {
	target  string
	prereqs []string
	recipe  []recipeLine
}

type recipeLine struct {
	text, file string
	line       int
	names      bool // its first word may be another task's name
}

// makeTargets classifies the recipes that make would run.
func (r *reading) makeTargets(c *shell.Command) ([]Hit, bool) {
	a := parseArgs(r.tool("make"), c, c.Argv[1:])
	if a.hasAny([]string{"-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "-t", "--touch", "-v", "--version", "-h", "--help"}) {
		return nil, false
	}
	for _, d := range a.all("-C", "--directory") {
		defer r.in(d.Text)()
	}
	names := wordTexts(a.all("-f", "--file", "--makefile"))
	if len(names) == 0 {
		names = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	m := &makefile{vars: defaultVars(), prefix: "\t", given: map[string]bool{}, unclear: len(a.all("--eval")) > 0}
	for _, name := range names {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		var targets []string
		for _, w := range a.words {
			if n, v, ok := strings.Cut(w.Text, "="); ok {
				n = strings.TrimRight(n, ":?+")
				m.vars[n], m.given[n] = v, true
			} else {
				targets = append(targets, w.Text)
			}
		}
		return r.following(file+"\x00"+strings.Join(targets, " "), func() []Hit {
			m.read(r, text, file, 0)
			return r.makeGoals(m, targets)
		})
	}
	return nil, false
}

func defaultVars() map[string]string {
	return map[string]string{"MAKE": "make", "SHELL": "/bin/sh", "CC": "cc", "CXX": "g++", "AR": "ar", "RM": "rm -f", "CURDIR": ".", "AS": "as", "LD": "ld"}
}

func (r *reading) makeGoals(m *makefile, targets []string) []Hit {
	var hits []Hit
	for _, l := range m.direct {
		hits = append(hits, r.recipe(m.expand(l.text, nil, 0), l.file, l.line)...)
	}
	if len(targets) == 0 {
		targets = []string{m.goal}
	}
	done := map[string]bool{}
	for _, t := range targets {
		hits = append(hits, r.makeTarget(m, t, done, true)...)
	}
	if m.unclear {
		r.hide()
	}
	return hits
}

// maxTargets is how many targets of one call are followed.
const maxTargets = 200

// makeTarget classifies the recipe of a target and those of what it needs.
func (r *reading) makeTarget(m *makefile, name string, done map[string]bool, asked bool) []Hit {
	if done[name] {
		return nil
	}
	if done[name] = true; len(done) > maxTargets {
		m.unclear = true
		return nil
	}
	var hits []Hit
	found := false
	for _, rule := range m.rules {
		stem, ok := rule.match(name)
		if !ok {
			continue
		}
		found = true
		needs := make([]string, 0, len(rule.prereqs))
		for _, p := range rule.prereqs {
			for p := range strings.FieldsSeq(m.expand(p, nil, 0)) {
				needs = append(needs, strings.ReplaceAll(p, "%", stem))
			}
		}
		for _, p := range needs {
			hits = append(hits, r.makeTarget(m, p, done, false)...)
		}
		auto := map[string]string{"@": name, "^": strings.Join(needs, " "), "?": strings.Join(needs, " "), "+": strings.Join(needs, " "), "*": stem, "<": ""}
		if len(needs) > 0 {
			auto["<"] = needs[0]
		}
		for _, l := range rule.recipe {
			hits = append(hits, r.recipe(recipeText(m.expand(l.text, auto, 0)), l.file, l.line)...)
		}
	}
	if found || !asked {
		return hits
	}
	m.unclear = true
	for _, rule := range m.rules { // what makes everything else
		if rule.target != "%" && rule.target != ".DEFAULT" {
			continue
		}
		for _, l := range rule.recipe {
			hits = append(hits, r.recipe(recipeText(m.expand(l.text, map[string]string{"@": name, "*": name}, 0)), l.file, l.line)...)
		}
	}
	return hits
}

// recipeText takes the marks off the lines of an expanded recipe line.
func recipeText(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, " \t@+-")
	}
	return strings.Join(lines, "\n")
}

// match says whether the rule is for a target, and what % stands for.
func (r *makeRule) match(name string) (stem string, ok bool) {
	before, after, pattern := strings.Cut(r.target, "%")
	if !pattern {
		return "", r.target == name
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return name[len(before) : len(name)-len(after)], r.target != "%" && len(r.recipe) > 0
}

// read reads a Makefile and what it includes.
func (m *makefile) read(r *reading, text, file string, depth int) {
	n := 0
	lines := strings.Split(text, "\n")
	for n < len(lines) {
		at := n + 1
		line := strings.TrimSuffix(lines[n], "\r")
		for n++; strings.HasSuffix(line, "\\") && n < len(lines); n++ {
			line = strings.TrimSuffix(line, "\\") + " " + strings.TrimLeft(strings.TrimSuffix(lines[n], "\r"), " \t")
		}
		if recipe, ok := strings.CutPrefix(line, m.prefix); ok && len(m.current) > 0 {
			for _, rule := range m.current {
				rule.recipe = append(rule.recipe, recipeLine{text: recipe, file: file, line: at})
			}
			continue
		}
		line = strings.TrimSpace(uncomment(line))
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
		case "define":
			var body []string
			for ; n < len(lines) && strings.TrimSpace(lines[n]) != "endef"; n++ {
				body = append(body, lines[n])
			}
			n++
			m.vars[strings.TrimRight(strings.Fields(rest + " ?")[0], "=:?")] = strings.Join(body, "\n")
		case "ifeq", "ifneq", "ifdef", "ifndef":
			m.inIf++
		case "endif":
			m.inIf--
		case "else":
		case "load", "-load":
			m.unclear = true
		case "include", "-include", "sinclude":
			for _, name := range r.included(m.expand(wildcards(rest), nil, 0)) {
				inc, from, ok := r.file(&shell.Command{}, name)
				if !ok || depth >= maxFollow {
					m.unclear = true
					continue
				}
				m.read(r, inc, from, depth+1)
			}
		default:
			m.statement(line, file, at)
		}
	}
}

// wildcards takes $(wildcard PATTERN) for the pattern.
func wildcards(s string) string {
	for {
		before, rest, ok := strings.Cut(s, "$(wildcard ")
		pattern, after, closed := strings.Cut(rest, ")")
		if !ok || !closed {
			return s
		}
		s = before + pattern + after
	}
}

// included are the files that an include names, its patterns resolved.
func (r *reading) included(list string) []string {
	var out []string
	for name := range strings.FieldsSeq(list) {
		if r.tree == nil {
			out = append(out, name)
		} else {
			out = append(out, r.tree.glob(name)...)
		}
	}
	return out
}

// uncomment cuts a comment off.
func uncomment(line string) string {
	if strings.HasPrefix(line, "#") {
		return ""
	}
	if before, _, ok := strings.Cut(line, " #"); ok {
		return before
	}
	return line
}

// statement reads an assignment or the head of a rule.
func (m *makefile) statement(line, file string, at int) {
	for _, w := range []string{"export ", "override ", "private ", "unexport "} {
		line = strings.TrimPrefix(line, w)
	}
	i := outside(line, ":=")
	switch {
	case i < 0:
		if strings.Contains(line, "$(shell ") || strings.Contains(line, "$(eval ") {
			m.direct = append(m.direct, recipeLine{text: ": " + line, file: file, line: at})
		}
		m.unclear = m.unclear || strings.Contains(line, "$(eval ") || strings.Contains(line, "$(call ")
	case line[i] == '=' || isAssignment(line[i:]):
		m.assign(line, i, file, at)
	default:
		m.rule(line, i, file, at)
	}
}

// outside is the first place of one of the characters that stands in no
// $( ) or ${ }.
func outside(s, chars string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '(' || s[i] == '{':
			depth++
		case s[i] == ')' || s[i] == '}':
			depth--
		case depth == 0 && strings.IndexByte(chars, s[i]) >= 0:
			return i
		}
	}
	return -1
}

func isAssignment(s string) bool {
	s = strings.TrimLeft(s, ":")
	return strings.HasPrefix(s, "=")
}

func (m *makefile) assign(line string, i int, file string, at int) {
	name := strings.TrimSpace(strings.TrimRight(line[:i], ":?+! "))
	value := strings.TrimSpace(strings.TrimLeft(line[i:], ":="))
	if m.given[name] {
		return
	}
	switch op := line[:i]; {
	case strings.HasSuffix(op, "!"):
		m.direct = append(m.direct, recipeLine{text: value, file: file, line: at})
		value = "$(shell " + value + ")"
	case strings.HasSuffix(op, "?") && m.vars[name] != "":
		return
	case strings.HasSuffix(op, "+") && m.vars[name] != "":
		value = m.vars[name] + " " + value
	}
	if line[i] == ':' && strings.Contains(value, "$(shell ") {
		m.direct = append(m.direct, recipeLine{text: ": " + value, file: file, line: at})
	}
	switch name {
	case ".DEFAULT_GOAL":
		m.goal = value
	case ".RECIPEPREFIX":
		if m.prefix = "\t"; value != "" {
			m.prefix = value[:1]
		}
	case "SHELL", ".SHELLFLAGS", "MAKEFLAGS":
		m.unclear = true
		m.direct = append(m.direct, recipeLine{text: value, file: file, line: at})
	}
	if old, ok := m.vars[name]; ok && m.inIf > 0 && old != value {
		m.unclear = true // either may hold
		value = old + "\n" + value
	}
	m.vars[name] = value
}

func (m *makefile) rule(line string, i int, file string, at int) {
	rest := strings.TrimLeft(line[i:], ":")
	rest, recipe, inline := strings.Cut(rest, ";")
	targets := strings.Fields(strings.TrimSuffix(strings.TrimSpace(m.expand(line[:i], nil, 0)), "&"))
	if j := outside(rest, "="); j >= 0 { // a variable of this target alone
		name := strings.TrimSpace(strings.TrimRight(rest[:j], ":?+! "))
		if _, ok := m.vars[name]; !ok {
			m.vars[name] = strings.TrimSpace(rest[j+1:])
		}
		m.unclear = m.unclear || m.vars[name] != strings.TrimSpace(rest[j+1:])
		return
	}
	if k := outside(rest, ":"); k >= 0 { // targets: pattern: prereqs
		rest = rest[k+1:]
	}
	m.current = nil
	for _, t := range targets {
		if m.goal == "" && (t[0] != '.' || strings.Contains(t, "/")) && !strings.Contains(t, "%") {
			m.goal = t
		}
		rule := &makeRule{target: t, prereqs: strings.Fields(strings.ReplaceAll(rest, "|", " "))}
		if inline {
			rule.recipe = append(rule.recipe, recipeLine{text: strings.TrimSpace(recipe), file: file, line: at})
		}
		m.rules = append(m.rules, rule)
		m.current = append(m.current, rule)
	}
}

// The bounds of expanding variables: length and nesting of one text, and
// references in all of them.
const (
	maxExpanded = 16 << 10
	maxExpand   = 12
	maxRefs     = 20000
)

// expand puts the variables of a Makefile into a text, so that the shell can
// read it. What is not known becomes a shell variable of that name.
func (m *makefile) expand(s string, auto map[string]string, depth int) string {
	if depth > maxExpand || !strings.Contains(s, "$") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < maxExpanded; i++ {
		if s[i] != '$' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '$':
			b.WriteByte('$')
		case '(', '{':
			end := closing(s, i)
			b.WriteString(m.reference(s[i+1:end], auto, depth))
			i = end
		default:
			b.WriteString(m.variable(s[i:i+1], auto, depth))
		}
	}
	return b.String()
}

// closing is the index of the bracket that closes the one at i; the last byte
// when there is none.
func closing(s string, i int) int {
	open, shut := s[i], byte(')')
	if open == '{' {
		shut = '}'
	}
	depth := 0
	for j := i; j < len(s); j++ {
		switch s[j] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return len(s) - 1
}

// reference expands what stands in $( ): a variable or a function of make.
func (m *makefile) reference(ref string, auto map[string]string, depth int) string {
	name, rest, function := strings.Cut(ref, " ")
	if !function {
		name, _, _ = strings.Cut(ref, ":") // $(SRC:.c=.o)
		if (strings.HasSuffix(name, "D") || strings.HasSuffix(name, "F")) && len(name) == 2 && auto[name[:1]] != "" {
			if name[1] == 'F' {
				return path.Base(auto[name[:1]])
			}
			return path.Dir(auto[name[:1]])
		}
		return m.variable(m.expand(name, auto, depth+1), auto, depth)
	}
	args := strings.Split(rest, ",")
	switch name {
	case "shell":
		return "$(" + m.expand(rest, auto, depth+1) + ")"
	case "call":
		inner := map[string]string{}
		maps.Copy(inner, auto)
		for i, a := range args[1:] {
			if i < 9 {
				inner[string(rune('1'+i))] = m.expand(a, auto, depth+1)
			}
		}
		return m.variable(strings.TrimSpace(args[0]), inner, depth)
	case "if", "foreach":
		return m.expand(strings.Join(args[1:], "\n"), auto, depth+1)
	case "or", "and", "strip", "info", "warning", "eval", "addprefix", "addsuffix", "sort", "firstword":
		return m.expand(strings.Join(args, " "), auto, depth+1)
	}
	return "${" + name + "}"
}

func (m *makefile) variable(name string, auto map[string]string, depth int) string {
	if m.refs++; m.refs > maxRefs {
		m.unclear = true
		return ""
	}
	if v, ok := auto[name]; ok {
		return v
	}
	if v, ok := m.vars[name]; ok && name != "" {
		return m.expand(v, auto, depth+1)
	}
	return "${" + name + "}"
}
