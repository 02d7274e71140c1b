package policy

import (
	"maps"
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// maxIncludes is how many other files a task file may take in.
const maxIncludes = 16

// includes adds the tasks of the files that a task file takes in: import and
// mod of just, the includes of a Taskfile, the files that rake loads.
func (r *reading) includes(prog string, c *shell.Command, t *taskfile, text string) {
	if r.tree == nil {
		return
	}
	switch prog {
	case "just":
		r.justImports(c, t, text, map[string]bool{})
	case "rake":
		for _, pattern := range []string{"rakelib/*.rake", "lib/tasks/*.rake", "tasks/*.rake"} {
			for _, name := range r.tree.glob(pattern) {
				if text, file, ok := r.file(c, name); ok {
					t.take("", "", readRakefile(text, file))
				}
			}
		}
	default:
		for ns, v := range mapOf(mapOf(readYAML(text)), "includes") {
			name, dir := textOf(v)+textOf(mapOf(v)["taskfile"]), textOf(mapOf(v)["dir"])
			for _, n := range []string{name, name + "/Taskfile.yml", name + "/Taskfile.yaml"} {
				if text, file, ok := r.file(c, strings.TrimPrefix(n, "./")); ok {
					t.take(ns+":", dir, readTaskfile(text, file))
					break
				}
			}
		}
	}
}

// take adds the tasks of another file under a prefix.
func (t *taskfile) take(prefix, dir string, from *taskfile) {
	for k, v := range from.vars {
		if _, ok := t.vars[k]; !ok {
			t.vars[k] = v
		}
	}
	for name, k := range from.tasks {
		for i, n := range k.needs {
			if from.tasks[n] != nil {
				k.needs[i] = prefix + n
			}
		}
		if dir != "" {
			for i := range k.lines {
				k.lines[i].text = "cd " + quoteWords([]string{dir}) + " && " + k.lines[i].text
			}
		}
		if t.tasks[prefix+name] == nil {
			t.tasks[prefix+name] = k
		}
	}
}

// justImports reads the files behind import, and the modules behind mod.
func (r *reading) justImports(c *shell.Command, t *taskfile, text string, done map[string]bool) {
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		switch strings.TrimSuffix(word, "?") {
		case "import", "!include":
			name := strings.Trim(rest, `"'`)
			if text, file, ok := r.file(c, name); ok && !done[file] && len(done) < maxIncludes {
				done[file] = true
				t.take("", "", readJustfile(text, file))
				r.justImports(c, t, text, done)
			}
		case "mod":
			name, where, _ := strings.Cut(rest, " ")
			tries := []string{name + ".just", name + "/mod.just", name + "/justfile", name + "/.justfile"}
			if where = strings.Trim(strings.TrimSpace(where), `"'`); where != "" {
				tries = []string{where, where + "/mod.just", where + "/justfile"}
			}
			for _, f := range tries {
				if text, file, ok := r.file(c, f); ok && !done[file] && len(done) < maxIncludes {
					done[file] = true
					from := readJustfile(text, file)
					other := &taskfile{tasks: map[string]*task{}, vars: map[string]string{}}
					maps.Copy(other.tasks, from.tasks)
					t.take(name+"::", path.Dir(f), from)
					if first := other.tasks[from.first]; first != nil && t.tasks[name] == nil {
						t.tasks[name] = first
					}
					break
				}
			}
		}
	}
}
