package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// gitCommands are git's own subcommands that people use: none of them can be
// an alias.
const gitCommands = " add am apply archive bisect blame branch bundle cat-file check-ignore checkout cherry cherry-pick clean clone commit config describe diff difftool fetch " +
	"filter-branch for-each-ref format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree maintenance merge merge-base mergetool mv notes pull push " +
	"range-diff read-tree rebase reflog remote repack request-pull rerere reset restore rev-list rev-parse revert rm send-email shortlog show show-ref sparse-checkout stash " +
	"status submodule svn switch symbolic-ref tag update-index update-ref var verify-commit version whatchanged worktree write-tree "

// hooksOf are the hooks that a subcommand runs on this machine.
func hooksOf(sub string, verify bool) []string {
	switch sub {
	case "commit":
		if !verify {
			return []string{"prepare-commit-msg", "post-commit"}
		}
		return []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}
	case "merge", "pull":
		return []string{"pre-merge-commit", "post-merge"}
	case "checkout", "switch":
		return []string{"post-checkout"}
	case "rebase":
		return []string{"pre-rebase", "post-rewrite"}
	case "am":
		return []string{"applypatch-msg", "pre-applypatch", "post-applypatch"}
	case "cherry-pick", "revert":
		return []string{"prepare-commit-msg", "post-commit"}
	}
	return nil
}

// gitFiles classifies what the files of a repository make git run: the hooks
// of a subcommand, and an alias of its configuration. Of hooks only what
// reaches outside counts.
func (r *reading) gitFiles(c *shell.Command) []Hit {
	t := r.tool("git")
	if t == nil || r.tree == nil {
		return nil
	}
	a := parseArgs(t, c, c.Argv[1:])
	if len(a.words) == 0 || a.helps() {
		return nil
	}
	for _, d := range a.all("-C") {
		defer r.in(d.Text)()
	}
	sub := a.words[0].Text
	if !strings.Contains(gitCommands, " "+sub+" ") {
		return r.configAlias(a, sub)
	}
	names := hooksOf(sub, !a.hasAny([]string{"-n", "--no-verify"}))
	if len(names) == 0 {
		return nil
	}
	root, config := r.gitConfig()
	hooks := ".git/hooks"
	if p, ok := config.value["core.hookspath"]; ok {
		hooks = p
	}
	if r.hooks != "" {
		hooks = r.hooks
	}
	for i, e := range c.Env { // GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=hooks
		if strings.HasPrefix(e.Name, "GIT_CONFIG_KEY_") && strings.EqualFold(e.Value.Text, "core.hookspath") && i+1 < len(c.Env) {
			hooks = c.Env[i+1].Value.Text
		}
	}
	for _, v := range a.all("-c") {
		if key, p, _ := strings.Cut(v.Text, "="); strings.EqualFold(key, "core.hookspath") {
			hooks = p
		}
	}
	dirs := []string{".husky", hooks}
	defer r.in(root)()
	var hits []Hit
	for _, d := range dirs {
		for _, n := range names {
			hits = append(hits, r.hook(c, d+"/"+n)...)
		}
	}
	return hits
}

// hook classifies one hook, if there is one.
func (r *reading) hook(c *shell.Command, name string) []Hit {
	text, file, ok := r.file(c, name)
	if !ok {
		return nil
	}
	before := r.blind()
	var hits []Hit
	if lang := languageOfFile("", text); lang != "" && lang != "shell" {
		hits = r.programFile(lang, text, file)
	} else {
		hits, _ = r.following(file, func() []Hit { return r.placed(r.line(text), file, text, 0) })
	}
	r.tree.hidden = before
	out := hits[:0]
	for _, h := range hits {
		if h.Tier == External {
			out = append(out, h)
		}
	}
	return out
}

// configAlias classifies an alias that the repository's configuration
// defines.
func (r *reading) configAlias(a *args, name string) []Hit {
	root, config := r.gitConfig()
	value, ok := config.value["alias."+strings.ToLower(name)]
	if !ok {
		return nil
	}
	line := config.line["alias."+strings.ToLower(name)]
	rest := lineOf(tailOf(a.argv, a.words[0])[1:])
	hits, _ := r.following(config.file+"\x00"+name, func() []Hit {
		if code, shellCode := strings.CutPrefix(value, "!"); shellCode {
			defer r.in(root)()
			return r.recipe(code+" "+rest, config.file, line)
		}
		return r.recipe("git "+value+" "+rest, config.file, line)
	})
	return hits
}

// gitConfig is what is read of a repository's configuration; keys are in
// lower case.
type gitConfig struct {
	file  string
	value map[string]string
	line  map[string]int
}

// gitConfig looks for the repository's configuration here and in the folders
// above. root is the way to the top of the work tree.
func (r *reading) gitConfig() (root string, config gitConfig) {
	up := ""
	for range maxAncestors {
		for _, name := range []string{".git/config", r.commonConfig(up)} {
			if name == "" {
				continue
			}
			if text, file, ok := r.tree.read(path.Join(up, name)); ok {
				return up, parseGitConfig(text, file)
			}
		}
		if r.tree.cwd == "" || r.tree.path(up) == "/" {
			break
		}
		up = path.Join(up, "..")
	}
	return "", gitConfig{}
}

// commonConfig is the configuration that a linked worktree shares.
func (r *reading) commonConfig(up string) string {
	text, _, ok := r.tree.read(path.Join(up, ".git"))
	if !ok {
		return ""
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
	if !ok || !strings.HasPrefix(dir, "/") {
		return ""
	}
	return path.Join(dir, "../../config")
}

func parseGitConfig(text, file string) gitConfig {
	c := gitConfig{file: file, value: map[string]string{}, line: map[string]int{}}
	section, n := "", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(strings.Trim(line, "[] "))
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		key = section + "." + strings.ToLower(strings.TrimSpace(key))
		value = strings.TrimSpace(value)
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(value[1 : len(value)-1])
		}
		c.value[key], c.line[key] = value, n
	}
	return c
}
