package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

const approveLong = `Show exactly what will run, where, and what changed since, ask, and run it, once.
It runs with your environment, not the agent's. Several are run in the order given;
the first that fails, or that you decline, stops the rest. Output and exit code are kept (loop show ID).

A call of an MCP tool is made to the server that its run was given, or that the client's configuration
has now if it was made at the prompt. Other tools of the client's are not replayed.

Before a push it says what would be sent now, and asks the remote. A push that is no longer what was
deferred (its branch was rewritten, the remote has moved) needs --anyway.

With --dry-run nothing is run but the tool's own dry run, if it is known and the command is one plain
command: git push, npm publish, cargo publish, terraform plan, kubectl, helm, rsync and others.

With --edit your editor opens first, with the command, or with the call's input as JSON. Both forms
are kept; nothing is kept of an edit that you then decline.

With --always the command goes into your own rules.toml as well, once it has run: exactly these
words in exactly this folder are let through from then on. Of an action that you have edited, that
is your form; what the agent called is kept back as before.

An action that has run already needs --again; a mention cannot be run.
Of a checkpoint nothing is run: approving it lets the stories go on that it holds back.

` + exitHelp

type approveOptions struct {
	yes, again, dryRun bool
	anyway             bool
	always, edit       bool
	timeout            time.Duration
}

