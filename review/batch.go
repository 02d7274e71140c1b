package review

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// shownAs is how an action of a batch was shown.
type shownAs struct {
	action queue.Action
	since  replay.Since
}

// several shows all of the actions, asks once, and replays them in order until
// one fails. What is no longer as it was shown is not run.
func several(d Desk, seen []queue.Action) work {
	return func(ctx context.Context, w io.Writer, ask func(question) (bool, error)) (string, error) {
		shown, refused := showAll(ctx, d, seen, w)
		if refused > 0 {
			fmt.Fprintf(w, "\n!! %d of them cannot be run; nothing was run. Unmark them (m), or decide them alone.\n", refused)
			return "", fmt.Errorf("%d of %d actions cannot be run", refused, len(seen))
		}
		yes, err := ask(question{text: fmt.Sprintf("run all %d, until one fails?", len(seen))})
		if err != nil {
			return "", err
		}
		if !yes {
			return "", errDeclined
		}
		for i := range seen {
			fmt.Fprintf(w, "\n-- %d of %d: %s runs --\n", i+1, len(seen), number(seen[i]))
			out := &gate{w: w}
			if _, err := d.Replay(ctx, seen[i], replay.Insist{}, out, out.after(shown[i].agree(i > 0))); err != nil {
				if rest := len(seen) - i - 1; rest > 0 {
					fmt.Fprintf(w, "\n!! stopped: %d of %d were not run and still wait\n", rest, len(seen))
				}
				return "", err
			}
		}
		return fmt.Sprintf("all %d replayed", len(seen)), nil
	}
}

// gate lets through what is written after a yes: what comes before it was shown
// already.
type gate struct {
	w    io.Writer
	open bool
}

func (g *gate) Write(p []byte) (int, error) {
	if !g.open {
		return len(p), nil
	}
	return g.w.Write(p)
}

func (g *gate) after(agree Agree) Agree {
	return func(ctx context.Context, a queue.Action, s replay.Since) (bool, error) {
		yes, err := agree(ctx, a, s)
		g.open = yes
		return yes, err
	}
}

// showAll lists the actions, and then shows each as it would be shown alone.
func showAll(ctx context.Context, d Desk, seen []queue.Action, w io.Writer) (shown []shownAs, refused int) {
	shown = make([]shownAs, len(seen))
	fmt.Fprintf(w, "%d actions, in this order:\n", len(seen))
	for i, a := range seen {
		lines := strings.Count(exact(a.AsRun()), "\n") + 1
		more := ""
		if lines > 1 {
			more = fmt.Sprintf("  (%d lines)", lines)
		}
		first, _, _ := strings.Cut(a.AsRun().Command, "\n")
		fmt.Fprintf(w, "  %d. #%d  %s%s\n", i+1, a.Number, term.Quote(term.Lookalikes(first)), more)
	}
	for i, a := range seen {
		fmt.Fprintf(w, "\n-- %d of %d --\n", i+1, len(seen))
		_, err := d.Replay(ctx, a, replay.Insist{}, w, func(_ context.Context, a queue.Action, s replay.Since) (bool, error) {
			shown[i] = shownAs{a, s}
			return false, nil
		})
		if err != nil {
			refused++
			fmt.Fprintf(w, "!! %s\n", errorText(err))
		}
	}
	return shown, refused
}

// agree says yes to what is still as it was shown. Commits may have come after
// others of the batch have run; files may not have changed.
func (s shownAs) agree(ran bool) Agree {
	return func(_ context.Context, a queue.Action, now replay.Since) (bool, error) {
		x, y := a.AsRun(), s.action.AsRun()
		if string(x.Input) != string(y.Input) || x.Command != y.Command || x.Cwd != y.Cwd || now.Shell != s.since.Shell || !now.Same(s.since, ran) {
			return false, fmt.Errorf("action #%d is not as it was shown", a.Number)
		}
		return true, nil
	}
}
