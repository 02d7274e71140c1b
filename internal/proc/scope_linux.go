package proc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// scope is a control group (version 2) that a child is born into. Whatever its
// descendants do, they stay in it, and the kernel kills all of it at once; a
// process can leave only by writing into another group by itself. It is nil
// where none can be had: everything else works without.
type scope struct {
	dir    string // in the file system
	folder *os.File
}

// scopePrefix begins the names of the groups, which go on with whose they are:
// the process namespace, the process and its start.
const scopePrefix = "loop-"

// openScope makes a group below our own, or gives nil.
func openScope() *scope {
	own := ownGroup()
	if own == "" {
		return nil
	}
	self := Self()
	dir := filepath.Join(own, fmt.Sprintf("%s%s-%d-%s-%s", scopePrefix, pidNamespace(), self.Pid, self.Start, rand.Text()))
	if os.Mkdir(dir, 0o755) != nil {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		_ = os.Remove(dir)
		return nil
	}
	return &scope{dir: dir, folder: f}
}

// ownGroup is the folder of the group that this process is in, "" when there is
// none or the kernel cannot kill a group. What dead processes of ours have left
// beside it is ended first.
var ownGroup = sync.OnceValue(func() string {
	path := groupOf(os.Getpid())
	if path == "" {
		return ""
	}
	dir := filepath.Join(groupMount(), path)
	if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
		return ""
	}
	sweepScopes(dir)
	return dir
})

// groupOf is the path of a process's group in the hierarchy of version 2.
func groupOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return path
		}
	}
	return ""
}

// groupMount is where the hierarchy of version 2 is mounted.
func groupMount() string {
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(dir, "cgroup.controllers")); err == nil {
			return dir
		}
	}
	return ""
}

func pidNamespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "0"
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}

// sweepScopes ends the groups whose makers are dead.
func sweepScopes(own string) {
	dirs, _ := filepath.Glob(filepath.Join(own, scopePrefix+pidNamespace()+"-*"))
	for _, dir := range dirs {
		parts := strings.Split(filepath.Base(dir), "-")
		if len(parts) != 5 {
			continue
		}
		if pid, err := strconv.Atoi(parts[2]); err == nil && !Alive(pid, parts[3]) {
			(&scope{dir: dir}).end()
		}
	}
}

// enter makes the child that is started with attr begin its life in the group.
func (s *scope) enter(attr *syscall.SysProcAttr) {
	if s != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(s.folder.Fd())
	}
}

// leave takes that back.
func (s *scope) leave(attr *syscall.SysProcAttr) {
	attr.UseCgroupFD, attr.CgroupFD = false, 0
	s.end()
}

// holds reports whether a process is in the group.
func (s *scope) holds(pid int) bool {
	return s != nil && filepath.Base(groupOf(pid)) == filepath.Base(s.dir)
}

// end kills what is in the group and removes it. A group goes when its last
// process has been reaped.
func (s *scope) end() {
	if s == nil {
		return
	}
	if s.folder != nil {
		_ = s.folder.Close()
	}
	if err := os.Remove(s.dir); err == nil || errors.Is(err, os.ErrNotExist) {
		return
	}
	_ = os.WriteFile(filepath.Join(s.dir, "cgroup.kill"), []byte("1"), 0)
	for end := time.Now().Add(stuckAfter); !removeGroup(s.dir) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// removeGroup removes a group that is empty. What was in it may have made groups
// of its own, as a loop in a loop does: they go first, and were killed with it.
func removeGroup(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	for _, e := range entries {
		if e.IsDir() {
			removeGroup(filepath.Join(dir, e.Name()))
		}
	}
	return os.Remove(dir) == nil
}
