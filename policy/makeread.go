package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

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
