package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// entryRunner is a program that runs functions of a file of the project by
// their names.
type entryRunner struct {
	programs string
	files    []string
	lang     string
	valued   string   // options that take a value
	names    []string // the options that name functions; nil = the operands do
	prefix   string   // of the function's name
	strings  bool     // the functions give commands as texts
	lists    string   // options with which nothing runs
}

var entryRunners = []entryRunner{
	{programs: " nox ", files: []string{"noxfile.py"}, lang: "python", valued: " -s --session --sessions -e -f --noxfile -k --keywords -t --tags -p --python --pythons ",
		names: []string{"-s", "--session", "--sessions", "-e"}, lists: " -l --list --list-sessions --help --version "},
	{programs: " invoke inv ", files: []string{"tasks.py", "tasks/__init__.py"}, lang: "python", valued: " -c --collection -r --search-root -f --config -F --list-format ", lists: " -l --list --help -h --version -V --dry -R "},
	{programs: " fab ", files: []string{"fabfile.py", "fabfile/__init__.py"}, lang: "python", valued: " -H --hosts -i -c --collection -f --config -r --search-root -S ", lists: " -l --list --help -h --version "},
	{programs: " doit ", files: []string{"dodo.py"}, lang: "python", valued: " -f --file -d --dir -n --process --db-file ", prefix: "task_", strings: true, lists: " list help info clean forget --help --version "},
	{programs: " mage ", files: []string{"magefile.go", "magefiles/*.go"}, lang: "go", valued: " -d -w -t -goos -goarch ", lists: " -l -h -version -clean -compile "},
	{programs: " gulp ", files: []string{"gulpfile.js", "gulpfile.mjs", "gulpfile.ts", "gulpfile.cjs", "gulpfile.js/index.js"}, lang: "javascript", valued: " -f --gulpfile --cwd --require ", lists: " --tasks -T --tasks-simple --tasks-json --help --version "},
	{programs: " grunt ", files: []string{"Gruntfile.js", "gruntfile.js", "Gruntfile.cjs"}, lang: "javascript", valued: " -b --base --gruntfile --tasks ", lists: " --help --version -h "},
	{programs: " jake ", files: []string{"Jakefile", "Jakefile.js", "jakefile.js"}, lang: "javascript", valued: " -f --jakefile -C --directory ", lists: " -T -ls --tasks --help --version -h "},
}

// entries classifies what a runner of functions would run. ok is false when
// the command is none, or its file cannot be read.
func (r *reading) entries(prog string, c *shell.Command) (hits []Hit, ok bool) {
	if r.tree == nil {
		return nil, false
	}
	for i := range entryRunners {
		e := &entryRunners[i]
		if !strings.Contains(e.programs, " "+prog+" ") {
			continue
		}
		for _, w := range c.Argv[1:] {
			if w.Text == "--" {
				break
			}
			if strings.Contains(e.lists, " "+w.Text+" ") {
				return nil, false
			}
		}
		opts := optionValues(c.Argv[1:])
		words := wordTexts(operandsOf(c.Argv[1:], e.valued))
		if e.names != nil {
			for _, o := range e.names {
				for _, v := range opts[o] {
					words = append(words, strings.FieldsFunc(v, func(c rune) bool { return c == ',' || c == ' ' })...)
				}
			}
		}
		files := e.files
		for _, o := range []string{"-f", "--noxfile", "--file", "--gulpfile", "--gruntfile"} {
			if len(opts[o]) > 0 && strings.Contains(e.valued, " "+o+" ") {
				files = opts[o]
			}
		}
		for _, o := range []string{"-c", "--collection"} {
			if len(opts[o]) > 0 && strings.Contains(e.valued, " "+o+" ") {
				files = []string{opts[o][0] + ".py", opts[o][0] + "/__init__.py"}
			}
		}
		return r.entriesOf(e, c, files, words)
	}
	return nil, false
}

