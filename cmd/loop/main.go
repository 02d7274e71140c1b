// Command loop supervises a coding agent overnight and keeps what would reach
// outside in a queue until a person has seen it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/hook"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/selftest"
)

func main() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Environ(), now: time.Now}
	// A person waits for it before each call of the agent: it goes round
	// the command tree and the handling of signals.
	if len(os.Args) > 1 && os.Args[1] == firewall.HookCommand {
		os.Exit(hook.Process{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Env: a.env, Now: a.now}.Run(context.Background(), os.Args[1:]))
	}
	ctx, cancel := context.WithCancel(context.Background())
	kill := make(chan struct{})
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		// nohup and a shell's & mean it: what was ignored stays ignored.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		<-signals
		cancel()
		<-signals
		close(kill)
	}()
	a.kill = kill
	os.Exit(a.run(ctx, os.Args[1:]))
}

// app is one invocation: what a command may touch of the process.
type app struct {
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	env    []string
	now    func() time.Time
	kill   <-chan struct{} // closed by the second signal

	color   string // --color
	verbose bool
	level   string // --log-level
}

func (a *app) run(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == simCommand {
		return a.runSim(ctx, args[1:])
	}
	if len(args) == 2 && args[0] == selftest.MCPCommand {
		return a.serveMCP(args[1])
	}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	a.printError(err)
	return exitCode(err)
}

// getenv reads the environment the app was given.
func (a *app) getenv(name string) string { return proc.Getenv(a.env, name) }
