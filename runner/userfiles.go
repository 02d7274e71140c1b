package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// userFiles are files of the user's home by which programs are started, or told
// what to start, when the run is over: the client's settings, shells, git,
// schedules, editors, and what package managers and builds read for every
// project. A call that names one is refused (the guard rules); these are looked
// at because a program can write them without naming them to anybody. The last
// part may be a pattern.
var userFiles = []string{
	".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/*", ".claude/agents/*", ".claude/commands/*", ".claude/plugins/*.json", ".claude/skills/*/SKILL.md",
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".pam_environment", ".xprofile", ".xsession", ".xinitrc",
	".config/fish/config.fish", ".config/fish/conf.d/*", ".config/fish/functions/*", ".config/environment.d/*", ".config/direnv/*", ".config/starship.toml",
	".ssh/rc", ".ssh/environment", ".ssh/config", ".ssh/authorized_keys", ".gitconfig", ".config/git/*", ".config/systemd/user/*", ".config/systemd/user/*.wants/*",
	".local/share/systemd/user/*", ".config/autostart/*", "Library/LaunchAgents/*", ".config/loop/*",
	".vimrc", ".vim/vimrc", ".vim/plugin/*", ".config/nvim/init.*", ".config/nvim/plugin/*", ".emacs", ".emacs.d/init.el", ".exrc", ".nanorc", ".config/Code/User/*.json", ".config/Cursor/User/*.json",
	".tmux.conf", ".config/tmux/tmux.conf", ".screenrc", ".gdbinit", ".config/gdb/gdbinit", ".lldbinit", ".psqlrc", ".sqliterc", ".my.cnf", ".lesskey", ".curlrc", ".wgetrc", ".netrc", ".mailcap",
	".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm/rc", ".bunfig.toml", ".pypirc", ".pip/pip.conf", ".config/pip/pip.conf", ".config/uv/uv.toml", ".pythonrc", ".pythonrc.py",
	".local/lib/python*/site-packages/*.pth", ".local/lib/python*/site-packages/sitecustomize.py", ".local/lib/python*/site-packages/usercustomize.py", ".ipython/profile_default/startup/*",
	".config/go/env", ".cargo/config", ".cargo/config.toml", ".rustup/settings.toml", ".gradle/init.gradle", ".gradle/init.gradle.kts", ".gradle/gradle.properties", ".gradle/init.d/*",
	".m2/settings.xml", ".m2/extensions.xml", ".mavenrc", ".sbt/*", ".gemrc", ".bundle/config", ".irbrc", ".pryrc", ".rspec", ".Rprofile", ".julia/config/startup.jl", ".composer/config.json",
	".config/composer/config.json", ".docker/config.json", ".docker/cli-plugins/*", ".kube/config", ".terraformrc", ".tofurc", ".aws/config", ".config/gh/config.yml", ".config/gh/hosts.yml",
	".config/containers/*.conf", ".config/pre-commit/*", ".config/mise/config.toml", ".tool-versions", ".asdfrc", ".nvmrc",
	".local/bin/git", ".local/bin/claude", ".local/bin/loop", ".local/bin/loop-hook", "bin/git", "bin/claude", "bin/loop", "bin/loop-hook",
}

// maxUserFiles is how many files one pattern may mean.
const maxUserFiles = 200

// readUserFiles are the hashes of the user's files. Without a home there are
// none. What the run was told by is looked at with that.
func readUserFiles(o *Options) map[string]hash {
	home := proc.Home(o.Env)
	if home == "" {
		return nil
	}
	config := proc.Getenv(o.Env, "XDG_CONFIG_HOME")
	var paths []string
	for _, name := range userFiles {
		path := filepath.Join(home, filepath.FromSlash(name))
		if rest, ok := strings.CutPrefix(name, ".config/"); ok && filepath.IsAbs(config) {
			path = filepath.Join(config, filepath.FromSlash(rest))
		}
		if !strings.Contains(name, "*") {
			paths = append(paths, path)
			continue
		}
		// A pattern of ours is none that cannot be read.
		found, _ := filepath.Glob(path)
		for _, f := range found[:min(len(found), maxUserFiles)] {
			if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
				paths = append(paths, f)
			}
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(o.Watched, p) || isUnder(o.Root, p) })
	out := fingerprints(paths)
	for path, h := range out {
		if h == (hash{}) {
			delete(out, path)
		}
	}
	return out
}

// isUnder reports whether a path lies in a folder.
func isUnder(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