func (r *reading) entriesOf(e *entryRunner, c *shell.Command, files, words []string) (hits []Hit, ok bool) {
	for _, pattern := range namesAbove(files) {
		for _, name := range r.tree.glob(pattern) {
			text, file, found := r.file(c, name)
			if !found {
				continue
			}
			ok = true
			func() {
				defer r.in(path.Dir(name))()
				hits = append(hits, r.entryFile(e, text, file, words)...)
			}()
		}
		if ok {
			return hits, true
		}
	}
	return nil, false
}

// entryFile classifies the functions of a file that are named.
func (r *reading) entryFile(e *entryRunner, text, file string, words []string) []Hit {
	names := entryNames(e, text, words)
	if names == nil {
		names = namesOf(e.lang, text) // all of it
		if e.prefix == "" {
			return r.entryLines(e, r.programFile(e.lang, text, file), text, file)
		}
		for _, d := range definitions(e.lang, strings.Split(lex(e.lang, text).code, "\n")) {
			names[d.names[0]] = true
		}
	}
	text = withoutTasks(text, words)
	hits := r.programPart(e.lang, text, file, names)
	return r.entryLines(e, hits, reachedText(e.lang, text, names), file)
}

// entryLines adds the commands that functions give as texts.
func (r *reading) entryLines(e *entryRunner, hits []Hit, text, file string) []Hit {
	if !e.strings {
		return hits
	}
	return append(hits, r.placed(r.anyString(lex(e.lang, text)), file, text, 0)...)
}

// entryNames are the functions that the words name, as they are written or by
// what their decorator calls them; nil when all may run.
func entryNames(e *entryRunner, text string, words []string) map[string]bool {
	names := map[string]bool{}
	for _, w := range words {
		w, _, _ = strings.Cut(w, "(")
		if e.lang == "python" {
			w, _, _ = strings.Cut(w, "=")
			w = w[strings.LastIndexByte(w, '.')+1:]
			if e.prefix == "" {
				names[strings.ReplaceAll(w, "-", "_")] = true
			}
			if i := strings.IndexByte(w, '-'); i > 0 { // nox: tests-3.12
				names[w[:i]] = true
			}
		}
		if e.lang == "go" {
			w = w[strings.LastIndexByte(w, ':')+1:]
			for _, d := range definitions("go", strings.Split(text, "\n")) {
				if strings.EqualFold(d.names[0], w) {
					names[d.names[0]] = true
				}
			}
		}
		names[e.prefix+w] = true
		names[w] = true
		for n := range decorated(text, w) {
			names[n] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// decorated are the Python functions that a decorator gives another name.
func decorated(text, name string) map[string]bool {
	out := map[string]bool{}
	wanted := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "@"):
			wanted = wanted || strings.Contains(line, `"`+name+`"`) || strings.Contains(line, "'"+name+"'")
		case strings.HasPrefix(line, "def "):
			if wanted {
				out[leadingName(line[4:])] = true
			}
			wanted = false
		}
	}
	return out
}

// withoutTasks leaves out of a text of JavaScript the tasks that are
// registered by other names than these.
func withoutTasks(text string, words []string) string {
	if len(words) == 0 || !strings.Contains(text, "ask(") {
		return text
	}
	lines := strings.Split(text, "\n")
	skip, at := false, 0
	for i, l := range lines {
		bare := strings.TrimSpace(l)
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		if skip && (bare == "" || indent > at || indent == at && strings.ContainsAny(bare[:1], "})]")) {
			lines[i] = ""
			continue
		}
		skip = false
		for _, w := range []string{"registerTask(", ".task(", "task("} {
			_, rest, ok := strings.Cut(bare, w)
			if !ok || rest == "" || !strings.ContainsAny(rest[:1], "'\"") {
				continue
			}
			name, _, _ := strings.Cut(rest[1:], rest[:1])
			if !containsString(words, name) {
				skip, at = true, indent
				lines[i] = ""
			}
			break
		}
	}
	return strings.Join(lines, "\n")
}
