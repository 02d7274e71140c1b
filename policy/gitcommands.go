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
	for _, e := range c.Env {
		if n, ok := strings.CutPrefix(e.Name, "GIT_CONFIG_VALUE_"); ok && keys[n] != "" {
			hits = append(hits, r.gitCommandKey(keys[n], e.Value.Text)...)
		}
	}
	return hits
}
