package firewall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// Classifier says how far a call reaches, and how far it can be taken back.
type Classifier interface {
	Classify(policy.Call) policy.Result
	Undo(rules []string) string
}

// Queue stores deferred actions.
type Queue interface {
	Add(context.Context, queue.Action) (queue.Action, bool, error)
}

// Sealer gives the results of calls their receipts (package seal).
type Sealer interface {
	// Asked is told what the firewall was asked, and its answer.
	Asked(ctx context.Context, r Request, refused, queued bool)
	// Report answers the hook after a call.
	Report(ctx context.Context, r Request) Reply
}

// Place is where the repository stood when a call was deferred.
type Place struct{ Head, Branch string }

// Guard decides the calls of one attempt and remembers what it was asked.
type Guard struct {
	Classifier Classifier
	Queue      Queue
	Level      policy.Level
	Quiet      bool                                              // says nothing of what may run: the client's own permissions decide
	Base       queue.Action                                      // session, story, attempt: what every action of this attempt shares
	Place      func(cwd string) Place                            // where the repository of cwd stands
	ReadFile   func(cwd, name string) (string, bool)             // the text of a file that a call made in cwd would run; may be nil
	ReadDir    func(cwd, name string) ([]string, bool)           // the names in a folder of such files; may be nil
	ProgramOf  func(cwd, name string) string                     // the program of the system that a file is by another name; may be nil
	Builds     *policy.Builds                                    // what the calls of the run have built; nil = those of this attempt
	Changed    func() []string                                   // paths of the files that the agents of the run may have written; may be nil
	Now        func() time.Time                                  //
	Decided    func(r Request, res policy.Result, deferred bool) // told of each decision; may be nil
	Seal       Sealer                                            // receipts; nil = none
	OnStart    func()                                            // called at the handshake, once; may be nil

	mu       sync.Mutex
	started  bool
	answered map[string]Reply // by tool_use_id
	fates    map[string]Fate  // by tool_use_id
	deferred int
	cleared  map[string]bool // calls that the files they run speak for, by tool_use_id
	allowed  []AllowedCall
	denied   []DeniedCall
	builds   policy.Builds
	own      *policy.Guarded // what the run keeps from the agent; nil = nothing is known of it
}

// AllowedCall is a call that ran because a rule of the user's own takes back
// what others say of it.
type AllowedCall struct{ Rule, Command string }

// Started reports whether the client has made the handshake.
func (g *Guard) Started() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.started
}

// Fate is what the firewall had said of a call before it ran, or did not.
type Fate uint8

// The fates.
const (
	Unasked   Fate = iota // nobody asked about it
	LetRun                // it might run
	Overruled             // it might run because a rule of the user's own takes back what others say of it
	Refused               // it was to be kept back
)

// Fate is what was said of a call.
func (g *Guard) Fate(toolUseID string) Fate {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fates[toolUseID]
}

// Deferred is how many calls were refused and queued.
func (g *Guard) Deferred() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.deferred
}

// AllowedCalls are the calls that the user's own rules let through.
func (g *Guard) AllowedCalls() []AllowedCall {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.allowed)
}

// Handle answers one hook request.
func (g *Guard) Handle(ctx context.Context, r Request) Reply {
	switch r.Event {
	case EventUserPromptSubmit:
		g.start()
		return NoObjection()
	case EventPreToolUse:
		return g.decide(ctx, r)
	case EventPostToolUse, EventPostToolUseFailure:
		if g.Seal == nil {
			return NoObjection()
		}
		return g.Seal.Report(ctx, r)
	default:
		return NoObjection()
	}
}

// start takes note of the handshake; the client may send further prompts.
func (g *Guard) start() {
	g.mu.Lock()
	first := !g.started
	g.started = true
	g.mu.Unlock()
	if first && g.OnStart != nil {
		g.OnStart()
	}
}

