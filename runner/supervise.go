package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/firewall/port"
	"github.com/seed-b23e517c/loop/firewall/seal"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// hookDeadline is shorter than the client's own wait, so that the answer to a
// call that takes too long is ours.
const hookDeadline = (port.HookTimeout - 5) * time.Second

// supervise starts the client and follows it to its end.
func (r *run) supervise(ctx, keep context.Context, s stories.Story, a *queue.Attempt, guard *firewall.Guard, sealed *seal.Seal) (end ending, err error) {
	server, err := port.Listen(guard, hookDeadline)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	defer os.Remove(filepath.Join(a.Dir, settingsName)) // still there when there was no handshake
	prompt, f, err := r.prepare(keep, s, a, server.Settings(denials(r.o)...))
	if err != nil {
		return end, err
	}
	stderr, err := create(filepath.Join(a.Dir, stderrName))
	if err != nil {
		return end, err
	}
	defer stderr.Close()
	script, err := create(filepath.Join(a.Dir, transcriptName))
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, script.Close()) }()

	argv := clientArgs(r.o, a.ID, f)
	r.o.Log.Debug("client starts", "story", a.Story, "attempt", a.ID, "argv", argv)
	c, err := proc.Start(proc.Options{
		Argv: argv, Dir: r.o.Root, Env: clientEnv(r.o, a.ID),
		Stdin: []byte(prompt), Stderr: stderr, Grace: r.o.TermGrace, Mark: a.ID,
		// A client that works on behind a dead supervisor would ask whoever
		// takes the port.
		Bound: true,
	})
	if err != nil {
		return ending{stderr: err.Error()}, nil
	}
	a.ChildPid, a.ChildStart = c.Pid(), c.StartTime()
	guard.ProtectRun(a.ChildPid, server.Port())
	if err := r.o.Store.PutAttempt(keep, *a); err != nil {
		_, killErr := c.Kill()
		return end, errors.Join(err, killErr)
	}
	kept := keepTranscript(script)
	w := &watch{o: r.o, child: c, guard: guard, seal: sealed, a: a, cost: r.cost, keep: kept, grace: r.o.ResultGrace}
	w.ran = func(e escape) { r.escaped(keep, a, guard.Base, e) }
	end = w.run(ctx)
	end.stderr = tail(stderr)
	if end.cause == stopDisk {
		r.o.Store.FreeReserve() // for what follows
	}
	r.o.Log.Debug("client ended", "attempt", a.ID, "exit", end.state.ExitCode, "signal", end.state.Signal, "cause", int(end.cause), "result", end.final != nil)
	taken, err := r.mendState(keep, a)
	if err != nil {
		return end, err
	}
	if taken != "" {
		if err := addFinding(keep, r.o, a, "tampered", taken); err != nil {
			return end, err
		}
	}
	if text := kept.check(); text != "" {
		if err := addFinding(keep, r.o, a, "tampered", text); err != nil {
			return end, err
		}
	}
	if w.halts > 0 {
		text := fmt.Sprintf("the client was stopped by a signal that loop did not send, %d time(s); loop let it go on", w.halts)
		if err := addFinding(keep, r.o, a, "tampered", text); err != nil {
			return end, err
		}
	}
	if err := r.strangers(keep, server, a); err != nil {
		return end, err
	}
	return end, r.leftovers(keep, end.state.Leftovers, a, "the client")
}

// strangers tells who but the client spoke to the hooks' port.
func (r *run) strangers(ctx context.Context, server *port.Server, a *queue.Attempt) error {
	lines, n := server.Strangers()
	for _, line := range lines {
		text := "something that is not the client spoke to the firewall and got nothing: " + line
		if err := addFinding(ctx, r.o, a, "tampered", text); err != nil {
			return err
		}
	}
	if more := n - len(lines); more > 0 {
		return addFinding(ctx, r.o, a, "tampered", fmt.Sprintf("%d further requests like these", more))
	}
	return nil
}

// leftovers tells what a child left running: it is gone by now.
func (r *run) leftovers(ctx context.Context, list []proc.Leftover, a *queue.Attempt, whose string) error {
	for _, left := range list {
		how := "was ended"
		if left.Stuck {
			how = "could not be ended"
		}
		text := fmt.Sprintf("a process outlived %s and %s: %s (pid %d)", whose, how, left.Command, left.Pid)
		if err := addFinding(ctx, r.o, a, "leftover", text); err != nil {
			return err
		}
	}
	return nil
}

func addFinding(ctx context.Context, o *Options, a *queue.Attempt, kind, text string) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	return o.Store.AddFinding(ctx, queue.Finding{
		ID: id.String(), Session: a.Session, Story: a.Story, Attempt: a.ID, Kind: kind, Text: text, When: o.Now().UTC(),
	})
}

func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
}

// tail is the last part of what the client wrote to its standard error.
func tail(f *os.File) string {
	const size = 8 << 10
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-size), size))
	if err != nil {
		return ""
	}
	return string(b)
}
