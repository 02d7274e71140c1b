package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxKept is the largest file that loop has git keep. Where repositories are
// hosted none so large is taken, and a forgotten image of a disk would fill this
// one, or keep git reading for hours.
const maxKept = 256 << 20

// isLarge: the file is larger than what is kept.
func isLarge(dir, name string) bool {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular() && info.Size() > maxKept
}

// largeOf are those of the paths that are not kept for their size. What passes
// through a filter of the session's start (git-lfs) is kept by that.
func (f filters) largeOf(dir string, paths []string, git func(args ...string) (string, bool)) []string {
	const most = 100 // of which git is asked
	large := slices.DeleteFunc(slices.Clone(paths), func(name string) bool { return !isLarge(dir, name) })
	if len(large) == 0 || len(f) == 0 {
		return large
	}
	out, ok := git(append([]string{"check-attr", "-z", "filter", "--"}, large[:min(most, len(large))]...)...)
	if !ok {
		return large
	}
	for parts := strings.Split(out, "\x00"); len(parts) >= 3; parts = parts[3:] {
		if filter := "filter." + parts[2]; f[filter+".clean"]+f[filter+".process"] != "" {
			large = slices.DeleteFunc(large, func(name string) bool { return name == parts[0] })
		}
	}
	return large
}

// large are the files of the work tree that are left out of its tree.
func (t *trees) large(ctx context.Context, index string) []string {
	out := t.git(ctx, index, "ls-files", "-z", "--others", "--modified", "--exclude-standard")
	if !out.OK() || out.Cut {
		return nil
	}
	return t.filters.largeOf(t.o.Root, splitZero(string(out.Tail)), func(args ...string) (string, bool) {
		out := t.git(ctx, index, args...)
		return string(out.Tail), out.OK() && !out.Cut
	})
}

// sizes tell in place of a tree whether large files were written to.
func sizes(dir string, large []string, to map[string]string) {
	for _, name := range large {
		if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			to["large file "+name] = fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime())
		}
	}
}
