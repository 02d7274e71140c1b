package policy

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// loader is a tool that runs files of the project before it does what it is
// there for. Of such a file only its own lines run, and the functions that the
// tool calls by their names; what leaves from there leaves whenever the tool is
// started, by whoever.
type loader struct {
	programs string // each with a blank on both sides
	lang     string
	files    []string // below the current folder, or one above it
	modules  []string // the same, each with any ending of JavaScript's
	names    []string // of functions that the tool calls
}

var loaders = []loader{
	{programs: " pytest py.test ", lang: "python", files: []string{"conftest.py", "tests/conftest.py", "test/conftest.py"}, names: []string{
		"pytest_configure", "pytest_sessionstart", "pytest_sessionfinish", "pytest_unconfigure", "pytest_collection_modifyitems", "pytest_addoption",
		"pytest_runtest_setup", "pytest_runtest_teardown", "pytest_generate_tests", "pytest_load_initial_conftests", "pytest_cmdline_main",
	}},
	{programs: " pip pip3 build ", lang: "python", files: []string{"setup.py"}, names: []string{"run"}},
	{programs: " cargo ", lang: "rust", files: []string{"build.rs"}, names: []string{"main"}},
	{programs: " jest ", lang: "javascript", modules: []string{"jest.config", "babel.config"}},
	{programs: " vitest vite ", lang: "javascript", modules: []string{"vitest.config", "vite.config"}},
	{programs: " eslint ", lang: "javascript", modules: []string{"eslint.config", ".eslintrc"}},
	{programs: " prettier ", lang: "javascript", modules: []string{"prettier.config", ".prettierrc"}},
	{programs: " webpack webpack-cli ", lang: "javascript", modules: []string{"webpack.config"}},
	{programs: " rollup ", lang: "javascript", modules: []string{"rollup.config"}},
	{programs: " next ", lang: "javascript", modules: []string{"next.config"}},
	{programs: " playwright ", lang: "javascript", modules: []string{"playwright.config"}},
	{programs: " mocha ", lang: "javascript", modules: []string{".mocharc"}},
	{programs: " ava ", lang: "javascript", modules: []string{"ava.config"}},
	{programs: " karma ", lang: "javascript", modules: []string{"karma.conf"}},
	{programs: " cypress ", lang: "javascript", modules: []string{"cypress.config"}},
	{programs: " tsup ", lang: "javascript", modules: []string{"tsup.config"}},
	{programs: " stylelint ", lang: "javascript", modules: []string{"stylelint.config", ".stylelintrc"}},
	{programs: " lint-staged ", lang: "javascript", modules: []string{"lint-staged.config", ".lintstagedrc"}},
	{programs: " commitlint ", lang: "javascript", modules: []string{"commitlint.config"}},
	{programs: " pnpm ", lang: "javascript", files: []string{".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js"}, names: []string{"readPackage", "afterAllResolved", "updateConfig", "preResolution"}},
	{programs: " direnv ", lang: "shell", files: []string{".envrc"}},
}

// all are the files that are looked for. They are put together when a tool is
// met: a process that looks at one call meets few.
func (l *loader) all() []string {
	out := slices.Clone(l.files)
	for _, n := range l.modules {
		for _, ext := range []string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"} {
			out = append(out, n+ext)
		}
	}
	return out
}

// loads classifies what a tool loads or runs of the project by itself. Only what
// leaves the machine counts.
func (r *reading) loads(prog string, c *shell.Command) []Hit {
	if r.tree == nil || c.Remote != "" {
		return nil
	}
	hits := append(r.shims(c), r.tests(prog, c)...)
	hits = append(append(hits, r.jvmBuild(prog, c)...), r.pytestPlugins(prog, c)...)
	if strings.HasPrefix(prog, "python") && len(c.Argv) > 2 && c.Argv[1].Text == "-m" {
		prog = c.Argv[2].Text
	}
	for i := range loaders {
		l := &loaders[i]
		if !strings.Contains(l.programs, " "+prog+" ") || !l.speaks(c) {
			continue
		}
		files := l.all()
		for _, name := range namesAbove(files)[:2*len(files)] { // here, and in the folder above
			hits = append(hits, r.loaded(l, c, name)...)
		}
	}
	hits = append(hits, r.namedBySettings(prog, c)...)
	switch prog {
	case "npm", "npx", "pnpm", "pnpx":
		hits = append(hits, r.npmrc(c)...)
	case "yarn":
		hits = append(hits, r.yarnPath(c)...)
	case "cargo":
		hits = append(append(hits, r.cargoConfig(c)...), r.cargoScripts(c, "", 3)...)
	case "lint-staged":
		hits = append(hits, r.lintStaged(c)...)
	case "go":
		hits = append(hits, r.goFlags(c)...)
	case "make", "gmake":
		hits = append(hits, r.makeVariables(c)...)
	}
	return append(hits, r.customized(prog, c)...)
}

