package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
)

// hookCommand is what the client is told to call; see `loop hook` in the
// settings file of an attempt.
const hookCommand = "hook"

// hookDeadline is shorter than the client's own, so that a hook that gets no
// answer still says no in so many words.
const hookDeadline = (firewall.HookTimeout - 2) * time.Second

// runHook carries one call to the supervisor. It follows the client's
// contract: exit 0 with a decision on stdout, 2 to block.
func runHook(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	flags := flag.NewFlagSet(hookCommand, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	socket := flags.String("socket", "", "the supervisor's socket")
	event := flags.String("event", "", "the event this hook is called for")
	err := flags.Parse(args)
	if err == nil && *socket == "" {
		err = errors.New("loop hook needs --socket; it is called by the client, with the settings of loop run")
	}
	if err != nil {
		r := firewall.Failure(*event, err)
		_, _ = io.WriteString(errOut, r.Stderr)
		return r.Exit
	}
	ctx, cancel := context.WithTimeout(ctx, hookDeadline)
	defer cancel()
	return firewall.Hook(ctx, *socket, *event, in, out, errOut)
}
