// Package proc runs one child process in its own session and process group,
// away from our terminal, and leaves nothing of it behind: not after success, not after a failure, not after a
// kill, and not when the child's own children left its group, its session or
// its parent.
//
// Processes are found by four signs, each enough by itself: they hang below
// the child in the process tree, they are in its process group, they were seen
// below it earlier, or their environment bears the child's mark (MarkVar). On
// Linux, after Subreaper, a process whose parents died comes to us instead of
// to init, so that the tree is never torn; without it, and elsewhere, the
// other signs remain.
//
// Everything of this program that starts a child must start it here: a direct
// child that this package does not know, and that is not in our own process
// group, counts as an orphan of one that it does know, and is ended with it.
//
// It is no prison: a process of the same user that clears its environment,
// leaves the tree while no subreaper is set and changes its session is not
// found. What a dead supervisor left behind is ended by the next one with
// EndStale and EndMarked.
package proc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// MarkVar is the environment variable that every process of a child's tree
// inherits. Its value tells whose it is; it is no secret.
const MarkVar = "LOOP_MARK"

// Defaults of the zero values in Options.
const (
	DefaultGrace = 5 * time.Second
	DefaultDrain = 2 * time.Second
)

// ErrStuck says that a process did not die of SIGKILL in the time we wait
// for that (it hangs in the kernel, or belongs to another user).
var ErrStuck = errors.New("process does not die")

// StartError is a program that could not be started.
type StartError struct {
	Program string
	Err     error
}

func (e *StartError) Error() string { return fmt.Sprintf("start %q: %v", e.Program, e.Err) }

func (e *StartError) Unwrap() error { return e.Err }

// Options says what to start.
type Options struct {
	Argv []string // program and arguments; a program without a slash is looked up in the PATH of Env
	Dir  string   // "" = our own
	Env  []string // the whole environment: nothing is inherited

	Stdin  []byte   // written to the child and closed; nil = /dev/null
	Input  *os.File // in place of Stdin: the child's end of what its caller writes to
	Stdout *os.File // nil = a socketpair that Child.Stdout reads, so that nobody can open it through /proc
	Stderr *os.File // nil = /dev/null

	Grace time.Duration // from TERM to KILL; 0 = DefaultGrace
	Drain time.Duration // how long Child.Stdout waits for holders of the other end after the end; 0 = DefaultDrain
	Plain bool          // a program of ours that leaves nothing behind: its tree is not looked for when it has ended by itself
	Bound bool          // the child gets a TERM when we die, however we die (Linux)
	Mark  string        // the value of MarkVar; "" = a random one
}

// State is how a child ended.
type State struct {
	ExitCode  int        // 128+n when a signal ended it, as shells have it; -1 when it is stuck
	Signal    string     // "killed", "terminated", ...; "" when it exited by itself
	Leftovers []Leftover // processes that outlived it and were ended
}

// Leftover is a process that was still there when its child had ended.
type Leftover struct {
	Pid     int
	Command string // its command line, arguments parted by blanks: hostile text
	Stuck   bool   // could not be ended
}

// Process is one process of the system.
type Process struct {
	Pid     int
	Start   string // when it started, in a unit of the system: only for comparing
	Comm    string
	Cmdline []string
}

// Running reports whether the process that had this pid and start time on
// this boot of the machine is still there.
func Running(pid int, start, boot string) bool { return boot == BootID() && Alive(pid, start) }

// Getenv is the value of name in env; the last one counts, as for a shell.
func Getenv(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// Home is the home folder that an environment names, "" when it names none.
func Home(env []string) string {
	if h := Getenv(env, "HOME"); h != "" {
		return h
	}
	return Getenv(env, "USERPROFILE")
}
