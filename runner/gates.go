package runner

import (
	"context"
	"fmt"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// gateTail is how much of a gate's output is kept.
const gateTail = 16 << 10

// runGates runs the gates in order and stops at the first that fails: what
// comes after it would only bury the cause. left is what they left running; it
// is gone by now.
func runGates(ctx context.Context, o *Options) (gates []queue.Gate, left []proc.Leftover) {
	for _, command := range o.Gates {
		o.Progress.Notice("gate: " + command)
		out := proc.Run(ctx, proc.RunOptions{
			Argv: []string{"sh", "-c", command}, Dir: o.Root, Env: gateEnv(o),
			Timeout: o.GateTime, Tail: gateTail, Now: o.Now,
		})
		left = append(left, out.Leftovers...)
		g := queue.Gate{
			Command: command, ExitCode: out.ExitCode, Duration: out.Duration, Output: string(out.Tail),
			Passed: out.Err == nil && out.ExitCode == 0 && !out.TimedOut,
		}
		switch {
		case out.TimedOut:
			g.Error = fmt.Sprintf("not finished after %v", o.GateTime)
		case out.Err != nil:
			g.Error = out.Err.Error()
		}
		gates = append(gates, g)
		if !g.Passed {
			break
		}
	}
	return gates, left
}
