package runner

import (
	"bytes"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/queue"
)

// memoryNames are files that a later attempt reads as fact.
var memoryNames = []string{"MEMORY.md", "CLAUDE.md", "progress.txt"}

// maxMemory bounds what is read of one memory file.
const maxMemory = 256 << 10

// memory is the content of the memory files at one moment, by path relative to
// the root; a missing file is nil.
type memory map[string][]byte

// readMemory reads the watched files: the known names wherever git sees them,
// at the root and beside the story file also where it does not, those that the
// user lists, and the client's own memory when it is switched on.
func readMemory(ctx context.Context, o *Options) memory {
	m := memory{}
	for _, dir := range []string{o.Root, filepath.Dir(o.Stories), filepath.Join(o.Root, ".claude")} {
		for _, name := range memoryNames {
			m.add(o.Root, filepath.Join(dir, name))
		}
	}
	for _, p := range append(gitMemory(ctx, o), o.Memory...) {
		if !filepath.IsAbs(p) {
			p = filepath.Join(o.Root, p)
		}
		m.add(o.Root, p)
	}
	if o.AutoMemory {
		m.add(o.Root, clientMemory(o))
	}
	return m
}

// gitMemory lists the memory files that git knows or sees untracked.
func gitMemory(ctx context.Context, o *Options) []string {
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}
	for _, name := range memoryNames {
		args = append(args, ":(glob)**/"+name)
	}
	names, ok := gitTexts(ctx, o, 1<<20, args...)
	if !ok {
		return nil
	}
	return names
}

// clientMemory is where the client keeps its own memory of this folder.
func clientMemory(o *Options) string {
	base := proc.Getenv(o.Env, "CLAUDE_CONFIG_DIR")
	if base == "" {
		base = filepath.Join(proc.Getenv(o.Env, "HOME"), ".claude")
	}
	slug := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, o.Root)
	return filepath.Join(base, "projects", slug, "memory", "MEMORY.md")
}

func (m memory) add(root, path string) {
	name, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(name) {
		name = path
	}
	m[name] = readCapped(path)
}

func readCapped(path string) []byte {
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	// A folder gives an error, which is no text.
	b, err := io.ReadAll(io.LimitReader(f, maxMemory))
	if err != nil {
		return nil
	}
	return b
}

// changes is what became of the files of m by now, as unified diffs.
func (m memory) changes(now memory) []queue.MemoryChange {
	all := maps.Clone(m)
	maps.Copy(all, now)
	var out []queue.MemoryChange
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if bytes.Equal(m[name], now[name]) {
			continue
		}
		text := string(diff.Diff("before", m[name], "after", now[name]))
		// The head names two files that are one; the report names it itself.
		if i := strings.Index(text, "@@"); i > 0 {
			text = text[i:]
		}
		out = append(out, queue.MemoryChange{File: name, Diff: text})
	}
	return out
}
