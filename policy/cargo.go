package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// cargoRunners are the wordings of cargo that run a program of the project.
const cargoRunners = " run r "

// cargo classifies an alias of the project's cargo, the program that cargo run
// builds, and the tasks of cargo-make.
func (r *reading) cargo(prog string, c *shell.Command) (hits []Hit, seen bool) {
	if r.tree == nil {
		return nil, false
	}
	argv := c.Argv[1:]
	for len(argv) > 0 && strings.HasPrefix(argv[0].Text, "+") {
		argv = argv[1:]
	}
	words := operandsOf(argv, " -p --package --bin --example --manifest-path --features -F --target --target-dir --profile -j --jobs --color -Z --config -C ")
	if prog != "cargo" {
		return r.cargoMake(c, words)
	}
	if len(words) == 0 {
		return nil, false
	}
	sub := words[0].Text
	switch {
	case sub == "make":
		return r.cargoMake(c, words[1:])
	case strings.Contains(cargoRunners, " "+sub+" "):
		return r.cargoRun(c, optionValues(argv)), false
	}
	for _, name := range namesAbove([]string{".cargo/config.toml", ".cargo/config"}) {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		aliases := cargoAliases(text, file)
		if aliases.tasks[sub] == nil {
			continue
		}
		defer r.in(path.Dir(path.Dir(name)))()
		return r.runTask(aliases, sub, wordTexts(tailOf(argv, words[0])[1:]), map[string]bool{})
	}
	return nil, false
}

// cargoRun classifies the program of the project that cargo run starts.
func (r *reading) cargoRun(c *shell.Command, opts map[string][]string) []Hit {
	dirs := []string{""}
	for _, o := range []string{"-p", "--package"} {
		for _, p := range opts[o] {
			dirs = []string{p, "crates/" + p, "tools/" + p, "packages/" + p}
		}
	}
	for _, m := range opts["--manifest-path"] {
		dirs = []string{path.Dir(m)}
	}
	var tries []string
	for _, d := range dirs {
		switch {
		case len(opts["--bin"]) > 0:
			b := opts["--bin"][0]
			tries = append(tries, path.Join(d, "src/bin", b+".rs"), path.Join(d, "src/bin", b, "main.rs"), path.Join(d, "src/main.rs"), path.Join(b, "src/main.rs"), path.Join("crates", b, "src/main.rs"))
		case len(opts["--example"]) > 0:
			e := opts["--example"][0]
			tries = append(tries, path.Join(d, "examples", e+".rs"), path.Join(d, "examples", e, "main.rs"))
		default:
			tries = append(tries, path.Join(d, "src/main.rs"))
		}
	}
	for _, n := range tries {
		if text, file, ok := r.file(c, n); ok {
			return r.programFile("rust", text, file)
		}
	}
	return nil
}

// cargoMake classifies a task of a Makefile.toml.
func (r *reading) cargoMake(c *shell.Command, words []shell.Word) ([]Hit, bool) {
	for _, name := range namesAbove([]string{"Makefile.toml"}) {
		if text, file, ok := r.file(c, name); ok {
			defer r.in(path.Dir(name))()
			tasks := cargoMakeTasks(text, file)
			if len(words) == 0 {
				words = asWords([]string{"default"})
			}
			return r.runTasks(tasks, words)
		}
	}
	return nil, false
}
