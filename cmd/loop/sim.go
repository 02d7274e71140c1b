package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-b23e517c/loop/internal/selftest"
	"github.com/seed-b23e517c/loop/internal/sim"
)

// simCommand plays the client from a script, for `loop demo` and the tests:
// loop sim [--script FILE] CLIENT-ARGUMENTS...
const simCommand = "sim"

func (a *app) runSim(ctx context.Context, args []string) int {
	inv := sim.Invocation{Args: args, Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Env: a.env, Now: a.now}
	if len(args) >= 2 && args[0] == "--script" {
		inv.Script, inv.Args = args[1], args[2:]
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(a.stderr, "loop: %v\n", err)
		return exitFailed
	}
	inv.Dir = dir
	return sim.Main(ctx, inv)
}

// serveMCP plays the MCP server of the self-test, which the client starts.
func (a *app) serveMCP(file string) int {
	if err := selftest.ServeMCP(file, a.stdin, a.stdout); err != nil {
		fmt.Fprintf(a.stderr, "loop: %v\n", err)
		return exitFailed
	}
	return exitDone
}
