package runner

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

// readFile gives the firewall the text of a file that a call would run: one of
// the repository, the call's directory or the folder for temporary files.
func readFile(o *Options, cwd, name string) (string, bool) {
	return ReadScript(readable(o, cwd), name)
}

// readable are the folders whose files a call may be judged by.
func readable(o *Options, cwd string) []string {
	return append([]string{o.Root, cwd}, temporary(o)...)
}

// ReadScript gives the text of a regular file of at most 256 KiB in one of the
// folders. Links that lead out of them are not followed, and nothing waits.
func ReadScript(dirs []string, name string) (string, bool) {
	dir, rel, ok := inside(dirs, name)
	if !ok {
		return "", false
	}
	return readRegular(dir, rel)
}

// maxFolder is how many names of one folder are listed.
const maxFolder = 256

// ReadFolder lists the names in a folder that lies in one of the folders.
func ReadFolder(dirs []string, name string) ([]string, bool) {
	dir, rel, ok := inside(dirs, name)
	if !ok {
		return nil, false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	names, err := f.Readdirnames(maxFolder)
	if err != nil {
		return nil, false
	}
	slices.Sort(names)
	return names, true
}

// inside finds the folder in which a file lies, its links followed, and its
// name from there.
func inside(dirs []string, name string) (dir, rel string, ok bool) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !filepath.IsAbs(real) || isSystem(real) {
		return "", "", false
	}
	for _, dir := range dirs {
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

// temporary are the folders in which the client's shell makes its scratch
// files.
func temporary(o *Options) []string {
	out := []string{"/tmp"}
	if dir := proc.Getenv(o.Env, "TMPDIR"); dir != "" {
		out = append(out, dir)
	}
	return out
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
