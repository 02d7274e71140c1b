//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed-b23e517c/loop/internal/trap"
)

// killer kills a run of loop right before one of the writes that it, or a git
// that it has started, makes below a folder. What the client and the gates do is
// none.
type killer struct {
	root string
	at   int // which write, from 1; 0 = none
	log  []string

	mu  sync.Mutex // over log, while the program runs
	cmd *exec.Cmd
}

var errKilled error = unix.EPERM // for a call of a process that is dead already

// run runs the program to its end.
func (k *killer) run(cmd *exec.Cmd) error {
	k.cmd = cmd
	started := make(chan struct{})
	_, err := trap.Start(cmd, cmd.Path, func(a *trap.Call) error {
		<-started
		return k.decide(a)
	})
	if err != nil {
		return err
	}
	close(started)
	_ = cmd.Wait() // how it ended is seen by what it left
	k.mu.Lock()    // what is asked from now on is not loop's: the log is whole
	defer k.mu.Unlock()
	return nil
}

func (k *killer) decide(a *trap.Call) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at > 0 && len(k.log) >= k.at {
		return nil // what is left of it goes on
	}
	c := a.Change()
	pid, git := k.whose(a)
	if pid == 0 || !k.counts(c, git) {
		return nil
	}
	what := c.What
	for _, p := range c.Paths {
		what += " " + strings.TrimPrefix(p, k.root+"/")
	}
	if git {
		what = "git: " + what
	}
	if k.log = append(k.log, what); len(k.log) != k.at {
		return nil
	}
	_ = k.cmd.Process.Kill()
	// A machine that stops takes git with it. A git that goes on when loop is
	// dead ends as it does when loop is killed at its next write.
	if git {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	return errKilled
}

// whose is the process that asks, if it is loop or a git that loop has started.
func (k *killer) whose(a *trap.Call) (pid int, git bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.TID))
	if err != nil {
		return 0, false
	}
	var parent int
	for line := range bytes.Lines(b) {
		_, _ = fmt.Sscanf(string(line), "Tgid: %d", &pid)
		_, _ = fmt.Sscanf(string(line), "PPid: %d", &parent)
	}
	if pid == k.cmd.Process.Pid {
		return pid, false
	}
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", a.TID))
	if git = parent == k.cmd.Process.Pid && filepath.Base(exe) == "git"; git {
		return pid, true
	}
	return 0, false
}

var (
	// What is within folders that are thrown away as a whole, the status, which
	// is renamed into its place and decides nothing, and git's objects, which are
	// nothing before something names them.
	scratch = regexp.MustCompile(`^state/[^/]+/((index-[0-9]+|runs/[^/]+/objects[^/]*)/|status\.json|reserve$)|/\.git/objects/`)
	// What is another in each run.
	changing = regexp.MustCompile(`[-/]?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[-/][0-9a-f]{8}\b|index\.stash\.\d+|-\d{6,}|\d{4}-\d\d-\d\d`)
)

// class is a write without what is another in each run.
func class(what string) string { return changing.ReplaceAllString(what, "*") }

// kind is what a write is, and of a transaction of the queue also what came
// before it: two of the same kind are taken for one step done twice, and what is
// made empty to be written at once for one step. "" is none of its own.
func (k *killer) kind(i int) string {
	this := class(k.log[i])
	if what, name, _ := strings.Cut(this, " "); what == "open" && i+1 < len(k.log) && class(k.log[i+1]) == "write "+name {
		return ""
	}
	if strings.HasPrefix(this, "write") && strings.HasSuffix(this, "queue.db") {
		this = class(k.log[max(0, i-1)]) + " > " + this
	}
	return attemptNumber.ReplaceAllString(this, "*-N/")
}

var attemptNumber = regexp.MustCompile(`\*-\d+/`)

// metaPages are the first two pages of a queue. With one of them a transaction
// comes to be: what is written before that is of no use to anybody.
const metaPages = 2 * 4096

// counts reports whether a call changes what a later process finds.
func (k *killer) counts(c trap.Change, git bool) bool {
	path := c.Path()
	rel, err := filepath.Rel(k.root, path)
	if path == "" || err != nil || !filepath.IsLocal(rel) || scratch.MatchString(rel) {
		return false
	}
	info, err := os.Lstat(path)
	there := err == nil
	switch c.What {
	case "open":
		return !there || c.Flags&unix.O_TRUNC != 0
	case "write":
		return !git && !(c.At >= metaPages && strings.Contains(filepath.Base(path), "queue.db"))
	case "remove":
		return there && !info.IsDir()
	case "rmdir":
		return there && info.IsDir()
	case "mkdir":
		return !there
	}
	return true
}
