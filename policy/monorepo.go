package policy

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// project is a package of a monorepo, or a project of nx.
type project struct {
	folder, name string
	manifest     manifest
	targets      map[string]any // nx
	file, text   string
}

// projects are the packages of the workspace whose top is here or in a folder
// above. root is the way to it.
func (r *reading) projects(c *shell.Command) (root string, list []project) {
	for _, up := range []string{"", "..", "../..", "../../.."} {
		text, file, ok := r.file(c, path.Join(up, "package.json"))
		patterns := []string{}
		if ok {
			patterns = readManifest(text, file).workspaces
		}
		if text, _, ok := r.file(c, path.Join(up, "pnpm-workspace.yaml")); ok {
			for _, p := range listOf(mapOf(readYAML(text))["packages"]) {
				patterns = append(patterns, textOf(p))
			}
		}
		if text, _, ok := r.file(c, path.Join(up, "lerna.json")); ok {
			var def struct{ Packages []string }
			if json.Unmarshal([]byte(text), &def) == nil {
				patterns = append(patterns, def.Packages...)
			}
		}
		_, _, nx := r.file(c, path.Join(up, "nx.json"))
		if nx {
			patterns = append(patterns, "apps/*", "libs/*", "packages/*", "projects/*", "tools/*")
		}
		if len(patterns) == 0 {
			continue
		}
		func() {
			defer r.in(up)()
			if ok {
				list = append(list, project{folder: ".", name: "//", manifest: readManifest(text, file)})
			}
			list = append(list, r.projectsAt(c, patterns, nx)...)
		}()
		return up, list
	}
	return "", nil
}

func (r *reading) projectsAt(c *shell.Command, patterns []string, nx bool) []project {
	var list []project
	seen := map[string]bool{}
	for _, p := range patterns {
		if strings.HasPrefix(p, "!") {
			continue
		}
		for _, dir := range r.tree.glob(strings.TrimSuffix(p, "/")) {
			if seen[dir] {
				continue
			}
			seen[dir] = true
			one := project{folder: dir, name: path.Base(dir)}
			text, file, ok := r.file(c, dir+"/package.json")
			if ok {
				one.manifest = readManifest(text, file)
				if one.manifest.name != "" {
					one.name = one.manifest.name
				}
			}
			if nx {
				if text, file, found := r.file(c, dir+"/project.json"); found {
					ok = true
					var def struct {
						Name    string
						Targets map[string]any
					}
					if json.Unmarshal([]byte(text), &def) == nil {
						one.targets, one.file, one.text = def.Targets, file, text
						if def.Name != "" {
							one.name = def.Name
						}
					}
				}
			}
			if ok {
				list = append(list, one)
			}
		}
	}
	return list
}

