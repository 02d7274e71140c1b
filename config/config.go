// Package config turns loop.toml, the user's own config.toml and flags into
// one value, and remembers where each value came from.
//
// Decoding is strict: an unknown key, a wrong type or a bad value is an error
// that names the file and the line. The one invariant: a repository's
// loop.toml can make the level stricter and never looser; only the user's own
// file and the command line can loosen, and only its own file lets credentials
// through.
package config

import (
	"time"

	"github.com/seed-b23e517c/loop/policy"
)

// Schema is the version of the file format.
const Schema = 1

// FileName is the name of the repository's configuration file.
const FileName = "loop.toml"

// Config is everything a run can be told.
type Config struct {
	Stories     string       // story file or folder; "" = find it
	Level       policy.Level // autonomy level
	Model       string       // "" = the client's default
	Claude      string       // program to start; "claude" = from PATH
	Gates       []string     // commands that must pass before a story is done
	Rules       []string     // rule packs that the repository names, absolute paths
	OwnRules    []string     // rule packs of the user's own configuration, absolute paths
	Patterns    []string     // plain strings that make a call external
	MemoryFiles []string     // further files whose change the report shows
	Checks      Checks       //
	Notify      Notify       // how a person who is away hears of a run
	Host        Host         // what a run asks of the machine
	Budget      Budget       //
	Retries     Retries      //
	Limits      Limits       //
	Billing     string       // "api-key" or "subscription": what the client's work may be charged to; "" = whatever there is, one of them
	Prompt      Prompt       //
	MCPConfig   string       // MCP servers file for the client; "" = none
	AutoMemory  bool         // leave the client's own memory on
	Receipts    Receipts     //
	Git         Git          //
	Parallel    int          // stories at the same time, each in a work tree of its own; 1 = one after the other
	SelfTest    bool         // test each new version of the client before the first story
	OldClient   bool         // run a client that is too old to be relied on
	KeepEnv     []string     // credentials in the environment that the agent gets all the same: patterns of names

	Path    string            // the loop.toml that was read; "" = none
	Hash    string            // SHA-256 of its bytes, hex; "" = none
	Sources map[string]string // key -> "default", a file's path, or "flag"
}

// Checks say how gates decide.
type Checks struct {
	Baseline bool // run the gates before the first story
	KnownRed bool // a gate that was red before the first story, in the same way, holds a story back
	Stories  bool // run the commands that stories name for verification, too
}

// Budget bounds one run.
type Budget struct {
	Attempt time.Duration // wall limit of one attempt
	Silence time.Duration // longest time without a sign of life
	Gate    time.Duration // time limit of one gate
	CostUSD float64       // per attempt, checked by the client; 0 = none
	Stories int           // at most this many stories a run; 0 = all

	SessionUSD, StoryUSD       float64 // 0 = none
	SessionTokens, StoryTokens int64   // 0 = none; input, output and cache writes
}

// Retries says how often a story is tried.
type Retries struct {
	Attempts  int // at one story that the agent may fail
	StopAfter int // so many stories in a row that got nowhere end the run; 0 = never
}

// Limits says what a usage limit or an outage of the provider means.
type Limits struct {
	Wait time.Duration // longest time without work; 0 = never wait
}

// Values of Git.Branch beside the name of a branch, and of Git.Dirty.
const (
	BranchSession = "session" // a new one for each session
	BranchNone    = "none"    // work where the person is, and leave git alone

	DirtyRefuse = "refuse" // a session does not begin on uncommitted changes
	DirtyStash  = "stash"  // they are put aside until its end
	DirtyAllow  = "allow"  // they stay, and are not committed
)

// Git says where in git a session works.
type Git struct {
	Branch   string   // BranchSession, BranchNone or a name
	Worktree bool     // in a work tree of its own
	Setup    []string // commands that make such a work tree ready
	Dirty    string   // DirtyRefuse, DirtyStash or DirtyAllow
}

// Receipts says whether tool results get receipts.
type Receipts struct {
	Enabled bool
	Format  string // v2 or zc-v1
	Show    bool   // show them with the story's final text in the report
	Cite    bool   // ask the agent to cite them
}

// Notify says how a person who is away hears of a run. Only Events can be set in a
// repository: a command and addresses are things that an agent must not choose.
type Notify struct {
	Command string   // for the shell; the message as JSON on its stdin
	Webhook string   // gets the message as JSON by POST
	Ntfy    string   // address of a topic of ntfy
	Events  []string // of NotifyEvents

	HeartbeatFile  string // written every HeartbeatEvery while the run lives, absolute
	HeartbeatURL   string // asked for as often
	HeartbeatEvery time.Duration
}

// NotifyEvents are what can be told.
func NotifyEvents() []string { return []string{"end", "block", "limit", "question", "executed"} }

// Host is what a run asks of the machine.
type Host struct {
	Inhibit bool   // keep it from going to sleep
	Space   uint64 // bytes that must be free before a story begins; 0 = not looked at
	Memory  uint64 // most bytes that an attempt's processes may have together; 0 = no limit
}

// Prompt changes what an attempt is told.
type Prompt struct {
	Append   string // added to the constraint rules
	Replace  string // file that replaces the embedded constraint rules, absolute
	ClaudeMD bool   // put CLAUDE.md's text into the prompt
}

// Default is what holds when nothing is said.
func Default() Config {
	return Config{
		Level:    policy.Unattended,
		Claude:   "claude",
		SelfTest: true,
		Checks:   Checks{Baseline: true, KnownRed: true},
		Budget:   Budget{Attempt: 2 * time.Hour, Silence: 20 * time.Minute, Gate: 10 * time.Minute},
		Retries:  Retries{Attempts: 2, StopAfter: 5},
		Limits:   Limits{Wait: 12 * time.Hour},
		Prompt:   Prompt{ClaudeMD: true},
		Notify:   Notify{Events: NotifyEvents(), HeartbeatEvery: 5 * time.Minute},
		Host:     Host{Inhibit: true, Space: 500 << 20},
		// The name of the format is that of receipt.V2, which this package
		// does not import.
		Receipts: Receipts{Enabled: true, Format: "v2", Cite: true},
		Git:      Git{Branch: BranchSession, Dirty: DirtyRefuse},
		Parallel: 1,
		Sources:  map[string]string{},
	}
}

// Source says where the value of a key came from.
func (c *Config) Source(key string) string {
	if s, ok := c.Sources[key]; ok {
		return s
	}
	return "default"
}
