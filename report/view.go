package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// state is how a story stands, for a person: the outcomes of queue, and what
// has no outcome.
type state string

const (
	running     state = "running"
	notStarted  state = "not started"
	noEndRecord state = "no end record" // loop died during the attempt
)

// story is one row of the report: all attempts at one story in one session.
type story struct {
	id, title string
	state     state
	outcome   queue.Outcome // "" without an ended attempt
	attempts  []queue.Attempt
	time      time.Duration
	cost      float64
}

// class sorts states for counting.
type class int

const (
	classDone class = iota
	classUnproven
	classFailed
	classAsks // it waits for an answer
	classCut  // ended by something that is not the story's fault
	classRunning
	classNotStarted
	classes
)

var classWords = [classes]string{"done", "unproven", "failed", "waiting for an answer", "cut short", "running", "not started"}

func (s *story) class() class {
	switch s.outcome {
	case queue.Done:
		return classDone
	case queue.Unproven:
		return classUnproven
	case queue.Question:
		return classAsks
	case queue.Limit, queue.Outage, queue.HostFailed, queue.Auth, queue.Interrupted, queue.Unguarded:
		return classCut
	case "":
		switch s.state {
		case running:
			return classRunning
		case notStarted:
			return classNotStarted
		}
		return classCut
	}
	return classFailed
}

// last is the newest attempt; a zero one when there is none.
func (s *story) last() queue.Attempt {
	if len(s.attempts) == 0 {
		return queue.Attempt{}
	}
	return s.attempts[len(s.attempts)-1]
}

// gates counts the last attempt's gates.
func (s *story) gates() (passed, total int) {
	for _, g := range s.last().Gates {
		if g.Passed {
			passed++
		}
	}
	return passed, len(s.last().Gates)
}

// view is a snapshot put in the order in which a person reads it.
type view struct {
	queue.Snapshot
	sessions                        []queue.Session // that it is about, oldest first: one, unless several were asked for
	stories                         []*story
	counts                          [classes]int
	cost                            float64
	waiting                         []*queue.Action // pending: ran already, kept back, tampering
	ranAlready, keptBack, tampering []*queue.Action // the three of these, oldest first
	mentions                        []*queue.Action // pending
	questions                       []*queue.Action // pending
	open                            []*queue.Action // approved or begun, and not at an end
	decided                         map[queue.Status]int
	settled                         map[uint64]queue.Status // numbers of actions that wait no longer
	tampers                         int                     // pending ones that would take the guard away
	ran                             int                     // pending ones that were executed
	escaped                         int                     // executed ones, decided ones among them
	shared                          int                     // calls of tier shared that ran
	doubts                          []doubt
}

func newView(d queue.Snapshot, o Options) *view {
	v := &view{Snapshot: d, decided: map[queue.Status]int{}, settled: map[uint64]queue.Status{}}
	if v.sessions = o.Sessions; len(v.sessions) == 0 {
		v.sessions = []queue.Session{d.Session}
	}
	v.sortActions()
	v.collectStories(o)
	v.doubts = v.collectDoubts()
	for _, s := range v.stories {
		v.counts[s.class()]++
		v.cost += s.cost
		for i := range s.attempts {
			v.shared += s.attempts[i].SharedRuns
		}
	}
	return v
}

func (v *view) sortActions() {
	for i := range v.Actions {
		a := &v.Actions[i]
		if a.Evidence == policy.Executed && !a.IsQuestion() {
			v.escaped++
		}
		switch a.Status {
		case queue.Pending:
			v.waits(a)
		case queue.Replayed, queue.Rejected, queue.Superseded, queue.Answered:
			v.decided[a.Status]++
			v.settled[a.Number] = a.Status
		default: // also a status that this version does not know
			v.open = append(v.open, a)
		}
	}
	for _, list := range [][]*queue.Action{v.ranAlready, v.keptBack, v.tampering} {
		slices.SortStableFunc(list, func(a, b *queue.Action) int {
			return cmp.Or(cmp.Compare(gravity(a.Evidence), gravity(b.Evidence)), cmp.Compare(a.Number, b.Number))
		})
	}
	v.waiting = slices.Concat(v.ranAlready, v.keptBack, v.tampering)
	v.ran = len(v.ranAlready)
}

// waits puts a pending action where it belongs. Evidence that this version
// does not know may be as bad as having run.
func (v *view) waits(a *queue.Action) {
	switch {
	case a.IsQuestion():
		v.questions = append(v.questions, a)
		return
	case a.Evidence == policy.Mentioned:
		v.mentions = append(v.mentions, a)
		return
	case gravity(a.Evidence) <= gravity(policy.Executed):
		v.ranAlready = append(v.ranAlready, a)
	case a.Tampering:
		v.tampering = append(v.tampering, a)
	default:
		v.keptBack = append(v.keptBack, a)
	}
	if a.Tampering {
		v.tampers++
	}
}

// gravity is the order of evidence; what is not known comes first.
func gravity(e policy.Evidence) int {
	return slices.Index([]policy.Evidence{policy.Executed, policy.Blocked, policy.Written, policy.Mentioned}, e)
}

// collectStories puts attempts under their stories: as planned, then those
// that were not planned in the order in which they began. Stories of two files
// may have one id.
func (v *view) collectStories(o Options) {
	byID := map[[2]string]*story{}
	files := map[string]string{}
	get := func(file, id string) *story {
		s := byID[[2]string{file, id}]
		if s == nil {
			s = &story{id: id, state: notStarted}
			if file == v.Session.StoryFile {
				s.title = o.Titles[id]
			}
			byID[[2]string{file, id}] = s
			v.stories = append(v.stories, s)
		}
		return s
	}
	for _, s := range v.sessions {
		files[s.ID] = s.StoryFile
		for _, id := range s.StoryOrder {
			get(s.StoryFile, id)
		}
	}
	for i := range v.Attempts {
		get(files[v.Attempts[i].Session], v.Attempts[i].Story).add(v.Attempts[i], o)
	}
}

func (s *story) add(a queue.Attempt, o Options) {
	s.attempts = append(s.attempts, a)
	s.cost += a.CostUSD
	s.outcome = a.Outcome
	if a.StoryTitle != "" {
		s.title = a.StoryTitle
	}
	switch {
	case !a.Ended.IsZero():
		s.time += a.Ended.Sub(a.Started)
		s.state = state(a.Outcome)
	case o.Alive:
		if !o.Now.IsZero() {
			s.time += o.Now.Sub(a.Started)
		}
		s.state, s.outcome = running, ""
	default:
		s.state, s.outcome = noEndRecord, ""
	}
}