// customized: what Python loads first wherever a variable lets it look.
func (r *reading) customized(prog string, c *shell.Command) []Hit {
	if !strings.HasPrefix(prog, "py") && prog != "pip" {
		return nil
	}
	var hits []Hit
	l := &loader{lang: "python"}
	for _, e := range c.Env {
		if e.Name != "PYTHONPATH" {
			continue
		}
		for dir := range strings.SplitSeq(e.Value.Text, ":") {
			hits = append(hits, r.loaded(l, c, path.Join(dir, "sitecustomize.py"))...)
			hits = append(hits, r.loaded(l, c, path.Join(dir, "usercustomize.py"))...)
		}
	}
	return hits
}

// pytestPlugins: the modules that pytest is told to load first.
func (r *reading) pytestPlugins(prog string, c *shell.Command) []Hit {
	if prog != "pytest" && prog != "py.test" {
		return nil
	}
	names := optionValues(c.Argv[1:])["-p"]
	for _, e := range c.Env {
		if e.Name == "PYTEST_PLUGINS" {
			names = append(names, strings.Split(e.Value.Text, ",")...)
		}
	}
	var hits []Hit
	l := &loader{programs: " pytest -p ", lang: "python", names: loaders[0].names}
	for _, n := range names {
		hits = append(hits, r.loaded(l, c, strings.ReplaceAll(n, ".", "/")+".py")...)
	}
	return hits
}

// makeVariables: the makefiles that variables give make.
func (r *reading) makeVariables(c *shell.Command) []Hit {
	var hits []Hit
	for _, e := range c.Env {
		if e.Name != "MAKEFILES" && e.Name != "MAKEFLAGS" {
			continue
		}
		for f := range strings.FieldsSeq(e.Value.Text) {
			if e.Name == "MAKEFLAGS" && !strings.HasPrefix(f, "-f") && !strings.HasPrefix(f, "--file=") && !strings.HasPrefix(f, "--eval") {
				continue
			}
			if e.Name == "MAKEFILES" {
				f = "-f " + f
			}
			hits = append(hits, reachOutside(r.line("make "+f+" "+lineOf(c.Argv[1:])))...)
		}
	}
	return hits
}

// speaks: the tool loads its files for this command.
func (l *loader) speaks(c *shell.Command) bool {
	words := wordTexts(c.Argv[1:])
	switch {
	case strings.Contains(l.programs, " pip "):
		return slices.ContainsFunc(words, func(w string) bool { return w == "." || strings.HasPrefix(w, "./") || strings.HasPrefix(w, ".[") })
	case strings.Contains(l.programs, " cargo "):
		return cargoBuilds(words)
	case strings.Contains(l.programs, " direnv "):
		return len(words) > 0 && slices.Contains([]string{"exec", "allow", "permit", "grant", "reload", "export"}, words[0])
	}
	return !slices.ContainsFunc(words, func(w string) bool { return w == "--version" || w == "--help" })
}

func (r *reading) loaded(l *loader, c *shell.Command, name string) []Hit {
	text, file, ok := r.file(c, name)
	if !ok {
		return nil
	}
	return r.outsideOnce(file+"\x00"+l.programs, func() []Hit {
		if l.lang == "shell" {
			hits, _ := r.following(file, func() []Hit { return r.placed(r.line(text), file, text, 0) })
			return hits
		}
		names := map[string]bool{}
		for _, n := range l.names {
			names[n] = true
		}
		hits := r.programPart(l.lang, text, file, names)
		if len(l.modules) > 0 {
			hits = append(hits, r.loadNamed(path.Dir(file), lex(l.lang, text).namedInCode())...)
		}
		return hits
	})
}

// runsSetting classifies a command, or the name of a script, that a setting of
// the project holds.
func (r *reading) runsSetting(file, key, command string, line int) []Hit {
	if command == "" {
		return nil
	}
	return r.outsideOnce(file+"\x00"+key, func() []Hit {
		hits, _ := r.following(file+"\x00"+key, func() []Hit { return r.recipe(command, file, line) })
		return hits
	})
}