// is says whether a filter of a package manager means the project.
func (p *project) is(filter string) bool {
	f := strings.Trim(filter, ".^{}[]")
	f = strings.TrimPrefix(f, "/")
	switch base := p.name[strings.LastIndexByte(p.name, '/')+1:]; {
	case f == "" || strings.HasPrefix(filter, "["):
		return true // what has changed may be anything
	case f == p.name, f == base, path.Clean(f) == p.folder:
		return true
	default:
		for _, s := range []string{p.name, base, p.folder} {
			if ok, err := path.Match(f, s); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// chosen are the projects that filters leave; !x takes one away.
func chosen(list []project, filters []string) []project {
	return slices.DeleteFunc(slices.Clone(list), func(p project) bool {
		in := !slices.ContainsFunc(filters, func(f string) bool { return !strings.HasPrefix(f, "!") })
		for _, f := range filters {
			if not, ok := strings.CutPrefix(f, "!"); ok {
				if p.is(not) {
					return true
				}
			} else if p.is(f) || strings.HasPrefix(f, "...") || strings.HasSuffix(f, "...") {
				in = true
			}
		}
		return !in
	})
}

// everywhere classifies a script in each of the packages.
func (r *reading) everywhere(root string, list []project, script, args string) (hits []Hit) {
	defer r.in(root)()
	for i := range list {
		func() {
			p := &list[i]
			defer r.in(p.folder)()
			for _, s := range p.manifest.matching(script) {
				for _, n := range []string{"pre" + s, s, "post" + s} {
					a := ""
					if n == s {
						a = args
					}
					hs, _ := r.runScript(p.manifest, n, a)
					hits = append(hits, hs...)
				}
			}
		}()
	}
	return hits
}

// monorepo classifies what turbo, nx and lerna would run in the packages.
func (r *reading) monorepo(prog string, c *shell.Command) []Hit {
	if r.tree == nil || containsAnyWord(c.Argv, "--dry-run", "--dry", "--dry=json", "--graph", "--help", "--version", "--dryRun") {
		return nil
	}
	opts := optionValues(c.Argv[1:])
	argv := c.Argv[1:]
	for i, w := range argv {
		if w.Text == "--" {
			argv = argv[:i]
			break
		}
	}
	words := wordTexts(operandsOf(argv, " --filter -F --scope --cwd --concurrency --cache-dir --env-mode --log-order --output-logs --team --token -t --targets --target -p --projects -c --configuration --parallel --base --head --exclude --runner --ignore --since --include-dependencies --stream "))
	if len(words) == 0 {
		return nil
	}
	filters := slices.Concat(opts["--filter"], opts["-F"], opts["--scope"])
	switch prog {
	case "lerna":
		if words[0] != "run" || len(words) < 2 {
			return nil
		}
		root, list := r.projects(c)
		return r.everywhere(root, chosen(list, filters), words[1], "")
	case "turbo":
		if words[0] == "run" || words[0] == "watch" {
			words = words[1:]
		}
		return r.turbo(c, words, filters)
	}
	return r.nx(c, words, opts)
}

// turbo classifies tasks, with those that they depend on.
func (r *reading) turbo(c *shell.Command, tasks, filters []string) []Hit {
	root, list := r.projects(c)
	if len(list) == 0 {
		return nil
	}
	depends := map[string]any{}
	if text, _, ok := r.file(c, path.Join(root, "turbo.json")); ok {
		var def map[string]any
		if json.Unmarshal([]byte(text), &def) == nil {
			maps.Copy(depends, mapOf(def, "pipeline"))
			maps.Copy(depends, mapOf(def, "tasks"))
		}
	}
	var hits []Hit
	done := map[string]bool{}
	var run func(task string)
	run = func(task string) {
		if done[task] || len(done) > maxTargets {
			return
		}
		done[task] = true
		for _, d := range listOf(mapOf(depends[task])["dependsOn"]) {
			run(strings.TrimPrefix(textOf(d), "^"))
		}
		in := chosen(list, filters)
		name := task
		if pkg, script, ok := strings.Cut(task, "#"); ok {
			in, name = chosen(list, []string{pkg}), script
		}
		in = slices.DeleteFunc(in, func(p project) bool { return p.name == "//" && depends["//#"+name] == nil })
		hits = append(hits, r.everywhere(root, in, name, "")...)
	}
	for _, t := range tasks {
		run(t)
	}
	return hits
}

// nx classifies targets: nx run PROJECT:TARGET, nx TARGET PROJECT, nx run-many
// and nx affected -t TARGET.
func (r *reading) nx(c *shell.Command, words []string, opts map[string][]string) []Hit {
	root, list := r.projects(c)
	var targets []string
	only := slices.Concat(opts["-p"], opts["--projects"], opts["--project"])
	switch words[0] {
	case "run":
		if len(words) < 2 {
			return nil
		}
		f := strings.Split(words[1], ":")
		only = f[:1]
		if len(f) > 1 {
			targets = []string{f[1]}
		}
	case "run-many", "affected":
		for _, t := range slices.Concat(opts["-t"], opts["--target"], opts["--targets"]) {
			targets = append(targets, strings.Split(t, ",")...)
		}
		after := false
		for _, w := range c.Argv[1:] { // -t build test
			if strings.HasPrefix(w.Text, "-") {
				after = w.Text == "-t" || w.Text == "--targets" || w.Text == "--target"
			} else if after {
				targets = append(targets, w.Text)
			}
		}
	default:
		targets = words[:1]
		if len(words) > 1 {
			only = words[1:2]
		}
	}
	for i := range only {
		only[i] = strings.TrimSuffix(only[i], ",")
	}
	n := &nxRun{r: r, list: list, done: map[string]bool{}}
	if text, _, ok := r.file(c, path.Join(root, "nx.json")); ok {
		var def map[string]any
		if json.Unmarshal([]byte(text), &def) == nil {
			n.defaults = mapOf(def, "targetDefaults")
		}
	}
	defer r.in(root)()
	var hits []Hit
	for _, p := range chosen(list, only) {
		for _, t := range targets {
			hits = append(hits, n.target(&p, t)...)
		}
	}
	return hits
}

type nxRun struct {
	r        *reading
	list     []project
	defaults map[string]any
	done     map[string]bool
}

// target classifies one target of a project, and those that it depends on.
func (n *nxRun) target(p *project, name string) []Hit {
	key := p.name + ":" + name
	if n.done[key] || len(n.done) > maxTargets {
		return nil
	}
	n.done[key] = true
	var hits []Hit
	def := mapOf(p.targets[name])
	if _, isScript := p.manifest.scripts[name]; def == nil && !isScript {
		return nil
	}
	for _, d := range append(listOf(def["dependsOn"]), listOf(mapOf(n.defaults[name])["dependsOn"])...) {
		dep := textOf(d) + textOf(mapOf(d)["target"])
		for i := range n.list {
			if strings.HasPrefix(dep, "^") || n.list[i].name == p.name {
				hits = append(hits, n.target(&n.list[i], strings.TrimPrefix(dep, "^"))...)
			}
		}
	}
	if def == nil {
		return append(hits, n.r.everywhere("", []project{*p}, name, "")...)
	}
	t := newTaskfile(p.file)
	k := t.add(name)
	options := mapOf(def, "options")
	if cwd := textOf(options["cwd"]); cwd != "" {
		defer n.r.in(cwd)()
	}
	k.command(textOf(def["command"]), p.file, p.text)
	k.command(commandWords(options["command"]), p.file, p.text)
	for _, x := range listOf(options["commands"]) {
		k.command(textOf(x)+textOf(mapOf(x)["command"]), p.file, p.text)
	}
	if s := textOf(options["script"]); s != "" {
		hits = append(hits, n.r.everywhere("", []project{*p}, s, "")...)
	}
	hs, _ := n.r.runTask(t, name, nil, map[string]bool{})
	return append(hits, hs...)
}
