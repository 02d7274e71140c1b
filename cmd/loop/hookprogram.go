package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
)

// loopPackages are what loop's own programs are built from.
var loopPackages = []string{"github.com/seed-b23e517c/loop/cmd/loop", "github.com/seed-b23e517c/loop/cmd/loop-hook"}

// hookProgram is the path under which the client shall call the hook: the small
// program that lies beside this one, else this one. A path in PATH is taken
// where it leads there, because it outlives an update.
func (a *app) hookProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if isTemporaryProgram(exe) {
		return "", &hintedError{
			err:  fmt.Errorf("%q is a temporary program of `go run` and will be gone", exe),
			hint: "go install github.com/seed-b23e517c/loop/cmd/...@latest, then loop firewall install",
		}
	}
	real, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return "", err
	}
	small := filepath.Join(filepath.Dir(real), workspace.Executable("loop-hook"))
	if state, ok := programState(small); ok && state == sameVersion {
		return a.inPath("loop-hook", small), nil
	}
	return a.inPath("loop", exe), nil
}

// inPath is where PATH has the program, else its own place.
func (a *app) inPath(name, program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return program
	}
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		path := filepath.Join(dir, workspace.Executable(name))
		if to, err := filepath.EvalSymlinks(path); err == nil && to == real && filepath.IsAbs(dir) {
			return path
		}
	}
	return program
}

const sameVersion = "the same version as this program"

// programState says what is at the path that the client is told to call. It is
// not run: a repository's settings may name anything.
func programState(path string) (state string, ok bool) {
	there, err := os.Stat(path)
	switch {
	case err != nil:
		return "not there", false
	case !there.Mode().IsRegular():
		return "no program", false
	}
	own, err := os.Executable()
	if err != nil {
		return term.Line(err.Error()), false
	}
	if self, err := os.Stat(own); err == nil && os.SameFile(self, there) {
		return "this program", true
	}
	theirs, err := buildinfo.ReadFile(path)
	if err != nil || !slices.Contains(loopPackages, theirs.Path) {
		return "not a loop program", false
	}
	if mine, err := buildinfo.ReadFile(own); err == nil && sameBuild(mine, theirs) {
		return sameVersion, true
	}
	return "another version than this program", true
}

// sameBuild reports whether two programs were built from the same source, as
// far as Go wrote it into them.
func sameBuild(a, b *buildinfo.BuildInfo) bool {
	return a.Main.Version == b.Main.Version && a.GoVersion == b.GoVersion && slices.Equal(revision(a), revision(b))
}

func revision(b *buildinfo.BuildInfo) []string {
	var out []string
	for _, s := range b.Settings {
		if strings.HasPrefix(s.Key, "vcs.") {
			out = append(out, s.Key+"="+s.Value)
		}
	}
	return out
}

// isTemporaryProgram: `go run` and `go test` build below a folder go-build…, and
// keep what they built in the build cache, in a folder named by a hash.
func isTemporaryProgram(exe string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(exe), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	return regexp.MustCompile(`[/\\][0-9a-f]{64}-d[/\\]`).MatchString(exe)
}
