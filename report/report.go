// Package report prints what a person reads in the morning: the night in one
// line, what waits for a decision, what became of the stories, and what loop
// could not vouch for; as text for a terminal and as JSON. It also prints one
// action, lists of actions, and the export.
//
// It decides nothing, stores nothing and asks neither the clock nor the
// system: everything it prints is in the values it gets. Text that an agent,
// a command or a file may have written is masked and quoted before it is
// printed; the one invariant is that no output holds a control character or
// an invisible rune, colour escapes apart where they were asked for.
package report

import (
	"io"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// Options say how to print for people.
type Options struct {
	// Width is the number of columns of the terminal. 0 means that the
	// output is no terminal: it is laid out for 80 columns, and no command is
	// cut.
	Width int
	Color bool
	Now   time.Time
	// Location is where the reader is; nil is UTC.
	Location *time.Location
	// All opens what is folded: mentions, long commands, diffs, gate output,
	// shared calls.
	All bool
	// Alive says that the process of a session without an end record runs.
	Alive bool
	// Earlier is how many actions of other sessions still wait.
	Earlier int
	// Known reports whether a receipt is one that loop issued: those are shown,
	// and whatever else is in their form is masked. May be nil.
	Known func(receipt string) bool
	// Roots prints the root of the audit trail whole.
	Roots bool
	// Said holds, by attempt, what is printed of the agents' last words and
	// receipts; nil is nothing.
	Said map[string]Said
	// Sessions are all that a joined snapshot is about, oldest first; nil is the
	// snapshot's own.
	Sessions []queue.Session
	// Titles names stories that no attempt has begun, by story id.
	Titles map[string]string
}

const (
	defaultWidth = 80
	minWidth     = 40
	proseWidth   = 100 // sentences are not set wider than this
)

// Terminal prints the report of one session.
func Terminal(w io.Writer, d queue.Snapshot, o Options) error {
	v := newView(d, o)
	p := newPrinter(w, o)
	p.headline(v)
	p.needsYou(v)
	p.stories(v)
	p.events(v)
	p.costs(v)
	p.work(v)
	p.words(v)
	p.places(v)
	p.trail(v)
	return p.flush()
}

// Waiting counts what needs a person: pending actions, questions among them, and pending mentions
// apart from them.
func Waiting(d queue.Snapshot) (external, mentions int) {
	for i := range d.Actions {
		switch {
		case d.Actions[i].Status != queue.Pending:
		case d.Actions[i].Evidence == policy.Mentioned:
			mentions++
		default:
			external++
		}
	}
	return external, mentions
}

// location is where times are shown.
func (o Options) location() *time.Location {
	if o.Location == nil {
		return time.UTC
	}
	return o.Location
}

// masker hides secrets, and shows the receipts that are known.
func (o Options) masker() term.Masker {
	return term.Masker{
		Known: func(text string) (spans [][2]int) {
			if o.Known == nil {
				return nil
			}
			for _, c := range receipt.Find(text) {
				if c.Strict && o.Known(c.Text) {
					spans = append(spans, [2]int{c.Start, c.End})
				}
			}
			return spans
		},
		Dressed: func(text string) (spans [][2]int) {
			for _, c := range receipt.Find(text) {
				if c.Disguised {
					spans = append(spans, [2]int{c.Start, c.End})
				}
			}
			return spans
		},
	}
}

func (o Options) columns() int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return max(o.Width, minWidth)
}

// fit cuts quoted text to n cells on a terminal.
func (o Options) fit(s string, n int) string {
	if o.Width <= 0 {
		return s
	}
	return term.Truncate(s, n)
}
