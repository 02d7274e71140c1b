package policy

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// Builds remembers what the programs that the calls of one run have built
// would do: of a compiled program nothing can be read any more, of what it was
// made of it could. Building one is no reason to hold a call, running it may
// be.
type Builds struct {
	mu sync.Mutex
	of map[string][]Hit  // by path; none are kept of what stays on the machine
	as map[string]string // by path: the program of the system that it is a copy of
}

// maxBuilds is how many programs are remembered.
const maxBuilds = 1000

func (b *Builds) set(file string, hits []Hit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case file == "":
	case len(hits) == 0:
		delete(b.of, file) // it is made of something else now
	case len(b.of) < maxBuilds:
		if b.of == nil {
			b.of = map[string][]Hit{}
		}
		b.of[file] = hits
	}
}

func (b *Builds) get(file string) []Hit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.of[file])
}

// name notes that a file is a copy of a program, or a link to it.
func (b *Builds) name(file, prog string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if file == "" || len(b.as) >= maxBuilds {
		return
	}
	if b.as == nil {
		b.as = map[string]string{}
	}
	b.as[file] = prog
}

func (b *Builds) program(file string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.as[file]
}

// builds notes what a compiler makes of the sources that it is given, and
// classifies what was made so and runs now.
func (r *reading) builds(prog string, c *shell.Command) []Hit {
	if r.tree == nil || r.made == nil || c.Remote != "" {
		return nil
	}
	switch compilerOf(prog) {
	case "c":
		return r.buildC(prog, c)
	case "rustc":
		r.buildPlain(c, "rust", ".rs", "")
	case "swiftc":
		r.buildPlain(c, "swift", ".swift", "")
	case "ghc":
		r.buildPlain(c, "generic", ".hs", "")
	case "kotlinc":
		r.buildPlain(c, "java", ".kt", ".jar")
	case "javac":
		r.buildPlain(c, "java", ".java", ".class")
	case "go":
		r.buildGo(c)
	case "cargo":
		r.buildCargo(c)
	case "copy":
		r.noteCopies(c)
		if words := operandsOf(c.Argv[1:], " -t -m -o -g "); len(words) == 2 {
			if hits := r.made.get(r.tree.path(words[0].Text)); len(hits) > 0 {
				r.made.set(r.tree.path(words[1].Text), hits)
				r.made.set(r.tree.path(path.Join(words[1].Text, baseOf(words[0].Text))), hits)
			}
		}
	case "java":
		if jar := afterWord(c.Argv, "-jar"); len(jar) > 0 {
			return r.made.get(r.tree.path(jar[0].Text))
		}
		for _, w := range operandsOf(c.Argv[1:], " -cp -classpath --class-path ") {
			dir := ""
			for _, o := range []string{"-cp", "-classpath", "--class-path"} {
				for _, v := range optionValues(c.Argv[1:])[o] {
					dir, _, _ = strings.Cut(v, ":")
				}
			}
			return r.made.get(r.tree.path(path.Join(dir, strings.ReplaceAll(w.Text, ".", "/")+".class")))
		}
	}
	return r.runsMade(c)
}

// compilerOf is the kind of a program that makes others, "" when it is none.
func compilerOf(prog string) string {
	name := prog
	if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789.") == "" {
		name = name[:i]
	}
	switch name[strings.LastIndexByte(name, '-')+1:] {
	case "gcc", "cc", "clang", "tcc", "c99", "c89", "c11", "g++", "c++", "clang++", "icc", "icx":
		return "c"
	case "mv", "cp", "install", "ln":
		return "copy"
	}
	switch name {
	case "rustc", "swiftc", "ghc", "kotlinc", "javac", "java", "go", "cargo":
		return name
	}
	return ""
}

// runsMade: the program of the command, or a library that is put in front of
// others, was made in this run.
func (r *reading) runsMade(c *shell.Command) []Hit {
	name := c.Argv[0].Text
	if !strings.Contains(name, "/") {
		name = "~/go/bin/" + name
	}
	hits := r.made.get(r.tree.path(name))
	for _, e := range c.Env {
		if e.Name == "LD_PRELOAD" || e.Name == "DYLD_INSERT_LIBRARIES" {
			for lib := range strings.FieldsFuncSeq(e.Value.Text, func(c rune) bool { return c == ':' || c == ' ' }) {
				hits = append(hits, r.made.get(r.tree.path(lib))...)
			}
		}
	}
	return hits
}

