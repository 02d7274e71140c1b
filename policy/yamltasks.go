package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// toxEnvs reads the environments of a tox.ini or tox.toml.
func toxEnvs(text, file string) *taskfile {
	t := newTaskfile(file)
	t.appends = false
	if strings.HasSuffix(file, ".toml") {
		doc := tomlTables(text)
		if path.Base(file) == "pyproject.toml" {
			doc = mapOf(doc, "tool", "tox")
			if old := textOf(doc["legacy_tox_ini"]); old != "" {
				return toxINI(old, text, t)
			}
		}
		for name, v := range mapOf(doc, "env") {
			for _, cmd := range listOf(mapOf(v)["commands"]) {
				t.toxEnv(name).command(commandLineOf(cmd), file, text)
			}
		}
		list := t.toxEnv("\x00list")
		for _, e := range listOf(doc["env_list"]) {
			list.needs = append(list.needs, textOf(e))
		}
		return t
	}
	return toxINI(text, text, t)
}

func (t *taskfile) toxEnv(name string) *task {
	if t.tasks[name] == nil {
		t.add(name)
	}
	return t.tasks[name]
}

// toxINI reads the sections [testenv:NAME]; what has no commands of its own has
// those of [testenv].
func toxINI(ini, text string, t *taskfile) *taskfile {
	section, key := "", ""
	values := map[string]map[string][]string{}
	for line := range strings.Lines(ini) {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case bare[0] == '[':
			section, key = strings.TrimPrefix(strings.Trim(bare, "[]"), "tox:"), ""
		case line[0] == ' ' || line[0] == '\t':
			if key != "" {
				values[section][key] = append(values[section][key], bare)
			}
		default:
			name, value, _ := strings.Cut(bare, "=")
			key = strings.TrimSpace(name)
			if values[section] == nil {
				values[section] = map[string][]string{}
			}
			values[section][key] = nil
			if value = strings.TrimSpace(value); value != "" {
				values[section][key] = []string{value}
			}
		}
	}
	commands := func(v map[string][]string) []string {
		return slices.Concat(v["commands_pre"], v["commands"], v["commands_post"])
	}
	base := commands(values["testenv"])
	list := t.toxEnv("\x00list")
	for _, l := range slices.Concat(values["tox"]["envlist"], values["tox"]["env_list"]) {
		for e := range strings.FieldsFuncSeq(l, func(c rune) bool { return c == ',' || c == ' ' }) {
			list.needs = append(list.needs, e)
			t.toxCommands(t.toxEnv(e), base, text)
		}
	}
	for s, v := range values {
		name, ok := strings.CutPrefix(s, "testenv:")
		if !ok {
			continue
		}
		k := t.toxEnv(name)
		k.lines = nil
		own := commands(v)
		if len(own) == 0 {
			own = base
		}
		t.toxCommands(k, own, text)
	}
	return t
}

// toxCommands adds commands; one that goes on in the next line is one.
func (t *taskfile) toxCommands(k *task, lines []string, text string) {
	joined := strings.ReplaceAll(strings.Join(lines, "\n"), "\\\n", " ")
	for line := range strings.SplitSeq(joined, "\n") {
		if factor, rest, ok := strings.Cut(line, ": "); ok && !strings.ContainsAny(factor, " {/") {
			line = rest
		}
		line = strings.TrimLeft(line, "-! ")
		line = strings.NewReplacer("{envpython}", "python", "{toxinidir}/", "", "{tox_root}/", "", "{/}", "/").Replace(line)
		k.command(withArgs(line, nil, false), t.file, text)
	}
}

// procfile reads the processes of a Procfile.
func procfile(text, file string) *taskfile {
	t := newTaskfile(file)
	for line := range strings.Lines(text) {
		if name, cmd, ok := strings.Cut(line, ":"); ok && plainWord(name) {
			t.add(name).command(cmd, file, text)
		}
	}
	return t
}

// lefthookHooks reads the hooks of a lefthook.yml; one that is no hook of git
// runs as well, when it is named.
func lefthookHooks(text, file string) *taskfile {
	t := newTaskfile(file)
	doc := mapOf(readYAML(text))
	if strings.HasSuffix(file, ".toml") {
		doc = tomlTables(text)
	}
	for name, v := range doc {
		hook := mapOf(v)
		k := t.add(name)
		for _, cmd := range mapOf(hook, "commands") {
			k.command(textOf(mapOf(cmd)["run"]), file, text)
		}
		for script := range mapOf(hook, "scripts") {
			k.command("./.lefthook/"+name+"/"+script, file, text)
		}
		k.lefthookJobs(listOf(hook["jobs"]), file, text, 0)
	}
	return t
}

