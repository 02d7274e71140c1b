// Package runner works through stories: prompt, client, transcript, scan,
// queue, gates, verdict.
//
// It starts one client process at a time, decides what a story's outcome is,
// and sets the done mark. It publishes nothing and asks nobody. The one
// invariant: a story is marked done only by loop's own gates after an attempt
// that ended well; what the agent says about it is never the evidence.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/stories"
)

// run is one session under way.
type run struct {
	o       *Options
	session queue.Session
	cost    float64         // as the client told it
	spent   spending        // of the session, for its caps
	here    *presence       // nil = nobody is told
	failed  map[string]bool // stories that did not pass in this session
	mcp     string          // copy of the MCP configuration taken at the start
	mcpText []byte          // what it says
	asks    *stopWatch
	notes   []Note
	vetted  string // mark of the client that was vetted
	trees   *trees // nil = work trees are not compared
	gates   *gatekeeper
	ledger  *ledger        // nil = no receipts
	book    *receipt.Book  // receipts of the attempt under way
	state   *stateFolder   // loop's state folder, held open; nil = it could not be
	builds  *policy.Builds // what the calls of the session have built
	beside  *pushesBeside  // nil = one attempt after the other

	checkout *checkout // the work tree, as loop itself uses git in it; nil = git is left alone
	lane     *lane     // the story's, where several are worked on at the same time; nil = one after the other
}

// BusyError says that another run works in this repository.
type BusyError struct{ Pid string }

func (e *BusyError) Error() string {
	if e.Pid == "" {
		return "another loop run works in this repository"
	}
	return "another loop run works in this repository (pid " + e.Pid + ")"
}

