package firewall

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
)

// Guarded is what a run in the repository keeps from the agent that works in
// it: loop's own files and those it was told by, and its own process. gitDir is
// git's common directory, "" when it is not known.
func Guarded(root, gitDir string, env []string, own ...string) *policy.Guarded {
	g := &policy.Guarded{Root: root, Home: proc.Home(env), Pids: []int{os.Getpid()}, Real: RealPlace}
	add := func(names ...string) {
		for _, n := range names {
			if n == "" || !filepath.IsAbs(n) {
				continue
			}
			g.Files = append(g.Files, filepath.Clean(n))
			if real := RealPlace(n); real != "" && real != filepath.Clean(n) {
				g.Files = append(g.Files, real)
			}
		}
	}
	add(own...)
	if dir := proc.Getenv(env, "CLAUDE_CONFIG_DIR"); dir != "" {
		add(filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.local.json"), filepath.Join(dir, ".claude.json"))
	}
	// A file that every shell of the agent's reads first.
	for _, name := range []string{"BASH_ENV", "ENV", "ZDOTDIR"} {
		add(proc.Getenv(env, name))
	}
	if gitDir != "" {
		add(filepath.Join(gitDir, "hooks"), filepath.Join(gitDir, "config"))
	}
	return g
}

// RealPlace is the place behind the symbolic links of a name whose last parts
// may not exist yet; "" when there is none.
func RealPlace(name string) string {
	if strings.ContainsAny(name, "$`*?\x00") {
		return ""
	}
	rest := ""
	for dir := filepath.Clean(name); ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		rest, dir = filepath.Join(filepath.Base(dir), rest), up
	}
}