func (k *task) lefthookJobs(jobs []any, file, text string, depth int) {
	for _, j := range jobs {
		m := mapOf(j)
		k.command(textOf(m["run"]), file, text)
		if depth < 4 {
			k.lefthookJobs(listOf(mapOf(m, "group")["jobs"]), file, text, depth+1)
		}
	}
}

// preCommitHooks reads the hooks that a project has of its own, as ID@STAGE
// and all of a stage as @STAGE.
func preCommitHooks(text, file string) *taskfile {
	t := newTaskfile(file)
	doc := mapOf(readYAML(text))
	usual := listOf(doc["default_stages"])
	for _, repo := range listOf(doc["repos"]) {
		if textOf(mapOf(repo)["repo"]) != "local" {
			continue
		}
		for _, h := range listOf(mapOf(repo)["hooks"]) {
			hook := mapOf(h)
			var entry strings.Builder
			entry.WriteString(textOf(hook["entry"]))
			switch textOf(hook["language"]) {
			case "system", "script", "python", "node", "ruby", "unsupported", "unsupported_script", "":
			default:
				continue // a container, or a pattern that is looked for
			}
			for _, a := range listOf(hook["args"]) {
				entry.WriteString(" " + quoteWords([]string{textOf(a)}))
			}
			stages := listOf(hook["stages"])
			if len(stages) == 0 {
				stages = usual
			}
			if len(stages) == 0 {
				stages = []any{"pre-commit", "commit", "pre-push", "push", "manual", "commit-msg", "post-commit", "post-checkout", "post-merge", "post-rewrite", "pre-merge-commit", "prepare-commit-msg", "pre-rebase"}
			}
			for _, s := range stages {
				stage := textOf(s)
				if stage == "commit" || stage == "push" {
					stage = "pre-" + stage
				}
				t.toxEnv(textOf(hook["id"])+"@"+stage).command(entry.String(), file, text)
				t.toxEnv("@"+stage).command(entry.String(), file, text)
			}
		}
	}
	return t
}

// workflowJobs reads the commands of a workflow's jobs.
func workflowJobs(text, file string) *taskfile {
	t := newTaskfile(file)
	for name, v := range mapOf(mapOf(readYAML(text)), "jobs") {
		k := t.add(name)
		for _, n := range listOf(mapOf(v)["needs"]) {
			k.needs = append(k.needs, textOf(n))
		}
		for _, s := range listOf(mapOf(v)["steps"]) {
			run := textOf(mapOf(s)["run"])
			if i := strings.Index(run, "${{"); i >= 0 {
				run = strings.ReplaceAll(run, "${{", "${X")
			}
			k.command(run, file, text)
		}
	}
	return t
}

// workflows classifies the jobs that act runs on this machine.
func (r *reading) workflows(t taskRunner, c *shell.Command, n taskNames) (hits []Hit, seen, ok bool) {
	for _, pattern := range t.files {
		if path.Ext(pattern) == "" {
			pattern += "/*.yml"
		}
		for _, name := range r.tree.glob(pattern) {
			text, file, found := r.file(c, name)
			if !found {
				continue
			}
			hs, _ := r.theseTasks(t, workflowJobs(text, file), n)
			hits, ok = append(hits, hs...), true
		}
	}
	return hits, false, ok
}

// composeServices reads what the services of a compose file run.
func composeServices(text, file string) *taskfile {
	t := newTaskfile(file)
	for name, v := range mapOf(mapOf(readYAML(text)), "services") {
		k := t.add(name)
		service := mapOf(v)
		line := strings.TrimSpace(commandWords(service["entrypoint"]) + " " + commandLineOf(service["command"]))
		if list, ok := service["command"].([]any); ok && len(list) > 2 && service["entrypoint"] == nil {
			line = commandLineOf(list)
		}
		k.command(line, file, text)
		switch needs := service["depends_on"].(type) {
		case []any:
			for _, x := range needs {
				k.needs = append(k.needs, textOf(x))
			}
		case map[string]any:
			for x := range needs {
				k.needs = append(k.needs, x)
			}
		}
	}
	return t
}
