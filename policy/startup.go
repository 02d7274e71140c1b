package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// startups are the variables by which a program is made to load a file before
// anything else.
var startups = []struct{ name, lang string }{
	{"BASH_ENV", "shell"},
	{"ENV", "shell"},
	{"PYTHONSTARTUP", "python"},
	{"NODE_OPTIONS", "javascript"},
	{"BUN_OPTIONS", "javascript"},
	{"RUBYOPT", "ruby"},
	{"PERL5OPT", "perl"},
	{"LD_PRELOAD", ""},
	{"LD_AUDIT", ""},
	{"DYLD_INSERT_LIBRARIES", ""},
}

// startup classifies the files that a variable of the command's environment,
// or an option of an interpreter, makes it load first.
func (r *reading) startup(prog string, c *shell.Command) []Hit {
	var hits []Hit
	for _, e := range c.Env {
		for _, s := range startups {
			if e.Name != s.name || e.Value.Text == "" {
				continue
			}
			if s.lang == "" {
				if lib := e.Value.Text; strings.Contains(lib, "/") && !systemLibrary(lib) {
					hits = append(hits, opaqueHit("opaque-preload", commandText(c), "It puts a library into the program that is not one of the system's."))
				}
				continue
			}
			if s.lang == "shell" && strings.HasPrefix(e.Value.Text, "<(") {
				hits = append(hits, r.line(". "+e.Value.Text)...)
				continue
			}
			hits = append(hits, r.preloads(s.lang, strings.Fields(e.Value.Text), c)...)
		}
	}
	if r.tree == nil {
		return hits
	}
	if lang := languageOf(prog); lang == "javascript" || lang == "ruby" || lang == "perl" {
		words := wordTexts(c.Argv[1:])
		for i, w := range words {
			if i > 0 && !strings.HasPrefix(w, "-") && !strings.HasPrefix(words[i-1], "-") || w == "--" {
				words = words[:i]
				break
			}
		}
		hits = append(hits, r.preloads(lang, words, c)...)
	}
	return hits
}

func systemLibrary(list string) bool {
	for lib := range strings.FieldsFuncSeq(list, func(c rune) bool { return c == ':' || c == ' ' }) {
		if !strings.HasPrefix(lib, "/usr/") && !strings.HasPrefix(lib, "/lib") && !strings.HasPrefix(lib, "/opt/") && strings.Contains(lib, "/") {
			return false
		}
	}
	return true
}

// preloads classifies what the options in words load: -r ./x, -MShip, or, for
// a shell and for Python, the file that the variable names.
func (r *reading) preloads(lang string, words []string, c *shell.Command) []Hit {
	if r.tree == nil && len(c.Files) == 0 {
		return nil
	}
	var hits []Hit
	dirs := []string{"", "lib"}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		var tries []string
		switch lang {
		case "shell", "python":
			tries = []string{w}
		case "javascript":
			name, value, glued := strings.Cut(w, "=")
			if !glued {
				value = next
			}
			switch name {
			case "-r", "--require", "--import", "--preload", "--loader", "--experimental-loader":
				if strings.HasPrefix(value, ".") || strings.HasPrefix(value, "/") || glued && name == "--preload" {
					tries = importForm{there: true, exts: scriptExts}.places(value, "", "")
				}
			}
		case "ruby":
			if v, ok := strings.CutPrefix(w, "-r"); ok {
				if v == "" {
					v = next
				}
				tries = []string{v, v + ".rb", "lib/" + v + ".rb"}
			}
		case "perl":
			if v, ok := strings.CutPrefix(w, "-I"); ok {
				if v == "" {
					v = next
				}
				dirs = append(dirs, v)
			}
			if v, ok := strings.CutPrefix(strings.ToUpper(w[:min(2, len(w))])+w[min(2, len(w)):], "-M"); ok {
				v, _, _ = strings.Cut(v, "=")
				for _, d := range dirs {
					tries = append(tries, path.Join(d, strings.ReplaceAll(v, "::", "/")+".pm"))
				}
			}
		}
		for _, n := range tries {
			text, file, ok := r.file(c, n)
			if !ok {
				continue
			}
			if lang == "shell" {
				hs, _ := r.following(file, func() []Hit { return r.placed(r.line(text), file, text, 0) })
				hits = append(hits, hs...)
			} else {
				hits = append(hits, r.programPart(lang, text, file, namesOf(lang, joinWords(c.Argv)))...)
			}
			break
		}
	}
	return hits
}

// pythonPath looks for modules where PYTHONPATH says.
func (r *reading) pythonPath(c *shell.Command) (done func()) {
	if r.tree == nil {
		return func() {}
	}
	before := r.tree.modules
	for _, e := range c.Env {
		if e.Name != "PYTHONPATH" {
			continue
		}
		for d := range strings.SplitSeq(e.Value.Text, ":") {
			if d != "" && len(r.tree.modules) < maxAncestors {
				r.tree.modules = append(r.tree.modules[:len(r.tree.modules):len(r.tree.modules)], joinDir(r.tree.dir, d))
			}
		}
	}
	return func() { r.tree.modules = before }
}

// namesOf are the names in a text of a language.
func namesOf(lang, text string) map[string]bool { return lex(lang, text).identifiers() }