// setLines are the settings of a file of lines NAME = VALUE, sections in front:
// .npmrc, TOML, YAML as far as one line holds it.
func setLines(text, separator string, each func(key, value string, line int)) {
	section, n := "", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = strings.Trim(line, "[]") + "."
			continue
		}
		key, value, ok := strings.Cut(line, separator)
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.NewReplacer(`"`, "", "'", "", ",", " ", "[", "", "]", "").Replace(value)
		each(section+strings.Trim(strings.TrimSpace(key), `"'`), strings.TrimSpace(value), n)
	}
}

// npmrc: the shell of npm's scripts, and what node loads first.
func (r *reading) npmrc(c *shell.Command) []Hit {
	var hits []Hit
	for _, name := range []string{".npmrc", "~/.npmrc"} {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		setLines(text, "=", func(key, value string, line int) {
			switch key {
			case "script-shell", "scriptShell", "git", "editor", "shell", "init-module", "viewer":
				hits = append(hits, r.runsSetting(file, key, value, line)...)
			case "node-options":
				hits = append(hits, reachOutside(r.preloads("javascript", strings.Fields(value), c))...)
			}
		})
	}
	return hits
}

// yarnPath: the program that yarn runs in its own place, and its plugins.
func (r *reading) yarnPath(c *shell.Command) []Hit {
	var hits []Hit
	for _, name := range []string{".yarnrc.yml", ".yarnrc"} {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		if name == ".yarnrc" {
			text = strings.ReplaceAll(text, "yarn-path ", "yarnPath: ")
		}
		setLines(text, ":", func(key, value string, line int) {
			if key = strings.TrimLeft(key, "- "); (key == "yarnPath" || key == "path") && !strings.HasPrefix(path.Clean(value), ".yarn/releases/") {
				hits = append(hits, r.runsSetting(file, key+value, "node "+value, line)...)
			}
		})
	}
	return hits
}

// lintStaged: the commands that package.json gives it.
func (r *reading) lintStaged(c *shell.Command) []Hit {
	var hits []Hit
	for _, name := range []string{"package.json", ".lintstagedrc.json", ".lintstagedrc"} {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		tasks := []byte(text)
		if name == "package.json" {
			var p struct {
				Tasks json.RawMessage `json:"lint-staged"`
			}
			if json.Unmarshal(tasks, &p) != nil {
				continue
			}
			tasks = p.Tasks
		}
		var any map[string]any
		if json.Unmarshal(tasks, &any) != nil {
			continue
		}
		eachString(any, func(command string) {
			hits = append(hits, r.runsSetting(file, command, command, 0)...)
		})
	}
	return hits
}

// goFlags: the programs by which go runs its tools and tests, where a variable
// gives them.
func (r *reading) goFlags(c *shell.Command) []Hit {
	var hits []Hit
	for _, e := range c.Env {
		if e.Name != "GOFLAGS" {
			continue
		}
		for f := range strings.FieldsSeq(e.Value.Text) {
			name, value, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
			if name == "toolexec" || name == "exec" || name == "vettool" {
				hits = append(hits, reachOutside(r.line(value))...)
			}
		}
	}
	return hits
}

// shims classifies the script of a program that the PATH of the command finds
// in the project before the system's, and the one by which the project's
// packages start it.
func (r *reading) shims(c *shell.Command) []Hit {
	name := c.Argv[0].Text
	if name == "" || strings.ContainsAny(name, "/$`*") {
		return nil
	}
	var dirs []string
	for _, e := range c.Env {
		if e.Name != "PATH" {
			continue
		}
		for dir := range strings.SplitSeq(e.Value.Text, ":") {
			if dir = strings.TrimPrefix(dir, "$PWD/"); dir != "" && !strings.ContainsAny(dir, "`") && len(dirs) < maxFollow {
				dirs = append(dirs, dir)
			}
		}
	}
	dirs = append(dirs, "node_modules/.bin")
	for _, dir := range dirs {
		text, file, ok := r.file(c, dir+"/"+name)
		if !ok {
			continue
		}
		lang := languageOfFile("", text)
		if strings.HasSuffix(dir, "node_modules/.bin") && lang != "shell" {
			return nil // the package's own program
		}
		return r.outsideOnce(file, func() []Hit {
			if lang != "" && lang != "shell" {
				return r.programFile(lang, text, file)
			}
			hits, _ := r.following(file, func() []Hit { return r.placed(r.line(text), file, text, 0) })
			return hits
		})
	}
	return nil
}
