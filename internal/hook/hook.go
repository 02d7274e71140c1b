// Package hook is the firewall's hook that answers by itself, with no
// supervisor: one call, one process. It holds little, because a person waits
// for it before each call of the agent, and a large program takes longer to
// start than to decide.
package hook

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	gitWait   = (firewall.AloneTimeout - 5) * time.Second // for all that git is asked; the client waits longer
	queueWait = 250 * time.Millisecond                    // for the queue; then the spool
	memory    = 512 << 20                                 // below it, no garbage is collected
)

// Process is what the hook may touch of its process.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            []string
	Now            func() time.Time
}

// Run answers the call on stdin and gives the exit code. It follows the
// client's contract: exit 0 with a decision on stdout or none, 2 to block. It
// sets the garbage collector of the process, which ends with the answer.
func (p Process) Run(ctx context.Context, args []string) int {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memory)
	growStack(false)
	r := p.answer(ctx, args)
	_, _ = io.WriteString(p.Stderr, r.Stderr)
	if _, err := io.WriteString(p.Stdout, r.Stdout); err != nil && r.Stdout != "" {
		return firewall.Failure(firewall.EventPreToolUse, err).Exit
	}
	return r.Exit
}

// growStack makes the stack as large as a decision needs in one step, while
// there is little on it: on its way there it would be copied four times. What
// counts is the size of the frame, and room is not made ready: that alone would
// touch all of it.
//
//go:noinline
func growStack(use bool) byte {
	if !use {
		return 0
	}
	var room [56 << 10]byte
	return room[len(os.Args)]
}

func (p Process) answer(ctx context.Context, args []string) firewall.Reply {
	flags := flag.NewFlagSet(firewall.HookCommand, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	name := flags.String("level", "", "autonomy level")
	if len(args) == 0 || args[0] != firewall.HookCommand {
		return firewall.Failure(firewall.EventPreToolUse, errors.New("not called as a hook: `loop firewall install`"))
	}
	err := flags.Parse(args[1:])
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
	alone := firewall.Alone{Level: level, Open: func(r firewall.Request) (*firewall.Guard, error) {
		h, err := p.open(ctx, level, r)
		if err != nil {
			return nil, err
		}
		return h.guard(level), nil
	}}
	return alone.Answer(ctx, p.Stdin)
}

// decision is what one call needs: the rules at once, the queue only when the
// call does not just run.
type decision struct {
	p       Process
	find    workspace.Finder
	ctx     context.Context
	session string
	repo    workspace.Repository
	root    string
	set     *policy.Set
}

func (p Process) open(ctx context.Context, level policy.Level, r firewall.Request) (*decision, error) {
	h := &decision{
		p: p, ctx: ctx, session: r.SessionID,
		find: workspace.Finder{Env: p.Env, Now: p.Now, Links: workspace.Links(), Until: p.Now().Add(gitWait)},
	}
	var err error
	cwd := r.Cwd
	if cwd == "" {
		if cwd, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	h.repo = h.find.Repository(cwd)
	h.root = h.find.Top(ctx, h.repo)
	if h.set, err = h.rules(); err == nil || level != policy.Interactive {
		return h, err
	}
	// Rules that cannot be read take nothing away from the built-in ones.
	fmt.Fprintf(p.Stderr, "loop: the built-in rules alone hold here: %v\n", err)
	h.set, err = policy.Builtin()
	return h, err
}

// rules are the rules in force in a repository. Their examples are not
// run: `loop firewall status` and `loop rules check` do that.
func (h *decision) rules() (*policy.Set, error) {
	c, err := config.Load(h.find.UserDir(), h.root)
	if err != nil {
		return nil, err
	}
	o, err := c.RulePacks()
	if err != nil {
		return nil, err
	}
	o.Trusted = true
	return policy.Load(o)
}

func (h *decision) guard(level policy.Level) *firewall.Guard {
	readable := firewall.FilesOf(h.root, h.p.Env)
	readable.Links = h.find.Links
	g := &firewall.Guard{
		Classifier: h.set, Queue: h, Base: queue.Action{Session: h.session},
		Place: h.place, ReadFile: readable.Read, ReadDir: readable.List, ProgramOf: readable.Program, Now: h.p.Now,
	}
	if level != policy.Interactive {
		g.Protect(*h.guarded())
		g.ProtectRun(os.Getppid(), 0) // the client
	}
	return g
}

// guarded is what an agent that nobody watches may not take away.
func (h *decision) guarded() *policy.Guarded {
	own := func() []string { return append(h.find.Own(), filepath.Join(h.root, config.FileName)) }
	return firewall.Guarded(h.root, h.repo.Common, h.p.Env, h.find.Links, own)
}

func (h *decision) place(string) firewall.Place {
	head, branch := h.find.Head(h.ctx, h.repo)
	return firewall.Place{Head: head, Branch: branch}
}

// Add puts the action into the queue of the repository in which the call is
// made.
func (h *decision) Add(ctx context.Context, x queue.Action) (queue.Action, bool, error) {
	w, err := h.find.Workspace(ctx, h.repo)
	if err != nil {
		return x, false, err
	}
	s, err := queue.Open(w.State, queue.Options{Now: h.p.Now, Timeout: queueWait})
	if err != nil {
		return x, false, err
	}
	x, err = s.Spool(ctx, x)
	return x, err == nil, err
}
