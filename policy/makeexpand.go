package policy

import (
	"maps"
	"path"
	"strings"
)

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
