package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
)

// Guarded is what a run in the repository keeps from the agent that works in
// it: loop's own files and those it was told by, and its own process. gitDir is
// git's common directory, "" when it is not known.
func Guarded(o *Options, gitDir string) *policy.Guarded {
	g := &policy.Guarded{Root: o.Root, Home: home(o.Env), Pids: []int{os.Getpid()}, Real: realPlace}
	add := func(names ...string) {
		for _, n := range names {
			if n == "" || !filepath.IsAbs(n) {
				continue
			}
			g.Files = append(g.Files, filepath.Clean(n))
			if real := realPlace(n); real != "" && real != filepath.Clean(n) {
				g.Files = append(g.Files, real)
			}
		}
	}
	add(o.State)
	add(o.Protected...)
	add(o.Watched...)
	if dir := proc.Getenv(o.Env, "CLAUDE_CONFIG_DIR"); dir != "" {
		add(filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.local.json"), filepath.Join(dir, ".claude.json"))
	}
	// A file that every shell of the agent's reads first.
	for _, name := range []string{"BASH_ENV", "ENV", "ZDOTDIR"} {
		add(proc.Getenv(o.Env, name))
	}
	if gitDir != "" {
		add(filepath.Join(gitDir, "hooks"), filepath.Join(gitDir, "config"))
	}
	return g
}

// GitDir is git's common directory of the repository, "" when there is none.
func GitDir(ctx context.Context, o *Options) string {
	if o.gitDir != "" {
		return o.gitDir
	}
	return gitLine(ctx, o, o.Root, "rev-parse", "--path-format=absolute", "--git-common-dir")
}

func home(env []string) string {
	if h := proc.Getenv(env, "HOME"); h != "" {
		return h
	}
	return proc.Getenv(env, "USERPROFILE")
}

// realPlace is the place behind the symbolic links of a name whose last parts
// may not exist yet; "" when there is none.
func realPlace(name string) string {
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
