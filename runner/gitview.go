package runner

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/internal/workspace"
)

// gitView is what decides which files and commits git shows, and so which the
// report shows: an agent that changes it may hide what it did.
type gitView struct {
	files  map[string]hash   // ignored and attributed paths, replaced commits
	hidden []string          // paths that the index tells git not to look at
	logs   map[string]string // the last line of each log of a remote-tracking branch
}

// viewFiles are the files of git's folder that say what git leaves out.
var viewFiles = []string{
	"info/exclude", "info/attributes", "info/sparse-checkout", "info/grafts", "objects/info/alternates",
}

func readGitView(root, common string) gitView {
	v := gitView{logs: map[string]string{}}
	if common == "" {
		return v
	}
	var paths []string
	for _, name := range viewFiles {
		paths = append(paths, filepath.Join(common, filepath.FromSlash(name)))
	}
	// Without such a folder no commit is replaced.
	_ = filepath.WalkDir(filepath.Join(common, "refs", "replace"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && len(paths) < maxClientFiles {
			paths = append(paths, path)
		}
		return nil
	})
	if info, err := os.Lstat(filepath.Join(root, ".git")); err == nil && info.Mode().IsRegular() {
		paths = append(paths, filepath.Join(root, ".git")) // where git's folder is
	}
	v.files = fingerprints(paths)
	v.hidden = hiddenPaths(filepath.Join(ownGitDir(root), "index"))
	logs := filepath.Join(common, "logs", "refs", "remotes")
	_ = filepath.WalkDir(logs, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if name, err := filepath.Rel(logs, path); err == nil {
				v.logs[filepath.ToSlash(name)] = lastLogLine(path)
			}
		}
		return nil
	})
	return v
}

// ownGitDir is git's folder for this work tree: the index lies there.
func ownGitDir(root string) string {
	return cmp.Or(workspace.Finder{}.Repository(root).Own, filepath.Join(root, ".git"))
}

func lastLogLine(path string) string {
	data, _ := regular.Read(path, maxWatched) // what cannot be read has none
	data = bytes.TrimRight(data, "\n")
	return string(data[bytes.LastIndexByte(data, '\n')+1:])
}

// changedSince says what became of it by now.
func (v gitView) changedSince(now gitView, common string, o *Options) []string {
	var out []string
	all := maps.Clone(v.files)
	maps.Copy(all, now.files)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if v.files[name] != now.files[name] {
			out = append(out, fmt.Sprintf("%s was %s during this attempt; it decides what git shows", relativeTo(o.Root, name), changeWord(v.files[name], now.files[name])))
		}
	}
	var hidden []string
	for _, name := range now.hidden {
		if !slices.Contains(v.hidden, name) {
			hidden = append(hidden, name)
		}
	}
	if n := len(hidden); n > 0 {
		out = append(out, fmt.Sprintf("git was told not to look at %s during this attempt: what was changed there is in no commit of loop's and in no diff (git update-index --no-skip-worktree --no-assume-unchanged)", some(hidden)))
	}
	for _, name := range slices.Sorted(maps.Keys(v.logs)) {
		line := v.logs[name]
		if line == "" || isOldEntry(line, o.Now()) || now.logs[name] != "" || !refExists(common, "refs/remotes/"+name) {
			continue
		}
		out = append(out, fmt.Sprintf("git's log of %s was emptied or removed during this attempt: a push that it noted would not be seen", name))
	}
	return out
}

// some names the first few of many.
func some(names []string) string {
	const shown = 5
	text := fmt.Sprintf("%q", names[:min(shown, len(names))])
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// isOldEntry: git itself would forget the entry of a log.
func isOldEntry(line string, now time.Time) bool {
	const kept = 29 * 24 * time.Hour // of what no branch reaches
	sec, ok := pushTime(line)
	return ok && now.Sub(time.Unix(sec, 0)) > kept
}

// refExists: the branch is still there; with it git removes its log.
func refExists(common, name string) bool {
	if _, err := os.Stat(filepath.Join(common, filepath.FromSlash(name))); err == nil {
		return true
	}
	packed, _ := regular.Read(filepath.Join(common, "packed-refs"), maxWatched) // none: nothing is packed
	return bytes.Contains(packed, []byte(" "+name+"\n"))
}

// Of an entry in git's index: the size up to its name, by the kind of the
// object names, and its flags. Source: git's index-format.
const (
	entrySHA1    = 62
	entrySHA256  = 74
	assumeValid  = 1 << 15
	hasExtended  = 1 << 14
	nameSize     = 1<<12 - 1 // or more
	skipWorktree = 1 << 14   // of the extended flags
)

// hiddenPaths are the paths that an index marks as not to be looked at: by
// --assume-unchanged or --skip-worktree.
func hiddenPaths(path string) []string {
	b, err := regular.Read(path, maxWatched)
	if err != nil {
		return nil
	}
	if out, ok := hiddenIn(b, entrySHA1); ok {
		return out
	}
	out, _ := hiddenIn(b, entrySHA256)
	return out
}

// hiddenIn reads an index; ok is false when it is none of this kind.
func hiddenIn(b []byte, fixed int) (out []string, ok bool) {
	if len(b) < 12 || string(b[:4]) != "DIRC" {
		return nil, false
	}
	version, n := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	var name []byte
	at := 12
	for range n {
		start := at + fixed
		if start+2 > len(b) {
			return nil, false
		}
		flags := binary.BigEndian.Uint16(b[start-2:])
		hidden := flags&assumeValid != 0
		if flags&hasExtended != 0 {
			hidden = hidden || binary.BigEndian.Uint16(b[start:])&skipWorktree != 0
			start += 2
		}
		kept := 0
		if version == 4 { // a name goes on from the one before
			cut, size := indexVarint(b[start:])
			if size == 0 || cut > len(name) {
				return nil, false
			}
			start, kept = start+size, len(name)-cut
		}
		end := bytes.IndexByte(b[start:], 0)
		size := int(flags & nameSize)
		if end < 0 || kept+end != size && size != nameSize {
			return nil, false
		}
		name = append(name[:kept], b[start:start+end]...)
		if hidden {
			out = append(out, string(name))
		}
		if version == 4 {
			at = start + end + 1
		} else {
			at += ((start+end-at)/8 + 1) * 8
		}
	}
	return out, true
}

// indexVarint reads a number of an index; size is 0 when there is none.
func indexVarint(b []byte) (n, size int) {
	for i, c := range b[:min(len(b), 5)] {
		n = n<<7 + int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}
