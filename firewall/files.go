package firewall

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// maxScript is the longest file that is read to classify a call.
const maxScript = 256 << 10

// maxFolder is how many names of one folder are listed.
const maxFolder = 256

// Files reads what a call would run: files of the repository, of the call's
// directory and of the folders for temporary files. Links that lead out of them
// are not followed, and nothing waits.
type Files struct {
	Root      string
	Temporary []string
}

// FilesOf are the files by which the calls in a repository may be judged. The
// client's shell makes its scratch files in the folders for temporary ones.
func FilesOf(root string, env []string) Files {
	f := Files{Root: root, Temporary: []string{"/tmp"}}
	if dir := proc.Getenv(env, "TMPDIR"); dir != "" {
		f.Temporary = append(f.Temporary, dir)
	}
	return f
}

// Read gives the text of a regular file of at most 256 KiB.
func (f Files) Read(cwd, name string) (string, bool) {
	dir, rel, ok := f.inside(cwd, name)
	if !ok {
		return "", false
	}
	return readRegular(dir, rel)
}

// List gives the names in a folder, of a large one the first 256.
func (f Files) List(cwd, name string) ([]string, bool) {
	dir, rel, ok := f.inside(cwd, name)
	if !ok {
		return nil, false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	d, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer d.Close()
	names, err := d.Readdirnames(maxFolder)
	if err != nil {
		return nil, false
	}
	slices.Sort(names)
	return names, true
}

// inside finds the folder in which a file lies, its links followed, and its
// name from there.
func (f Files) inside(cwd, name string) (dir, rel string, ok bool) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !filepath.IsAbs(real) || isSystem(real) {
		return "", "", false
	}
	for _, dir := range append([]string{f.Root, cwd}, f.Temporary...) {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return dir, rel, true
		}
	}
	return "", "", false
}

// isSystem: a place whose files are not files but doors to the kernel.
func isSystem(name string) bool {
	for _, dir := range []string{"/proc/", "/sys/", "/dev/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// readRegular reads a regular file in a folder. A pipe is opened without
// waiting for its other end, and then not read.
func readRegular(dir, name string) (string, bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", false
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || fi.Size() > maxScript {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	if err != nil || len(b) > maxScript {
		return "", false
	}
	return string(b), true
}
