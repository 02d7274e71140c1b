package proc

import (
	"context"
	"io"
	"time"
)

// DefaultTail is how much output Run keeps when nothing else is said.
const DefaultTail = 64 << 10

// RunOptions says what Run runs.
type RunOptions struct {
	Argv     []string
	Dir      string
	Env      []string // the whole environment
	Stdin    []byte   // nil = /dev/null
	Timeout  time.Duration
	Grace    time.Duration // from TERM to KILL at a timeout; 0 = DefaultGrace
	Tail     int           // bytes of output kept, the last ones; 0 = DefaultTail
	Tee      io.Writer     // gets all output as it comes; nil = nobody
	Separate bool          // stderr goes to Output.Stderr and not with stdout
	Mark     string
	Plain    bool             // see Options
	Now      func() time.Time // for Output.Duration; nil = it stays zero
}

// Output is what a run gave.
type Output struct {
	ExitCode  int // 128+n when a signal ended it; -1 when it did not start
	Signal    string
	Tail      []byte // stdout and stderr as they came
	Stderr    []byte // only with Separate
	Cut       bool   // there was more than Tail or Stderr holds
	Duration  time.Duration
	TimedOut  bool
	Leftovers []Leftover
	Err       error // could not start, context ended, stuck; an exit code is none
}

// OK reports whether the program ran and exited with 0.
func (o Output) OK() bool { return o.Err == nil && !o.TimedOut && o.ExitCode == 0 }

// Run runs a program to its end, or to the timeout's or the context's. After
// each of them its whole tree is gone.
func Run(ctx context.Context, o RunOptions) Output {
	if ctx.Err() != nil {
		return Output{ExitCode: -1, Err: context.Cause(ctx)}
	}
	var began time.Time
	if o.Now != nil {
		began = o.Now()
	}
	out := o.run(ctx)
	if o.Now != nil {
		out.Duration = o.Now().Sub(began)
	}
	return out
}

func (o RunOptions) run(ctx context.Context) Output {
	both, err := newSink(o.Tail, o.Tee)
	if err != nil {
		return Output{ExitCode: -1, Err: err}
	}
	defer both.close()
	stderr := both
	if o.Separate {
		if stderr, err = newSink(o.Tail, nil); err != nil {
			return Output{ExitCode: -1, Err: err}
		}
		defer stderr.close()
	}
	c, err := Start(Options{
		Argv: o.Argv, Dir: o.Dir, Env: o.Env, Stdin: o.Stdin, Grace: o.Grace, Mark: o.Mark, Plain: o.Plain,
		Stdout: both.w, Stderr: stderr.w,
	})
	if err != nil {
		return Output{ExitCode: -1, Err: err}
	}
	both.started()
	stderr.started()
	out := o.wait(ctx, c)
	out.Tail, out.Cut = both.finish()
	if o.Separate {
		var cut bool
		out.Stderr, cut = stderr.finish()
		out.Cut = out.Cut || cut
	}
	return out
}

// wait waits for the child's end and brings it about when time is up.
func (o RunOptions) wait(ctx context.Context, c *Child) Output {
	var timeout <-chan time.Time
	if o.Timeout > 0 {
		t := time.NewTimer(o.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	var out Output
	var state State
	select {
	case <-c.Done():
		state = c.Wait()
	case <-timeout:
		out.TimedOut = true
		state, out.Err = c.Terminate()
	case <-ctx.Done():
		if state, out.Err = c.Terminate(); out.Err == nil {
			out.Err = context.Cause(ctx)
		}
	}
	out.ExitCode, out.Signal, out.Leftovers = state.ExitCode, state.Signal, state.Leftovers
	return out
}