// Run works through the open stories and returns the session as it ended. The
// context's end is the first signal: no new story, the client is asked to
// leave, what it did is scanned and kept.
func Run(ctx context.Context, o Options) (queue.Session, error) {
	if o.TermGrace == 0 {
		o.TermGrace = DefaultTermGrace
	}
	if o.ResultGrace == 0 {
		o.ResultGrace = DefaultResultGrace
	}
	if o.Parallel > 1 && o.Git.Work != "" {
		o.Git.Work = queue.WorkWorktree // the branch moves under nobody's feet
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Jitter == nil {
		o.Jitter = randomJitter
	}
	// Asked for again and again.
	o.gateEnv = gateEnv(&o)
	o.gitDir = gitDir(ctx, &o)
	o.remotes, o.startHead = localRemotes(o.Root, o.gitDir), place(ctx, &o, o.Root).Head
	unlock, err := lockRun(o.State)
	if err != nil {
		return queue.Session{}, err
	}
	defer unlock()
	self := proc.Self()
	ctx, asks, release := watchStop(ctx, o.State, self.Pid, self.Start)
	defer release()
	here := newPresence(ctx, &o, asks)
	if err := proc.Subreaper(); err != nil {
		return queue.Session{}, fmt.Errorf("take charge of orphaned processes: %w", err)
	}
	defer proc.Sweep()
	defer stayAwake(&o)()
	if free, err := o.Store.Reserve(); err == nil {
		defer free()
	} else {
		o.Log.Warn("no space is reserved for the end of the run", "error", err)
	}
	ended, err := recoverAttempts(ctx, &o)
	if err != nil {
		return queue.Session{}, err
	}
	r, plan, g, err := start(ctx, &o)
	if err != nil {
		return queue.Session{}, err
	}
	r.asks, r.here = asks, here
	folder, err := os.Open(o.State)
	if err != nil {
		return r.session, err
	}
	r.state = &stateFolder{folder}
	defer func() { _ = r.state.file.Close() }() // nothing was written
	here.begin(&r.session, len(plan), func() float64 { return r.cost })
	if r.ledger != nil {
		defer r.ledger.signer.Close()
	}
	if r.trees, err = newTrees(ctx, &o, r.session.ID); err != nil {
		return r.session, err
	}
	defer func() { _ = r.trees.close() }()
	if err = errors.Join(r.tellRecovered(ctx, ended), r.tellNotes(ctx)); err == nil {
		plan, err = r.begin(ctx, g, plan)
	}
	if err == nil {
		err = r.all(ctx, plan)
	}
	// Where the work is, is said after a failure and after a signal too.
	err = errors.Join(err, r.end(context.WithoutCancel(ctx), err != nil))
	if err != nil {
		r.session.Stopped = err.Error()
		if isFull(err) {
			r.session.StopKind = queue.HostFailed
		}
	}
	r.session.Ended = o.Now().UTC()
	defer func() { here.end(&r.session) }()
	// The session's end is written even after a signal.
	if putErr := o.Store.PutSession(context.WithoutCancel(ctx), r.session); err == nil {
		err = putErr
	}
	return r.session, err
}

// start opens a session: the plan, the client's version, the record.
func start(ctx context.Context, o *Options) (*run, []stories.Story, *ground, error) {
	plan, f, err := Plan(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	g, err := survey(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	version, err := clientVersion(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	mark := clientMark(o)
	notes, err := vet(ctx, o, version)
	if err != nil {
		return nil, nil, nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, nil, nil, err
	}
	r := &run{o: o, builds: &policy.Builds{}, failed: map[string]bool{}, notes: notes, vetted: mark, session: queue.Session{
		ID: id.String(), Started: o.Now().UTC(), Level: o.Level.String(), StoryFile: o.Stories, Dir: o.Root,
		Client: version, ConfigHash: o.ConfigHash, Account: o.Account,
	}}
	if o.Account != "" {
		o.Progress.Notice("account: " + o.Account)
	}
	r.tellAway(f)
	self := proc.Self()
	o.Log.Info("session starts", "session", r.session.ID, "client", version, "level", r.session.Level, "stories", len(plan), "state", o.State)
	r.session.Pid, r.session.PidStart, r.session.BootID = self.Pid, self.Start, proc.BootID()
	for _, s := range plan {
		r.session.StoryOrder = append(r.session.StoryOrder, s.ID)
	}
	if _, err := readClaudeMD(o); err != nil {
		return nil, nil, nil, err
	}
	if err := r.copyMCP(); err != nil {
		return nil, nil, nil, err
	}
	if o.Receipts.Enabled {
		if err := proc.Secret(); err != nil {
			return nil, nil, nil, err
		}
		if r.ledger, err = newLedger(o, r.session.ID); err != nil {
			return nil, nil, nil, err
		}
		r.session.AuditKey = r.ledger.signer.PublicKey()
	}
	if err := r.place(ctx, g); err != nil {
		return nil, nil, nil, err
	}
	return r, plan, g, o.Store.PutSession(ctx, r.session)
}

// all is a session from its first gate to its last.
func (r *run) all(ctx context.Context, plan []stories.Story) (err error) {
	if r.gates, err = newGatekeeper(r.o, plan); err != nil {
		return err
	}
	if err := errors.Join(r.reopenPlanned(ctx, plan), r.tellLeft(ctx)); err != nil {
		return err
	}
	if ok, err := r.setUpSession(ctx); !ok {
		return err
	}
	if err := r.baseline(ctx); err != nil {
		return err
	}
	work := r.work
	if r.o.Parallel > 1 && r.checkout != nil {
		work = r.workBeside
	}
	if err := work(ctx, plan); err != nil {
		return err
	}
	return r.verifyAgain(ctx)
}

// work takes one story after the other.
func (r *run) work(ctx context.Context, plan []stories.Story) error {
	blocked := 0 // in a row
	for i, s := range plan {
		if why := r.stopped(ctx); why != "" {
			r.interrupted(why)
			return nil
		}
		if waits, err := r.parked(ctx, s); err != nil {
			return err
		} else if waits {
			continue
		}
		if dep := r.blockedBy(s); dep != "" {
			r.failed[s.ID] = true
			r.o.Progress.Notice(fmt.Sprintf("story %q is skipped: it depends on %q, which did not pass", s.ID, dep))
			continue
		}
		if why := r.noRoom(); why != "" {
			r.stop(queue.Attempt{Outcome: queue.HostFailed}, why)
			return nil
		}
		if r.spentUp() {
			return nil
		}
		r.o.Progress.StoryStart(i+1, len(plan), s)
		a, err := r.story(ctx, s)
		if err != nil {
			return fmt.Errorf("story %q: %w", s.ID, err)
		}
		r.failed[s.ID] = !a.Outcome.Passed()
		if r.session.StopKind != "" || !a.Outcome.Passed() && r.spentUp() {
			return nil
		}
		if a.Blocked == "" {
			blocked = 0
		} else if blocked++; blocked == r.o.StopAfter && i+1 < len(plan) {
			r.session.StopKind = queue.Blocked
			r.session.Stopped = fmt.Sprintf("%d stories in a row got nowhere, the last one %q: %s", blocked, s.ID, a.Blocked)
			return nil
		}
	}
	return nil
}

func (r *run) blockedBy(s stories.Story) string {
	for _, d := range s.Depends {
		if r.failed[d] {
			return d
		}
	}
	return ""
}

// stops says whether going on with the next story makes no sense.
func stops(o queue.Outcome) bool {
	switch o {
	case queue.Limit, queue.Auth, queue.Unguarded, queue.Interrupted, queue.CouldNotStart:
		return true
	case queue.Done, queue.Unproven, queue.GateFailed, queue.AgentFailed, queue.Hung, queue.HostFailed, queue.Outage, queue.Blocked, queue.Budget,
		queue.Unchanged, queue.Question, queue.Conflict:
	}
	return false
}

func (r *run) stop(a queue.Attempt, reason string) {
	r.session.Stopped, r.session.StopKind, r.session.StopCause, r.session.ResetsAt = reason, a.Outcome, a.Cause, a.ResetsAt
}

func (r *run) interrupted(reason string) {
	r.session.Stopped, r.session.StopKind = reason, queue.Interrupted
}

// Told is what an attempt is told beside its story and the rules.
type Told struct {
	ClaudeMD   string   // the project's own instructions
	Waiting    []string // the story's calls that wait for a person
	LastFailed string   // why the last attempt at the story did not pass
	Answers    []prompts.Answer
	Said       []prompts.Word // what a person said when letting the story go on
	Left       *prompts.Left  // what an earlier attempt left, apart from the work tree; nil = nothing
	Red        []string       // gates that were red before the session
}

// Prompt is the prompt of a story's next attempt, as it would be sent.
func Prompt(o *Options, s stories.Story, t Told) (string, error) {
	o = forStory(o, s)
	file, err := filepath.Rel(o.Root, o.Stories)
	if err != nil || !filepath.IsLocal(file) {
		file = o.Stories
	}
	return prompts.Build(prompts.Attempt{
		Story: s, Rules: o.RulesText, StoryFile: file, Gates: o.Gates,
		ClaudeMD: t.ClaudeMD, Unanswered: t.Waiting, LastFailed: t.LastFailed, Answers: t.Answers, Said: t.Said, Left: t.Left, Red: t.Red,
		Beside: o.lane != "",
	})
}
