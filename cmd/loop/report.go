package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/stories"
)

// reportRequest says of what a report is, and in which form.
type reportRequest struct {
	since, story, session string
	json, md, html        bool
	all, check            bool
}

const reportLong = `Show what a session did and what waits for you; the last session by default.
--since tells of all sessions since then as one: an age (12h, 2d) or a day (2026-11-29).

`

func newReport(a *app) *cobra.Command {
	var o reportRequest
	cmd := &cobra.Command{
		Use: "report [SESSION]", Short: "Show what a session did and what waits for you", Long: reportLong + exitHelp,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error {
			if err := o.take(refs); err != nil {
				return err
			}
			return a.report(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.session, "session", "", "the session: its id, or a beginning or end of it")
	f.StringVar(&o.since, "since", "", "all sessions since then: an age (12h, 2d) or a day (2026-11-29)")
	f.StringVar(&o.story, "story", "", "one story only")
	f.BoolVar(&o.md, "md", false, "print Markdown, for an issue or a chat")
	f.BoolVar(&o.html, "html", false, "print one HTML page that needs no network")
	f.BoolVar(&o.json, "json", false, "print JSON (docs/report.schema.json)")
	f.BoolVar(&o.all, "all", false, "show mentions and long lists too")
	f.BoolVar(&o.check, "check", false, "print nothing; exit with 3 when actions wait, else 0")
	return cmd
}

// take puts the argument where the flag is, and refuses what contradicts itself.
func (o *reportRequest) take(refs []string) error {
	if len(refs) > 0 && o.session != "" {
		return usagef("loop report --session "+refs[0], "a session as argument and with --session")
	}
	if len(refs) > 0 {
		o.session = refs[0]
	}
	if o.since != "" && o.session != "" {
		return usagef("loop report --since "+o.since, "--since is for all sessions, not for one")
	}
	forms := 0
	for _, set := range []bool{o.json, o.md, o.html, o.check} {
		if set {
			forms++
		}
	}
	if forms > 1 {
		return usagef("loop report --json", "one of --json, --md, --html and --check")
	}
	return nil
}

func (a *app) report(ctx context.Context, o reportRequest) error {
	var store *queue.Store
	var snap queue.Snapshot
	var sessions []queue.Session
	err := readQueue(func() (err error) {
		store, snap, sessions, err = a.chosen(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if o.check {
		return codeOnly(waitingCode(snap))
	}
	ro, err := a.sessionOptions(ctx, store, snap, sessions, o.all)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		return report.JSON(a.stdout, snap, ro)
	case o.md:
		return report.Markdown(a.stdout, snap, ro)
	case o.html:
		return report.HTML(a.stdout, snap, ro)
	}
	return report.Terminal(a.stdout, snap, ro)
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
	ro, err := a.sessionOptions(ctx, store, snap, nil, all)
	if err != nil {
		return err
	}
	return report.Terminal(a.stdout, snap, ro)
}

// sessionOptions are queueOptions for the report of a session, or of several
// that were joined.
func (a *app) sessionOptions(ctx context.Context, store *queue.Store, snap queue.Snapshot, sessions []queue.Session, all bool) (report.Options, error) {
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return ro, err
	}
	ro.Sessions = sessions
	told := []string{snap.Session.ID}
	for i := range sessions {
		told = append(told, sessions[i].ID)
	}
	if ro.Earlier, err = store.WaitingElsewhere(ctx, told...); err != nil {
		return ro, err
	}
	s := snap.Session
	ro.All, ro.Roots = all, a.verbose
	if a.showsReceipts(s) {
		if ro.Said, err = said(ctx, store, s, snap.Attempts); err != nil {
			return ro, err
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
	return ro, nil
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
