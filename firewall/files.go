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

// Files reads what a call would run: any file that an agent may have put
// there, which is none of the system's own. Links are followed, and nothing
// waits.
type Files struct {
	Root      string
	Temporary []string
	Home      string // what ~ in front of a name stands for
	Links     Links

	path string // where programs are looked for
}

// FilesOf are the files by which the calls in a repository may be judged. The
// client's shell makes its scratch files in the folders for temporary ones.
func FilesOf(root string, env []string) Files {
	f := Files{Root: root, Temporary: []string{"/tmp", "/var/tmp", "/dev/shm"}, Home: proc.Home(env)}
	f.path = proc.Getenv(env, "PATH")
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
// name there.
func (f Files) inside(cwd, name string) (dir, rel string, ok bool) {
	if rest, ok := strings.CutPrefix(name, "~"); ok && f.Home != "" && (rest == "" || rest[0] == '/') {
		name = f.Home + rest
	}
	real, err := f.Links.eval(name)
	if err != nil || !filepath.IsAbs(real) {
		return "", "", false
	}
	for _, dir := range append([]string{f.Root, cwd}, f.Temporary...) {
		dir, err := f.Links.eval(dir)
		if err != nil || !filepath.IsAbs(dir) || isSystem(dir) && !slices.Contains(f.Temporary, dir) {
			continue
		}
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return dir, rel, true
		}
	}
	if isSystem(real) || slices.ContainsFunc(installed, func(dir string) bool { return strings.HasPrefix(filepath.ToSlash(real)+"/", dir) }) {
		return "", "", false
	}
	return filepath.Dir(real), filepath.Base(real), true
}

// installed are the folders of what came with the system or was installed:
// programs that are known by their names.
var installed = []string{
	"/bin/", "/sbin/", "/lib", "/usr/", "/etc/", "/opt/", "/boot/", "/nix/", "/gnu/", "/snap/", "/var/lib/",
	"/System/", "/Library/", "/Applications/", "/private/etc/", "C:/Windows/", "C:/Program Files",
}

// isSystem: a place whose files are not files but doors to the kernel.
func isSystem(name string) bool {
	for _, dir := range []string{"/proc/", "/sys/", "/dev/"} {
		if strings.HasPrefix(name+"/", dir) {
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
