package queue

import "cmp"

// The places where a session can work in a repository.
const (
	WorkBranch   = "branch"   // on a branch, in the person's own checkout
	WorkWorktree = "worktree" // on a branch, in a work tree of its own
)

// Work is where the work of a session is in git.
type Work struct {
	Mode    string   `json:"mode"` // WorkBranch or WorkWorktree
	Dir     string   `json:"dir"`  // the work tree
	Branch  string   `json:"branch"`
	From    string   `json:"from,omitempty"` // the branch that was checked out before; "" = none
	Into    string   `json:"into,omitempty"` // where the work is to go when From is an earlier session's branch; "" = to From
	Base    string   `json:"base"`           // the commit it began at
	Head    string   `json:"head,omitempty"` // the commit it ended at; "" = no end record
	Commits int      `json:"commits"`        // from Base to Head
	Made    bool     `json:"made,omitempty"` // loop made the branch
	Gone    bool     `json:"gone,omitempty"` // nothing came of it, and branch or work tree were taken away again
	Stash   *Stash   `json:"stash,omitempty"`
	Mine    []string `json:"mine,omitempty"` // files with uncommitted changes of the person's, which stay so

	Parallel int    `json:"parallel,omitempty"` // so many stories at the same time, each in a lane; 0 = one after the other
	Lanes    []Lane `json:"lanes,omitempty"`    // those that are there
	Making   bool   `json:"making,omitempty"`   // the work tree is being made: nothing in it is anybody's
}

// Lane is where one of several stories is worked on at the same time: a work
// tree and a branch of its own.
type Lane struct {
	Story  string `json:"story"`
	Dir    string `json:"dir"`
	Branch string `json:"branch"`
	Ready  bool   `json:"ready,omitempty"` // false: it is being made or taken away, and nothing in it is anybody's
}

// Merged is how an attempt's work was put onto the session's branch, on which
// there may be other stories' work since the attempt began.
type Merged struct {
	Onto      string   `json:"onto"`                // the commit at which the branch stood
	Commit    string   `json:"commit,omitempty"`    // the one to which it goes; "" = the work is not on it
	Conflicts []string `json:"conflicts,omitempty"` // files in which the two do not go together: hostile text
}

// Target is the branch that the work is for; "" = none.
func (w Work) Target() string { return cmp.Or(w.Into, w.From) }

// Stash is the person's own uncommitted work, put aside for a session.
type Stash struct {
	Ref      string `json:"ref"`
	Returned bool   `json:"returned,omitempty"` // it is back in the work tree, and the ref is gone
	Why      string `json:"why,omitempty"`      // why it is not
}

// TreeState is a work tree at one moment, without what git ignores.
type TreeState struct {
	Head     string `json:"head"`
	Tree     string `json:"tree"`               // everything in it, as a tree of git's
	Snapshot string `json:"snapshot,omitempty"` // a commit of Tree on Head; "" = Tree is that of Head
}

// Base is the commit that shows the state.
func (s TreeState) Base() string {
	if s.Snapshot != "" {
		return s.Snapshot
	}
	return s.Head
}

// Parked is what an attempt did, kept as a commit under a ref of loop's own
// before it was taken out of the work tree.
type Parked struct {
	Ref   string `json:"ref"`
	Base  string `json:"base"`  // the commit to compare it with
	Files int    `json:"files"` // that differ from Base
}

// AttemptWork is what became of an attempt's work in git.
type AttemptWork struct {
	Before  *TreeState `json:"before,omitempty"`  // the work tree at its start; nil = loop left git alone
	Commits int        `json:"commits,omitempty"` // commits that it brought to the session's branch, loop's included
	Commit  string     `json:"commit,omitempty"`  // loop's commit of what it left uncommitted; "" = none
	Parked  *Parked    `json:"parked,omitempty"`  // where what it did was put aside; nil = it was not
	Lane    *Lane      `json:"lane,omitempty"`    // where it worked; nil = in the session's work tree
	Merged  *Merged    `json:"merged,omitempty"`  // how it was put onto the session's branch; nil = it has not come to that
}
