package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// taskRunner is a program that runs tasks which a file of the project defines.
type taskRunner struct {
	program string
	run     string // the subcommands that take a task's name; "" = the first operand is one
	short   bool   // a task may be named without the subcommand
	files   []string
	read    func(text, file string) *taskfile
	quiet   bool // of what the file says only what reaches outside counts
}

// taskRunners are the runners whose tasks are commands. The files are looked
// for here and in the folders above.
func taskRunners() []taskRunner {
	pyproject := []string{"pyproject.toml"}
	return []taskRunner{
		{program: "poe", files: append([]string{"poe_tasks.toml"}, pyproject...), read: pythonTasks("poe")},
		{program: "task", files: pyproject, read: pythonTasks("taskipy")},
		{program: "pdm", run: "run", short: true, files: pyproject, read: pythonTasks("pdm")},
		{program: "hatch", run: "run", files: append([]string{"hatch.toml"}, pyproject...), read: pythonTasks("hatch")},
		{program: "rye", run: "run r", files: pyproject, read: pythonTasks("rye")},
		{program: "uv", run: "run", files: pyproject, read: pythonTasks("")},
		{program: "poetry", run: "run", short: true, files: pyproject, read: pythonTasks("poe")},
		{program: "pipenv", run: "run", files: []string{"Pipfile"}, read: pythonTasks("pipenv")},
		{program: "pixi", run: "run r", files: append([]string{"pixi.toml"}, pyproject...), read: pythonTasks("pixi")},
		{program: "mise", run: "run r tasks", short: true, files: []string{"mise.toml", ".mise.toml", "mise/config.toml", ".config/mise.toml", ".config/mise/config.toml", "mise.local.toml"}, read: miseTasks},
		{program: "tox", files: []string{"tox.ini", "setup.cfg", "tox.toml", "pyproject.toml"}, read: toxEnvs},
		{program: "foreman", run: "start run s", files: []string{"Procfile", "Procfile.dev"}, read: procfile},
		{program: "honcho", run: "start run", files: []string{"Procfile"}, read: procfile},
		{program: "overmind", run: "start s", files: []string{"Procfile"}, read: procfile},
		{program: "goreman", run: "start", files: []string{"Procfile"}, read: procfile},
		{program: "nf", run: "start", files: []string{"Procfile"}, read: procfile},
		{program: "hivemind", files: []string{"Procfile"}, read: procfile},
		{program: "lefthook", run: "run", files: []string{"lefthook.yml", "lefthook.yaml", ".lefthook.yml", "lefthook.toml"}, read: lefthookHooks, quiet: true},
		{program: "pre-commit", run: "run", files: []string{".pre-commit-config.yaml"}, read: preCommitHooks, quiet: true},
		{program: "prek", run: "run", files: []string{".pre-commit-config.yaml"}, read: preCommitHooks, quiet: true},
		{program: "act", files: []string{".github/workflows/*.yml", ".github/workflows/*.yaml"}, read: workflowJobs, quiet: true},
		{program: "docker", run: "compose", files: composeFiles, read: composeServices, quiet: true},
		{program: "docker-compose", files: composeFiles, read: composeServices, quiet: true},
		{program: "podman-compose", files: composeFiles, read: composeServices, quiet: true},
	}
}

var composeFiles = []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"}

// projectTasks classifies the tasks that a runner of the table would run. ok is
// false when the command runs none.
func (r *reading) projectTasks(prog string, c *shell.Command) (hits []Hit, seen, ok bool) {
	if r.tree == nil {
		return nil, false, false
	}
	wrapper := ""
	if n := len(c.Wrappers); n > 0 { // uv run NAME has been taken off already
		f := strings.Fields(c.Wrappers[n-1])
		if len(f) > 1 && (f[1] == "run" || f[1] == "r") {
			wrapper = f[0]
		}
	}
	for _, t := range r.set.runners() {
		switch t.program {
		case prog:
			if names, named := t.named(r, c); named {
				hits, seen, ok = r.tasksIn(t, c, names)
			}
		case wrapper:
			hits, seen, ok = r.tasksIn(t, c, taskNames{words: c.Argv, known: true})
		}
		if ok {
			return hits, seen, true
		}
	}
	return nil, false, false
}

// taskNames is what a runner is told to run.
type taskNames struct {
	words []shell.Word // the task and its arguments, or several tasks
	each  bool         // all of the words are tasks
	all   bool         // everything in the file
	known bool         // it may be something else than a task
	files []string
}

