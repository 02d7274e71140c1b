package queue

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
	Base    string   `json:"base"`           // the commit it began at
	Head    string   `json:"head,omitempty"` // the commit it ended at; "" = no end record
	Commits int      `json:"commits"`        // from Base to Head
	Made    bool     `json:"made,omitempty"` // loop made the branch
	Gone    bool     `json:"gone,omitempty"` // nothing came of it, and branch or work tree were taken away again
	Stash   *Stash   `json:"stash,omitempty"`
	Mine    []string `json:"mine,omitempty"` // files with uncommitted changes of the person's, which stay so
}

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
}
