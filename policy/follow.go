package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// clearTools are programs whose rules know all that they do; of other known
// programs only some deeds are known, and they may run what the project says.
const clearTools = " git gh glab curl wget http rsync scp sftp aws gcloud gsutil az kubectl helm terraform tofu docker podman pip pip3 apt apt-get brew zip "

// isHidden: what the command runs cannot be seen through.
func (r *reading) isHidden(c *shell.Command, hits []Hit) bool {
	prog := c.Program()
	for _, h := range hits {
		if h.Opaque {
			return true
		}
	}
	switch {
	case c.Opaque != "" || unknownWord(c.Argv[0]) || isOwn(c):
		return true
	case followable(prog):
		return false // it has been counted where it was followed
	case languageOf(prog) != "" && languageOf(prog) != "awk" || prog == "java":
		return true
	case r.set.table().harmless.has(prog):
		return false
	case strings.Contains(clearTools, " "+prog+" "):
		return len(c.Argv) > 1 && unknownWord(c.Argv[1])
	}
	switch prog {
	case "break", "continue", "getopts", "exec", "eval", "builtin", "pushd", "popd", "shopt", "complete", "caller", "logout", "sudo":
		return false
	}
	return true
}

// isOwn: the program is not the one of this name that the system has.
func isOwn(c *shell.Command) bool {
	name := c.Argv[0].Text
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !strings.HasSuffix(name[:i], "node_modules/.bin") {
		switch name[:i] {
		case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin":
		default:
			return true
		}
	}
	for _, e := range c.Env {
		switch e.Name {
		case "PATH", "BASH_ENV", "ENV", "LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT":
			return true
		}
	}
	return false
}

// followable: the program runs targets or scripts that a file of the project
// defines.
func followable(prog string) bool {
	switch prog {
	case "make", "gmake", "npm", "pnpm", "yarn", "bun", "deno", "just", "task", "go-task", "composer", "rake", "run-s", "run-p", "npm-run-all":
		return true
	}
	return false
}

// follow classifies what a command runs out of the files of the project: the
// recipes of a target, the scripts of a package, a hook. seen is true when all
// of it was found and nothing in it is unclear.
func (r *reading) follow(prog string, c *shell.Command) (hits []Hit, seen bool) {
	makes := prog == "make" || prog == "gmake" // of its standard input, too
	if r.tree == nil && len(c.Files) == 0 && !makes || c.Remote != "" {
		return nil, false
	}
	before := r.blind()
	switch prog {
	case "make", "gmake":
		hits, seen = r.makeTargets(c)
	case "npm", "pnpm", "yarn", "bun", "deno", "composer", "run-s", "run-p", "npm-run-all":
		hits, seen = r.packageScripts(prog, c)
	case "just", "task", "go-task", "rake":
		if hits, seen = r.taskTargets(prog, c); len(hits) == 0 && !seen && prog == "task" {
			hits, seen, _ = r.projectTasks(prog, c)
		}
	case "node":
		if len(c.Argv) < 2 || !strings.HasPrefix(c.Argv[1].Text, "--run") {
			return nil, false
		}
		hits, seen = r.packageScripts(prog, c)
	case "git":
		return r.gitFiles(c), false
	case "cargo", "makers", "cargo-make":
		return r.cargo(prog, c)
	case "go":
		return r.goFiles(c), false
	case "turbo", "nx", "lerna":
		return r.monorepo(prog, c), false
	default:
		if hits := r.bake(prog, c); len(hits) > 0 {
			return hits, false
		}
		if hits, seen, ok := r.projectTasks(prog, c); ok {
			return hits, seen
		}
		if hits, ok := r.entries(prog, c); ok {
			return hits, false
		}
		return r.ownProgram(c), false
	}
	if !seen && r.blind() == before {
		r.hide()
	}
	return hits, seen
}
