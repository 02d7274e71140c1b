// Package replay runs one deferred action after a person has seen it.
//
// It shows exactly what will run, where and what has changed since it was
// recorded, asks, and runs the very bytes that it has shown: as a shell
// command in the recorded folder, with the environment that it is given, without
// input and away from the terminal, in a process group of which nothing stays
// behind. What it began and how that ended stands in the queue, so that one
// action is replayed once, whoever asks, and a replay that dies is known as
// such.
//
// It replays shell commands and calls of MCP tools (replay/mcp), and nothing
// that was never called. It cannot tell whether one of them is harmless. The one invariant: nothing runs that
// was not shown, and nothing is shown otherwise than it runs.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// DefaultTimeout ends a replay that waits for something that does not come.
const DefaultTimeout = 10 * time.Minute

// recordTries is how often the outcome is offered to a queue that is busy.
const recordTries = 3

// Request is one action to replay.
type Request struct {
	Store *queue.Store
	Ref   string // as queue.Store.Get takes it

	In         io.Reader // where the answer comes from; never read beyond its line
	Out        io.Writer // the screen, the question, and the output as it comes
	IsTerminal bool      // In and Out are a person's
	Yes        bool      // do not ask
	Again      bool      // it may have run before
	Anyway     bool      // a push that is not what was deferred is replayed too
	DryRun     bool      // show it, run the tool's own dry run where one is known, and stop

	Who         string // the person, for the record
	Now         func() time.Time
	Env         []string      // the whole environment: the person's own
	Shell       string        // path of the shell; "" = bash, else sh, from the PATH of Env
	InsideAgent string        // why this looks like an agent's own session; "" = it does not
	Timeout     time.Duration // 0 = DefaultTimeout
	MCP         MCPPlaces
	Connect     time.Duration // for an MCP server to start; 0 = mcp.DefaultConnectTimeout
	Version     string        // what an MCP server is told of ours
	PushTimeout time.Duration // for what a remote says before a push; 0 = DefaultPushTimeout

	// Edit lets the person change the action before it is shown. It returns its
	// form, which is kept only if it is run. nil = it stays as it is.
	Edit func(context.Context, queue.Action) (*queue.Edited, error)

	// Agree asks the person in another way than by a line at the terminal. It is
	// given what was shown, and waits for the answer. nil = by a line.
	Agree func(context.Context, queue.Action, Since) (bool, error)

	offline bool // look without asking anybody else
}

// Result is what came of a request.
type Result struct {
	Action   queue.Action // as it is stored now
	Ran      bool
	Declined bool // the person did not say yes
	ExitCode int  // of the command, 128+n when a signal ended it; -1 when it could not be run
}

// Run shows one action, asks, replays it and records the outcome. The error is
// a *RefusedError when nothing was run, a *FailedError when the command ran or
// should have run and did not end with 0, else one of the queue. A person's no
// and a dry run are no errors.
func Run(ctx context.Context, r Request) (Result, error) {
	if r.InsideAgent != "" {
		return Result{}, &RefusedError{
			Reason: "this is an agent's own session: " + term.Quote(r.InsideAgent),
			Advice: "approve it in a terminal of your own",
		}
	}
	a, err := r.Store.Get(ctx, r.Ref)
	if err != nil {
		return Result{}, err
	}
	res := Result{Action: a}
	if err := refuse(a, r.Again); err != nil {
		return res, err
	}
	if r.Edit != nil {
		if a.Edited, err = r.Edit(ctx, a); err != nil {
			return res, err
		}
		if err := refuse(a, r.Again); err != nil {
			return res, err
		}
	}
	since, shell, err := r.look(ctx, a)
	if err != nil {
		return res, err
	}
	if err := Show(r.Out, a, since); err != nil {
		return res, err
	}
	if err := since.refuse(a); err != nil {
		return res, err
	}
	if r.DryRun {
		return res, r.dryRun(ctx, a, since)
	}
	if !r.Anyway {
		if err := refusePushes(a, since.Pushes, !r.Yes); err != nil {
			return res, err
		}
	}
	if !r.Yes {
		yes, err := r.ask(ctx, a, since)
		if err != nil || !yes {
			res.Declined = err == nil
			return res, err
		}
		again := r
		again.offline = true
		if now, _, err := again.look(ctx, a); err != nil || !now.same(since) {
			return res, &RefusedError{
				Action: a.Number,
				Reason: "something changed while the question stood",
				Advice: fmt.Sprintf("loop approve %d shows it as it is now", a.Number),
			}
		}
	}
	if since.Call != nil {
		return r.callServer(ctx, a, since.Call)
	}
	return r.replay(ctx, a, shell)
}

