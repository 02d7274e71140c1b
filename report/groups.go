package report

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// Outgoing is what the agents of a machine have sent out, as their session
// files tell it.
type Outgoing struct {
	Schema   int         `json:"schema"`
	Folder   string      `json:"folder"`
	Since    time.Time   `json:"since"`
	Until    time.Time   `json:"until"`
	Read     Read        `json:"read"`
	Sent     []Group     `json:"sent"`    // external calls that ran, worst first
	Tried    []Group     `json:"tried"`   // external calls that were stopped
	Written  []Group     `json:"written"` // scripts that would reach outside
	Shared   int         `json:"shared"`  // calls that changed shared state
	Mentions int         `json:"mentions"`
	Files    []FileCount `json:"files"` // those with external calls that ran, worst first
	Unread   []Unread    `json:"unread"`

	calls   []*Seen
	project func(*Seen) string
}

// Read says how much was read, and what of it could not be.
type Read struct {
	Files    int   `json:"files"`
	Older    int   `json:"older"` // files not opened: unchanged since before
	Bytes    int64 `json:"bytes"`
	Calls    int   `json:"calls"`
	Broken   int   `json:"broken"`   // lines that were read as text
	Oversize int   `json:"oversize"` // lines over the size limit, read as text
	Opaque   int   `json:"opaque"`   // calls that could not be seen through
}

// Unread is a file or folder that could not be read.
type Unread struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// FileCount says how many calls of a file reached outside.
type FileCount struct {
	File  string `json:"file"`
	Calls int    `json:"calls"`
	Worst string `json:"worst"` // the least that can be taken back
}

// Outgoing puts what was counted in the order in which a person reads it.
// project names the project of a call; the rest is for the caller to fill in.
func (t *Tally) Outgoing(project func(folder, cwd string) string) Outgoing {
	o := Outgoing{
		Schema: queue.Schema, Shared: len(t.shared), Mentions: len(t.mentions), Unread: []Unread{},
		project: func(s *Seen) string { return project(s.Folder, s.Cwd) },
	}
	for _, s := range t.calls {
		o.calls = append(o.calls, s)
	}
	slices.SortFunc(o.calls, func(a, b *Seen) int {
		return cmp.Or(
			cmp.Compare(gravity(a.Evidence), gravity(b.Evidence)), cmp.Compare(policy.UndoRank(a.Undo), policy.UndoRank(b.Undo)),
			a.Time.Compare(b.Time), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Command, b.Command),
		)
	})
	o.Sent = groups(o.calls, policy.Executed, o.project)
	o.Tried = groups(o.calls, policy.Blocked, o.project)
	o.Written = groups(o.calls, policy.Written, o.project)
	o.Files = fileCounts(o.calls)
	return o
}

func fileCounts(calls []*Seen) []FileCount {
	at := map[string]int{}
	out := []FileCount{}
	for _, s := range calls {
		if s.Evidence != policy.Executed {
			continue
		}
		i, ok := at[s.File]
		if !ok {
			i = len(out)
			at[s.File] = i
			out = append(out, FileCount{File: s.File, Worst: s.Undo}) // calls are sorted, worst first
		}
		out[i].Calls++
	}
	slices.SortFunc(out, func(a, b FileCount) int {
		return cmp.Or(cmp.Compare(policy.UndoRank(a.Worst), policy.UndoRank(b.Worst)), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.File, b.File))
	})
	return out
}

// Count is how many calls the groups hold.
func Count(list []Group) int {
	n := 0
	for i := range list {
		n += list[i].Calls
	}
	return n
}

// JSON prints it as one object. Secrets are masked.
func (o *Outgoing) JSON(w io.Writer) error {
	out := *o
	out.Since, out.Until = o.Since.UTC().Truncate(time.Second), o.Until.UTC().Truncate(time.Second)
	return WriteJSON(w, out, Options{})
}

// Group is the calls of one family in one project that can be taken back
// equally far.
type Group struct {
	Undo    string     `json:"undo"` // "none", "correction", "full"; "" = no rule says
	Family  string     `json:"family"`
	Project string     `json:"project"`
	Calls   int        `json:"calls"`
	Failed  int        `json:"failed"` // of them, did not succeed
	Last    *time.Time `json:"last"`   // nil when no record says
	Example string     `json:"example"`
	Rules   []string   `json:"rules"`

	example *Seen
}

// add counts a call and keeps the newest one that succeeded as the example.
func (g *Group) add(s *Seen) {
	g.Calls++
	if s.Failed() {
		g.Failed++
	}
	if at := s.Time.UTC().Truncate(time.Second); !s.Time.IsZero() && (g.Last == nil || at.After(*g.Last)) {
		g.Last = &at
	}
	if !slices.Contains(g.Rules, s.Rule) {
		g.Rules = append(g.Rules, s.Rule)
	}
	if g.example == nil || betterExample(s, g.example) {
		g.example, g.Example = s, s.Command
	}
}

func betterExample(s, than *Seen) bool {
	if s.Failed() != than.Failed() {
		return than.Failed()
	}
	return cmp.Or(than.Time.Compare(s.Time), s.compare(than)) < 0
}

// groups puts calls of one kind of evidence together, worst first.
func groups(calls []*Seen, evidence policy.Evidence, project func(*Seen) string) []Group {
	byKey := map[[3]string]*Group{}
	for _, s := range calls {
		if s.Evidence != evidence {
			continue
		}
		key := [3]string{s.Undo, s.Family, project(s)}
		g := byKey[key]
		if g == nil {
			g = &Group{Undo: key[0], Family: key[1], Project: key[2]}
			byKey[key] = g
		}
		g.add(s)
	}
	out := make([]Group, 0, len(byKey))
	for _, g := range byKey {
		slices.Sort(g.Rules)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(
			cmp.Compare(policy.UndoRank(a.Undo), policy.UndoRank(b.Undo)), cmp.Compare(b.Calls, a.Calls), b.last().Compare(a.last()),
			strings.Compare(a.Family, b.Family), strings.Compare(a.Project, b.Project), strings.Compare(a.Undo, b.Undo),
		)
	})
	return out
}

func (g *Group) last() time.Time {
	if g.Last == nil {
		return time.Time{}
	}
	return *g.Last
}
