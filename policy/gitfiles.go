package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// gitCommands are the subcommands that git has had everywhere for long: none of
// them can be an alias. Source: git(1).
const gitCommands = " add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout " +
	"checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential credential-cache " +
	"credential-store describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg " +
	"for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object help http-backend index-pack init init-db interpret-trailers log ls-files " +
	"ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-one-file merge-tree mergetool mktag mktree " +
	"multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase " +
	"receive-pack reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shortlog show " +
	"show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule svn switch symbolic-ref tag unpack-file unpack-objects " +
	"update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree " +
	"write-tree "

// hooksOf are the hooks that a subcommand runs on this machine.
func hooksOf(sub string, verify bool) []string {
	var out []string
	for _, h := range gitHooks {
		if strings.Contains(h.subs, " "+sub+" ") && (verify || !h.verifies) {
			out = append(out, h.name)
		}
	}
	return out
}

// gitHooks are the hooks of this machine and the subcommands that run them.
var gitHooks = []struct {
	name, subs string
	verifies   bool // --no-verify leaves it out
}{
	{"pre-commit", " commit ", true},
	{"prepare-commit-msg", " commit merge pull cherry-pick revert rebase ", false},
	{"commit-msg", " commit merge pull cherry-pick revert rebase ", true},
	{"post-commit", " commit pull cherry-pick revert rebase ", false},
	{"pre-merge-commit", " merge pull ", true},
	{"post-merge", " merge pull ", false},
	{"post-checkout", " checkout restore switch worktree clone rebase pull bisect ", false},
	{"pre-rebase", " rebase pull ", true},
	{"post-rewrite", " rebase commit pull ", false},
	{"applypatch-msg", " am ", true},
	{"pre-applypatch", " am ", true},
	{"post-applypatch", " am ", false},
	{"pre-auto-gc", " gc merge commit fetch pull am rebase maintenance ", false},
	{"reference-transaction", " commit merge pull fetch checkout switch branch tag rebase reset stash update-ref symbolic-ref cherry-pick revert am push remote clone worktree notes bisect replace ", false},
	{"post-index-change", " add commit status diff reset checkout switch restore stash merge pull rebase cherry-pick revert rm mv update-index read-tree apply am clean sparse-checkout ", false},
}

// gitFiles classifies what the files of a repository make git run: the hooks
// of a subcommand, and what its configuration names: an alias, a monitor, a
// filter. Of hooks and settings only what reaches outside counts.
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
	root, config := r.gitConfigOf(a, c.Env)
	if !strings.Contains(gitCommands, " "+sub+" ") {
		return r.configAlias(a, sub, root, &config)
	}
	defer r.in(root)()
	hits := r.settingsRun(sub, &config)
	names := hooksOf(sub, !a.hasAny([]string{"-n", "--no-verify"}))
	for _, d := range []string{".husky", r.hooksFolder(c, a, &config)} {
		for _, n := range names {
			hits = append(hits, r.hook(c, d+"/"+n)...)
		}
	}
	config.all(func(e gitEntry) {
		event, ok := strings.CutSuffix(e.key, ".command")
		if !ok || !strings.HasPrefix(e.key, "hook.") {
			return
		}
		if on, ok := config.last(event + ".event"); ok && containsString(names, on.value) {
			hits = append(hits, r.setting(e)...)
		}
	})
	return hits
}

// hooksFolder is where git looks for its hooks.
func (r *reading) hooksFolder(c *shell.Command, a *args, config *gitConfig) string {
	hooks := ".git/hooks"
	if config.file != "" {
		hooks = path.Dir(config.file) + "/hooks"
	}
	if p, ok := config.last("core.hookspath"); ok {
		hooks = p.value
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
	return hooks
}

// hook classifies one hook, if there is one.
func (r *reading) hook(c *shell.Command, name string) []Hit {
	text, file, ok := r.file(c, name)
	if !ok {
		return nil
	}
	return r.outsideOnce(file, func() []Hit {
		if lang := languageOfFile("", text); lang != "" && lang != "shell" {
			return r.programFile(lang, text, file)
		}
		hits, _ := r.following(file, func() []Hit { return r.placed(r.line(text), file, text, 0) })
		return hits
	})
}

// outsideOnce follows what a tool runs by itself, for a file's or a setting's
// sake, once in a call, and keeps what reaches outside. What hides there is not
// counted.
func (r *reading) outsideOnce(key string, follow func() []Hit) []Hit {
	key += "\x00" + strconv.Itoa(len(r.tree.stack)) // from deep down less is followed
	if hits, ok := r.tree.ranBy[key]; ok {
		return slices.Clone(hits)
	}
	if r.tree.ranBy == nil {
		r.tree.ranBy = map[string][]Hit{}
	}
	r.tree.ranBy[key] = nil // it runs itself: nothing more to see
	before := r.blind()
	hits := reachOutside(follow())
	r.tree.hidden = before
	r.tree.ranBy[key] = hits
	return slices.Clone(hits)
}

// reachOutside leaves of what was found what runs and leaves the machine.
func reachOutside(hits []Hit) []Hit {
	var out []Hit
	for _, h := range hits {
		if h.Tier == External && !h.Mention {
			out = append(out, h)
		}
	}
	return out
}

// configAlias classifies an alias that the configuration defines.
func (r *reading) configAlias(a *args, name, root string, config *gitConfig) []Hit {
	e, ok := config.last("alias." + strings.ToLower(name))
	if !ok {
		return nil
	}
	rest := lineOf(tailOf(a.argv, a.words[0])[1:])
	hits, _ := r.following(e.file+"\x00"+name, func() []Hit {
		if code, shellCode := strings.CutPrefix(e.value, "!"); shellCode {
			defer r.in(root)()
			return r.recipe(code+" "+rest, e.file, e.line)
		}
		return r.recipe("git "+e.value+" "+rest, e.file, e.line)
	})
	return hits
}
