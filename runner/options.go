package runner

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
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

	Set       *policy.Set
	Store     *queue.Store
	Progress  Progress
	Tell      func(Event)  // what a person who is away may want to hear of; must not wait; nil = nobody is told
	Log       *slog.Logger // details for whoever looks for a fault; nil = none
	Host      Host
	tokens    *tokenCap       // of the attempt that is begun; nil = no cap
	startHead string          // the commit at which the session began; "" = there is none
	remotes   []localRemote   // those of the repository at the start
	gitDir    string          // git's common directory; "" = not asked yet, or none
	gateEnv   []string        // see the function; nil = not made yet
	Kill      <-chan struct{} // closed by the second signal: end now
	Now       func() time.Time
	Sleep     func(context.Context, time.Duration) error // nil = the machine's timer
	Jitter    func(most time.Duration) time.Duration     // nil = a random part of it

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
