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
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/stories"
)

// Defaults of the grace periods in Options.
const (
	DefaultTermGrace   = 10 * time.Second
	DefaultResultGrace = 30 * time.Second
)

// Progress is told what happens, for a person.
type Progress interface {
	StoryStart(number, total int, s stories.Story)
	Live(Live)
	StoryEnd(queue.Attempt)
	Notice(text string)
}

// Live is how an attempt stands.
type Live struct {
	Story   string
	Elapsed time.Duration
	Calls   int
	Denied  int
	Cost    float64   // of the session's ended attempts
	Doing   string    // the call under way, hostile text
	Dir     string    // folder of the attempt
	Seen    time.Time // when the client last gave a sign of life
	Over    bool      // the client has ended; its story is being settled
	Waiting string    // for what and until when; "" = an attempt is under way
	Until   time.Time // with Waiting
}

// Options are everything a run needs.
type Options struct {
	Root     string   // the repository's top folder
	State    string   // the repository's state folder
	Client   []string // program and leading arguments
	Env      []string // the person's environment; the client and the gates get it without credentials
	KeepEnv  []string // patterns of the variables that they get all the same
	Stories  string   // path of the story file or folder
	Only     string   // one story's id; "" = all
	Max      int      // at most this many stories; 0 = all
	Level    policy.Level
	Model    string
	CostUSD  float64
	Gates    []string
	GateTime time.Duration
	Wall     time.Duration
	Silence  time.Duration

	Baseline bool // run the gates before the first story
	RedPass  bool // a gate that was red before the session, in the same way, does not hold a story back
	Verify   bool // run the commands that a story names for verification, too

	Tries     int           // attempts at one story that the agent may fail; 0 = 1
	StopAfter int           // so many stories in a row that got nowhere end the session; 0 = never
	Wait      time.Duration // longest time without work for a limit or an outage; 0 = never wait
	Caps      Caps
	Account   string // what the client's work is charged to, for a person; "" = not said
	Keyless   bool   // a client that says it has a key is ended before it asks its model

	TermGrace   time.Duration // between TERM and KILL; 0 = DefaultTermGrace
	ResultGrace time.Duration // for the client to leave after its last result; 0 = DefaultResultGrace

	RulesText  string                    // constraint rules, rendered for Level
	RulesAt    func(policy.Level) string // the same for a story's stricter level; nil = RulesText for all
	ClaudeMD   bool
	MCPConfig  string
	AutoMemory bool
	Memory     []string // further memory files
	ConfigHash string
	Protected  []string // files and folders of loop's own that no call may change, beside State and Watched
	Watched    []string // files that the run was told by: a change to one is reported

	Receipts Receipts
	Git      GitOptions
	Parallel int // stories at the same time, each in a work tree of its own; under 2 = one after the other

	// Vet says whether this version of the client may work. It is asked after
	// what a dead loop left is ended and before the first story, and again
	// before a story for which ClientMark has another value than for the one
	// before. Both may be nil.
	Vet        func(ctx context.Context, version string) (Vetted, error)
	ClientMark func() string // tells whether the client is still the same program
	OldClient  bool          // leave out of its command line what old clients do not know

	Set      *policy.Set
	Store    *queue.Store
	Progress Progress
	Tell     func(Event)  // what a person who is away may want to hear of; must not wait; nil = nobody is told
	Log      *slog.Logger // details for whoever looks for a fault; nil = none
	Host     Host
	tokens   *tokenCap       // of the attempt that is begun; nil = no cap
	gitDir   string          // git's common directory; "" = not asked yet, or none
	gateEnv  []string        // see the function; nil = not made yet
	Kill     <-chan struct{} // closed by the second signal: end now
	Now      func() time.Time
	Sleep    func(context.Context, time.Duration) error // nil = the machine's timer
	Jitter   func(most time.Duration) time.Duration     // nil = a random part of it

	storyKey string // the story file's name in the queue; "" = Stories
	lane     string // ending of the names of the lane's own files; "" = the session's work tree
}

// Vetted is what Options.Vet says of a client that may work.
type Vetted struct {
	Notes []Note // for the report
	Old   bool   // sets Options.OldClient
}

// Note is a finding about the session as a whole.
type Note struct{ Kind, Text string }

// run is one session under way.
type run struct {
	o       *Options
	session queue.Session
	cost    float64         // as the client told it
	spent   spending        // of the session, for its caps
	here    *presence       // nil = nobody is told
	failed  map[string]bool // stories that did not pass in this session
	mcp     string          // copy of the MCP configuration taken at the start
	asks    *stopWatch
	notes   []Note
	vetted  string // mark of the client that was vetted
	trees   *trees // nil = work trees are not compared
	gates   *gatekeeper
	ledger  *ledger       // nil = no receipts
	book    *receipt.Book // receipts of the attempt under way
	beside  *pushesBeside // nil = one attempt after the other

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
	r := &run{o: o, failed: map[string]bool{}, notes: notes, vetted: mark, session: queue.Session{
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

// ErrNoOpen says that every story is done already; ErrHeld that those that are
// not are held back by their status in the story file.
var (
	ErrNoOpen = errors.New("every story is done already")
	ErrHeld   = errors.New("no story can be worked on")
)

// Plan is the order in which the open stories would be worked on.
func Plan(ctx context.Context, o *Options) ([]stories.Story, *stories.File, error) {
	f, err := stories.Read(o.Stories)
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(reopen(ctx, o, f), doneAway(ctx, o, f)); err != nil {
		return nil, nil, err
	}
	open, err := f.Order()
	if err != nil {
		return nil, nil, err
	}
	heldBack(f, open)
	if o.Only != "" {
		return planOnly(f, open, o.Only)
	}
	if away := awayText(f); len(open) == 0 && away != "" {
		return nil, f, fmt.Errorf("%w (%s)", ErrNoOpen, away)
	}
	if held := f.Held(); len(open) == 0 && len(held) > 0 {
		return nil, f, fmt.Errorf("%w: story %q %s (%d held)", ErrHeld, held[0].ID, held[0].Held, len(held))
	}
	if len(open) == 0 {
		return nil, f, ErrNoOpen
	}
	if o.Max > 0 && len(open) > o.Max {
		open = open[:o.Max]
	}
	return open, f, nil
}

func planOnly(f *stories.File, open []stories.Story, id string) ([]stories.Story, *stories.File, error) {
	for _, s := range open {
		if s.ID == id {
			return []stories.Story{s}, f, nil
		}
	}
	for _, s := range f.Stories {
		if s.ID == id && s.Held != "" {
			return nil, f, fmt.Errorf("%w: story %q %s", ErrHeld, id, s.Held)
		}
		if s.ID == id && strings.HasPrefix(s.Conflict, awayMark) {
			return nil, f, fmt.Errorf("story %q is %s: merge that, or delete it to have the story done anew", id, s.Conflict)
		}
		if s.ID == id {
			return nil, f, fmt.Errorf("story %q is done already: clear its done mark to work on it again", id)
		}
	}
	return nil, f, fmt.Errorf("no story %q in %s", id, f.Path)
}

// all is a session from its first gate to its last.
func (r *run) all(ctx context.Context, plan []stories.Story) (err error) {
	if r.gates, err = newGatekeeper(r.o, plan); err != nil {
		return err
	}
	if err := errors.Join(r.reopenPlanned(ctx, plan), r.tellLeft(ctx), r.baseline(ctx)); err != nil {
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
