package firewall

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/regular"
)

// minProgram is the size from which a file may be a compiled program.
const minProgram = 4 << 10

// maxSame is under how many names the same program may stand: one that
// does what it is called by is not known by what it holds.
const maxSame = 4

// Program is the name of the system's program that a file is, under another
// name: a link to it, or a copy, whoever made that and however. "" when it is
// none.
func (f Files) Program(cwd, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(cwd, name)
	}
	real, err := f.Links.eval(name)
	if err != nil {
		return ""
	}
	folders := f.programFolders()
	switch {
	case slices.Contains(folders, filepath.Dir(name)):
		return ""
	case slices.Contains(folders, filepath.Dir(real)):
		return filepath.Base(real)
	}
	size := compiledSize(real)
	if size == 0 {
		return ""
	}
	var found []string
	for _, dir := range folders {
		entries, _ := os.ReadDir(dir) // a folder that cannot be read has no programs
		for _, e := range entries {
			other := filepath.Join(dir, e.Name())
			if fi, err := os.Stat(other); err == nil && fi.Mode().IsRegular() && fi.Size() == size && sameText(real, other) && !slices.Contains(found, e.Name()) {
				found = append(found, e.Name())
			}
		}
	}
	if len(found) == 0 || len(found) > maxSame {
		return ""
	}
	return slices.MinFunc(found, func(a, b string) int { return len(a) - len(b) })
}

// programFolders are the folders of the system's programs.
func (f Files) programFolders() []string {
	var out []string
	for _, dir := range filepath.SplitList(f.path) {
		real, err := f.Links.eval(dir)
		if err != nil || !filepath.IsAbs(real) || strings.HasPrefix(real+string(filepath.Separator), f.Root+string(filepath.Separator)) || slices.Contains(out, real) {
			continue
		}
		out = append(out, real)
	}
	return out
}

// compiledSize is the size of a compiled program, 0 of what is none.
func compiledSize(name string) int64 {
	file, err := regular.Open(name)
	if err != nil {
		return 0
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil || fi.Size() < minProgram {
		return 0
	}
	var head [4]byte
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return 0
	}
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"} {
		if strings.HasPrefix(string(head[:]), magic) {
			return fi.Size()
		}
	}
	return 0
}

// sameText compares two regular files of one size.
func sameText(a, b string) bool {
	fa, err := regular.Open(a)
	if err != nil {
		return false
	}
	defer fa.Close()
	fb, err := regular.Open(b)
	if err != nil {
		return false
	}
	defer fb.Close()
	ba, bb := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		na, errA := io.ReadFull(fa, ba)
		nb, errB := io.ReadFull(fb, bb)
		if !bytes.Equal(ba[:na], bb[:nb]) {
			return false
		}
		if errA != nil || errB != nil {
			return errA != nil && errB != nil
		}
	}
}
