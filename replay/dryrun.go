package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// DryRunError says that a tool's own dry run failed: the action would, too. It
// still waits.
type DryRunError struct {
	Action   uint64
	ExitCode int
	Reason   string
}

func (e *DryRunError) Error() string {
	how := e.Reason
	if how == "" {
		how = fmt.Sprintf("exit %d", e.ExitCode)
	}
	return fmt.Sprintf("the dry run of #%d failed: %s", e.Action, term.Line(how))
}

// Hint says what to type next.
func (e *DryRunError) Hint() string {
	return fmt.Sprintf("nothing was changed; loop show %d shows the action, loop reject %d closes it", e.Action, e.Action)
}

// dryRun runs the tool's own dry run, where it has one that is known. What was
// shown is all there is otherwise.
func (r Request) dryRun(ctx context.Context, a queue.Action, s Since) error {
	if s.Call != nil {
		return nil
	}
	argv, code, ok := dryWords(commandOf(a.AsRun()))
	if !ok {
		return nil
	}
	line := term.Command(strings.Join(argv, " "))
	for _, p := range s.Pushes {
		if p.Guarded {
			return r.print("its own dry run (%s) was not made: %s\n", line, term.Line(p.Silent))
		}
	}
	if code && !r.Yes {
		if !r.IsTerminal {
			return r.print("its own dry run (%s) may run code of the project; --yes runs it\n", line)
		}
		if yes, err := r.question(ctx, fmt.Sprintf("its own dry run (%s) may run code of the project. run it? [y/N] ", line)); err != nil || !yes {
			return err
		}
	}
	if err := r.print("its own dry run: %s\n", line); err != nil {
		return err
	}
	tee := &visible{w: r.Out}
	out := proc.Run(ctx, proc.RunOptions{
		Argv: argv, Dir: a.Cwd, Env: asksNobody(r.Env), Timeout: r.timeout(), Tee: tee, Mark: "dry-" + a.ID, Now: r.Now,
	})
	tee.end()
	rec := record(a, out, r.timeout())
	if rec.ExitCode != 0 || rec.Error != "" {
		return &DryRunError{Action: a.Number, ExitCode: rec.ExitCode, Reason: rec.Error}
	}
	return r.print("#%d: the dry run ended well, after %s; nothing was sent, and it still waits\n", a.Number, rec.Duration.Round(10*time.Millisecond))
}

// asksNobody is an environment in which git asks for no password.
func asksNobody(env []string) []string {
	return append([]string{"GIT_TERMINAL_PROMPT=0"}, slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_TERMINAL_PROMPT=")
	})...)
}

func (r Request) print(format string, args ...any) error {
	_, err := fmt.Fprintf(r.Out, format, args...)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
