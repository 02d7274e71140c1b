// Package sim is the scripted stand-in for the client that `loop demo` and the
// tests run as a real child process.
//
// It speaks the client's side of the protocol as version 2.1.332 does in print
// mode: flags, the prompt on standard input, stream-json on standard output,
// hooks run for real from the settings file, files written and commands run
// for real. What the model would say comes from a script. It asks no network
// and no model, keeps no session file, and knows no settings but the hooks of
// the --settings file.
//
// The one invariant: where the script does not say otherwise (Part.Hooks), a
// call runs only if the real client would have let it run.
package sim

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Version is the version of the client that is played.
const Version = "2.1.332"

// Invocation is one start of the stand-in.
type Invocation struct {
	Args   []string // what the client would be given, its own name left out
	Script string   // path of the script; "" = the demo's
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    []string // the whole environment; hooks and tools inherit it
	Dir    string   // where the agent works; "" = here
	Now    func() time.Time
}

// maxPrompt is how much standard input the client takes.
const maxPrompt = 10 << 20

// Main plays the client to its end and returns the exit code. TERM, INT and
// HUP do what they do to the client; an ended context counts as TERM.
func Main(ctx context.Context, inv Invocation) int {
	f, err := parseFlags(inv.Args)
	if err != nil {
		return complain(inv.Stderr, err)
	}
	if f.version {
		_, _ = io.WriteString(inv.Stdout, Version+" (Claude Code), scripted stand-in\n")
		return 0
	}
	s, err := newSession(inv, f)
	if err != nil {
		return complain(inv.Stderr, err)
	}
	// The client works on when nobody reads its output any more.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := withSignals(ctx)
	defer stop()
	return s.run(ctx)
}

func complain(w io.Writer, err error) int {
	_, _ = io.WriteString(w, err.Error()+"\n")
	return 1
}

// The ways in which a run is interrupted.
var (
	errTerminated  = errors.New("terminated")
	errInterrupted = errors.New("interrupted")
	errHungUp      = errors.New("hung up")
)

// withSignals ends the context with the cause that tells which signal came.
func withSignals(ctx context.Context) (context.Context, func()) {
	causes := map[os.Signal]error{syscall.SIGTERM: errTerminated, syscall.SIGINT: errInterrupted, syscall.SIGHUP: errHungUp}
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		select {
		case sig := <-got:
			cancel(causes[sig])
		case <-ctx.Done():
			// The program's own handler may be told first; what the signal
			// was, only ours knows.
			t := time.NewTimer(100 * time.Millisecond)
			defer t.Stop()
			select {
			case sig := <-got:
				cancel(causes[sig])
			case <-t.C:
				cancel(errTerminated)
			}
		case <-inner.Done():
		}
	}()
	return inner, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// getenv is the value of name in env, the last one as the system has it.
func getenv(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}
