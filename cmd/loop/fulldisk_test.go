//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// fullDisk is a disk on which, from a moment on, nothing is free but what is
// removed from then on. It needs no rights and no file system of its own: each
// write of loop and of all that it starts asks it first.
type fullDisk struct {
	root string
	full func() bool // the moment has come
	free int64
	hit  atomic.Int64 // writes that failed
}

// run runs a program on it, to its end.
func (d *fullDisk) run(cmd *exec.Cmd) (code int, err error) {
	over, err := startTrapped(cmd, cmd.Path, d.answer)
	if err != nil {
		return 0, err
	}
	_ = cmd.Wait() // its exit code says how it was
	<-over
	return cmd.ProcessState.ExitCode(), nil
}

func (d *fullDisk) answer(a *asked) error {
	if !d.full() {
		return nil
	}
	c := a.change()
	if rel, err := filepath.Rel(d.root, c.path()); c.path() == "" || err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	switch c.what {
	case "write":
		more := a.growth()
		if more > d.free {
			d.hit.Add(1)
			return unix.ENOSPC
		}
		d.free -= more
	case "open":
		if c.flags&unix.O_TRUNC != 0 {
			d.free += size(c.path())
		}
	case "remove", "rename":
		d.free += size(c.path())
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
func (a *asked) growth() int64 {
	if a.nr == unix.SYS_FTRUNCATE {
		return 0 // a hole
	}
	fd := int(int32(a.args[0]))
	info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", a.tid, fd))
	if err != nil {
		return 0
	}
	at := int64(a.args[3])
	if a.nr != unix.SYS_PWRITE64 {
		at = info.Size()
		var flags int
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", a.tid, fd)) // without it, it is at the end
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

// The disk is full from one of loop's writes on, now this one and now that: the
// run ends by itself, and the next one, with room, goes on as after a kill.
func TestFullDiskFromAWriteOn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	night, whole := killedNights()["passes"], &killer{}
	night.killAt(t, whole)
	for i := range whole.log {
		if i%4 != 0 && os.Getenv("LOOP_EVERY") == "" {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", i+1, class(whole.log[i])), func(t *testing.T) {
			t.Parallel()
			n := night.make(t)
			cmd, out := n.command("loop", "run")
			counts := &killer{root: n.root, cmd: cmd}
			d := &fullDisk{root: n.root, full: func() bool { return len(counts.log) > i }}
			over, err := startTrapped(cmd, cmd.Path, func(a *asked) error {
				if !d.full() {
					_ = counts.decide(a) // it kills nobody
				}
				return d.answer(a)
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			<-over
			code, again := n.do("loop", "run")
			n.checkRecords()
			n.checkWork(night)
			n.checkFiles()
			if left := n.left(); len(left) > 0 {
				t.Errorf("left running: %q", left)
			}
			if t.Failed() {
				t.Logf("with a full disk, %v, %d writes failed:\n%s\nthe next run, exit %d:\n%s", cmd.ProcessState, d.hit.Load(), out, code, again)
			}
		})
	}
}
