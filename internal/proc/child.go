//go:build linux || darwin

package proc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	observeEvery = 5 * time.Second       // how often the tree of a living child is looked at
	settleTime   = 50 * time.Millisecond // what is on its way out when the child ends is not a leftover
	stuckAfter   = 5 * time.Second       // how long a killed process may take to die
)

// Child is a started process and its tree.
type Child struct {
	pid   int
	start uint64
	mark  string
	grace time.Duration
	drain time.Duration
	plain bool
	scope *scope  // nil where none can be had
	out   *stream // nil when the caller gave its own stdout

	ending atomic.Bool   // Terminate or Kill was called: nothing that remains is a surprise
	gone   chan struct{} // closed when the leader has exited and was reaped
	done   chan struct{} // closed when the tree is gone too; state is set before

	mu      sync.Mutex // held while the group is signalled and while the leader is reaped
	process *os.Process
	reaped  atomic.Bool
	state   State

	seen map[int]uint64 // pid -> start of what was below it; guarded by the registry's lock
}

// Start starts a child in its own session and process group.
func Start(o Options) (*Child, error) {
	if len(o.Argv) == 0 {
		return nil, errors.New("start: no program")
	}
	path, err := lookPath(o.Argv[0], o.Env)
	if err != nil {
		return nil, err
	}
	c := newChild(o)
	files, closeFiles, feed, err := c.files(o)
	if err != nil {
		return nil, &StartError{Program: o.Argv[0], Err: err}
	}
	defer closeFiles()
	attr := &os.ProcAttr{
		Dir:   o.Dir,
		Env:   withMark(o.Env, c.mark),
		Files: files,
		// A session is a group too. Without our terminal nothing below can
		// stop and wait for a password there, or type into it.
		Sys: &syscall.SysProcAttr{Setsid: true},
	}
	if o.Bound {
		bind(attr.Sys)
	}
	if !o.Plain {
		c.scope = openScope()
		c.scope.enter(attr.Sys)
	}
	err = children.start(c, path, o.Argv, attr)
	if err != nil && c.scope != nil { // an old kernel, or a group that takes nobody
		c.scope.leave(attr.Sys)
		c.scope = nil
		err = children.start(c, path, o.Argv, attr)
	}
	if err != nil {
		feed(nil)
		if c.out != nil {
			_ = c.out.Close()
		}
		return nil, &StartError{Program: o.Argv[0], Err: err}
	}
	go feed(c.gone)
	go c.watch()
	return c, nil
}

func newChild(o Options) *Child {
	c := &Child{
		mark:  o.Mark,
		grace: o.Grace,
		drain: o.Drain,
		plain: o.Plain,
		gone:  make(chan struct{}),
		done:  make(chan struct{}),
		seen:  map[int]uint64{},
	}
	if c.mark == "" {
		c.mark = rand.Text()
	}
	if c.grace <= 0 {
		c.grace = DefaultGrace
	}
	if c.drain <= 0 {
		c.drain = DefaultDrain
	}
	return c
}

// withMark is env with our mark in place of an inherited one.
func withMark(env []string, mark string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, MarkVar+"=") {
			out = append(out, kv)
		}
	}
	return append(out, MarkVar+"="+mark)
}

// LookPath is the file that Start would start for this name and environment.
func LookPath(name string, env []string) (string, error) { return lookPath(name, env) }

// lookPath finds a program in the PATH of env; os/exec would ask our own.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(Getenv(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue // a program of the work tree is never meant
		}
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && unix.Access(p, unix.X_OK) == nil {
			return p, nil
		}
	}
	return "", &StartError{Program: name, Err: fmt.Errorf("%w in the PATH given to it", os.ErrNotExist)}
}

// Pid is the process id, and the id of the group.
func (c *Child) Pid() int { return c.pid }

// StartTime tells this process from a later one with the same id.
func (c *Child) StartTime() string { return formatStart(c.start) }

// Mark is the value of MarkVar in the child's environment.
func (c *Child) Mark() string { return c.mark }

// Stdout reads what the child writes. It ends with io.EOF when every holder
// of the other end has closed it, and at the latest a drain time after the
// child's end; what had been written by then is read to the last byte. Nil
// when Options.Stdout was given.
func (c *Child) Stdout() io.ReadCloser {
	if c.out == nil {
		return nil
	}
	return c.out
}

// Done is closed when the child and its tree are gone.
func (c *Child) Done() <-chan struct{} { return c.done }

// Wait waits until the child and its tree are gone.
func (c *Child) Wait() State {
	<-c.done
	return c.state
}

// Terminate sends TERM to the group, KILL after the grace, and returns when
// the tree is gone. ErrStuck says that it is not.
func (c *Child) Terminate() (State, error) {
	c.ending.Store(true)
	children.observe(c)
	c.signal(unix.SIGTERM)
	c.signal(unix.SIGCONT) // a stopped process takes no TERM
	timer := time.NewTimer(c.grace)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.state, nil
	case <-timer.C:
		return c.Kill()
	}
}

// Kill kills the group and the tree at once.
func (c *Child) Kill() (State, error) {
	c.ending.Store(true)
	children.observe(c)
	c.signal(unix.SIGKILL)
	timer := time.NewTimer(2 * stuckAfter)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.state, nil
	case <-timer.C:
		return State{ExitCode: -1}, fmt.Errorf("kill %d: %w", c.pid, ErrStuck)
	}
}

// signal signals the group while its id is ours.
func (c *Child) signal(sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped.Load() {
		_ = unix.Kill(-c.pid, sig) // the leader is always in it: a session leader cannot change its group
	}
}

// watch waits for the end of the leader, then ends what is left of the tree.
func (c *Child) watch() {
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		waitExit(c.pid)
	}()
	tick := time.NewTicker(observeEvery)
	defer tick.Stop()
	for alive := true; alive; {
		select {
		case <-tick.C:
			children.observe(c)
		case <-exited:
			alive = false
		}
	}
	c.state = c.bury()
	close(c.done)
	if c.out != nil {
		time.AfterFunc(c.drain, c.out.over)
	}
}

// bury ends what the leader, which has exited, has left, and lets it go.
func (c *Child) bury() State {
	if c.plain && !c.ending.Load() {
		state := c.reap()
		close(c.gone)
		children.forget(c)
		return state
	}
	left := children.leftovers(c)
	state := c.reap()
	close(c.gone)
	left = children.end(c, left)
	c.scope.end()
	if !c.ending.Load() || anyStuck(left) {
		state.Leftovers = left
	}
	return state
}

// reap kills the rest of the group while the dead leader still holds its id,
// then lets the leader go.
func (c *Child) reap() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = unix.Kill(-c.pid, unix.SIGKILL)
	ps, err := c.process.Wait()
	c.reaped.Store(true)
	if err != nil {
		return State{ExitCode: -1}
	}
	ws, ok := ps.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return State{ExitCode: 128 + int(ws.Signal()), Signal: ws.Signal().String()}
	}
	return State{ExitCode: ps.ExitCode()}
}

func anyStuck(left []Leftover) bool {
	for _, l := range left {
		if l.Stuck {
			return true
		}
	}
	return false
}
