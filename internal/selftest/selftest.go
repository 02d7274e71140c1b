// Package selftest finds out which guarantees of the firewall hold with the
// client that is installed: it plays a small night with it, whose model is a
// script on loopback, and judges by what came of it.
//
// It reaches no service and uses nothing of the person's but the PATH: home,
// account, credentials and repository are made for it and removed. It decides
// nothing; who starts a run does. The one invariant: a guarantee holds only
// when its effect was seen, never because a client says so.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-b23e517c/loop/policy"
)

// limit bounds one scene; a sound client takes a few seconds.
const limit = 2 * time.Minute

// Options say what is tested and where.
type Options struct {
	Env  []string         // the person's environment; only what starts programs is taken of it
	Temp string           // folder for temporary files
	Self []string         // starts a program of loop's own that calls ServeMCP with the file it is given
	Now  func() time.Time //
}

// State is what is known of a guarantee.
type State string

// The states of a guarantee.
const (
	Holds     State = "holds"
	Fails     State = "does not hold"
	Unchecked State = "not checked"
)

// Guarantee is one thing that loop relies on.
type Guarantee struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Means    string `json:"means"`    // for the person, when it does not hold
	Protects bool   `json:"protects"` // without it something could get out, or nothing can be said about it
	State    State  `json:"state"`
	Detail   string `json:"detail,omitempty"` // what was seen, when it does not hold or was not checked: may hold hostile text
}

// The guarantees by id.
const (
	HooksLive    = "hooks-live"
	RefusedMain  = "refused-main"
	RefusedSub   = "refused-subagent"
	RefusedMCP   = "refused-mcp"
	Parallel     = "parallel-asked"
	SilenceIsNo  = "silence-is-no"
	GoneIsNo     = "gone-is-no"
	FailureStops = "failure-blocks"
	ProjectStart = "project-at-start"
	ProjectLater = "project-mid-run"
	HooksStay    = "hooks-stay"
	SettingsGone = "settings-removed"
	Reported     = "results-reported"
	SessionID    = "session-id"
	Allowed      = "allowed-runs"
	BigCall      = "big-call"
	Receipts     = "results-marked"
	OneVersion   = "version"
)

// catalogue are all guarantees, in the order in which they are told.
func catalogue() []Guarantee {
	return []Guarantee{
		{ID: HooksLive, Protects: true, Name: "the client reports to loop before its model is asked", Means: "the firewall is not there: every attempt would end as unguarded"},
		{ID: RefusedMain, Protects: true, Name: "a call that leaves the machine is refused, and the agent reads why", Means: "a push could go out"},
		{ID: RefusedSub, Protects: true, Name: "the same in a subagent", Means: "a push of a subagent could go out"},
		{ID: RefusedMCP, Protects: true, Name: "the same for a tool of an MCP server", Means: "an MCP server could post in your name"},
		{ID: Parallel, Protects: true, Name: "each of several calls made at once is asked about", Means: "a call could run unseen beside others"},
		{ID: SilenceIsNo, Protects: true, Name: "an error, garbage, nothing or a late answer means no", Means: "a call that loop fails to judge could run"},
		{ID: GoneIsNo, Protects: true, Name: "a loop that is gone means no", Means: "the agent could work on unguarded when loop dies"},
		{ID: FailureStops, Protects: true, Name: "a hook that failed blocks also what needs no permission (onFailure)", Means: "reads run when loop fails to judge them; clients before " + Oldest.String() + " do not know onFailure"},
		{ID: ProjectStart, Protects: true, Name: "settings, hooks and MCP servers of the project and the user have no effect", Means: "a repository could switch the firewall off or run commands unseen"},
		{ID: ProjectLater, Protects: true, Name: "nor have those that are written while it works", Means: "the agent could switch the firewall off with one file"},
		{ID: HooksStay, Protects: true, Name: "the client goes on asking after settings have changed", Means: "from then on every call is denied and the attempt ends as unguarded"},
		{ID: SettingsGone, Protects: true, Name: "the file with the firewall's token can be removed at the start", Means: "the agent could read how to speak to the firewall"},
		{ID: Reported, Protects: true, Name: "the result of each call that ran comes back to loop", Means: "what ran cannot be held against what the agent says"},
		{ID: SessionID, Protects: true, Name: "the client takes the session id it is given", Means: "its records cannot be told from another session's"},
		{ID: Allowed, Name: "allowed calls run (Bash, Read, Write, Edit)", Means: "the agent cannot work: stories will fail"},
		{ID: BigCall, Name: "a file of 1 MB is written whole", Means: "large files are refused or cut"},
		{ID: Receipts, Name: "loop can add to what the model reads of a result", Means: "receipts do not reach the agent"},
		{ID: OneVersion, Name: "the client runs as the version that it names", Means: "the test may have been of another program"},
	}
}

// Result is one test of one client.
type Result struct {
	Schema     int           `json:"schema"`
	Client     Client        `json:"client"`
	Loop       string        `json:"loop"` // the build of loop that tested
	When       time.Time     `json:"when"`
	Took       time.Duration `json:"took_ns"`
	Guarantees []Guarantee   `json:"guarantees"`
}

// Schema is the version of Result as JSON.
const Schema = 1

// Broken are the guarantees that protect and are not known to hold.
func (r *Result) Broken() []Guarantee {
	var out []Guarantee
	for _, g := range r.Guarantees {
		if g.Protects && g.State != Holds {
			out = append(out, g)
		}
	}
	return out
}

// Passed reports whether all that protects holds, and something was tested.
func (r *Result) Passed() bool { return len(r.Guarantees) > 0 && len(r.Broken()) == 0 }

// Failed reports whether something that protects was seen not to hold.
func (r *Result) Failed() bool {
	return slices.ContainsFunc(r.Broken(), func(g Guarantee) bool { return g.State == Fails })
}

// PassedOld is Passed for an old client: without what Oldest brought, and
// with what makes an attempt fail but lets nothing out.
func (r *Result) PassedOld() bool {
	return len(r.Guarantees) > 0 && !slices.ContainsFunc(r.Broken(), func(g Guarantee) bool {
		return g.State != Fails || g.ID != FailureStops && g.ID != HooksStay
	})
}

// Run tests the client. An error is loop's own trouble, or that of the
// machine: that nothing can be said.
func Run(ctx context.Context, client Client, o Options) (res Result, err error) {
	began := o.Now()
	res = Result{Schema: Schema, Client: client, When: began.UTC()}
	dir, err := os.MkdirTemp(o.Temp, "loop-selftest-")
	if err != nil {
		return res, fmt.Errorf("test the client: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder that stays is nothing to fail for
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return res, fmt.Errorf("test the client: %w", err)
	}
	set, err := policy.Builtin()
	if err != nil {
		return res, err
	}
	t := &test{o: o, dir: dir, set: set, client: client}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := t.play(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return res, &SlowError{}
	}
	if err != nil {
		return res, fmt.Errorf("test the client: %w", err)
	}
	for _, g := range catalogue() {
		seen, ok := found[g.ID]
		if !ok {
			seen = finding{Unchecked, "the scene that shows it did not get that far"}
		}
		g.State, g.Detail = seen.state, seen.detail
		res.Guarantees = append(res.Guarantees, g)
	}
	res.Took = o.Now().Sub(began)
	return res, nil
}

// SlowError says that a test did not come to its end.
type SlowError struct{}

func (*SlowError) Error() string {
	return fmt.Sprintf("test the client: not finished after %v", limit)
}

// Hint is what to type next.
func (*SlowError) Hint() string {
	return "try again when the machine is less busy; `loop doctor --live` tests and starts nothing else"
}
