package runner

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// statusPause is how often the status is written while nothing but the call
// under way changes.
const statusPause = time.Second

// Happening is something that a person who is away may want to hear of.
type Happening string

// What a person is told of.
const (
	HappenedEnd      Happening = "end"      // the session ended
	HappenedBlock    Happening = "block"    // a story did not pass
	HappenedLimit    Happening = "limit"    // nothing goes on until a limit resets, or a person logs in
	HappenedQuestion Happening = "question" // the agent asked something
	HappenedExecuted Happening = "executed" // a call ran that reached outside
)

// Event is one happening.
type Event struct {
	What    Happening
	Session string
	Story   string         // "" = of the session as a whole
	Text    string         // one sentence: may hold hostile text and secrets
	Attempt *queue.Attempt // of a story
	Actions []queue.Action // executed ones, questions
	Status  Status         // as it stands then
	When    time.Time
}

// presence stands between a run and its Progress: it keeps the status file and
// tells Options.Tell what happens.
type presence struct {
	Progress

	ctx  context.Context //nolint:containedctx // Progress has none
	o    *Options
	asks *stopWatch

	mu      sync.Mutex
	s       Status
	written time.Time
	cost    func() float64  // of the ended attempts
	told    map[string]bool // executed actions that were told of
	failed  bool            // a status could not be written; that is told once
}

// newPresence puts a presence in front of o's Progress.
func newPresence(ctx context.Context, o *Options, asks *stopWatch) *presence {
	self := proc.Self()
	p := &presence{Progress: o.Progress, ctx: context.WithoutCancel(ctx), o: o, asks: asks, told: map[string]bool{}, s: Status{
		Schema: 1, Pid: self.Pid, PidStart: self.Start, BootID: proc.BootID(),
		Started: o.Now().UTC(), Level: o.Level.String(), Phase: PhaseStarting,
	}}
	o.Progress = p
	return p
}

// change changes the status and writes it.
func (p *presence) change(now bool, f func(*Status)) {
	p.mu.Lock()
	f(&p.s)
	p.mu.Unlock()
	p.write(now)
}

// write writes the status, not more often than once in statusPause unless now.
func (p *presence) write(now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.o.Now()
	if p.s.Session == "" { // what the last session left stays until there is another
		return
	}
	if !now && at.Sub(p.written) < statusPause {
		return
	}
	p.written, p.s.Written = at, at.UTC()
	if p.asks != nil {
		if q, ok := p.asks.request(); ok {
			p.s.Stop = q.How
		}
	}
	if err := writeStatus(p.o.State, p.s); err != nil && !p.failed {
		p.failed = true
		p.o.Log.Warn("the status file could not be written; the run goes on without it", "error", err)
	}
}

// begin says which session it is.
func (p *presence) begin(s *queue.Session, total int, cost func() float64) {
	p.cost = cost
	p.change(true, func(st *Status) { st.Session, st.Started, st.Total = s.ID, s.Started, total })
}

// end says how the session ended.
func (p *presence) end(s *queue.Session) {
	p.change(true, func(st *Status) {
		st.Phase, st.Ended, st.Why = PhaseEnded, s.Ended, s.Stopped
		st.Doing, st.Until = "", time.Time{}
	})
	if s.StopKind == queue.Limit || s.StopKind == queue.Auth {
		p.tell(HappenedLimit, s.Stopped, nil, nil)
	}
	p.tell(HappenedEnd, endText(s, p.status()), nil, nil)
}

func (p *presence) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.s
}

// StoryStart says that a story begins.
func (p *presence) StoryStart(number, total int, s stories.Story) {
	p.change(true, func(st *Status) {
		st.Phase, st.Number, st.Total, st.Story, st.Title = PhaseWorking, number, total, s.ID, s.Title
		st.StoryStarted, st.Dir, st.Calls, st.Refused, st.Doing, st.Seen = p.o.Now().UTC(), "", 0, 0, "", time.Time{}
		st.Until, st.Why, st.Notice = time.Time{}, "", ""
		if p.o.Parallel > 1 {
			st.InFlight = append(slices.Clone(st.InFlight), StoryStatus{
				Number: number, Story: s.ID, Title: s.Title, Phase: PhaseWorking, Started: st.StoryStarted,
			})
			slices.SortFunc(st.InFlight, func(a, b StoryStatus) int { return cmp.Compare(a.Number, b.Number) })
			st.first()
		}
	})
	p.Progress.StoryStart(number, total, s)
}

