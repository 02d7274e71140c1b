package policy

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// manifest is what is read of a package.json, a deno.json or a composer.json.
type manifest struct {
	name       string
	scripts    map[string][]string
	workspaces []string
	needs      map[string][]string // deno: the tasks that a task depends on
	text, file string
}

// asked is what a package manager is told to run.
type asked struct {
	names  []string // scripts, in order
	args   string   // what is put behind the last one named
	folder []string // where their package may lie; nil = here
	hooks  bool     // pre and post scripts run as well
	must   bool     // it can be nothing but a script
	every  bool     // in every package of the workspace
}

// packageScripts classifies the scripts that a package manager would run.
func (r *reading) packageScripts(prog string, c *shell.Command) ([]Hit, bool) {
	t := r.tool(prog)
	if prog == "node" {
		t = &tool{value: wordSet{list: []string{"--run"}}, toolDef: toolDef{Stop: true}}
	}
	if t == nil {
		return nil, false
	}
	a := parseArgs(t, c, c.Argv[1:])
	if len(a.words) == 0 && prog != "yarn" && prog != "node" {
		return nil, false
	}
	for _, d := range a.all("--prefix", "-C", "--dir", "--cwd", "-d", "--working-dir") {
		defer r.in(d.Text)()
	}
	ask := askedOf(prog, a)
	if a.has("--ignore-scripts") {
		if !ask.hooks {
			return nil, false // none of the installation's own
		}
		ask.hooks = false
	}
	if len(ask.names) == 0 {
		return nil, false
	}
	if folders, every := recursive(prog, a, ask); every || prog == "npm" && containsAnyWord(c.Argv, "-ws") {
		return r.inPackages(c, ask, folders), false
	}
	folder, m, ok := r.manifest(prog, c, ask.folder)
	if !ok {
		return nil, false
	}
	defer r.in(folder)()
	return r.runScripts(m, ask)
}

// recursive says whether the scripts run in packages of the workspace that
// are chosen by filters.
func recursive(prog string, a *args, ask asked) (filters []string, every bool) {
	if prog == "npm" {
		return nil, a.hasAny([]string{"-ws", "--workspaces"})
	}
	for _, f := range ask.folder {
		every = every || strings.ContainsAny(f, "*{[!") || strings.Contains(f, "...")
	}
	return ask.folder, ask.every || every || a.hasAny([]string{"-r", "--recursive"})
}

// inPackages classifies the scripts in the packages of the workspace.
func (r *reading) inPackages(c *shell.Command, ask asked, filters []string) []Hit {
	if r.tree == nil {
		return nil
	}
	root, list := r.projects(c)
	var hits []Hit
	for _, n := range ask.names {
		hits = append(hits, r.everywhere(root, chosen(list, filters), n, ask.args)...)
	}
	return hits
}

