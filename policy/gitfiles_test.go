package policy

import (
	"strings"
	"testing"
)

// What is planted where git looks is found by the command that sets it off.
func TestGitRunsWhatItsFilesName(t *testing.T) {
	const push, quiet = "#!/bin/sh\ngit push origin main\n", "#!/bin/sh\nnpm test\n"
	s := builtin(t)
	for _, c := range []struct {
		line  string
		files map[string]string
		at    string // where the push stands; "" = nothing leaves
	}{
		{"git add .", map[string]string{".git/hooks/post-index-change": push}, ".git/hooks/post-index-change:2"},
		{"git branch x", map[string]string{".git/hooks/reference-transaction": push}, ".git/hooks/reference-transaction:2"},
		{"git worktree add ../x", map[string]string{".git/hooks/post-checkout": push}, ".git/hooks/post-checkout:2"},
		{"git restore a", map[string]string{".git/hooks/post-checkout": push}, ".git/hooks/post-checkout:2"},
		{"git commit --amend --no-edit", map[string]string{".git/hooks/post-rewrite": push}, ".git/hooks/post-rewrite:2"},
		{"git commit --no-verify -m x", map[string]string{".git/hooks/pre-commit": push}, ""},
		{"git commit -m x", map[string]string{".git/hooks/pre-commit": quiet, ".git/hooks/pre-push": push}, ""},
		{"git log", map[string]string{".git/hooks/pre-commit": push}, ""},

		{"git status", map[string]string{".git/config": "[core]\n\tfsmonitor = scripts/watch.sh\n", "scripts/watch.sh": push}, "scripts/watch.sh:2"},
		{"git -C sub diff", map[string]string{".git/config": "[core] fsmonitor = git push # watches\n"}, ".git/config:1"},
		{"git add .", map[string]string{".git/config": "[filter \"x\"]\n\tclean = \"sh \\\n  -c 'git push'; cat\"\n"}, ".git/config:2"},
		{"git diff", map[string]string{".git/config": "[diff \"x\"]\n\ttextconv = scripts/x.sh\n", "scripts/x.sh": push}, "scripts/x.sh:2"},
		{"git merge x", map[string]string{".git/config": "[merge \"x\"]\n\tdriver = git push\n"}, ".git/config:2"},
		{"git commit --amend", map[string]string{".git/config": "[core]\n\teditor = git push; true\n"}, ".git/config:2"},
		{"git commit -S -m x", map[string]string{".git/config": "[gpg \"ssh\"]\n\tprogram = ./sign\n", "sign": push}, "sign:2"},
		{"git fetch", map[string]string{".git/config": "[core]\n\tsshCommand = ./ssh.sh\n", "ssh.sh": push}, "ssh.sh:2"},
		{"git fetch", map[string]string{".git/config": "[credential]\n\thelper = !git push\n"}, ".git/config:2"},
		{"git fetch", map[string]string{".git/config": "[remote \"o\"]\n\turl = ext::git push\n"}, ".git/config:2"},
		{"git submodule update", map[string]string{".git/config": "[submodule \"x\"]\n\tupdate = !git push\n"}, ".git/config:2"},
		{"git commit -m x", map[string]string{".git/config": "[hook \"x\"]\n\tevent = pre-commit\n\tcommand = git push\n"}, ".git/config:3"},
		{"git commit -m x", map[string]string{".git/config": "[core]\n\thooksPath = .h\n", ".h/commit-msg": push}, ".h/commit-msg:2"},
		{"git status", map[string]string{".git/config": "[include]\n\tpath = ../x.cfg\n", "x.cfg": "[core]\n\tfsmonitor = git push\n"}, "x.cfg:2"},
		{"git st", map[string]string{".git/config": "[includeIf \"gitdir:/\"]\n\tpath = x.cfg\n", ".git/x.cfg": "[alias]\n\tst = !git push\n"}, ".git/x.cfg:2"},
		{"git status", map[string]string{".git/config": "[extensions]\n\tworktreeConfig\n", ".git/config.worktree": "[core]\n\tfsmonitor = git push\n"}, ".git/config.worktree:2"},
		{"git -c include.path=x.cfg status", map[string]string{"x.cfg": "[core]\n\tfsmonitor = git push\n"}, "x.cfg:2"},
		{"GIT_CONFIG_GLOBAL=x.cfg git status", map[string]string{"x.cfg": "[core]\n\tfsmonitor = git push\n"}, "x.cfg:2"},
		{"HOME=$PWD/h git status", map[string]string{"h/.gitconfig": "[core]\n\tfsmonitor = git push\n"}, "h/.gitconfig:2"},
		{"git status", map[string]string{"~/.gitconfig": "[core]\n\tfsmonitor = git push\n"}, "~/.gitconfig:2"},
		{"cd other && git status", map[string]string{"other/.git/config": "[core]\n\tfsmonitor = git push\n"}, "other/.git/config:2"},
		{"GIT_DIR=o.git git status", map[string]string{"o.git/config": "[core]\n\tfsmonitor = git push\n"}, "o.git/config:2"},
		{"cd bare && git status", map[string]string{"bare/HEAD": "ref: refs/heads/main\n", "bare/config": "[core]\n\tfsmonitor = git push\n"}, "bare/config:2"},
		{"git commit -m x", map[string]string{".git": "gitdir: /o/.git/worktrees/x\n", "/o/.git/config": "[core]\n", "/o/.git/hooks/pre-commit": push}, "/o/.git/hooks/pre-commit:2"},

		{"git status", map[string]string{".git/config": "[core]\n\tfsmonitor = true\n\tpager = less -R\n\teditor = vim\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n"}, ""},
		{"git fetch", map[string]string{".git/config": "[core]\n\tsshCommand = ssh -i ~/.ssh/work -o IdentitiesOnly=yes\n[credential]\n\thelper = store\n[remote \"o\"]\n\turl = git@example.com:a/b\n"}, ""},
		{"git add .", map[string]string{".git/config": "[credential]\n\thelper = !git push\n; [core] fsmonitor = git push\n[alias]\n\tup = !git push\n"}, ""},
		{"git commit -m x", map[string]string{".git/config": "[core]\n\thooksPath = .husky/_\n", ".husky/pre-commit": "npx lint-staged\n", ".husky/pre-push": "git push\n"}, ""},
	} {
		read := func(name string) (string, bool) {
			text, ok := c.files[strings.TrimPrefix(name, "/w/")]
			return text, ok
		}
		res := s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": c.line}), Cwd: "/w", ReadFile: read, Guarded: guardedRun()})
		at := ""
		if res.Tier == External && len(res.Hits) > 0 {
			at = strings.TrimPrefix(res.Hits[0].File, "/w/") + ":" + itoa(res.Hits[0].Line)
		}
		if at != c.at {
			t.Errorf("%s with %s: at %q, want %q: %v", c.line, mustJSON(t, c.files), at, c.at, res.Hits)
		}
	}
}

// What stands behind a subcommand of git's own is a branch or a file, whatever
// it is called; behind another's it is what that is told to do.
func TestBranchesAreCalledWhatTheyLike(t *testing.T) {
	s := builtin(t)
	for line, want := range map[string]Tier{
		"git rev-parse --verify push": Local, "git diff-tree publish deploy": Local, "git name-rev push": Local, "git merge-tree main release-push": Local,
		"git pages publish": External, "git pr submit": External,
	} {
		if got := s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line})}); got.Tier != want {
			t.Errorf("%s: %v %v", line, got.Tier, got.Rules())
		}
	}
}
