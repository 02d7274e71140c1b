package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// taskfile is what is read of a justfile, a Taskfile or a Rakefile.
type taskfile struct {
	lang  string // of the lines: "shell", or "ruby" for a Rakefile
	vars  map[string]string
	tasks map[string]*task
	first string // what runs when nothing is named
	file  string

	appends bool // one task is named, and what follows are its arguments
}

type task struct {
	params []string // of a just recipe: name, +name, *name, name=default
	needs  []string
	lines  []recipeLine
}

func (t *taskfile) add(name string) *task {
	if t.first == "" {
		t.first = name
	}
	k := &task{}
	t.tasks[name] = k
	return k
}

// taskTargets classifies what just, task and rake would run.
func (r *reading) taskTargets(prog string, c *shell.Command) ([]Hit, bool) {
	tool := r.tool(prog)
	if tool == nil {
		return nil, false
	}
	a := parseArgs(tool, c, c.Argv[1:])
	if a.hasAny([]string{"-n", "--dry-run", "--dry", "-l", "--list", "--list-all", "--summary", "--show", "-s=show", "-T", "-P", "--tasks", "--evaluate", "--dump", "--version", "--help"}) {
		return nil, false
	}
	var names []string
	parse := readJustfile
	switch prog {
	case "just":
		names = []string{"justfile", "Justfile", ".justfile"}
	case "rake":
		names, parse = []string{"Rakefile", "rakefile", "Rakefile.rb"}, readRakefile
	default:
		names, parse = []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml"}, readTaskfile
	}
	if own := a.all("-f", "--justfile", "-t", "--taskfile", "--rakefile"); len(own) > 0 {
		names = wordTexts(own)
	}
	for _, d := range a.all("-d", "--working-directory", "--dir", "-C") {
		defer r.in(d.Text)()
	}
	for _, n := range namesAbove(names) {
		if text, file, ok := r.file(c, n); ok {
			defer r.in(path.Dir(n))()
			tasks := parse(text, file)
			r.includes(prog, c, tasks, text)
			return r.runTasks(tasks, a.words)
		}
	}
	return nil, false
}

// runTasks classifies the tasks that are named; what just does not know as a
// recipe is an argument of the one before.
func (r *reading) runTasks(t *taskfile, words []shell.Word) (hits []Hit, seen bool) {
	if t.appends && len(words) > 0 {
		return r.runTask(t, words[0].Text, wordTexts(words[1:]), map[string]bool{})
	}
	var names []string
	args := map[int][]string{}
	for _, w := range words {
		name, _, _ := strings.Cut(w.Text, "[") // rake task[arg]
		switch {
		case t.tasks[name] != nil:
			names = append(names, name)
		case strings.Contains(w.Text, "=") && len(names) == 0:
			k, v, _ := strings.Cut(w.Text, "=")
			t.vars[k] = v
		case len(names) > 0:
			args[len(names)-1] = append(args[len(names)-1], w.Text)
		default:
			return nil, false
		}
	}
	if len(names) == 0 {
		if t.tasks["default"] != nil {
			t.first = "default"
		}
		names = []string{t.first}
	}
	seen = true
	done := map[string]bool{}
	for i, n := range names {
		hs, all := r.runTask(t, n, args[i], done)
		hits, seen = append(hits, hs...), seen && all
	}
	return hits, seen
}

// runTask classifies one task and those that it needs.
func (r *reading) runTask(t *taskfile, name string, args []string, done map[string]bool) ([]Hit, bool) {
	k := t.tasks[name]
	if done[name] {
		return nil, true
	}
	if done[name] = true; k == nil || len(done) > maxTargets {
		return nil, false
	}
	return r.following(t.file+"\x00"+name, func() []Hit {
		var hits []Hit
		for _, n := range k.needs {
			stack := r.tree.popped()
			hs, all := r.runTask(t, n, nil, done)
			r.tree.pushed(stack)
			if hits = append(hits, hs...); !all {
				r.hide()
			}
		}
		if t.appends {
			hits = append(hits, r.around(t, "pre_"+name, done)...)
		}
		vars := k.bind(args)
		for i, l := range k.lines {
			text := t.fill(l.text, vars)
			if t.appends {
				text = withArgs(l.text, args, i == len(k.lines)-1)
			}
			if first, rest, _ := strings.Cut(text, " "); l.names && first != name && t.tasks[first] != nil {
				stack := r.tree.popped()
				hs, all := r.runTask(t, first, strings.Fields(rest), done)
				r.tree.pushed(stack)
				if hits = append(hits, hs...); !all {
					r.hide()
				}
				continue
			}
			if t.lang == "ruby" {
				r.hide()
				hits = append(hits, r.placed(r.program("ruby", text), l.file, "", l.line)...)
				continue
			}
			if lang := languageOfFile("", text); lang != "" && lang != "shell" {
				r.hide()
				hits = append(hits, r.placed(r.program(lang, text), l.file, "", l.line)...)
				continue
			}
			hits = append(hits, r.recipe(text, l.file, l.line)...)
		}
		if t.appends {
			hits = append(hits, r.around(t, "post_"+name, done)...)
		}
		return hits
	})
}

// around classifies the task that runs before or after another by its name.
func (r *reading) around(t *taskfile, name string, done map[string]bool) []Hit {
	if t.tasks[name] == nil {
		return nil
	}
	stack := r.tree.popped()
	defer r.tree.pushed(stack)
	hits, _ := r.runTask(t, name, nil, done)
	return hits
}

// withArgs puts the arguments where a command has a place for them, {args},
// {posargs:default}, or else behind the last command.
func withArgs(text string, args []string, last bool) string {
	given := quoteWords(args)
	for _, mark := range []string{"{args", "{posargs", "{{args"} {
		before, rest, ok := strings.Cut(text, mark)
		inner, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			continue
		}
		if given == "" {
			given = strings.TrimPrefix(inner, ":")
		}
		return before + given + strings.TrimPrefix(after, "}")
	}
	if last && given != "" && !strings.Contains(text, "$@") && !strings.Contains(text, "\n") {
		return text + " " + given
	}
	return text
}

// popped takes the task that is being followed off the stack, and pushed puts
// it back: what it needs is no deeper than itself.
func (t *worktree) popped() []string {
	if t == nil {
		return nil
	}
	stack := t.stack
	t.stack = stack[:max(len(stack)-1, 0)]
	return stack
}

func (t *worktree) pushed(stack []string) {
	if t != nil {
		t.stack = stack
	}
}

// bind gives the arguments of a recipe to its parameters.
func (k *task) bind(args []string) map[string]string {
	vars := map[string]string{"CLI_ARGS": strings.Join(args, " ")}
	for i, p := range k.params {
		name, value, _ := strings.Cut(strings.TrimLeft(p, "$"), "=")
		value = strings.Trim(value, `"'`)
		if i < len(args) {
			value = args[i]
		}
		if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "*") {
			name = name[1:]
			if i < len(args) {
				value = strings.Join(args[i:], " ")
			}
		}
		vars[name] = value
	}
	return vars
}

// fill puts variables in the place of {{name}} and {{.NAME}}; what is not
// known becomes a shell variable.
func (t *taskfile) fill(text string, vars map[string]string) string {
	for range 50 {
		before, rest, ok := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !ok || !closed {
			break
		}
		name = strings.TrimPrefix(strings.Trim(name, " -"), ".")
		value, known := vars[name]
		if !known {
			value, known = t.vars[name]
		}
		if !known {
			value = "${X}"
			if plainWord(name) {
				value = "${" + name + "}"
			}
		}
		text = before + value + after
	}
	return text
}