// askedOf reads the command line of a package manager.
func askedOf(prog string, a *args) asked {
	ask := asked{hooks: true}
	words := a.words
	for _, w := range a.all("-w", "--workspace", "--filter", "-F") {
		ask.folder = append(ask.folder, w.Text)
	}
	if prog == "node" {
		ask.names, ask.must, ask.hooks = wordTexts(a.all("--run")), true, false
		return ask
	}
	if prog == "yarn" && len(words) > 2 && words[0].Text == "workspace" {
		ask.folder = append(ask.folder, words[1].Text)
		words = words[2:]
	}
	if prog == "yarn" && len(words) > 2 && words[0].Text == "workspaces" { // foreach [options] run NAME, or run NAME
		ask.every = true
		for words[0].Text == "workspaces" || words[0].Text == "foreach" && len(words) > 1 {
			words = words[1:]
		}
	}
	if prog == "pnpm" && len(words) > 1 && (words[0].Text == "recursive" || words[0].Text == "multi" || words[0].Text == "m") {
		ask.every, words = true, words[1:]
	}
	verb := "install"
	if len(words) > 0 {
		verb = words[0].Text
	}
	from := 1 // the words before the arguments of the script
	switch verb {
	case "run", "run-script", "rum", "urn", "task", "exec-script":
		if len(words) < 2 || prog == "deno" && verb != "task" {
			return asked{}
		}
		ask.names, ask.must = []string{a.written(words[1])}, true
		from = 2
	case "test", "t", "tst", "start", "stop", "restart":
		ask.names = []string{map[string]string{"t": "test", "tst": "test"}[verb]}
		if ask.names[0] == "" {
			ask.names[0] = verb
		}
		ask.must = prog != "bun" || verb == "start"
	case "install", "i", "ci", "add", "update", "up", "upgrade":
		ask.names = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd", "post-autoload-dump"}
		ask.hooks, words, from = false, nil, 0
	case "it", "cit", "install-test", "install-ci-test":
		ask.names, words, from = []string{"test"}, nil, 0
	case "version":
		ask.names = []string{"preversion", "version", "postversion"}
		ask.hooks, words, from = false, nil, 0
	case "pack":
		ask.names = []string{"prepack", "prepare", "postpack"}
		ask.hooks, words, from = false, nil, 0
	default:
		switch prog {
		case "npm", "deno":
			return asked{}
		case "run-s", "run-p", "npm-run-all":
			ask.names = wordTexts(words)
			ask.must = true
			return ask
		}
		ask.names = []string{verb}
	}
	if len(words) > from && len(words) > 0 {
		ask.args = lineOf(slices.DeleteFunc(slices.Clone(tailOf(a.argv, words[from-1])[1:]), func(w shell.Word) bool { return w.Text == "--" }))
	}
	return ask
}

// manifest finds the package whose scripts are meant.
func (r *reading) manifest(prog string, c *shell.Command, folders []string) (folder string, m manifest, ok bool) {
	names := []string{"package.json"}
	switch prog {
	case "deno":
		names = []string{"deno.json", "deno.jsonc", "package.json"}
	case "composer":
		names = []string{"composer.json"}
	}
	for _, n := range namesAbove(names) {
		text, file, found := r.file(c, n)
		if !found {
			continue
		}
		m = readManifest(text, file)
		if len(folders) == 0 {
			return path.Dir(n), m, true
		}
		for _, f := range folders {
			if folder, own, ok := r.workspace(c, m, strings.TrimSuffix(f, "...")); ok {
				return folder, own, true
			}
		}
		return "", manifest{}, false
	}
	return "", manifest{}, false
}

// namesAbove are the names here and in the folders above: a package manager
// takes the nearest.
func namesAbove(names []string) []string {
	var out []string
	for _, up := range []string{"", "..", "../..", "../../.."} {
		for _, n := range names {
			out = append(out, path.Join(up, n))
		}
	}
	return out
}

// workspace finds a package of the workspace by its folder or its name.
func (r *reading) workspace(c *shell.Command, root manifest, name string) (folder string, m manifest, ok bool) {
	tries := []string{name}
	for _, p := range slices.Concat(root.workspaces, []string{"packages/*", "apps/*", "libs/*"}) {
		tries = append(tries, strings.Replace(strings.TrimSuffix(strings.TrimSuffix(p, "/"), "/**"), "*", path.Base(name), 1))
	}
	for i, f := range tries {
		text, file, found := r.file(c, f+"/package.json")
		if !found {
			continue
		}
		if m = readManifest(text, file); i == 0 || m.name == name || strings.HasSuffix(m.name, "/"+name) {
			return f, m, true
		}
	}
	return "", manifest{}, false
}

// runScripts classifies scripts, with those that run before and after them.
func (r *reading) runScripts(m manifest, ask asked) (hits []Hit, seen bool) {
	seen, found := true, false
	for _, name := range ask.names {
		for _, n := range m.matching(name) {
			found = true
			list := []string{n}
			if ask.hooks {
				list = []string{"pre" + n, n, "post" + n}
			}
			for _, s := range list {
				args := ""
				if s == n {
					args = ask.args
				}
				hs, all := r.runScript(m, s, args)
				hits, seen = append(hits, hs...), seen && all
			}
		}
		if ask.must && !found {
			seen = false
		}
	}
	return hits, seen && (found || !ask.hooks)
}