// look finds out what a person must know, and what would run the action.
func (r Request) look(ctx context.Context, a queue.Action) (since Since, shell string, err error) {
	// An action that `loop scan` or a prompt put here has no session of a run.
	session, err := r.Store.Session(ctx, a.Session)
	if err != nil {
		session = queue.Session{}
	}
	if isMCP(a.Tool) {
		call := LookServer(a, session, r.MCP, r.Env)
		return Since{Now: r.Now(), Call: &call, Work: session.Work}, "", nil
	}
	if shell, err = findShell(r.Shell, r.Env); err != nil {
		return since, "", err
	}
	since = Look(ctx, a, shell, r.Env, r.Now())
	since.Work = session.Work
	since.Pushes = LookPush(ctx, a, PushOptions{Env: r.Env, Timeout: r.PushTimeout, Work: since.Work, Offline: r.offline})
	return since, shell, nil
}

// begin takes the action, which was shown, from the queue.
func (r Request) begin(ctx context.Context, a queue.Action) (queue.Action, error) {
	begun, err := r.Store.BeginReplay(context.WithoutCancel(ctx), a.ID, a.Edited, queue.Decision{Who: r.Who, When: r.Now()}, r.Again)
	if err != nil {
		// Somebody else was quicker: what they did is known to the queue.
		if now, getErr := r.Store.Get(context.WithoutCancel(ctx), a.ID); getErr == nil {
			a = now
		}
		return begun, asRefused(a, err)
	}
	return begun, nil
}

// replay runs the action that was shown. The queue may have learned more about
// it in the meantime; what runs is what was on the screen.
func (r Request) replay(ctx context.Context, a queue.Action, shell string) (Result, error) {
	begun, err := r.begin(ctx, a)
	if err != nil {
		return Result{Action: a}, err
	}
	tee := &visible{w: r.Out}
	kept, end := r.keep(ctx, a)
	out := proc.Run(ctx, proc.RunOptions{
		Argv:    []string{shell, "-c", commandOf(a.AsRun())},
		Dir:     a.Cwd,
		Env:     r.Env,
		Timeout: r.timeout(),
		Tee:     io.MultiWriter(tee, kept),
		Mark:    mark(a),
		Now:     r.Now,
	})
	end()
	tee.end()
	return r.conclude(ctx, begun, record(begun, out, r.timeout()), out.Leftovers, out.Err)
}

// conclude records the outcome and closes the screen with it. cause is the
// context's error when it was interrupted.
func (r Request) conclude(ctx context.Context, a queue.Action, rec queue.Replay, left []proc.Leftover, cause error) (res Result, err error) {
	res = Result{Action: a, Ran: true, ExitCode: rec.ExitCode}
	if res.Action, err = r.end(ctx, a, rec); err != nil {
		return res, fmt.Errorf("action #%d was run (exit %d), but the queue could not record it: %w", a.Number, rec.ExitCode, err)
	}
	if err := r.say(a, left, rec); err != nil {
		return res, err
	}
	if res.Action.Status != queue.Replayed {
		return res, &FailedError{Action: a.Number, ExitCode: rec.ExitCode, Reason: rec.Error, Err: cause}
	}
	return res, nil
}

// end records the outcome, also when ctx is over: a replay that was
// interrupted has an outcome too.
func (r Request) end(ctx context.Context, a queue.Action, rec queue.Replay) (stored queue.Action, err error) {
	for range recordTries {
		stored, err = r.Store.EndReplay(context.WithoutCancel(ctx), a.ID, rec)
		if !errors.Is(err, queue.ErrBusy) {
			break
		}
	}
	if err != nil {
		return a, err
	}
	return stored, nil
}

// record puts what the run gave into words.
func record(a queue.Action, out proc.Output, timeout time.Duration) queue.Replay {
	rec := queue.Replay{
		Duration: out.Duration,
		ExitCode: out.ExitCode,
		Output:   strings.ToValidUTF8(string(out.Tail), "\ufffd"),
		Cut:      out.Cut,
	}
	if a.Replay != nil {
		rec.Started = a.Replay.Started
	}
	switch {
	case out.TimedOut:
		rec.Error = fmt.Sprintf("ended after %s", timeout)
	case errors.Is(out.Err, context.Canceled), errors.Is(out.Err, context.DeadlineExceeded):
		rec.Error = "interrupted"
	case out.Err != nil:
		rec.Error = out.Err.Error()
	case out.Signal != "":
		rec.Error = "ended by a signal: " + out.Signal
	}
	return rec
}

// say closes the screen with the outcome.
func (r Request) say(a queue.Action, left []proc.Leftover, rec queue.Replay) error {
	var b strings.Builder
	for _, l := range left {
		what := "ended"
		if l.Stuck {
			what = "could not end"
		}
		fmt.Fprintf(&b, "%s process %d, which it left behind: %s\n", what, l.Pid, term.Command(l.Command))
	}
	how := fmt.Sprintf("exit %d", rec.ExitCode)
	switch {
	case rec.Error != "":
		how = term.Line(rec.Error)
	case isMCP(a.Tool):
		how = "done"
	}
	fmt.Fprintf(&b, "#%d: %s, after %s\n", a.Number, how, rec.Duration.Round(10*time.Millisecond))
	_, err := io.WriteString(r.Out, b.String())
	return err
}
