//go:build linux && (amd64 || arm64)

package trap

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// FullDisk is a disk on which, from a moment on, nothing is free but what is
// removed from then on. It needs no file system of its own: each write of a
// program and of all that it starts asks it first.
type FullDisk struct {
	Root string       // what lies below is on it
	Full func() bool  // the moment has come
	Hit  atomic.Int64 // writes that failed

	free int64
}

// Answer decides a call, for Start.
func (d *FullDisk) Answer(a *Call) error {
	if !d.Full() {
		return nil
	}
	c := a.Change()
	if rel, err := filepath.Rel(d.Root, c.Path()); c.Path() == "" || err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	switch c.What {
	case "write":
		more := a.growth()
		if more > d.free {
			d.Hit.Add(1)
			return unix.ENOSPC
		}
		d.free -= more
	case "open":
		if c.Flags&unix.O_TRUNC != 0 {
			d.free += size(c.Path())
		}
	case "remove", "rename":
		d.free += size(c.Path())
	}
	return nil
}

// size is what a file takes up.
func size(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// growth is by how much a write makes a file longer.
func (a *Call) growth() int64 {
	if a.nr == unix.SYS_FTRUNCATE {
		return 0 // a hole
	}
	fd := int(int32(a.args[0]))
	info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", a.TID, fd))
	if err != nil {
		return 0
	}
	at := int64(a.args[3])
	if a.nr != unix.SYS_PWRITE64 {
		at = info.Size()
		var flags int
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", a.TID, fd)) // without it, it is at the end
		var pos int64
		if _, err := fmt.Sscanf(string(b), "pos:\t%d\nflags:\t%o", &pos, &flags); err == nil && flags&unix.O_APPEND == 0 {
			at = pos
		}
	}
	length := int64(a.args[2])
	if a.nr == unix.SYS_WRITEV {
		length = 1 // pieces: at least something
	}
	return max(0, at+length-info.Size())
}
