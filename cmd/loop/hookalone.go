package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
)

// hookCommand is what the client calls before each tool call; see `loop
// firewall install`.
const hookCommand = "hook"

const (
	aloneDeadline = (firewall.AloneTimeout - 2) * time.Second // the client's own is longer
	aloneWait     = 250 * time.Millisecond                    // for the queue; then the spool
	aloneMemory   = 512 << 20                                 // below it, no garbage is collected
)

// runHookAlone answers one call by itself. It follows the client's contract:
// exit 0 with a decision on stdout or none, 2 to block.
func (a *app) runHookAlone(ctx context.Context, args []string) int {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(aloneMemory)
	r := a.answerAlone(ctx, args)
	_, _ = io.WriteString(a.stderr, r.Stderr)
	if _, err := io.WriteString(a.stdout, r.Stdout); err != nil && r.Stdout != "" {
		return firewall.Failure(firewall.EventPreToolUse, err).Exit
	}
	return r.Exit
}

func (a *app) answerAlone(ctx context.Context, args []string) firewall.Reply {
	flags := flag.NewFlagSet(hookCommand, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	name := flags.String("level", "", "autonomy level")
	err := flags.Parse(args)
	if err == nil && *name == "" {
		err = errors.New("loop hook needs --level; it is called by the client: `loop firewall install`")
	}
	var level policy.Level
	if err == nil {
		level, err = policy.ParseLevel(*name)
	}
	if err != nil {
		return firewall.Failure(firewall.EventPreToolUse, err)
	}
	ctx, cancel := context.WithTimeout(ctx, aloneDeadline)
	defer cancel()
	alone := firewall.Alone{Level: level, Open: func(r firewall.Request) (*firewall.Guard, error) {
		h, err := a.openAlone(ctx, level, r)
		if err != nil {
			return nil, err
		}
		return h.guard(level), nil
	}}
	return alone.Answer(ctx, a.stdin)
}

// hookAlone is what one call needs: the rules at once, the queue only when the
// call does not just run.
type hookAlone struct {
	a         *app
	ctx       context.Context
	session   string
	root, cwd string
	set       *policy.Set

	once sync.Once
	work workspace
	at   firewall.Place
	err  error
}

func (a *app) openAlone(ctx context.Context, level policy.Level, r firewall.Request) (*hookAlone, error) {
	h := &hookAlone{a: a, ctx: ctx, session: r.SessionID, cwd: r.Cwd}
	if h.cwd == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		h.cwd = dir
	}
	h.root = a.topFolder(ctx, h.cwd)
	var err error
	if h.set, err = a.rulesAlone(h.root); err == nil || level != policy.Interactive {
		return h, err
	}
	// Rules that cannot be read take nothing away from the built-in ones.
	fmt.Fprintf(a.stderr, "loop: the built-in rules alone hold here: %v\n", err)
	h.set, err = policy.Builtin()
	return h, err
}

// rulesAlone are the rules in force in a repository. Their examples are not
// run: `loop firewall status` and `loop rules check` do that.
func (a *app) rulesAlone(root string) (*policy.Set, error) {
	c, err := config.Load(a.userDir(), root)
	if err != nil {
		return nil, err
	}
	o, err := rulesOf(c)
	if err != nil {
		return nil, err
	}
	o.Trusted = true
	return policy.Load(o)
}

// topFolder is the top folder of the work tree of dir, else dir. Asking git is
// a process more, so it is asked only where its environment says more than the
// folders do.
func (a *app) topFolder(ctx context.Context, dir string) string {
	if a.getenv("GIT_DIR") != "" || a.getenv("GIT_WORK_TREE") != "" {
		if w, err := a.workspaceAt(ctx, dir); err == nil {
			return w.Root
		}
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

func (h *hookAlone) guard(level policy.Level) *firewall.Guard {
	g := &firewall.Guard{
		Classifier: h.set, Queue: h, Base: queue.Action{Session: h.session},
		Place: h.place, ReadFile: h.readFile, ReadDir: h.readDir, Now: h.a.now,
	}
	if level != policy.Interactive {
		g.Protect(*h.guarded())
		g.ProtectRun(os.Getppid(), 0) // the client
	}
	return g
}

// guarded is what an agent that nobody watches may not take away. Git is not
// asked: a work tree that shares its repository has that one's files unguarded.
func (h *hookAlone) guarded() *policy.Guarded {
	o := &runner.Options{
		Root: h.root, Env: h.a.env, Protected: h.a.protected(h.a.userDir()), Watched: []string{filepath.Join(h.root, config.FileName)},
	}
	return runner.Guarded(o, filepath.Join(h.root, ".git"))
}

func (h *hookAlone) readFile(cwd, name string) (string, bool) {
	return runner.ReadScript(h.readable(cwd), name)
}

func (h *hookAlone) readDir(cwd, name string) ([]string, bool) {
	return runner.ReadFolder(h.readable(cwd), name)
}

// readable are the folders whose files a call may be judged by.
func (h *hookAlone) readable(cwd string) []string {
	dirs := []string{h.root, cwd, "/tmp"}
	if dir := h.a.getenv("TMPDIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	return dirs
}

// locate asks git for the repository and where it stands, once and in one
// question; without a commit yet, in two.
func (h *hookAlone) locate() {
	h.once.Do(func() {
		lines := h.a.askGit(h.ctx, h.cwd, "--show-toplevel", "--git-common-dir", "HEAD", "--symbolic-full-name", "HEAD")
		if len(lines) != 4 {
			h.work, h.err = h.a.workspaceAt(h.ctx, h.cwd)
			return
		}
		h.work, h.err = h.a.workspaceOf(h.cwd, lines[:2])
		h.at.Head = lines[2]
		if branch, ok := strings.CutPrefix(lines[3], "refs/heads/"); ok {
			h.at.Branch = branch
		}
	})
}

func (h *hookAlone) place(string) firewall.Place {
	h.locate()
	return h.at
}

// Add puts the action into the queue of the repository in which the call is
// made.
func (h *hookAlone) Add(ctx context.Context, x queue.Action) (queue.Action, bool, error) {
	if h.locate(); h.err != nil {
		return x, false, h.err
	}
	s, err := queue.Open(h.work.State, queue.Options{Now: h.a.now, Timeout: aloneWait})
	if err != nil {
		return x, false, err
	}
	return s.AddOrSpool(ctx, x)
}