// matching lists the scripts of a name, which may hold a * as run-s takes it.
func (m *manifest) matching(name string) []string {
	if _, ok := m.scripts[name]; ok {
		return []string{name}
	}
	if !strings.Contains(name, "*") {
		return nil
	}
	var out []string
	for s := range m.scripts {
		if scriptGlob(name, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

func scriptGlob(glob, s string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "**", "*"), s)
	return err == nil && ok
}

// runScript classifies one script of a package; one that is not there runs
// nothing.
func (r *reading) runScript(m manifest, name, args string) ([]Hit, bool) {
	lines, ok := m.scripts[name]
	if !ok && len(m.needs[name]) == 0 {
		return nil, true
	}
	return r.following(m.file+"\x00"+name, func() []Hit {
		var hits []Hit
		for _, n := range m.needs[name] {
			hs, all := r.runScript(m, n, "")
			if hits = append(hits, hs...); !all {
				r.hide()
			}
		}
		for _, l := range lines {
			if ref, ok := strings.CutPrefix(l, "@"); ok { // composer
				prog, rest, _ := strings.Cut(ref, " ")
				switch prog {
				case "php", "composer":
					l = ref
				case "putenv":
					continue
				default:
					hs, all := r.runScript(m, prog, rest)
					if hits = append(hits, hs...); !all {
						r.hide()
					}
					continue
				}
			} else if strings.Contains(l, "::") && !strings.Contains(l, " ") {
				r.hide() // a method of PHP
				continue
			}
			hits = append(hits, r.recipe(strings.TrimSpace(l+" "+args), m.file, m.line(name))...)
		}
		return hits
	})
}

// line is the line on which a script is defined.
func (m *manifest) line(name string) int {
	key, err := json.Marshal(name)
	if err != nil {
		return 0
	}
	from := max(strings.Index(m.text, `"scripts"`), strings.Index(m.text, `"tasks"`), 0)
	i := strings.Index(m.text[from:], string(key)+":")
	if i < 0 {
		if i = strings.Index(m.text[from:], string(key)); i < 0 {
			return 0
		}
	}
	return strings.Count(m.text[:from+i], "\n") + 1
}

// readManifest reads the scripts of a manifest. What is no JSON (a part of one,
// as an edit shows it, or one with comments) is read line by line.
func readManifest(text, file string) manifest {
	m := manifest{scripts: map[string][]string{}, text: text, file: file}
	var def struct {
		Name       string         `json:"name"`
		Scripts    map[string]any `json:"scripts"`
		Tasks      map[string]any `json:"tasks"`
		Workspaces any            `json:"workspaces"`
	}
	if json.Unmarshal([]byte(text), &def) != nil {
		for line := range strings.Lines(text) {
			m.fragment(strings.TrimRight(strings.TrimSpace(line), ","))
		}
		return m
	}
	m.name = def.Name
	eachString(def.Workspaces, func(s string) { m.workspaces = append(m.workspaces, s) })
	for _, list := range []map[string]any{def.Scripts, def.Tasks} {
		for name, v := range list {
			if task, ok := v.(map[string]any); ok {
				v = task["command"]
				for _, n := range listOf(task["dependencies"]) {
					if m.needs == nil {
						m.needs = map[string][]string{}
					}
					m.needs[name] = append(m.needs[name], textOf(n))
				}
				if v == nil {
					m.scripts[name] = []string{}
				}
			}
			eachString(v, func(s string) { m.scripts[name] = append(m.scripts[name], s) })
		}
	}
	return m
}

// fragment reads "name": "value" of one line.
func (m *manifest) fragment(line string) {
	var pair map[string]string
	line = strings.TrimSuffix(strings.TrimPrefix(line, "{"), "}")
	if json.Unmarshal([]byte("{"+line+"}"), &pair) == nil {
		for k, v := range pair {
			m.scripts[k] = []string{v}
		}
	}
}