// Live says how the attempt stands.
func (p *presence) Live(l Live) {
	p.change(p.phase() != l.phase(), func(st *Status) {
		if !p.besides(st, l) {
			st.Phase, st.Dir, st.Calls, st.Refused, st.Doing, st.Seen = l.phase(), l.Dir, l.Calls, l.Denied, l.Doing, l.Seen.UTC()
		}
		st.CostUSD, st.Until, st.Why = l.Cost, time.Time{}, ""
		if l.Waiting != "" {
			st.Until = l.Until
			st.Why, _, _ = strings.Cut(l.Waiting, ": waiting")
		}
	})
	p.Progress.Live(l)
}

// besides says how one of several attempts stands.
func (p *presence) besides(st *Status, l Live) bool {
	at := slices.IndexFunc(st.InFlight, func(x StoryStatus) bool { return x.Story == l.Story })
	if at < 0 {
		return p.o.Parallel > 1
	}
	st.InFlight = slices.Clone(st.InFlight) // others may be reading it
	x := &st.InFlight[at]
	x.Phase, x.Dir, x.Calls, x.Refused, x.Doing, x.Seen = l.phase(), l.Dir, l.Calls, l.Denied, l.Doing, l.Seen.UTC()
	st.first()
	return true
}

func (p *presence) phase() Phase {
	s := p.status()
	return s.Phase
}

// phase is what an attempt that stands like this does.
func (l Live) phase() Phase {
	switch {
	case l.Waiting != "":
		return PhaseWaiting
	case l.Over:
		return PhaseChecking
	}
	return PhaseWorking
}

// StoryEnd says how a story ended.
func (p *presence) StoryEnd(a queue.Attempt) {
	p.change(true, func(st *Status) {
		st.Phase, st.Doing, st.CostUSD = PhaseChecking, "", p.cost()
		st.InFlight = slices.DeleteFunc(slices.Clone(st.InFlight), func(x StoryStatus) bool { return x.Story == a.Story })
		st.first()
		if a.Outcome.Passed() {
			st.Passed++
		} else {
			st.Failed++
		}
	})
	p.Progress.StoryEnd(a)
	p.tellStory(a)
}

// Notice says something else that a person should know.
func (p *presence) Notice(text string) {
	p.change(true, func(st *Status) { st.Notice = text })
	p.Progress.Notice(text)
}

// tellStory tells what became of a story.
func (p *presence) tellStory(a queue.Attempt) {
	if p.o.Tell == nil {
		return
	}
	switch {
	case a.Outcome == queue.Question:
		p.tell(HappenedQuestion, storyText(a), &a, nil)
	case blocks(a.Outcome):
		p.tell(HappenedBlock, storyText(a), &a, nil)
	}
}

// ranIn tells of what the scan of an attempt found to have reached outside.
func (p *presence) ranIn(a *queue.Attempt) {
	if p == nil || p.o.Tell == nil {
		return
	}
	actions, err := p.o.Store.Actions(p.ctx, queue.Filter{Session: a.Session, Story: a.Story})
	if err != nil {
		p.o.Log.Warn("what a story did outside could not be read for a notification", "story", a.Story, "error", err)
		return
	}
	p.ran(a, actions)
}

// ran tells of calls that ran and reached outside, of each once in a session.
func (p *presence) ran(a *queue.Attempt, actions []queue.Action) {
	if p == nil {
		return
	}
	p.mu.Lock()
	var news []queue.Action
	for _, x := range actions {
		key := x.ToolUseID // one that could not be queued at once has no id yet
		if key == "" {
			key = x.ID
		}
		if x.Tier == policy.External && x.Evidence == policy.Executed && !p.told[key] {
			p.told[key] = true
			news = append(news, x)
		}
	}
	p.mu.Unlock()
	if len(news) > 0 {
		p.tell(HappenedExecuted, actionsText("ran and reached outside", news), a, news)
	}
}

func (p *presence) tell(what Happening, text string, a *queue.Attempt, actions []queue.Action) {
	if p == nil || p.o.Tell == nil {
		return
	}
	e := Event{What: what, Text: text, Attempt: a, Actions: actions, Status: p.status(), When: p.o.Now().UTC()}
	e.Session = e.Status.Session
	if a != nil {
		e.Story = a.Story
	}
	p.o.Tell(e)
}

// blocks says whether an outcome is news about its story: what stops the whole
// session is told as that.
func blocks(o queue.Outcome) bool { return !o.Passed() && !stops(o) }
