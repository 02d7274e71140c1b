package review

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// shownAs is how an action of a batch was shown.
type shownAs struct {
	seen   queue.Action // as it was marked
	action queue.Action // as it would run
	since  replay.Since
}

// several shows all of the actions, asks once, and replays them in order until
// one fails. What is no longer as it was shown is not run. Pushes that are not what
// was deferred are named apart, and left out unless the person takes them in.
func several(d Desk, seen []queue.Action) work {
	return func(ctx context.Context, w io.Writer, ask func(question) (bool, error)) (string, error) {
		shown, refused := showAll(ctx, d, seen, w)
		if refused > 0 {
			fmt.Fprintf(w, "\n!! %d of them cannot be run; nothing was run. Unmark them (m), or decide them alone.\n", refused)
			return "", fmt.Errorf("%d of %d actions cannot be run", refused, len(seen))
		}
		stale := changed(shown)
		q := question{text: fmt.Sprintf("run all %d, until one fails?", len(seen))}
		if len(stale) > 0 {
			q.text, q.with = takeIn(w, len(seen), stale, shown)
		}
		yes, err := ask(q)
		if err != nil {
			return "", err
		}
		if !yes {
			return "", errDeclined
		}
		note := ""
		if len(stale) > 0 && !q.with.in {
			shown = slices.DeleteFunc(shown, func(s shownAs) bool { return len(s.since.Stale()) > 0 })
			note = fmt.Sprintf("; %s left out, not what was deferred", names(stale))
		}
		return fmt.Sprintf("all %d replayed%s", len(shown), note), runAll(ctx, d, shown, w)
	}
}

// runAll replays what was shown, in order, until one fails.
func runAll(ctx context.Context, d Desk, shown []shownAs, w io.Writer) error {
	for i, s := range shown {
		fmt.Fprintf(w, "\n-- %d of %d: %s runs --\n", i+1, len(shown), number(s.seen))
		out := &gate{w: w}
		insist := replay.Insist{Anyway: len(s.since.Stale()) > 0}
		if _, err := d.Replay(ctx, s.seen, insist, out, out.after(s.agree(i > 0))); err != nil {
			if rest := len(shown) - i - 1; rest > 0 {
				fmt.Fprintf(w, "\n!! stopped: %d of %d were not run and still wait\n", rest, len(shown))
			}
			return err
		}
	}
	return nil
}

// changed are those that are not what was deferred.
func changed(shown []shownAs) (out []queue.Action) {
	for _, s := range shown {
		if len(s.since.Stale()) > 0 {
			out = append(out, s.seen)
		}
	}
	return out
}

// takeIn says apart from the others which are left out and why, and how they are
// taken in.
func takeIn(w io.Writer, n int, stale []queue.Action, shown []shownAs) (text string, x *with) {
	fmt.Fprintf(w, "\n-- not what was deferred: left out, unless you take it in (i) --\n")
	for _, s := range shown {
		why := s.since.Stale()
		if len(why) == 0 {
			continue
		}
		fmt.Fprintf(w, "  %s  %s\n", number(s.seen), firstLine(s.seen.AsRun()))
		for _, reason := range why {
			fmt.Fprintf(w, "  !! %s\n", term.Quote(reason))
		}
	}
	what := names(stale)
	x = &with{what: what, all: len(stale) == n, text: fmt.Sprintf("run all %d, until one fails, also %s?", n, what)}
	if x.all {
		return "nothing to run: all have changed.", x
	}
	return fmt.Sprintf("run %d of %d, until one fails?", n-len(stale), n), x
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
		fmt.Fprintf(w, "  %d. #%d  %s\n", i+1, a.Number, firstLine(a.AsRun()))
	}
	for i, a := range seen {
		fmt.Fprintf(w, "\n-- %d of %d --\n", i+1, len(seen))
		_, err := d.Replay(ctx, a, replay.Insist{Anyway: true}, w, func(_ context.Context, now queue.Action, s replay.Since) (bool, error) {
			shown[i] = shownAs{a, now, s}
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
		if !slices.Equal(now.Stale(), s.since.Stale()) {
			return false, fmt.Errorf("action #%d has changed otherwise than was shown", a.Number)
		}
		if string(x.Input) != string(y.Input) || x.Command != y.Command || x.Cwd != y.Cwd || now.Shell != s.since.Shell || !now.Same(s.since, ran) {
			return false, fmt.Errorf("action #%d is not as it was shown", a.Number)
		}
		return true, nil
	}
}

// firstLine is the command of an action, and how many lines follow.
func firstLine(a queue.Action) string {
	first, _, _ := strings.Cut(a.Command, "\n")
	text := term.Quote(term.Lookalikes(first))
	if n := strings.Count(exact(a), "\n") + 1; n > 1 {
		text += fmt.Sprintf("  (%d lines)", n)
	}
	return text
}
