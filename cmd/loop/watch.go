package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/transcript"
	"github.com/seed-b23e517c/loop/watch"
)

const watchLong = `Show the run of this repository as it goes: its stories, what the agent does now, the cost, what
waits, and the last lines of a story. It only looks: closing it does not touch the run.
Where there is no terminal, or TERM is dumb, a line is printed at each change until the run ends.

Exit codes: 0 closed, or the run ended; 1 failed; 2 wrong use; 130 interrupted.`

func newWatch(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "watch", Short: "Watch a run on the terminal", Long: watchLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return left(a.watch(cmd.Context())) },
	}
}

func (a *app) watch(ctx context.Context) error {
	w, store, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return err
	}
	src := &watchSource{a: a, w: w, store: store, ro: ro}
	if name := a.getenv("TERM"); !term.IsTerminal(a.stdin) || !term.IsTerminal(a.stdout) || name == "" || name == "dumb" {
		return watch.Plain(ctx, a.stdout, src, ro.Location, pauseFor(watch.Every))
	}
	return watch.Run(ctx, src, watch.Options{In: a.stdin, Out: a.stdout, Env: a.env, Color: ro.Color, Location: ro.Location})
}

// left is what is said when a person ends what only looks: nothing.
func left(err error) error {
	if errors.Is(err, context.Canceled) {
		return codeOnly(exitInterrupted)
	}
	return err
}

func pauseFor(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}
}

// watchSource reads what the view shows.
type watchSource struct {
	a     *app
	w     workspace.Workspace
	store *queue.Store
	ro    report.Options
}

// Snapshot is how the run and its stories stand.
func (s *watchSource) Snapshot(ctx context.Context) (watch.Snapshot, error) {
	now, err := s.a.statusOf(ctx, s.w, s.store)
	out := watch.Snapshot{Standing: now}
	if err != nil || now.Session == "" {
		return out, err
	}
	session, err := s.store.Session(ctx, now.Session)
	if errors.Is(err, queue.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	attempts, err := s.store.Attempts(ctx, session.ID)
	if err != nil {
		return out, err
	}
	for _, id := range session.StoryOrder {
		out.Stories = append(out.Stories, watchStory(id, attempts, now))
	}
	return out, nil
}

// watchStory sums up the attempts at one story.
func watchStory(id string, attempts []queue.Attempt, now report.Standing) watch.Story {
	row := watch.Story{ID: id, State: "to come"}
	if now.State != report.StateRunning {
		row.State = "not begun"
	}
	if id == now.Story {
		row.Title = now.Title
	}
	for _, f := range now.InFlight {
		if f.Story == id {
			now.StorySeconds, now.Refused, row.Title = f.StorySeconds, f.Refused, f.Title
		}
	}
	for _, at := range attempts {
		if at.Story != id {
			continue
		}
		row.Title = at.StoryTitle
		row.CostUSD += at.CostUSD
		row.Refused += at.Denied
		row.Ended = !at.Ended.IsZero()
		switch {
		case row.Ended:
			row.State, row.Passed = string(at.Outcome), at.Outcome.Passed()
			row.Seconds += seconds(at.Started, at.Ended)
		case now.State == report.StateRunning:
			row.State = "running"
			row.Seconds += now.StorySeconds
			row.Refused = now.Refused
		default:
			row.State = "no end"
		}
	}
	return row
}

// watchedEnd is how much of a transcript's end the last lines are taken from.
const watchedEnd = 256 << 10

// Lines are the last lines of a story's last attempt.
func (s *watchSource) Lines(ctx context.Context, story string, width, n int) ([]string, error) {
	at, err := findAttempt(ctx, s.store, story, "")
	if err != nil {
		return nil, err
	}
	f, err := os.Open(transcriptPath(at))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	end, err := endOf(f, watchedEnd)
	if err != nil {
		return nil, err
	}
	ro := s.ro
	ro.Width = width
	var b bytes.Buffer
	if err := transcript.Each(bytes.NewReader(end), transcript.Options{}, report.NewLog(&b, ro, numbers(ctx, s.store, at)).Event); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	return lines[max(0, len(lines)-n):], nil
}

// endOf is the last bytes of a file, from the beginning of a line.
func endOf(f *os.File, n int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-n)
	b, err := io.ReadAll(io.NewSectionReader(f, from, n))
	if err != nil || from == 0 {
		return b, err
	}
	_, whole, _ := bytes.Cut(b, []byte("\n"))
	return whole, nil
}
