package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// gitCommandKeys are the settings whose value is a command that git runs.
var gitCommandKeys = []string{"core.sshcommand", "core.editor", "core.pager", "core.fsmonitor", "core.askpass", "core.gitproxy", "core.alternaterefscommand",
	"sequence.editor", "diff.external", "diff.*.command", "diff.*.textconv", "merge.*.driver", "filter.*.clean", "filter.*.smudge", "filter.*.process",
	"gpg.program", "gpg.*.program", "gpg.ssh.defaultkeycommand", "mergetool.*.cmd", "difftool.*.cmd", "pager.*", "trailer.*.command", "trailer.*.cmd",
	"interactive.difffilter", "sendemail.tocmd", "sendemail.cccmd", "sendemail.smtpserver", "sendemail.sendmailcmd", "uploadpack.packobjectshook",
	"remote.*.uploadpack", "remote.*.receivepack", "browser.*.cmd", "man.*.cmd", "guitool.*.cmd", "web.browser", "ssh.variant"}

// The subcommands that ask for what settings name, by the kind of the setting.
const (
	gitIndex = " add am apply blame checkout cherry-pick clean commit describe diff difftool grep ls-files merge mv pull read-tree rebase reset restore revert rm sparse-checkout stash " +
		"status submodule switch update-index worktree "
	gitContent = gitIndex + "archive cat-file clone hash-object log show "
	gitNetwork = " archive clone fetch ls-remote pull push remote submodule svn "
	gitSigned  = " am cherry-pick commit commit-tree log merge pull push rebase revert show tag verify-commit verify-tag "
	gitEdited  = " add am bisect branch cherry-pick commit config merge notes pull rebase revert tag "
	gitPaged   = " blame branch config diff grep log ls-files reflog shortlog show stash status tag whatchanged "
	gitMerged  = " am checkout cherry-pick merge pull rebase revert stash switch "
	gitShown   = " blame cat-file diff format-patch grep log range-diff show stash whatchanged "
)

// gitSettings are the settings by which subcommands run a command.
var gitSettings = []struct{ key, subs string }{
	{"core.fsmonitor", gitIndex},
	{"filter.*.clean", gitContent}, {"filter.*.smudge", gitContent}, {"filter.*.process", gitContent},
	{"diff.external", gitShown}, {"diff.*.command", gitShown}, {"diff.*.textconv", gitShown},
	{"merge.*.driver", gitMerged},
	{"core.editor", gitEdited}, {"sequence.editor", gitEdited},
	{"core.pager", gitPaged}, {"pager.*", gitPaged},
	{"gpg.program", gitSigned}, {"gpg.*.program", gitSigned}, {"gpg.ssh.defaultkeycommand", gitSigned},
	{"core.sshcommand", gitNetwork}, {"core.gitproxy", gitNetwork}, {"core.askpass", gitNetwork}, {"core.alternaterefscommand", gitNetwork},
	{"credential.helper", gitNetwork}, {"credential.*.helper", gitNetwork}, {"remote.*.uploadpack", gitNetwork}, {"remote.*.receivepack", gitNetwork},
	{"remote.*.url", gitNetwork}, {"uploadpack.packobjectshook", gitNetwork},
	{"interactive.difffilter", " add checkout commit reset restore stash "},
	{"mergetool.*.cmd", " mergetool "}, {"difftool.*.cmd", " difftool "},
	{"trailer.*.command", " commit interpret-trailers "}, {"trailer.*.cmd", " commit interpret-trailers "},
	{"submodule.*.update", " submodule pull "},
}

// settingsRun classifies the commands that settings make a subcommand run.
func (r *reading) settingsRun(sub string, config *gitConfig) []Hit {
	var hits []Hit
	config.all(func(e gitEntry) {
		for _, s := range gitSettings {
			if matchGlob(s.key, e.key) && strings.Contains(s.subs, " "+sub+" ") {
				hits = append(hits, r.setting(e)...)
				return
			}
		}
	})
	return hits
}