func (g *Guard) decide(ctx context.Context, r Request) Reply {
	g.mu.Lock()
	if old, ok := g.answered[r.ToolUseID]; ok {
		g.mu.Unlock()
		return old
	}
	g.mu.Unlock()

	call := policy.Call{Tool: r.Tool, Input: r.Input, Cwd: r.Cwd, Guarded: g.protected(), Builds: cmp.Or(g.Builds, &g.builds)}
	res, cleared := g.classify(call)
	refused := Answer(g.Level, res) != Run
	reply := NoObjection()
	switch {
	case refused:
		reply = g.hold(ctx, r, call, res)
	case !g.Quiet:
		reply = Allow()
	}
	if g.Decided != nil {
		g.Decided(r, res, refused)
	}
	if g.Seal != nil {
		g.Seal.Asked(ctx, r, refused, refused && reply.Exit == 0)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answered == nil {
		g.answered, g.fates = make(map[string]Reply), make(map[string]Fate)
	}
	g.answered[r.ToolUseID] = reply
	g.fates[r.ToolUseID] = LetRun
	if cleared {
		if g.cleared == nil {
			g.cleared = make(map[string]bool)
		}
		g.cleared[r.ToolUseID] = true
	}
	if refused {
		g.fates[r.ToolUseID] = Refused
		g.deferred++
		return reply
	}
	for _, h := range res.Hits {
		if h.Allowed {
			g.fates[r.ToolUseID] = Overruled
			g.allowed = append(g.allowed, AllowedCall{Rule: h.Rule, Command: policy.CommandOf(call)})
		}
	}
	return reply
}

// classify judges a call with the files that it would run. cleared is true
// when these show that nothing stands behind a name that alone would hold it.
func (g *Guard) classify(call policy.Call) (res policy.Result, cleared bool) {
	if g.ReadFile == nil {
		return g.Classifier.Classify(call), false
	}
	read := false
	named := call
	call.ReadFile = func(name string) (string, bool) {
		text, ok := g.ReadFile(call.Cwd, name)
		read = read || ok
		return text, ok
	}
	if g.ReadDir != nil {
		call.ReadDir = func(name string) ([]string, bool) { return g.ReadDir(call.Cwd, name) }
	}
	call.Changed = g.Changed
	if g.ProgramOf != nil {
		call.ProgramOf = func(name string) string { return g.ProgramOf(call.Cwd, name) }
	}
	res = g.Classifier.Classify(call)
	if read && res.Tier < policy.External {
		cleared = g.Classifier.Classify(named).Tier >= policy.External
	}
	return res, cleared
}

// Cleared reports whether a call was let through although its name alone
// would have held it, because the files that it ran were read.
func (g *Guard) Cleared(toolUseID string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cleared[toolUseID]
}

// Decision is what becomes of a call.
type Decision uint8

// The decisions, mildest first.
const (
	Run   Decision = iota
	Ask            // the person at the client's prompt decides
	Defer          // refused and queued
)

var decisionNames = [...]string{"run", "ask", "defer"}

func (d Decision) String() string {
	if int(d) < len(decisionNames) {
		return decisionNames[d]
	}
	return fmt.Sprintf("decision(%d)", uint8(d))
}

// Answer is the table of levels: external never just runs; lockdown keeps back
// everything that is not plainly local, network reads and opaque calls
// included; and where a person sits at the prompt, the person is asked.
func Answer(l policy.Level, r policy.Result) Decision {
	switch {
	case l == policy.Interactive && r.Tier >= policy.External:
		return Ask
	case r.Tier >= policy.External, l >= policy.Lockdown && (r.Tier >= policy.Shared || r.Net || r.Opaque):
		return Defer
	}
	return Run
}

func (g *Guard) hold(ctx context.Context, r Request, call policy.Call, res policy.Result) Reply {
	if h, ok := res.Denied(); ok {
		return g.denyForGood(h, call)
	}
	a := g.Base
	a.Kind = "call"
	a.Tool, a.ToolUseID, a.Agent, a.Input = r.Tool, r.ToolUseID, r.AgentID, r.Input
	a.Command, a.Cwd = policy.CommandOf(call), r.Cwd
	a.Rules, a.Tier, a.Opaque = res.Rules(), res.Tier, res.Opaque
	a.Evidence, a.FoundBy, a.DetectedAt = policy.Blocked, queue.ByHook, g.Now()
	a.Undo, a.Tampering = g.Classifier.Undo(a.Rules), res.Tampers()
	a.Family, a.Target = g.family(res), res.Target()
	if len(res.Hits) > 0 {
		a.Why = res.Hits[0].Why
	}
	if g.Place != nil {
		p := g.Place(r.Cwd)
		a.GitHead, a.GitBranch = p.Head, p.Branch
	}
	a.Asked = Answer(g.Level, res) == Ask
	stored, _, err := g.Queue.Add(ctx, a)
	switch {
	case a.Asked:
		a.Number = stored.Number
		return AskPerson(Question(a, err))
	case err != nil:
		// Still refused: what could not be queued is in the transcript, where
		// the scan after the attempt finds it.
		return Failure(r.Event, fmt.Errorf("queue the call: %w", err))
	}
	return Deny(Reason(stored, res))
}

// Reason is what the agent reads when a call is refused. An action that was
// queued in passing has no number yet.
func Reason(a queue.Action, res policy.Result) string {
	queued, waits := "queued", "it waits"
	if a.Number > 0 {
		queued += fmt.Sprintf(" as #%d", a.Number)
		waits += fmt.Sprintf(" as #%d", a.Number)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s for review; go on with local work. ", queued)
	if a.Why != "" {
		fmt.Fprintf(&b, "Why it waits: %s ", sentence(a.Why))
	}
	b.WriteString(tamperingReason(res) + againReason(a))
	if !res.Tampers() {
		b.WriteString("A person decides in the morning and runs it exactly as you wrote it. ")
	}
	fmt.Fprintf(&b, "Do not retry it, do not work round it, and do not report it as done: say that %s.", waits)
	if res.Tier < policy.External {
		b.WriteString(" This run is in lockdown.")
	}
	return b.String()
}

// Question is what the person at the prompt reads when asked about a call. It
// is noted whatever the answer is; failed says why it could not be.
func Question(a queue.Action, failed error) string {
	q := "loop: this leaves the machine."
	if a.Why != "" {
		q += " " + sentence(a.Why)
	}
	switch {
	case failed != nil:
		return q + " It could not be noted: " + strings.TrimSpace(failed.Error())
	case a.Number > 0:
		return q + fmt.Sprintf(" Noted as #%d.", a.Number)
	}
	return q
}

func sentence(s string) string { return strings.TrimSuffix(s, ".") + "." }
