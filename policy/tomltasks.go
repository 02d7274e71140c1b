package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// taskKeys are what a task's table may hold: commands, commands or names of
// tasks, names of tasks, functions of Python.
var taskKeys = struct{ commands, either, tasks, calls []string }{
	commands: []string{"cmd", "shell", "run", "command", "script", "exec", "expr"},
	either:   []string{"sequence", "composite", "chain", "parallel"},
	tasks:    []string{"deps", "depends", "depends_on", "depends-on", "depends_post", "dependencies", "needs", "run_task"},
	calls:    []string{"call"},
}

// tomlTables reads a TOML file. One that is none gives nothing.
func tomlTables(text string) map[string]any {
	var doc map[string]any
	if toml.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	return doc
}

// tableTasks makes tasks of a table's entries. argv: a list is one command.
func (t *taskfile) tableTasks(table map[string]any, text string, argv bool) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if t.tasks[name] == nil {
			t.add(name).entry(table[name], t.file, text, argv)
		}
	}
}

// entry reads one task: a line, a list, or a table.
func (k *task) entry(v any, file, text string, argv bool) {
	switch v := v.(type) {
	case string:
		k.command(v, file, text)
	case []any:
		if argv {
			k.command(commandLineOf(v), file, text)
			return
		}
		for _, x := range v {
			k.item(x, file, text)
		}
	case map[string]any:
		k.table(v, file, text)
	}
}

// item is one of a list: a command, which may name another task, or a table.
func (k *task) item(v any, file, text string) {
	if l, ok := v.([]any); ok {
		for _, x := range l {
			k.item(x, file, text)
		}
		return
	}
	k.entry(v, file, text, true)
	if _, ok := v.(string); ok && len(k.lines) > 0 {
		k.lines[len(k.lines)-1].names = true
	}
}

func (k *task) table(m map[string]any, file, text string) {
	for _, key := range taskKeys.tasks {
		for _, n := range listOf(m[key]) {
			switch n := n.(type) {
			case string:
				k.needs = append(k.needs, n)
			case map[string]any:
				k.needs = append(k.needs, textOf(n["name"])+textOf(n["task"]))
			}
		}
	}
	for _, key := range taskKeys.commands {
		v, ok := m[key]
		if !ok {
			continue
		}
		if l, list := v.([]any); list && key != "cmd" && key != "command" {
			if key == "script" || textOf(m["script_runner"]) != "" { // the lines of one script
				lines := make([]string, 0, len(l))
				for _, x := range l {
					lines = append(lines, textOf(x))
				}
				k.command(strings.Join(lines, "\n"), file, text)
				continue
			}
			for _, x := range l {
				k.entry(x, file, text, true)
			}
			continue
		}
		line := commandLineOf(v)
		if args := listOf(m["args"]); len(args) > 0 && key == "command" {
			line += " " + commandLineOf(args)
		}
		if key == "script" && pythonEntry(line) != "" {
			line = pythonEntry(line)
		}
		k.command(line, file, text)
	}
	for _, key := range taskKeys.either {
		for _, x := range listOf(m[key]) {
			k.item(x, file, text)
		}
	}
	for _, key := range taskKeys.calls {
		if line := pythonEntry(textOf(m[key])); line != "" {
			k.command(line, file, text)
		}
	}
	for _, n := range listOf(mapOf(m["run_task"])["name"]) {
		k.needs = append(k.needs, textOf(n))
	}
}

// command adds a command, with the line of the file on which it begins.
func (k *task) command(cmd, file, text string) {
	cmd = strings.TrimSpace(cmd)
	if cmd == "" {
		return
	}
	first, _, _ := strings.Cut(cmd, "\n")
	k.lines = append(k.lines, recipeLine{text: cmd, file: file, line: lineIn(text, strings.NewReplacer("'", "").Replace(first))})
}

// pythonEntry is the command that runs module:function; "" when it is none.
func pythonEntry(s string) string {
	mod, fn, ok := strings.Cut(strings.TrimSpace(s), ":")
	fn, _, _ = strings.Cut(fn, "(")
	first, _, _ := strings.Cut(fn, ".")
	if !ok || !plainModule(mod) || !plainWord(first) {
		return ""
	}
	return "python3 -c 'from " + mod + " import " + first + "; " + fn + "()'"
}

// pythonTasks reads the tasks of a pyproject.toml, or of a file that holds
// only one tool's, for one of the tools.
func pythonTasks(tool string) func(text, file string) *taskfile {
	return func(text, file string) *taskfile {
		t := newTaskfile(file)
		doc := tomlTables(text)
		tools := mapOf(doc, "tool")
		switch tool {
		case "poe":
			t.tableTasks(mapOf(tools, "poe", "tasks"), text, false)
			t.tableTasks(mapOf(doc, "tasks"), text, false)
		case "taskipy":
			t.tableTasks(mapOf(tools, "taskipy", "tasks"), text, true)
		case "pdm":
			t.tableTasks(mapOf(tools, "pdm", "scripts"), text, true)
		case "rye":
			t.tableTasks(mapOf(tools, "rye", "scripts"), text, true)
		case "pipenv":
			t.tableTasks(mapOf(doc, "scripts"), text, true)
		case "pixi":
			t.tableTasks(mapOf(tools, "pixi", "tasks"), text, false)
			t.tableTasks(mapOf(doc, "tasks"), text, false)
		case "hatch":
			for _, envs := range []map[string]any{mapOf(tools, "hatch", "envs"), mapOf(doc, "envs")} {
				for env := range envs {
					for name, v := range mapOf(envs[env], "scripts") {
						k := t.add(env + ":" + name)
						k.entryOf(v, file, text)
						if env == "default" {
							t.tasks[name] = k
						}
					}
				}
			}
		}
		entries := map[string]any{}
		maps.Copy(entries, mapOf(doc, "project", "scripts"))
		maps.Copy(entries, mapOf(tools, "poetry", "scripts"))
		for name, v := range entries {
			if line := pythonEntry(textOf(v)); line != "" && t.tasks[name] == nil {
				t.add(name).command(line, file, text)
			}
		}
		return t
	}
}

// entryOf reads a script of hatch: its lines may name other scripts.
func (k *task) entryOf(v any, file, text string) {
	for _, x := range listOf(v) {
		k.item(x, file, text)
	}
}

func newTaskfile(file string) *taskfile {
	return &taskfile{lang: "shell", vars: map[string]string{}, tasks: map[string]*task{}, file: file, appends: true}
}

// miseTasks reads the tasks of a mise.toml.
func miseTasks(text, file string) *taskfile {
	t := newTaskfile(file)
	t.tableTasks(mapOf(tomlTables(text), "tasks"), text, false)
	return t
}

// cargoMakeTasks reads the tasks of a Makefile.toml.
func cargoMakeTasks(text, file string) *taskfile {
	t := newTaskfile(file)
	t.tableTasks(mapOf(tomlTables(text), "tasks"), text, false)
	return t
}

// cargoAliases reads the aliases of a .cargo/config.toml.
func cargoAliases(text, file string) *taskfile {
	t := newTaskfile(file)
	for name, v := range mapOf(tomlTables(text), "alias") {
		t.add(name).command("cargo "+commandWords(v), file, text)
	}
	return t
}

// commandWords writes a list of words without quotes that need none.
func commandWords(v any) string {
	l, ok := v.([]any)
	if !ok {
		return textOf(v)
	}
	words := make([]string, 0, len(l))
	for _, w := range l {
		words = append(words, textOf(w))
	}
	return strings.Join(words, " ")
}
