package policy

import "strings"

// definition is a function or a class of a program text: the lines that it
// takes up, its names, and the definition it lies in.
type definition struct {
	first, last int // lines, from 0
	indent      int
	names       []string
	parent      int // index of the definition around it; -1 = none
	never       bool
	reached     bool
}

// maxDefinitions is from how many definitions on a text is taken whole.
const maxDefinitions = 1000

// reached is a program text without the functions that nothing names: a file
// that is loaded runs its own lines, and of what it defines only what is
// called. The lines keep their numbers.
func reachedText(lang, text string, names map[string]bool) string {
	src := lex(lang, text)
	lines := strings.Split(src.code, "\n")
	defs := definitions(lang, lines)
	if len(defs) == 0 || len(defs) > maxDefinitions {
		return text
	}
	owner := make([]int, len(lines))
	for i := range owner {
		owner[i] = -1
	}
	for d := range defs { // in order: the inner come after those around them
		for i := defs[d].first; i <= defs[d].last; i++ {
			owner[i] = d
		}
	}
	known := map[string]bool{}
	for n := range names {
		known[n] = true
	}
	addLines(known, lines, owner, -1)
	for again := true; again; {
		again = false
		for d := range defs {
			def := &defs[d]
			if def.reached || def.never || def.parent >= 0 && !defs[def.parent].reached || !named(def, known) {
				continue
			}
			def.reached, again = true, true
			addLines(known, lines, owner, d)
		}
	}
	out := strings.Split(text, "\n")
	for i, d := range owner {
		if d >= 0 && !defs[d].reached && i < len(out) {
			out[i] = ""
		}
	}
	return strings.Join(out, "\n")
}

// named: something that runs names the definition, or it runs with what it
// lies in.
func named(d *definition, known map[string]bool) bool {
	for _, n := range d.names {
		switch {
		case known[n], strings.HasPrefix(n, "__") && strings.HasSuffix(n, "__"):
			return true
		case n == "constructor" || n == "initialize" || n == "__construct" || n == "default" || n == "init" || n == "included":
			return true
		}
	}
	return false
}

// addLines adds the names in the lines of one definition, without the lines
// that only list what the file gives to others.
func addLines(known map[string]bool, lines []string, owner []int, of int) {
	listed := false
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if !listed {
			listed = strings.HasPrefix(t, "module.exports = {") || strings.HasPrefix(t, "export {") || strings.HasPrefix(t, "exports = {") || strings.HasPrefix(t, "export default {")
		}
		if owner[i] == of && !listed {
			addIdentifiers(known, l)
		}
		if listed && strings.Contains(t, "}") {
			listed = false
		}
	}
}

// identifiers are the names in a program text.
func (s *source) identifiers() map[string]bool {
	known := map[string]bool{}
	addIdentifiers(known, s.code)
	return known
}

func addIdentifiers(known map[string]bool, text string) {
	for w := range strings.FieldsFuncSeq(text, func(c rune) bool { return c < 0x80 && !isIdent(byte(c)) }) {
		known[w] = true
	}
}

// definitions finds the functions and classes of a text by how it is indented.
func definitions(lang string, lines []string) []definition {
	var out []definition
	var open []int
	for i, l := range lines {
		bare := strings.TrimSpace(l)
		if bare == "" {
			continue
		}
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		for n := len(open); n > 0; n = len(open) {
			d := &out[open[n-1]]
			if indent > d.indent || indent == d.indent && closesBlock(bare) {
				d.last = i
				break
			}
			open = open[:n-1]
		}
		for _, o := range open {
			out[o].last = i
		}
		name, never := definedName(lang, bare)
		if name == "" && !never {
			continue
		}
		d := definition{first: i, last: i, indent: indent, names: []string{name}, parent: -1, never: never}
		if len(open) > 0 {
			d.parent = open[len(open)-1]
		}
		out = append(out, d)
		open = append(open, len(out)-1)
	}
	return out
}

func closesBlock(bare string) bool {
	return strings.ContainsAny(bare[:1], "})]{") || bare == "end" || strings.HasPrefix(bare, "end ") || strings.HasPrefix(bare, "end.")
}

// definedName is the name that a line begins to define. never: the line opens a
// block that does not run when the file is loaded by another.
func definedName(lang, bare string) (name string, never bool) {
	switch lang {
	case "python":
		if strings.HasPrefix(bare, "if __name__ ==") || strings.HasPrefix(bare, "if TYPE_CHECKING") {
			return "", true
		}
	case "javascript":
		if strings.HasPrefix(bare, "if (require.main ===") || strings.HasPrefix(bare, "if (import.meta.main") || strings.HasPrefix(bare, "if (import.meta.url ===") {
			return "", true
		}
	case "ruby":
		if strings.HasPrefix(bare, "if __FILE__ ==") || strings.HasPrefix(bare, "if $0 ==") || strings.HasPrefix(bare, "if $PROGRAM_NAME ==") {
			return "", true
		}
	case "perl":
		if strings.Contains(bare, "unless caller") {
			return "", true
		}
	}
	rest := bare
	exported := false
	for {
		word, after, ok := strings.Cut(rest, " ")
		if !ok || !strings.Contains(" export default async public private protected static final abstract pub pub(crate) unsafe extern inline override ", " "+word+" ") {
			break
		}
		exported = exported || word == "default"
		rest = strings.TrimLeft(after, " ")
	}
	word, after, _ := strings.Cut(rest, " ")
	switch word {
	case "def", "function", "function*", "func", "fn", "sub", "class", "trait", "impl", "local":
		if word == "local" && !strings.HasPrefix(after, "function ") || lang == "ruby" && word == "class" && strings.HasPrefix(after, "<<") {
			return "", false
		}
		if exported {
			return "default", false
		}
		after = strings.TrimPrefix(after, "function ")
		if strings.HasPrefix(after, "(") { // a Go receiver
			_, after, _ = strings.Cut(after, ") ")
		}
		after = strings.TrimPrefix(after, "self.")
		return leadingName(after), false
	}
	if lang != "javascript" {
		return "", false
	}
	return jsName(word, rest, after), false
}

// jsName is the name of a function that a line of JavaScript defines without
// the word.
func jsName(word, rest, after string) string {
	if word == "const" || word == "let" || word == "var" {
		rest = after
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "module."), "exports.")
	name := leadingName(rest)
	if name == "exports" {
		return jsDefault(rest)
	}
	if name == "" || strings.Contains(" if for while switch catch with return await new else do try super require import ", " "+name+" ") {
		return ""
	}
	tail := strings.TrimLeft(rest[len(name):], " ")
	switch {
	case strings.HasPrefix(tail, "=") || strings.HasPrefix(tail, ":"):
		value := strings.TrimLeft(tail[1:], " ")
		if strings.HasPrefix(value, "async") || strings.HasPrefix(value, "function") || strings.HasPrefix(value, "class ") || strings.Contains(value, "=>") && (value[0] == '(' || strings.HasPrefix(value[len(leadingName(value)):], " =>")) {
			return name
		}
	case strings.HasPrefix(tail, "(") && strings.HasSuffix(rest, "{") && !strings.Contains(rest, "=>") && !strings.Contains(rest, "function"):
		return name // a method
	}
	return ""
}

// jsDefault: module.exports = a function.
func jsDefault(rest string) string {
	if strings.Contains(rest, "=>") || strings.Contains(rest, "function") {
		return "default"
	}
	return ""
}

func leadingName(s string) string {
	i := 0
	for i < len(s) && (isIdent(s[i]) || s[i] == '?' || s[i] == '!') {
		i++
	}
	return strings.TrimRight(s[:i], "?!")
}
