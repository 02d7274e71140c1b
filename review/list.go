package review

import (
	"cmp"
	"slices"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// list is the queue as it is shown: filtered, searched, in the order in which
// it is read.
type list struct {
	all    []queue.Action
	shown  []int // of all
	cursor int   // of shown
	filter int
	search string
	marks  map[string]bool // by id

	calls   []uint64         // of all, which call each is; nil = not known yet
	behind  map[string][]int // of all, by the id of the row that they are folded behind
	laidOut map[string]bool  // rows whose folded ones are rows too

	ran bool // a replay has ended since the queue was read: what it came to is no longer marked
}

// filters are what can be looked at; the first is what a person begins with.
var filters = []struct {
	name string
	fits func(*queue.Action) bool
}{
	{"waiting", Waits},
	{"executed", func(a *queue.Action) bool { return a.Evidence == policy.Executed }},
	{"questions", func(a *queue.Action) bool { return a.IsQuestion() }},
	{"decided", func(a *queue.Action) bool { return a.Status != queue.Pending }},
	{"mentions", func(a *queue.Action) bool { return a.Evidence == policy.Mentioned }},
	{"all", func(*queue.Action) bool { return true }},
}

// Waits reports whether an action waits for a person; words alone do not.
func Waits(a *queue.Action) bool { return undecided(a.Status) && a.Evidence != policy.Mentioned }

func undecided(s queue.Status) bool {
	return slices.Contains([]queue.Status{queue.Pending, queue.Approved, queue.Failed, queue.Unknown}, s)
}

// take replaces the actions, and stays with the one that the cursor is on.
func (l *list) take(all []queue.Action) {
	on := ""
	if a := l.current(); a != nil {
		on = a.ID
	}
	slices.SortStableFunc(all, func(a, b queue.Action) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Number, b.Number))
	})
	l.all, l.calls = all, nil
	for i := range all {
		if !undecided(all[i].Status) || l.ran && all[i].Status != queue.Pending {
			delete(l.marks, all[i].ID)
		}
	}
	l.ran = false
	l.choose(on)
}

// rank is the order of what needs a person: what got out, what was stopped,
// questions, what reached for the guard, what was only written or said.
func rank(a *queue.Action) int {
	switch {
	case a.Evidence == policy.Executed:
		return 0
	case a.IsQuestion():
		return 2
	case a.Tampering:
		return 3
	case a.Evidence == policy.Blocked:
		return 1
	case a.Evidence == policy.Written:
		return 4
	case a.Evidence == policy.Mentioned:
		return 5
	}
	return 0
}

// choose filters anew, with the cursor on the action of that id, or where it was.
func (l *list) choose(on string) {
	l.shown = l.shown[:0]
	search := queue.NewSearch(l.search)
	at := -1
	for i := range l.all {
		a := &l.all[i]
		if !filters[l.filter].fits(a) || !search.Finds(a) {
			continue
		}
		l.shown = append(l.shown, i)
	}
	l.fold()
	for n, i := range l.shown {
		a := &l.all[i]
		if a.ID == on || !l.laidOut[a.ID] && slices.ContainsFunc(l.behind[a.ID], func(i int) bool { return l.all[i].ID == on }) {
			at = n
			break
		}
	}
	if at >= 0 {
		l.cursor = at
	}
	l.cursor = max(0, min(l.cursor, len(l.shown)-1))
}

// current is the action that the cursor is on; nil when there is none.
func (l *list) current() *queue.Action {
	if l.cursor < 0 || l.cursor >= len(l.shown) {
		return nil
	}
	return &l.all[l.shown[l.cursor]]
}

func (l *list) move(by int) { l.cursor = max(0, min(l.cursor+by, len(l.shown)-1)) }

// marked are the marked actions in the order in which they were queued, which
// is that in which they are run: a commit comes before its push.
func (l *list) marked() []queue.Action {
	var out []queue.Action
	for i := range l.all {
		if l.marks[l.all[i].ID] {
			out = append(out, l.all[i])
		}
	}
	slices.SortFunc(out, func(a, b queue.Action) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// replaying reports whether one is being replayed, by anybody.
func (l *list) replaying() bool {
	return slices.ContainsFunc(l.all, func(a queue.Action) bool { return a.Status == queue.Replaying })
}

// waiting counts what waits in all of the queue.
func (l *list) waiting() int {
	n := 0
	for i := range l.all {
		if Waits(&l.all[i]) {
			n++
		}
	}
	return n
}
