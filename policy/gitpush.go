package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// localRemote: the repository that git pushes to is a path on this machine.
// A name is a configured remote and may be anywhere.
func localRemote(a *args, rest []shell.Word) bool {
	dest := shell.Word{}
	if len(rest) > 0 {
		dest = rest[0]
	}
	if v, ok := a.last("--repo"); ok && len(rest) == 0 {
		dest = v
	}
	if unknownWord(dest) {
		return false
	}
	return isLocalPath(dest.Text) && !isRemoteHere(a, dest.Text)
}

// isRemoteHere: the path is where a remote of the run's repository lies, by
// whatever name it is called.
func isRemoteHere(a *args, dest string) bool {
	if a.guard == nil || len(a.guard.Remotes) == 0 {
		return false
	}
	dest = strings.TrimSuffix(path.Clean(a.guard.resolve(a.dir, strings.TrimPrefix(dest, "file://"))), "/.git")
	return slices.ContainsFunc(a.guard.Remotes, func(r string) bool {
		r = strings.TrimSuffix(filepathSlash(r), "/.git")
		return r == dest || r == dest+".git"
	})
}

func isLocalPath(s string) bool {
	if strings.Contains(s, "::") {
		return false // a remote helper, ext:: and its kin
	}
	for _, p := range []string{"/", "./", "../", "~", "file://"} {
		if strings.HasPrefix(s, p) && !strings.HasPrefix(s, "//") {
			return true
		}
	}
	if s == "." || s == ".." {
		return true
	}
	return strings.HasSuffix(s, ".git") && !strings.Contains(s, ":")
}

// gitAlias finds what a git subcommand stands for when the line itself has
// defined it, by -c alias.X=... or by an earlier git config.
func (r *reading) gitAlias(a *args) (expansion string, ok bool) {
	if len(a.words) == 0 {
		return "", false
	}
	name := a.words[0].Text
	for _, v := range a.all("-c") {
		if k, val, eq := strings.Cut(v.Text, "="); eq && strings.EqualFold(k, "alias."+name) {
			return val, true
		}
	}
	expansion, ok = r.aliases[strings.ToLower(name)]
	return expansion, ok
}

// nameRemote puts the address in the place of a remote that the line itself
// has defined.
func (r *reading) nameRemote(a *args) {
	if len(a.words) > 1 && a.words[0].Text == "push" && a.tool.is("git") {
		if url, ok := r.remotes[a.words[1].Text]; ok {
			a.words[1].Text = url
		}
	}
}

// inContext is a docker command with the context that the line has switched
// to, which later commands of it use.
func (r *reading) inContext(t *tool, c *shell.Command) *shell.Command {
	if !t.is("docker") && !t.is("docker-compose") {
		return c
	}
	if use := afterWord(c.Argv, "use"); len(use) == 1 && len(c.Argv) > 2 && c.Argv[1].Text == "context" {
		r.remotes["docker context"] = use[0].Text
	}
	name, switched := r.remotes["docker context"]
	if !switched {
		return c
	}
	inner := *c
	inner.Env = append(c.Env[:len(c.Env):len(c.Env)], shell.Assign{Name: "DOCKER_CONTEXT", Value: shell.Word{Text: name}})
	return &inner
}

// npmScripts follows scripts that the line itself puts into package.json:
// npm pkg set scripts.x=..., then npm run x, or the hooks of npm version.
func (r *reading) npmScripts(a *args) []Hit {
	if len(a.words) < 2 {
		return nil
	}
	var names []string
	switch w := a.words; {
	case w[0].Text == "pkg" && w[1].Text == "set":
		for _, s := range w[2:] {
			if name, value, ok := strings.Cut(strings.TrimPrefix(s.Text, "scripts."), "="); ok && strings.HasPrefix(s.Text, "scripts.") {
				r.aliases["npm "+name] = value
			}
		}
	case w[0].Text == "run":
		names = []string{"pre" + w[1].Text, w[1].Text, "post" + w[1].Text}
	case w[0].Text == "version":
		names = []string{"preversion", "version", "postversion"}
	}
	var hits []Hit
	for _, n := range names {
		if line, ok := r.aliases["npm "+n]; ok {
			hits = append(hits, r.line(line)...)
		}
	}
	return hits
}

// newAlias makes a mention of what a new alias would do.
func (r *reading) newAlias(a *args) []Hit {
	if len(a.words) < 3 || a.words[0].Text != "config" {
		return nil
	}
	key, value := a.words[len(a.words)-2].Text, a.words[len(a.words)-1].Text
	if !strings.HasPrefix(strings.ToLower(key), "alias.") {
		return nil
	}
	line, ok := strings.CutPrefix(value, "!")
	if !ok {
		line = "git " + value
	}
	hits := r.line(line)
	for i := range hits {
		hits[i].Mention, hits[i].Net = hits[i].Mention || hits[i].Tier > Local, false
	}
	if r.guard != nil && slices.ContainsFunc(hits, func(h Hit) bool { return h.Tier == External }) {
		hits = append(hits, Hit{
			Rule: "guard-git-config", Tier: External, Text: commandText(a.cmd),
			Why: "It names a git command that reaches outside so that nobody sees it.", Instead: "Write the command itself; it is queued.",
		})
	}
	return hits
}

// noteGitConfig remembers what a git config of the line changes for the later
// commands of it: aliases, and the places of remotes.
func (r *reading) noteGitConfig(a *args) {
	if len(a.words) < 2 {
		return
	}
	w := a.words[1:]
	switch a.words[0].Text {
	case "config":
		if w[0].Text == "set" {
			w = w[1:]
		}
		if len(w) < 2 {
			return
		}
		key := strings.ToLower(w[0].Text)
		if name, ok := strings.CutPrefix(key, "alias."); ok {
			r.aliases[name] = w[1].Text
		}
		if key == "core.hookspath" {
			r.hooks = w[1].Text
		}
	case "remote":
		if len(w) >= 3 && (w[0].Text == "add" || w[0].Text == "set-url") {
			r.remotes[w[1].Text] = w[2].Text
		}
	}
}
