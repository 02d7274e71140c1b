//go:build linux && (amd64 || arm64)

package trap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Change is what a call would do to files.
type Change struct {
	What  string   // open, create, write, rename, link, symlink, mkdir, remove, rmdir, truncate
	Paths []string // the last one is what comes to be, or is changed
	At    int64    // where a write begins, if it says so
	Flags int      // of an open
}

// Path is what comes to be, or is changed.
func (c Change) Path() string { return c.Paths[len(c.Paths)-1] }

// Change reads a call. What cannot be read has an empty path.
func (a *Call) Change() Change {
	arg := func(i int) int { return int(int32(a.args[i])) }
	two := func(what string, dir1, name1, dir2, name2 int) Change {
		return Change{What: what, Paths: []string{a.name(dir1, name1), a.name(dir2, name2)}}
	}
	one := func(what string, dir, name int) Change { return Change{What: what, Paths: []string{a.name(dir, name)}} }
	switch a.nr {
	case unix.SYS_OPENAT:
		c := one("open", 0, 1)
		c.Flags = arg(2)
		return c
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return two("rename", 0, 1, 2, 3)
	case unix.SYS_LINKAT:
		return two("link", 0, 1, 2, 3)
	case unix.SYS_UNLINKAT:
		if arg(2)&unix.AT_REMOVEDIR != 0 {
			return one("rmdir", 0, 1)
		}
		return one("remove", 0, 1)
	case unix.SYS_MKDIRAT:
		return one("mkdir", 0, 1)
	case unix.SYS_SYMLINKAT:
		return one("symlink", 1, 2)
	case unix.SYS_TRUNCATE:
		return one("truncate", -1, 0)
	case unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_FTRUNCATE, unix.SYS_PWRITE64:
		c := Change{What: "write", Paths: []string{a.file(arg(0))}}
		if a.nr == unix.SYS_PWRITE64 {
			c.At = int64(a.args[3])
		}
		return c
	}
	switch what := olderCalls()[a.nr]; what {
	case "rename", "link":
		return two(what, -1, 0, -1, 1)
	case "symlink":
		return one(what, -1, 1)
	case "open":
		c := one(what, -1, 0)
		c.Flags = arg(1)
		return c
	case "create":
		c := one("open", -1, 0)
		c.Flags = unix.O_CREAT | unix.O_TRUNC
		return c
	default:
		return one(what, -1, 0)
	}
}

// file is where an open file lies, "" when that is no file.
func (a *Call) file(fd int) string {
	at, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", a.TID, fd))
	if err != nil || !filepath.IsAbs(at) {
		return ""
	}
	return at
}

// name is an argument that names a file, in a folder that another argument
// gives, or in the current one.
func (a *Call) name(dir, arg int) string {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", a.TID))
	if err != nil {
		return ""
	}
	defer mem.Close()
	buf := make([]byte, unix.PathMax)
	n, _ := mem.ReadAt(buf, int64(a.args[arg])) // it ends where the process' memory does
	name, _, ended := strings.Cut(string(buf[:n]), "\x00")
	if !ended {
		return ""
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	base := fmt.Sprintf("/proc/%d/cwd", a.TID)
	if dir >= 0 && int32(a.args[dir]) != unix.AT_FDCWD {
		base = fmt.Sprintf("/proc/%d/fd/%d", a.TID, int32(a.args[dir]))
	}
	at, err := os.Readlink(base)
	if err != nil {
		return ""
	}
	return filepath.Join(at, name)
}