// named reads the runner's command line.
func (t taskRunner) named(r *reading, c *shell.Command) (n taskNames, ok bool) {
	words := operandsOf(c.Argv[1:], t.valued())
	opts := optionValues(c.Argv[1:])
	n.files = append(opts["-f"], opts["--file"]...)
	switch t.program {
	case "tox":
		return toxNames(words, opts), !containsAnyWord(c.Argv, "-l", "-a", "--list", "--listenvs", "--showconfig", "config", "list", "--notest", "-n")
	case "docker", "docker-compose", "podman-compose":
		return composeNames(t.program, words)
	case "act":
		n.files = append(opts["-W"], opts["--workflows"]...)
		n.each, n.words = true, asWords(append(opts["-j"], opts["--job"]...))
		n.all = len(n.words) == 0
		return n, !containsAnyWord(c.Argv, "-l", "--list", "-n", "--dryrun", "--version", "--help", "-g", "--graph", "--validate")
	case "pre-commit", "prek":
		return hookNames(words, opts)
	}
	if t.run != "" {
		if len(words) > 0 && containsString(strings.Fields(t.run), words[0].Text) {
			words = words[1:]
			if t.program == "mise" && len(words) > 1 && words[0].Text == "run" {
				words = words[1:]
			}
		} else if !t.short || len(words) == 0 {
			return n, false
		} else {
			n.known = true
		}
	}
	switch t.program {
	case "foreman", "honcho", "goreman", "nf", "overmind", "hivemind":
		n.words, n.each = words, true
		for _, l := range append(opts["-l"], opts["--processes"]...) {
			n.words = append(n.words, asWords(strings.Split(l, ","))...)
		}
		n.all = len(n.words) == 0
		n.known = true
		return n, true
	case "poetry":
		if n.known && words[0].Text == "poe" && len(words) > 1 { // poetry's plugin
			words = words[1:]
		} else if n.known {
			return n, false
		}
	}
	if len(words) == 0 {
		return n, false
	}
	n.words = tailOf(c.Argv, words[0])
	n.words = dropWord(n.words, "--")
	return n, true
}

// valued are the options of a runner that take a value.
func (t taskRunner) valued() string {
	switch t.program {
	case "poe":
		return " -C --directory --root -e --executor "
	case "mise":
		return " -C --cd -j --jobs -E --env -o --output -S --shell -t --tool "
	case "pdm", "rye", "uv", "poetry":
		return " -p --project -s --site-packages -C --directory "
	case "hatch":
		return " -e --env -p --project "
	case "tox":
		return " -e --env -c --conf -f --root --workdir --override -x -p --parallel "
	case "foreman", "honcho", "goreman", "overmind":
		return " -f --procfile -e --env -d --root -p --port -m --formation -c --concurrency -t --timeout -l --processes -s "
	case "pre-commit", "prek":
		return " -c --config --hook-stage --color --from-ref --to-ref -s -o --hook-type "
	case "lefthook":
		return " --commands --jobs --file "
	case "docker", "docker-compose", "podman-compose":
		return " -f --file -p --project-name --profile --env-file --project-directory -H --host -c --context -l --log-level -u --user -e --env -v --volume -w --workdir --name --entrypoint --scale -t --timeout --ansi --pull "
	}
	return " -f --file -C --directory -d "
}

// tasksIn classifies the named tasks of the runner's file.
func (r *reading) tasksIn(t taskRunner, c *shell.Command, n taskNames) (hits []Hit, seen, ok bool) {
	for _, v := range n.files {
		t.files = []string{v}
		break
	}
	if t.program == "act" {
		return r.workflows(t, c, n)
	}
	for _, name := range namesAbove(t.files) {
		text, file, found := r.file(c, name)
		if !found {
			continue
		}
		tasks := t.read(text, file)
		if t.program == "mise" {
			r.miseFile(c, tasks, path.Dir(name), n)
		}
		if len(tasks.tasks) == 0 || n.known && len(n.words) > 0 && tasks.tasks[n.words[0].Text] == nil {
			continue
		}
		defer r.in(path.Dir(name))()
		hits, seen = r.theseTasks(t, tasks, n)
		return hits, seen, true
	}
	if t.program == "mise" && len(n.words) > 0 {
		tasks := newTaskfile("mise")
		if r.miseFile(c, tasks, "", n); tasks.tasks[n.words[0].Text] != nil {
			hits, seen = r.theseTasks(t, tasks, n)
			return hits, seen, true
		}
	}
	return nil, false, false
}

func (r *reading) theseTasks(t taskRunner, tasks *taskfile, n taskNames) (hits []Hit, seen bool) {
	before := r.blind()
	seen = true
	switch {
	case n.all:
		for _, name := range sortedTasks(tasks) {
			hs, all := r.runTask(tasks, name, nil, map[string]bool{})
			hits, seen = append(hits, hs...), seen && all
		}
	case n.each:
		for _, w := range n.words {
			hs, all := r.runTask(tasks, w.Text, nil, map[string]bool{})
			hits, seen = append(hits, hs...), seen && all
		}
	default:
		hits, seen = r.runTasks(tasks, n.words)
	}
	if t.quiet {
		r.tree.hidden = before
		return outward(hits), false
	}
	if !seen && r.blind() == before {
		r.hide()
	}
	return hits, seen
}

// outward are the hits that reach outside for certain.
func outward(hits []Hit) []Hit {
	out := hits[:0]
	for _, h := range hits {
		if h.Tier == External && !h.Mention {
			out = append(out, h)
		}
	}
	return out
}

// miseFile adds the task that a file of its own defines.
func (r *reading) miseFile(c *shell.Command, t *taskfile, dir string, n taskNames) {
	if len(n.words) == 0 || t.tasks[n.words[0].Text] != nil {
		return
	}
	name := n.words[0].Text
	for _, d := range []string{"mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks"} {
		f := path.Join(dir, d, strings.ReplaceAll(name, ":", "/"))
		if text, file, ok := r.file(c, f); ok {
			k := t.add(name)
			k.lines = append(k.lines, recipeLine{text: text, file: file})
			return
		}
	}
}