// buildC: the sources are looked at as the lexer of Java sees them, whose
// strings and comments are C's.
func (r *reading) buildC(prog string, c *shell.Command) []Hit {
	opts := optionValues(c.Argv[1:])
	words := operandsOf(c.Argv[1:], " -o -I -L -x -D -U -include -isystem -MF -MT -MQ -T -Xlinker -arch -target ")
	var all []Hit
	object := slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return w.Text == "-c" })
	for _, w := range words {
		var hits []Hit
		switch strings.ToLower(path.Ext(w.Text)) {
		case ".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".h", ".hpp":
			hits = r.sourceC(c, w.Text, 4)
		case "":
			if w.Text == "-" && c.Stdin.Known {
				hits = reachOutside(r.program("java", c.Stdin.Text))
			}
		default:
			hits = r.made.get(r.tree.path(w.Text))
		}
		if object && len(opts["-o"]) == 0 {
			r.made.set(r.tree.path(strings.TrimSuffix(baseOf(w.Text), path.Ext(w.Text))+".o"), hits)
		}
		all = append(all, hits...)
	}
	if strings.HasSuffix(prog, "tcc") && slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return w.Text == "-run" }) {
		return all
	}
	out := "a.out"
	for _, o := range opts["-o"] {
		out = o
	}
	for _, w := range c.Argv[1:] {
		if rest, ok := strings.CutPrefix(w.Text, "-o"); ok && rest != "" {
			out = rest
		}
	}
	r.made.set(r.tree.path(out), all)
	return nil
}

// sourceC is what a source does, with the files of the project that it
// includes.
func (r *reading) sourceC(c *shell.Command, name string, deep int) []Hit {
	text, file, ok := r.file(c, name)
	if !ok || deep == 0 {
		return nil
	}
	hits := reachOutside(r.programFile("java", text, file))
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#include \"")
		if included, _, closed := strings.Cut(rest, `"`); ok && closed {
			hits = append(hits, r.sourceC(c, path.Join(path.Dir(name), included), deep-1)...)
		}
	}
	return hits
}

// buildPlain: one source, one program beside it.
func (r *reading) buildPlain(c *shell.Command, lang, ext, outExt string) {
	opts := optionValues(c.Argv[1:])
	for _, w := range operandsOf(c.Argv[1:], " -o -d -cp -classpath --class-path --out-dir -L --edition --crate-type --crate-name ") {
		if path.Ext(w.Text) != ext {
			continue
		}
		text, file, ok := r.file(c, w.Text)
		if !ok {
			continue
		}
		out := strings.TrimSuffix(w.Text, ext) + outExt
		if outExt == "" {
			out = baseOf(out)
		}
		for _, o := range opts["-o"] {
			out = o
		}
		for _, d := range opts["-d"] {
			if out = path.Join(d, baseOf(out)); path.Ext(d) != "" {
				out = d // kotlinc -d x.jar
			}
		}
		r.made.set(r.tree.path(out), reachOutside(r.programFile(lang, text, file)))
	}
}

// buildGo is the program of go build and go install.
func (r *reading) buildGo(c *shell.Command) {
	a := parseArgs(r.tool("go"), c, c.Argv[1:])
	for _, d := range a.all("-C") {
		defer r.in(d.Text)()
	}
	if len(a.words) == 0 || a.words[0].Text != "build" && a.words[0].Text != "install" {
		return
	}
	words := a.words[1:]
	if len(words) == 0 {
		words = asWords([]string{"."})
	}
	for _, w := range words[:min(len(words), maxFollow)] {
		if strings.Contains(w.Text, "...") {
			continue
		}
		files, named := r.goProgram([]shell.Word{w})
		var hits []Hit
		for _, name := range files {
			if text, file, ok := r.file(c, name); ok && (named || !ignoredByGo(text)) {
				hits = append(hits, reachOutside(r.programFile("go", text, file))...)
			}
		}
		out := strings.TrimSuffix(baseOf(strings.TrimSuffix(w.Text, "/")), ".go")
		if out == "." || out == "" || out == ".." {
			out = baseOf(r.tree.path(w.Text))
		}
		if a.words[0].Text == "install" {
			out = "~/go/bin/" + out
		}
		for _, o := range a.all("-o") {
			r.made.set(r.tree.path(path.Join(o.Text, out)), hits)
			out = o.Text
		}
		r.made.set(r.tree.path(out), hits)
	}
}

// buildCargo is the program of cargo build, where it is named as its package.
func (r *reading) buildCargo(c *shell.Command) {
	words := operandsOf(c.Argv[1:], " -p --package --bin --example --manifest-path --features -F --target --target-dir --profile -j --jobs --color -Z --config -C ")
	if len(words) == 0 || words[0].Text != "build" && words[0].Text != "b" {
		return
	}
	text, _, ok := r.file(c, "Cargo.toml")
	if !ok {
		return
	}
	opts := optionValues(c.Argv[1:])
	name := ""
	setLines(text, "=", func(key, value string, _ int) {
		if key == "package.name" {
			name = value
		}
	})
	for _, b := range opts["--bin"] {
		name = b
	}
	hits := reachOutside(r.cargoRun(c, opts))
	for _, kind := range []string{"debug", "release"} {
		r.made.set(r.tree.path(path.Join("target", kind, name)), hits)
	}
}
