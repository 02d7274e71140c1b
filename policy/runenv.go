package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// environment classifies the commands that a variable makes the program run:
// an editor, a pager, a preprocessor. Git's own are read with git.
func (r *reading) environment(c *shell.Command) []Hit {
	var hits []Hit
	for _, e := range c.Env {
		if e.Value.Text == "" || !startsCommand(e.Name) || c.Program() == "git" {
			continue
		}
		code := strings.TrimLeft(e.Value.Text, "|! ")
		if !strings.Contains(code, " ") || !r.set.namesProgram(code) {
			continue
		}
		for _, h := range r.line(code) {
			if h.Tier == External && !h.Mention {
				hits = append(hits, h)
			}
		}
	}
	return hits
}

// startsCommand: programs run what a variable of this name holds.
func startsCommand(name string) bool {
	switch name {
	case "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER", "PROMPT_COMMAND", "GIT_SSH_COMMAND", "GIT_EDITOR",
		"GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_SEQUENCE_EDITOR", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS", "RSYNC_RSH", "CVS_RSH",
		"SVN_SSH", "HGEDITOR", "SVN_EDITOR", "KUBE_EDITOR", "PSQL_EDITOR", "PSQL_PAGER", "FCEDIT", "CARGO_BUILD_RUSTC_WRAPPER", "RUSTC_WRAPPER",
		"CC", "CXX", "GH_PAGER", "GH_EDITOR", "AWS_PAGER", "SYSTEMD_PAGER", "BAT_PAGER", "LESSSECURE_CMD", "TAR_OPTIONS", "FZF_DEFAULT_COMMAND":
		return true
	}
	return false
}
