// Command loop-hook is `loop hook` and nothing else: the firewall at the prompt
// of a client that has no supervisor. `loop firewall install` names it where it
// lies beside loop. A program of its own, because the client starts it before
// every call and most of that time is the start: this one is a third as large.
package main

import (
	"context"
	"os"
	"time"

	"github.com/seed-b23e517c/loop/internal/hook"
)

func main() {
	p := hook.Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ(), Now: time.Now}
	os.Exit(p.Run(context.Background(), os.Args[1:]))
}
