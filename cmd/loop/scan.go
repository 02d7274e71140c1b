package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/scanner"
)

type scanOptions struct {
	json, csv, all   bool
	queue, callsOnly bool
	story, since     string
}

const scanLong = `Without a file: read every session that the client keeps on this machine
($CLAUDE_CONFIG_DIR/projects, else ~/.claude/projects) and show what its agents have sent
out in the last 30 days, by family and project, worst first. It changes nothing and needs
no set-up. --json prints the same as one object, --csv one line for each call, its
command cut after 400 bytes. Only your own rules count beside the built-in ones, none of
a repository's.

With files: print every call and text that reaches outside, one a line: stream-json, the
client's session files, those of other agents, plain text; - is standard input, a folder is
read with all that is in it, a session together with the files of its subagents. With
--queue the hits go into the queue, for people who keep their own loop. A file that cannot
be read is told, the others are read, and the exit code is 1.

Without a file the exit code is 3 when a call that ran reached outside, else 0.

` + exitHelp

func newScan(a *app) *cobra.Command {
	var o scanOptions
	cmd := &cobra.Command{
		Use: "scan [FILE...]", Short: "Show what agents have sent out: this machine's sessions, or transcripts", Long: scanLong,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := o.check(len(files) > 0, cmd.Flags().Changed("since")); err != nil {
				return err
			}
			if len(files) == 0 {
				return a.scanSessions(cmd.Context(), o)
			}
			return a.scan(cmd.Context(), files, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON: one object, or with files one hit a line")
	f.BoolVar(&o.csv, "csv", false, "without files: print one line of CSV for each call")
	f.BoolVar(&o.all, "all", false, "without files: show long lists whole")
	f.StringVar(&o.since, "since", "30d", "without files: how far to look back (30d, 12h)")
	f.BoolVar(&o.callsOnly, "calls-only", false, "calls only, no mentions in text")
	f.BoolVar(&o.queue, "queue", false, "with files: put the hits into the queue")
	f.StringVar(&o.story, "story", "", "with --queue: the story they belong to")
	return cmd
}

// check refuses flags that do not go together.
func (o scanOptions) check(files, since bool) error {
	switch {
	case o.story != "" && !o.queue:
		return usagef("loop scan --queue --story "+o.story+" FILE", "--story is for --queue")
	case o.queue && !files:
		return usagef("loop scan --queue FILE", "--queue needs files")
	case o.csv && files:
		return usagef("loop scan --json FILE", "--csv is for the sessions of this machine, not for files")
	case since && files:
		return usagef("loop scan FILE", "--since is for the sessions of this machine, not for files")
	case o.csv && o.json:
		return usagef("loop scan --json or loop scan --csv", "--json and --csv do not go together")
	}
	return nil
}

func (a *app) scan(ctx context.Context, files []string, o scanOptions) error {
	w, c, set, err := a.configured(ctx)
	if err != nil {
		return err
	}
	rules, err := rulesText(c)
	if err != nil {
		return err
	}
	s := scanRun{a: a, o: o, memory: c.MemoryFiles, opts: scanner.Options{Set: set, Cwd: w.Root, Ignore: []string{rules}, CallsOnly: o.callsOnly}}
	if o.queue {
		if s.store, err = a.store(w, false); err != nil {
			return err
		}
		if err := s.begin(ctx, w); err != nil {
			return err
		}
	}
	a.collectLess()
	if err := s.all(ctx, files); err != nil {
		return err
	}
	if err := s.end(ctx); err != nil {
		return err
	}
	if s.failed > 0 {
		return &codeError{code: exitFailed}
	}
	if s.hits > 0 {
		return &codeError{code: exitWaiting}
	}
	return nil
}

// collectLess makes the garbage collector wait until there is much to collect.
// A scan leaves garbage with every call and keeps next to nothing, and at the
// usual pace a tenth of its time goes into collecting; the limit keeps the
// process within 64 MiB where no line is so long that more is needed. What the
// user has set in the environment holds.
func (a *app) collectLess() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if a.getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(44 << 20)
	}
}

// scanRun is one `loop scan` over its files.
type scanRun struct {
	a       *app
	o       scanOptions
	opts    scanner.Options
	store   *queue.Store
	session queue.Session
	memory  []string // files that outlive a session
	actions []queue.Action
	hits    int
	failed  int // files that could not be read, or not to their end
}

// oneNight is how long `loop scan --queue` goes on with one session: a loop of
// the user's own scans a transcript per story, and the morning has one report.
const oneNight = 12 * time.Hour

// begin finds or makes the session that queued hits belong to.
func (s *scanRun) begin(ctx context.Context, w workspace.Workspace) error {
	now := s.a.now().UTC()
	last, err := s.store.LastSession(ctx)
	switch {
	case err == nil && last.Scan && now.Sub(last.Ended) < oneNight:
		s.session = last
	case err == nil || errors.Is(err, queue.ErrNotFound):
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		s.session = queue.Session{ID: id.String(), Started: now, Dir: w.Root, Scan: true}
	default:
		return err
	}
	s.session.Ended = now
	return s.store.PutSession(ctx, s.session)
}

func (s *scanRun) hit(h scanner.Hit) error {
	s.hits++
	if s.o.queue {
		s.actions = append(s.actions, runner.ActionOf(s.opts.Set, h, queue.Attempt{Session: s.session.ID, Story: s.o.story}, s.a.now()))
		return nil
	}
	if s.o.json {
		return encodeHit(s.a.stdout, h)
	}
	text := h.Command
	if h.Evidence == policy.Mentioned || text == "" {
		text = h.Excerpt
	}
	_, err := fmt.Fprintf(s.a.stdout, "%s:%d: %s %s: %s\n", term.Quote(h.File), h.Line, h.Evidence, term.Quote(first(h.Rules)), term.Command(text))
	return err
}

func (s *scanRun) end(ctx context.Context) error {
	if !s.o.queue {
		return nil
	}
	created, err := s.store.AddAll(ctx, s.actions)
	if err != nil {
		return err
	}
	s.a.printf("%d hit(s), %d new in the queue; `loop report` shows them.\n", s.hits, created)
	return nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
