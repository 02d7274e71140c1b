package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/stories"
)

// Exit codes of every command but `loop hook`. The gravest wins in the order
// interrupted, stopped, failed, waiting.
const (
	exitDone        = 0   // done, nothing waits
	exitFailed      = 1   // failed
	exitUsage       = 2   // wrong use
	exitWaiting     = 3   // done, actions wait for review
	exitBusy        = 4   // the queue or the repository is in use
	exitStopped     = 5   // stopped early: limit, outage, auth, unguarded, budget, blocked
	exitInterrupted = 130 // interrupted
)

const exitHelp = `Exit codes: 0 done, nothing waits; 1 failed; 2 wrong use; 3 done, actions wait for
review; 4 queue or repository in use; 5 stopped early (limit, login, unguarded, ...); 130 interrupted.`

// codeError is an outcome that is told by the exit code; err may be nil when
// everything has been said already.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// usageError is wrong use of the command line.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(hint, format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...), hint: hint}
}

// args wraps cobra's argument checks, whose errors are plain ones.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, a []string) error {
		if err := check(cmd, a); err != nil {
			return usagef(cmd.CommandPath()+" --help", "%w", err)
		}
		return nil
	}
}

func exitCode(err error) int {
	var code *codeError
	var usage *usageError
	var busy *runner.BusyError
	var billing *runner.BillingError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &usage), errors.As(err, &billing):
		return exitUsage
	case errors.As(err, &busy), errors.Is(err, queue.ErrBusy):
		return exitBusy
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// printError says what went wrong and what to type next.
func (a *app) printError(err error) {
	var code *codeError
	if err == nil || errors.As(err, &code) && code.err == nil {
		return
	}
	fmt.Fprintf(a.stderr, "loop: %s\n", term.QuoteLines(err.Error()))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(a.stderr, "loop: hint: %s\n", term.QuoteLines(hint))
	}
}

// hinter is an error that knows what to do about it.
type hinter interface{ Hint() string }

func hintFor(err error) string {
	var usage *usageError
	var h hinter
	var busy *runner.BusyError
	var client *runner.ClientError
	switch {
	case errors.As(err, &usage):
		return usage.hint
	case errors.As(err, &h):
		return h.Hint()
	case errors.As(err, &busy):
		return "wait for it, or end it; `loop report` shows how far it is"
	case errors.Is(err, queue.ErrBusy):
		return "another loop command is writing; try again"
	case errors.As(err, &client) && (errors.Is(client.Err, exec.ErrNotFound) || errors.Is(client.Err, fs.ErrNotExist)):
		return "install Claude Code (npm install -g @anthropic-ai/claude-code), or name it with --claude PATH"
	case errors.Is(err, queue.ErrNotFound):
		return "`loop list --all` shows every action, `loop sessions` the sessions"
	case errors.Is(err, stories.ErrNoFile):
		return "`loop init` writes an example story; --stories FILE names one"
	}
	return ""
}