// setting classifies the command that a setting of the configuration holds.
func (r *reading) setting(e gitEntry) []Hit {
	cmd, isShell := strings.CutPrefix(e.value, "!")
	switch {
	case strings.HasPrefix(e.key, "credential."), strings.HasPrefix(e.key, "submodule."):
		if !isShell && (e.key[0] == 's' || !strings.Contains(cmd, "/")) {
			return nil // a word of git's own
		}
	case strings.HasPrefix(e.key, "remote.") && strings.HasSuffix(e.key, ".url"):
		code, ok := strings.CutPrefix(cmd, "ext::")
		if !ok {
			return nil
		}
		cmd = strings.ReplaceAll(code, "% ", `\ `)
	case e.key == "core.sshcommand" && sshAlone(cmd):
		return nil
	}
	if cmd == "" || cmd == "true" || cmd == "false" {
		return nil
	}
	key := e.file + "\x00" + e.key
	return r.outsideOnce(key, func() []Hit {
		hits, _ := r.following(key, func() []Hit { return r.recipe(cmd, e.file, e.line) })
		return hits
	})
}

// sshAlone: ssh with options and no other end, which git adds.
func sshAlone(cmd string) bool {
	f := strings.Fields(cmd)
	return len(f) > 0 && containsString([]string{"ssh", "ssh.exe", "/usr/bin/ssh"}, f[0]) && !strings.ContainsAny(cmd, ";|&`$\n") && !strings.Contains(strings.ToLower(cmd), "command")
}

// gitCommandKey classifies the command that a setting of git's holds: git runs
// it in place of one of its own.
func (r *reading) gitCommandKey(key, val string) []Hit {
	key = strings.ToLower(key)
	cmd, isShell := strings.CutPrefix(val, "!")
	switch {
	case strings.HasPrefix(key, "credential.") && strings.HasSuffix(key, "helper"):
		if !isShell && !strings.HasPrefix(val, "/") && !strings.HasPrefix(val, ".") {
			return nil // one of git's own, git-credential-NAME
		}
	case !matchAny(gitCommandKeys, key):
		return nil
	}
	return r.gitRuns(cmd)
}

// gitRuns classifies a command that git is told to run.
func (r *reading) gitRuns(cmd string) []Hit {
	if strings.TrimSpace(cmd) == "" || cmd == "true" || cmd == "false" {
		return nil
	}
	var hits []Hit
	for _, h := range r.line(cmd) {
		if !h.Opaque || strings.HasPrefix(h.Rule, "opaque-") {
			hits = append(hits, h)
		}
	}
	return hits
}

// configured is the setting that git config writes.
func configured(a *args) (key, val string, ok bool) {
	if len(a.words) < 3 || a.words[0].Text != "config" || a.hasAny([]string{"--get", "--get-all", "--get-regexp", "--unset", "--unset-all", "--list", "-l"}) {
		return "", "", false
	}
	w := a.words[1:]
	switch w[0].Text {
	case "get", "unset", "list":
		return "", "", false
	case "set":
		w = w[1:]
	}
	if len(w) < 2 {
		return "", "", false
	}
	return w[0].Text, w[1].Text, true
}

// gitCommandEnv classifies the commands that variables tell git to run.
func (r *reading) gitCommandEnv(c *shell.Command) []Hit {
	var hits []Hit
	keys := map[string]string{}
	for _, e := range c.Env {
		switch e.Name {
		case "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "EDITOR", "VISUAL", "PAGER", "SSH_ASKPASS":
			hits = append(hits, r.gitRuns(e.Value.Text)...)
		}
		if n, ok := strings.CutPrefix(e.Name, "GIT_CONFIG_KEY_"); ok {
			keys[n] = e.Value.Text
		}
	}
	for _, w := range c.Argv {
		setting, _ := strings.CutPrefix(w.Text, "--config-env=")
		if i := strings.LastIndexByte(setting, '='); i > 0 && setting != w.Text {
			for _, e := range c.Env {
				if e.Name == setting[i+1:] {
					hits = append(hits, r.gitCommandKey(setting[:i], e.Value.Text)...)
				}
			}
		}
	}
	for _, e := range c.Env {
		if n, ok := strings.CutPrefix(e.Name, "GIT_CONFIG_VALUE_"); ok && keys[n] != "" {
			hits = append(hits, r.gitCommandKey(keys[n], e.Value.Text)...)
		}
	}
	return hits
}
