package runner

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/seed-b23e517c/loop/queue"
)

// memoryNames are files that a later attempt reads as fact.
var memoryNames = []string{"MEMORY.md", "CLAUDE.md", "progress.txt"}

// maxMemory bounds what is read of one memory file.
const maxMemory = 256 << 10

// memory is the content of the memory files before an attempt, by path
// relative to the root; a missing file is nil.
type memory map[string][]byte

// readMemory reads the watched files: the known names at the root and beside
// the story file, and those the user lists.
func readMemory(root, storyDir string, listed []string) memory {
	m := memory{}
	dirs := []string{root, storyDir, filepath.Join(root, ".claude")}
	for _, dir := range dirs {
		for _, name := range memoryNames {
			m.add(root, filepath.Join(dir, name))
		}
	}
	for _, p := range listed {
		if !filepath.IsAbs(p) {
			p = filepath.Join(root, p)
		}
		m.add(root, p)
	}
	return m
}

func (m memory) add(root, path string) {
	name, err := filepath.Rel(root, path)
	if err != nil {
		name = path
	}
	m[name] = readCapped(path)
}

func readCapped(path string) []byte {
	f, err := os.Open(path)
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

// changes is what happened to the watched files since, as unified diffs.
func (m memory) changes(root string) []queue.MemoryChange {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []queue.MemoryChange
	for _, name := range names {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, name)
		}
		now := readCapped(path)
		if bytes.Equal(m[name], now) {
			continue
		}
		text := string(diff.Diff("before", m[name], "after", now))
		// The head names two files that are one; the report names it itself.
		if i := strings.Index(text, "@@"); i > 0 {
			text = text[i:]
		}
		out = append(out, queue.MemoryChange{File: name, Diff: text})
	}
	return out
}