func newApprove(a *app) *cobra.Command {
	var o approveOptions
	cmd := &cobra.Command{
		Use: "approve ID...", Short: "Run waiting actions by hand, after showing them", Long: approveLong,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, refs []string) error { return a.approve(cmd.Context(), refs, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.BoolVar(&o.again, "again", false, "run an action again that has already run")
	f.BoolVar(&o.anyway, "anyway", false, "run a push that is not what was deferred: its branch or the remote has moved")
	f.BoolVar(&o.always, "always", false, "and let exactly this command run from now on, by a rule in your own rules.toml")
	f.BoolVar(&o.edit, "edit", false, "change it in your editor ($VISUAL, $EDITOR) before it is shown")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would run, run the tool's own dry run where one is known, and stop")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "end it after this time")
	return cmd
}

func (a *app) approve(ctx context.Context, refs []string, o approveOptions) error {
	w, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	ap := approval{app: a, o: o, store: store, mcp: a.mcpPlaces(w), inside: a.insideAgent(ctx, store)}
	if _, err := replay.Recover(ctx, store); err != nil {
		return err
	}
	if o.always || o.edit {
		if err := a.forPeople(ctx, store, "loop approve with --always or --edit"); err != nil {
			return err
		}
	}
	if o.edit {
		if ap.editor, err = a.editor(ctx); err != nil {
			return err
		}
	}
	for i, ref := range refs {
		a.lookedUp(ctx, w, store, ref)
		if err := ap.one(ctx, ref); err != nil {
			if rest := refs[i+1:]; len(rest) > 0 {
				fmt.Fprintf(a.stderr, "loop: stopped there; not looked at: %s\n", term.Quote(strings.Join(rest, " ")))
			}
			return err
		}
	}
	return nil
}

// approval is one `loop approve`.
type approval struct {
	*app
	o      approveOptions
	store  *queue.Store
	inside string // why this looks like an agent's own session
	mcp    replay.MCPPlaces
	editor func(context.Context, queue.Action) (*queue.Edited, error)
}

func (a approval) one(ctx context.Context, ref string) error {
	if done, err := a.approveCheckpoint(ctx, a.store, ref, a.o); err != nil || done {
		return err
	}
	var rule standing
	edit := a.editor
	if a.o.always {
		x, err := a.store.Get(ctx, ref)
		if err != nil {
			return err
		}
		if x.Status != queue.Replayed && edit != nil {
			edit = a.thenRule(&rule)
		} else if rule, err = a.always(ctx, x, queue.Approve, ""); err != nil {
			return err
		}
		if x.Status == queue.Replayed {
			return a.writeStanding(rule, a.o.yes)
		}
	}
	r, err := replay.Run(ctx, replay.Request{
		Store: a.store, Ref: ref, In: a.stdin, Out: a.stdout, IsTerminal: term.IsTerminal(a.stdin) && term.IsTerminal(a.stdout),
		Yes: a.o.yes, Again: a.o.again, Anyway: a.o.anyway, DryRun: a.o.dryRun, Who: a.who(), Now: a.now, Env: a.env,
		InsideAgent: a.inside, Timeout: a.o.timeout, Edit: edit,
		MCP: a.mcp, Version: buildOf().Version,
	})
	switch {
	case err != nil:
		return err
	case r.Declined:
		a.printf("not run; #%d still waits\n", r.Action.Number)
		return &codeError{code: exitFailed}
	case !a.o.always:
		return nil
	case a.o.dryRun:
		a.printf("\nand this rule would go to the end of %s:\n\n%s", term.Quote(rule.file), term.QuoteLines(rule.text))
		return nil
	}
	// The rule is for what has run, whatever was looked at before.
	if rule, err = a.always(ctx, r.Action, queue.Approve, ""); err != nil {
		return err
	}
	return a.writeStanding(rule, a.o.yes)
}

// thenRule is the editor, and makes the rule for what was written in it: what no
// rule can be made of is not run.
func (a approval) thenRule(rule *standing) func(context.Context, queue.Action) (*queue.Edited, error) {
	return func(ctx context.Context, x queue.Action) (form *queue.Edited, err error) {
		if x.Edited, err = a.editor(ctx, x); err != nil {
			return nil, err
		}
		*rule, err = a.always(ctx, x, queue.Approve, "")
		return x.Edited, err
	}
}

func newReject(a *app) *cobra.Command {
	var reason string
	var always, yes bool
	cmd := &cobra.Command{
		Use: "reject ID...", Short: "Decide that actions will not run", Args: args(cobra.MinimumNArgs(1)),
		Long: "Decide that actions will not run. They stay in the queue with your reason.\n" +
			"With --always exactly this command, in this folder, is refused from then on without being\nqueued again, by a rule in your own rules.toml that gives your reason.\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, refs []string) error {
			return a.reject(cmd.Context(), refs, reason, always, yes)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, kept with the action")
	cmd.Flags().BoolVar(&always, "always", false, "and refuse exactly this command from now on, without queueing it")
	cmd.Flags().BoolVar(&yes, "yes", false, "with --always: write the rule without asking")
	return cmd
}

func (a *app) reject(ctx context.Context, refs []string, reason string, always, yes bool) error {
	_, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	if err := a.forPeople(ctx, store, "loop reject"); err != nil {
		return err
	}
	var errs []error
	for _, ref := range refs {
		if always {
			if done, err := a.rejectForGood(ctx, store, ref, reason, yes); err != nil || done {
				errs = append(errs, err)
				continue
			}
		}
		x, err := store.Decide(ctx, ref, queue.Decision{Verb: "reject", Who: a.who(), When: a.now().UTC(), Reason: reason})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if x.Checkpoint != "" {
			a.printf("rejected #%d: what it holds back stays where it is (loop approve %d lets it go on)\n", x.Number, x.Number)
			continue
		}
		if x.IsQuestion() {
			a.printf("rejected #%d: it will not be answered; story %s goes on without\n", x.Number, term.Quote(x.Story))
			continue
		}
		a.printf("rejected #%d: %s\n", x.Number, term.Command(x.Command))
	}
	return errors.Join(errs...)
}

// rejectForGood writes the rule before the decision: what cannot be refused for
// good still waits. done is true when the action is rejected already.
func (a *app) rejectForGood(ctx context.Context, store *queue.Store, ref, reason string, yes bool) (done bool, err error) {
	x, err := store.Get(ctx, ref)
	if err != nil {
		return false, err
	}
	rule, err := a.always(ctx, x, "reject", reason)
	if err != nil {
		return false, err
	}
	return x.Status == queue.Rejected, a.writeStanding(rule, yes)
}

// who is the person, as the system knows them.
func (a *app) who() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	host, _ := os.Hostname()
	return "uid@" + host
}
