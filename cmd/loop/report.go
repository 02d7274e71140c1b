package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/stories"
)

func newReport(a *app) *cobra.Command {
	var o struct{ json, all, check bool }
	cmd := &cobra.Command{
		Use: "report [SESSION]", Short: "Show what a session did and what waits for you",
		Long: "Show what a session did and what waits for you; the last session by default.\n\n" + exitHelp,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			store, snap, err := a.snapshot(cmd.Context(), refs)
			if err != nil {
				return err
			}
			if o.check {
				return codeOnly(waitingCode(snap))
			}
			if o.json {
				return report.JSON(a.stdout, snap, report.Options{Known: known(cmd.Context(), store)})
			}
			return a.printReport(cmd.Context(), store, snap, o.all)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.all, "all", false, "show mentions and long lists too")
	f.BoolVar(&o.check, "check", false, "print nothing; exit with 3 when actions wait, else 0")
	return cmd
}

// snapshot is the session of refs, or the last one.
func (a *app) snapshot(ctx context.Context, refs []string) (*queue.Store, queue.Snapshot, error) {
	store, s, err := a.openSession(ctx, refs)
	if err != nil {
		return nil, queue.Snapshot{}, err
	}
	snap, err := store.Snapshot(ctx, s.ID)
	return store, snap, err
}

// openSession opens the queue for reading and finds the session that refs name,
// or the last one.
func (a *app) openSession(ctx context.Context, refs []string) (*queue.Store, queue.Session, error) {
	_, store, err := a.openStore(ctx, true)
	if err != nil {
		return nil, queue.Session{}, err
	}
	s, err := session(ctx, store, refs)
	return store, s, err
}

func session(ctx context.Context, store *queue.Store, refs []string) (queue.Session, error) {
	if len(refs) > 0 {
		return store.Session(ctx, refs[0])
	}
	s, err := store.LastSession(ctx)
	if errors.Is(err, queue.ErrNotFound) {
		hint := "`loop run` makes one; `loop demo` shows the whole cycle"
		if n, err := store.WaitingElsewhere(ctx, ""); err == nil && n > 0 {
			hint = "`loop list` shows what waits from the client's prompt"
		}
		return s, &hintedError{err: errors.New("no session in this repository yet"), hint: hint}
	}
	return s, err
}

// hintedError is an error with what to type next.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// Hint is what to type next.
func (e *hintedError) Hint() string { return e.hint }

func codeOnly(code int) error {
	if code == exitDone {
		return nil
	}
	return &codeError{code: code}
}

// printReport prints a session for a person.
func (a *app) printReport(ctx context.Context, store *queue.Store, snap queue.Snapshot, all bool) error {
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return err
	}
	if ro.Earlier, err = store.WaitingElsewhere(ctx, snap.Session.ID); err != nil {
		return err
	}
	s := snap.Session
	ro.All, ro.Roots = all, a.verbose
	if a.showsReceipts(s) {
		if ro.Said, err = said(ctx, store, s, snap.Attempts); err != nil {
			return err
		}
	}
	ro.Alive = proc.Running(s.Pid, s.PidStart, s.BootID)
	// Only titles of stories that were not reached come from the file: a
	// report does not depend on it.
	if f, err := stories.Read(s.StoryFile); err == nil {
		ro.Titles = map[string]string{}
		for _, st := range f.Stories {
			ro.Titles[st.ID] = st.Title
		}
	}
	return report.Terminal(a.stdout, snap, ro)
}

// queueOptions are reportOptions for what comes from a queue: its receipts are
// known.
func (a *app) queueOptions(ctx context.Context, store *queue.Store) (report.Options, error) {
	ro, err := a.reportOptions()
	ro.Known = known(ctx, store)
	return ro, err
}

func (a *app) reportOptions() (report.Options, error) {
	tty := term.IsTerminal(a.stdout)
	color, err := term.ColorMode(a.color, tty, a.getenv("NO_COLOR") != "", a.getenv("TERM"))
	if err != nil {
		return report.Options{}, err
	}
	now := a.now()
	ro := report.Options{Color: color, Now: now, Location: now.Location()}
	if tty {
		ro.Width = term.Width(a.stdout)
	}
	return ro, nil
}
