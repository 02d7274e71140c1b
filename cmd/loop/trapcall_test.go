//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// change is what a call would do to files.
type change struct {
	what  string   // open, create, write, rename, link, symlink, mkdir, remove, rmdir, truncate
	paths []string // the last one is what comes to be, or is changed
	at    int64    // where a write begins, if it says so
	flags int      // of an open
}

// path is what comes to be, or is changed.
func (c change) path() string { return c.paths[len(c.paths)-1] }

// change reads a call. What cannot be read has an empty path.
func (a *asked) change() change {
	arg := func(i int) int { return int(int32(a.args[i])) }
	two := func(what string, dir1, name1, dir2, name2 int) change {
		return change{what: what, paths: []string{a.name(dir1, name1), a.name(dir2, name2)}}
	}
	one := func(what string, dir, name int) change { return change{what: what, paths: []string{a.name(dir, name)}} }
	switch a.nr {
	case unix.SYS_OPENAT:
		c := one("open", 0, 1)
		c.flags = arg(2)
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
		c := change{what: "write", paths: []string{a.file(arg(0))}}
		if a.nr == unix.SYS_PWRITE64 {
			c.at = int64(a.args[3])
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
		c.flags = arg(1)
		return c
	case "create":
		c := one("open", -1, 0)
		c.flags = unix.O_CREAT | unix.O_TRUNC
		return c
	default:
		return one(what, -1, 0)
	}
}

// file is where an open file lies, "" when that is no file.
func (a *asked) file(fd int) string {
	at, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", a.tid, fd))
	if err != nil || !filepath.IsAbs(at) {
		return ""
	}
	return at
}

// name is an argument that names a file, in a folder that another argument
// gives, or in the current one.
func (a *asked) name(dir, arg int) string {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", a.tid))
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
	base := fmt.Sprintf("/proc/%d/cwd", a.tid)
	if dir >= 0 && int32(a.args[dir]) != unix.AT_FDCWD {
		base = fmt.Sprintf("/proc/%d/fd/%d", a.tid, int32(a.args[dir]))
	}
	at, err := os.Readlink(base)
	if err != nil {
		return ""
	}
	return filepath.Join(at, name)
}
