package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/transcript"
)

const logsLong = `Print what the agent did in an attempt at a story, for reading: its words, its calls as one
line each, the first lines of what they gave, refusals with their number in the queue.

STORY is a story's id, and its last attempt is shown; STORY-2 is the second attempt.
Without STORY: the last attempt of all.
With -f it goes on with the next attempt at the story as long as one may come, without STORY with whatever
the run works on next, until the run ends; STORY-2 ends with that attempt.

Exit codes: 0 shown; 1 failed, or no such attempt; 2 wrong use; 130 interrupted.`

type logsOptions struct {
	session          string
	follow, raw, all bool
}

func newLogs(a *app) *cobra.Command {
	var o logsOptions
	cmd := &cobra.Command{
		Use: "logs [STORY]", Short: "Read what the agent did in an attempt; -f follows the run", Long: logsLong,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error { return left(a.logs(cmd.Context(), refs, o)) },
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with what comes, the next attempts included")
	f.StringVar(&o.session, "session", "", "an attempt of this session; the newest that has one by default")
	f.BoolVar(&o.raw, "raw", false, "the transcript as it is kept; on a terminal quoted and masked")
	f.BoolVar(&o.all, "all", false, "fold nothing")
	return cmd
}

func (a *app) logs(ctx context.Context, refs []string, o logsOptions) error {
	w, store, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	ref := ""
	if len(refs) > 0 {
		ref = refs[0]
	}
	at, err := findAttempt(ctx, store, ref, o.session)
	if err != nil {
		return err
	}
	ro, err := a.queueOptions(ctx, store)
	if err != nil {
		return err
	}
	ro.All = o.all
	for {
		if err := a.oneLog(ctx, w, store, at, ro, o); err != nil {
			return err
		}
		if !o.follow || ref != "" && ref != at.Story {
			return nil
		}
		next, ok, err := a.nextAttempt(ctx, w, store, at, ref)
		if err != nil || !ok {
			return err
		}
		at = next
		if !o.raw {
			a.printf("\n== story %s, attempt %d ==\n", term.Quote(at.Story), at.Number)
		}
	}
}

// oneLog prints one attempt.
func (a *app) oneLog(ctx context.Context, w workspace.Workspace, store *queue.Store, at queue.Attempt, ro report.Options, o logsOptions) error {
	t := &tail{a: a, store: store, state: w.State, at: at, follow: o.follow}
	r, err := t.open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.raw {
		return a.rawLog(r)
	}
	return transcript.Each(r, transcript.Options{}, report.NewLog(a.stdout, ro, numbers(ctx, store, at)).Event)
}

// rawLog prints a transcript as it is; a terminal gets no byte of it raw.
func (a *app) rawLog(r io.Reader) error {
	if !term.IsTerminal(a.stdout) {
		_, err := io.Copy(a.stdout, r)
		return err
	}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			a.printf("%s\n", term.Line(strings.TrimSuffix(line, "\n")))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// numbers looks up the number of a refused call; the queue is read again when
// a call is not known, because an attempt that is followed adds to it.
func numbers(ctx context.Context, store *queue.Store, at queue.Attempt) func(string) uint64 {
	known := map[string]uint64{}
	return func(id string) uint64 {
		if n, ok := known[id]; ok {
			return n
		}
		known[id] = 0
		// A queue that cannot be read costs the number, not the log.
		actions, err := store.Actions(ctx, queue.Filter{Session: at.Session, Story: at.Story})
		if err != nil {
			return 0
		}
		for _, x := range actions {
			known[x.ToolUseID] = x.Number
		}
		return known[id]
	}
}

// findAttempt is the attempt that a person means.
func findAttempt(ctx context.Context, store *queue.Store, ref, session string) (queue.Attempt, error) {
	var sessions []queue.Session
	if session != "" {
		s, err := store.Session(ctx, session)
		if err != nil {
			return queue.Attempt{}, err
		}
		sessions = []queue.Session{s}
	} else {
		all, err := store.Sessions(ctx)
		if err != nil && !errors.Is(err, queue.ErrNotFound) {
			return queue.Attempt{}, err
		}
		sessions = all
	}
	var names []string
	for _, s := range slices.Backward(sessions) {
		attempts, err := store.Attempts(ctx, s.ID)
		if err != nil {
			return queue.Attempt{}, err
		}
		if at, ok := pick(attempts, ref); ok {
			return at, nil
		}
		for _, at := range attempts {
			if !slices.Contains(names, at.Story) {
				names = append(names, at.Story)
			}
		}
	}
	return queue.Attempt{}, noAttempt(ref, names)
}

func noAttempt(ref string, names []string) error {
	switch {
	case len(names) == 0 && ref == "":
		return &hintedError{err: errors.New("no attempt at any story yet"), hint: "`loop run` makes one"}
	case len(names) == 0:
		return &hintedError{err: fmt.Errorf("no attempt at story %q: there is none at any yet", ref), hint: "`loop run` makes one"}
	}
	return &hintedError{err: fmt.Errorf("no attempt at story %q", ref), hint: "there is one at " + strings.Join(names[:min(len(names), 10)], ", ")}
}

// pick chooses among the attempts of one session: a story's last, or the one
// whose number stands behind the story's id. An id that is whole comes first.
func pick(attempts []queue.Attempt, ref string) (queue.Attempt, bool) {
	if ref == "" && len(attempts) > 0 {
		return attempts[len(attempts)-1], true
	}
	for _, at := range slices.Backward(attempts) {
		if at.Story == ref {
			return at, true
		}
	}
	i := strings.LastIndexByte(ref, '-')
	if i < 0 {
		return queue.Attempt{}, false
	}
	n, err := strconv.Atoi(ref[i+1:])
	for _, at := range attempts {
		if err == nil && at.Story == ref[:i] && at.Number == n {
			return at, true
		}
	}
	return queue.Attempt{}, false
}

// transcriptPath is the transcript's file of an attempt.
func transcriptPath(at queue.Attempt) string { return filepath.Join(at.Dir, runner.TranscriptName) }

// noTranscript says that an attempt left none.
func noTranscript(at queue.Attempt, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, dirErr := os.Stat(at.Dir); dirErr != nil {
			return fmt.Errorf("the transcript of story %q, attempt %d, is gone (loop prune)", at.Story, at.Number)
		}
		return fmt.Errorf("story %q, attempt %d, has no transcript: the client was not started", at.Story, at.Number)
	}
	return err
}
