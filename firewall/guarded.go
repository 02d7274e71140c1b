package firewall

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
)

// Guarded is what a run in the repository keeps from the agent that works in
// it: loop's own files and those it was told by, which own names when they are
// first asked for, and its own process. gitDir is git's common directory, ""
// when it is not known.
func Guarded(root, gitDir string, env []string, links Links, own func() []string) *policy.Guarded {
	g := &policy.Guarded{Root: root, Home: proc.Home(env), Pids: []int{os.Getpid()}, Real: links.place, Glob: globPlaces}
	g.Path = slices.DeleteFunc(filepath.SplitList(proc.Getenv(env, "PATH")), func(dir string) bool { return !filepath.IsAbs(dir) })
	g.Finds = func(program, except string) bool {
		return slices.ContainsFunc(g.Path, func(dir string) bool {
			if filepath.Clean(dir) == filepath.Clean(except) {
				return false
			}
			fi, err := os.Stat(filepath.Join(dir, program))
			return err == nil && fi.Mode().IsRegular()
		})
	}
	g.Own = sync.OnceValue(func() []string {
		names := slices.Concat(own(), settingsFiles(env))
		if gitDir != "" {
			names = append(names, filepath.Join(gitDir, "hooks"), filepath.Join(gitDir, "config"))
		}
		return links.places(names)
	})
	return g
}

// settingsFiles are what the environment says of the client's settings, and of
// files that every shell of the agent's reads first.
func settingsFiles(env []string) []string {
	var names []string
	if dir := proc.Getenv(env, "CLAUDE_CONFIG_DIR"); dir != "" {
		for _, name := range []string{"settings.json", "settings.local.json", ".claude.json", "plugins", "hooks", "shell-snapshots", "skills", "agents", "commands", "output-styles"} {
			names = append(names, filepath.Join(dir, name))
		}
	}
	for _, name := range []string{"BASH_ENV", "ENV", "ZDOTDIR"} {
		names = append(names, proc.Getenv(env, name))
	}
	return names
}

// places are the absolute ones of the names, and what lies behind them.
func (l Links) places(names []string) []string {
	var out []string
	for _, n := range names {
		if n == "" || !filepath.IsAbs(n) {
			continue
		}
		out = append(out, filepath.Clean(n))
		if real := l.place(n); real != "" && real != filepath.Clean(n) {
			out = append(out, real)
		}
	}
	return out
}

// maxLooked is how many names are looked at for one pattern: nobody waits for
// /*/*/*/*.
const maxLooked = 2000

// globPlaces are the places that a pattern of the shell's means. A dot in front
// is only meant where it is written.
func globPlaces(pattern string) []string {
	pattern = filepath.ToSlash(pattern)
	if !strings.HasPrefix(pattern, "/") {
		return nil
	}
	found, left := []string{"/"}, maxLooked
	for part := range strings.SplitSeq(pattern[1:], "/") {
		var next []string
		for _, dir := range found {
			if left <= 0 {
				return nil
			}
			if !strings.ContainsAny(part, `*?[\`) {
				left--
				if _, err := os.Lstat(filepath.Join(dir, part)); err == nil {
					next = append(next, filepath.Join(dir, part))
				}
				continue
			}
			names := namesIn(dir, left)
			left -= len(names) + 1
			for _, name := range names {
				ok, err := path.Match(part, name)
				if err == nil && ok && (name[0] != '.' || part[0] == '.') {
					next = append(next, filepath.Join(dir, name))
				}
			}
		}
		found = next
	}
	slices.Sort(found)
	return found
}

func namesIn(dir string, most int) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(most) // as far as they can be read
	return names
}

// RealPlace is the place behind the symbolic links of a name whose last parts
// may not exist yet; "" when there is none.
func RealPlace(name string) string { return Links(nil).place(name) }

// Links gives the place behind the symbolic links of a name, as
// filepath.EvalSymlinks, which nil stands for.
type Links func(name string) (string, error)

func (l Links) eval(name string) (string, error) {
	if l == nil {
		return filepath.EvalSymlinks(name)
	}
	return l(name)
}

func (l Links) place(name string) string {
	if strings.ContainsAny(name, "$`*?\x00") {
		return ""
	}
	rest := ""
	for dir := filepath.Clean(name); ; {
		if real, err := l.eval(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		rest, dir = filepath.Join(filepath.Base(dir), rest), up
	}
}
