// Package queue keeps deferred actions, sessions, attempts, findings and
// decisions in one bbolt file per repository.
//
// Buckets. Values are JSON with schema: 1; an index has an id or nothing as its
// value. Ids are the 16 bytes of a UUIDv7, numbers are 8 bytes big endian; a
// text in a key that is long or holds a NUL stands there by its hash.
//
//	deferred_actions   id                           -> Action
//	action_numbers     number                       -> id
//	action_also        number                       -> id   (that a repeat was given when it was spooled)
//	action_sessions    session NUL number           -> id
//	action_calls       session NUL tool_use_id      -> id   (a repeat maps to the first)
//	                   session NUL NUL place        -> id   (a hit without tool_use_id)
//	action_inputs      hash of a blocked call       -> id   (the latest with this input)
//	action_replaying   id                           -> ""   (status replaying)
//	sessions           id                           -> Session
//	attempts           session id + attempt id      -> Attempt
//	attempts_open      session id + attempt id      -> ""   (no end record)
//	findings           session NUL id               -> Finding
//	stories            file NUL story id            -> StoryState
//	audit              session -> number            -> a record of the audit trail
//	audit_checkpoints  session -> number            -> a signed state of it
//	audit_receipts     receipt                      -> number + session of its record
//	meta               "schema"                     -> number
//
// What cannot wait for the queue lies beside it in a spool (spool.go), which the
// next writer, or reader, takes up within its own transaction. The numbers of both
// come out of one file (number.go).
//
// It holds no file open between operations: each takes the side lock
// (queue.db.lock), opens, runs one transaction and closes, so that report and
// approve work while a run goes on. It decides nothing about what an action
// means, runs nothing, and deletes nothing. The one invariant: an action once
// stored is never lost and never doubled, whatever dies when.
package queue

import (
	"encoding/json"
	"time"

	"github.com/seed-b23e517c/loop/policy"
)

// Schema is the version of every stored and exported value.
const Schema = 1

// Status is where an action stands.
type Status string

// The statuses of an action.
const (
	Pending    Status = "pending"
	Approved   Status = "approved"
	Replaying  Status = "replaying"
	Replayed   Status = "replayed"
	Failed     Status = "failed"
	Unknown    Status = "unknown" // died while replaying
	Rejected   Status = "rejected"
	Superseded Status = "superseded"
	Answered   Status = "answered" // a question that a person has answered
)

// FoundBy says who saw the action first.
type FoundBy string

// Who finds actions.
const (
	ByHook FoundBy = "hook"
	ByScan FoundBy = "scan"
)

// Action is one entry of the deferred-action queue.
type Action struct {
	Schema     int             `json:"schema"`
	ID         string          `json:"id"`     // UUIDv7
	Number     uint64          `json:"number"` // short number for people, unique in this queue
	Kind       string          `json:"kind"`   // KindCall or KindQuestion
	Session    string          `json:"session"`
	Story      string          `json:"story"` // story id
	StoryTitle string          `json:"story_title,omitempty"`
	StoryHash  string          `json:"story_hash,omitempty"` // of a question: the text of the story that it is about
	Checkpoint string          `json:"checkpoint,omitempty"` // of a question that the story file asks, and not the agent: CheckpointAfter or CheckpointBefore
	Holds      []HeldStory     `json:"holds,omitempty"`      // what a checkpoint holds back
	Attempt    string          `json:"attempt"`
	Tool       string          `json:"tool"`
	ToolUseID  string          `json:"tool_use_id,omitempty"`
	Agent      string          `json:"agent,omitempty"` // "" = main agent
	Input      json.RawMessage `json:"input,omitempty"` // the exact bytes of the tool input
	Command    string          `json:"command"`         // command line, or the call as one line
	Cwd        string          `json:"cwd,omitempty"`
	GitHead    string          `json:"git_head,omitempty"`
	GitBranch  string          `json:"git_branch,omitempty"`
	Rules      []string        `json:"rules"`
	Why        string          `json:"why,omitempty"`  // the gravest rule's sentence
	Undo       string          `json:"undo,omitempty"` // how far it can be taken back: none, correction, full; "" = not known
	Tier       policy.Tier     `json:"tier"`
	Evidence   policy.Evidence `json:"evidence"`
	Opaque     bool            `json:"opaque,omitempty"`
	Tampering  bool            `json:"tampering,omitempty"`  // it would take the guard of a run away
	Asked      bool            `json:"asked,omitempty"`      // a person at the client's prompt was asked; what the answer was is not known
	Transcript string          `json:"transcript,omitempty"` // path of the transcript file
	Line       int             `json:"line,omitempty"`       // line number in it
	Excerpt    string          `json:"excerpt,omitempty"`
	Said       *Said           `json:"said,omitempty"` // what the agent said last before the call; nil = not known
	DetectedAt time.Time       `json:"detected_at"`
	FoundBy    FoundBy         `json:"found_by"`
	Outcome    string          `json:"outcome,omitempty"`     // of an executed one: ok, failed, unknown
	Family     string          `json:"family,omitempty"`      // pack of the gravest rule
	Target     string          `json:"target,omitempty"`      // where it leads: a host, a remote, a server; "" = not said
	RelatedTo  string          `json:"related_to,omitempty"`  // number of the action that it tries again, or was first taken for
	Again      []uint64        `json:"tried_again,omitempty"` // numbers of those that try this one again in another spelling
	Repeats    int             `json:"repeats,omitempty"`     // further calls with the same tool and input in the same story
	Claims     []Claim         `json:"claims,omitempty"`      // what its text says, beside what supports it
	MoreClaims int             `json:"more_claims,omitempty"` // further ones, not judged
	Judged     bool            `json:"judged,omitempty"`      // of one made at the prompt: its claims were looked for since
	Status     Status          `json:"status"`
	Edited     *Edited         `json:"edited,omitempty"` // the form that a person gave it; nil = the agent's own holds
	Decisions  []Decision      `json:"decisions,omitempty"`
	Replay     *Replay         `json:"replay,omitempty"`
	Earlier    []Replay        `json:"earlier_replays,omitempty"` // replays before the last one, oldest first
	Owner      *Owner          `json:"replay_owner,omitempty"`    // the process that replays it, or died doing so
}

// Said is what an agent said last before a call, in its own words: hostile
// text, with secrets masked before it was cut.
type Said struct {
	Text      string `json:"text"`                // "" = it said nothing before it
	Calls     int    `json:"calls,omitempty"`     // made between the words and the call
	Delegated bool   `json:"delegated,omitempty"` // the words of the agent that gave a subagent the work
}

// Decision is what a person did with an action.
type Decision struct {
	Verb   string    `json:"verb"` // Approve, Reject, Edit, Unedit
	Who    string    `json:"who"`
	When   time.Time `json:"when"`
	Reason string    `json:"reason,omitempty"`
}

// Replay is the outcome of running an action by hand.
type Replay struct {
	Started  time.Time       `json:"started"`
	Duration time.Duration   `json:"duration_ns"`
	Ran      json.RawMessage `json:"ran,omitempty"` // the input that ran; empty = the agent's own
	ExitCode int             `json:"exit_code"`
	Output   string          `json:"output"` // last 64 KiB, stdout and stderr as they came
	Cut      bool            `json:"cut,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// Owner is one process, told apart from a later one with the same pid.
type Owner struct {
	Pid   int    `json:"pid"`
	Start string `json:"start,omitempty"` // start time of the process, as the system gives it
	Boot  string `json:"boot,omitempty"`  // boot id of the machine
}

// Outcome is how an attempt, or a story, ended.
type Outcome string

// The outcomes of an attempt.
const (
	Done          Outcome = "done"            // ended well, and every gate passed
	Unproven      Outcome = "unproven"        // ended well, no gate configured
	GateFailed    Outcome = "gate-failed"     // ended well, a gate did not pass
	Unchanged     Outcome = "unchanged"       // ended well, and nothing in the work tree is other than before
	Conflict      Outcome = "conflict"        // ended well, and its work does not go together with what other stories brought meanwhile
	Question      Outcome = "question"        // ended with a question; the story waits for the answer
	AgentFailed   Outcome = "failed"          // the agent or client ended with an error
	Limit         Outcome = "limit"           // usage limit
	Hung          Outcome = "hung"            // silence or wall limit
	Interrupted   Outcome = "interrupted"     // Ctrl-C, or loop itself died
	Auth          Outcome = "auth"            // not logged in, key refused
	CouldNotStart Outcome = "could-not-start" // no claude, bad flags
	Unguarded     Outcome = "unguarded"       // hooks not live
	HostFailed    Outcome = "host"            // this machine ran out of memory or disk
	Outage        Outcome = "outage"          // the provider or the way to it failed
)

// Why a session stops that no single attempt is the reason of.
const (
	Blocked Outcome = "blocked" // one story after the other got nowhere
	Budget  Outcome = "budget"  // the session's cap is reached
)

// Passed reports whether the story's flag is set by this outcome.
func (o Outcome) Passed() bool { return o == Done || o == Unproven }

// Session is one `loop run`.
type Session struct {
	Schema     int       `json:"schema"`
	ID         string    `json:"id"`
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended,omitzero"`
	Level      string    `json:"level"`
	StoryFile  string    `json:"story_file"`
	Dir        string    `json:"dir"` // repository root
	Pid        int       `json:"pid"`
	PidStart   string    `json:"pid_start,omitempty"` // start time of the process, as the system gives it
	BootID     string    `json:"boot_id,omitempty"`
	Client     string    `json:"client,omitempty"`  // version of the client
	Stopped    string    `json:"stopped,omitempty"` // why it stopped early, for a person; "" = it did not
	StopKind   Outcome   `json:"stop_kind,omitempty"`
	StopCause  Cause     `json:"stop_cause,omitempty"`
	ResetsAt   time.Time `json:"resets_at,omitzero"` // when a limit resets
	ConfigHash string    `json:"config_hash,omitempty"`
	AuditKey   string    `json:"audit_key,omitempty"` // public half of the key that signs the audit trail; "" = none is kept
	StoryOrder []string  `json:"story_order"`         // ids, as planned
	Baseline   []Gate    `json:"baseline,omitempty"`  // the gates before the first story
	Scan       bool      `json:"scan,omitempty"`      // not a run: hits that `loop scan --queue` put here
	Account    string    `json:"account,omitempty"`   // what the client's work is charged to, for a person
	Waits      []Wait    `json:"waits,omitempty"`     // for limits and outages
	Work       *Work     `json:"work,omitempty"`      // where its work is; nil = loop left git alone
}

// Wait is a time in which nothing was done.
type Wait struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`          // as planned
	Ended time.Time `json:"ended,omitzero"` // earlier after a signal; zero = loop died meanwhile
	Cause Cause     `json:"cause,omitempty"`
	Why   string    `json:"why"` // the client's words
	Story string    `json:"story"`
}

// Outage reports whether the wait was for the provider or the way to it, and
// not for a limit.
func (w Wait) Outage() bool {
	switch w.Cause {
	case Overloaded, ServerError, Network, Untrusted, Proxy, Unexplained:
		return true
	default:
		return false
	}
}

// Duration is how long the wait was.
func (w Wait) Duration() time.Duration {
	if w.Ended.IsZero() {
		return 0
	}
	return max(0, w.Ended.Sub(w.From))
}

// Attempt is one `claude --print` process working on one story.
type Attempt struct {
	Schema      int            `json:"schema"`
	ID          string         `json:"id"` // UUIDv7, also the client's session id
	Session     string         `json:"session"`
	Story       string         `json:"story"`
	StoryTitle  string         `json:"story_title"`
	StoryHash   string         `json:"story_hash"`
	Number      int            `json:"number"`          // 1 = first attempt at this story in this session
	Level       string         `json:"level,omitempty"` // the session's, or the story's own where that is stricter
	Dir         string         `json:"dir"`             // folder of prompt, transcript, stderr
	Started     time.Time      `json:"started"`
	Ended       time.Time      `json:"ended,omitzero"` // zero = no end record
	ChildPid    int            `json:"child_pid,omitempty"`
	ChildStart  string         `json:"child_start,omitempty"`
	Outcome     Outcome        `json:"outcome,omitempty"`
	Reason      string         `json:"reason,omitempty"` // one sentence for a person
	Cause       Cause          `json:"cause,omitempty"`
	ResetsAt    time.Time      `json:"resets_at,omitzero"`    // when a limit ends, as the client says
	Blocked     string         `json:"blocked,omitempty"`     // why the story is not tried again in this session
	KeySource   string         `json:"key_source,omitempty"`  // where the client says its key is from; "none" is a subscription
	TreeBefore  string         `json:"tree_before,omitempty"` // hash of the work tree; "" = not known
	TreeAfter   string         `json:"tree_after,omitempty"`  // before the gates
	Model       string         `json:"model,omitempty"`
	CostUSD     float64        `json:"cost_usd"`
	CostUnknown bool           `json:"cost_unknown,omitempty"` // it ended without telling what it cost
	Tokens      int64          `json:"tokens"`
	Turns       int            `json:"turns"`
	Calls       int            `json:"calls"`
	Denied      int            `json:"denied"`
	Gates       []Gate         `json:"gates,omitempty"`
	FinalText   string         `json:"final_text,omitempty"` // what the agent said at the end, capped
	Question    string         `json:"question,omitempty"`   // what it asked: hostile text
	Memory      []MemoryChange `json:"memory,omitempty"`
	SharedRuns  int            `json:"shared_runs,omitempty"` // calls of tier shared that ran
	Shared      []string       `json:"shared,omitempty"`      // their command lines, first 20
	HeadBefore  string         `json:"head_before,omitempty"`
	DoneBefore  []string       `json:"done_before,omitempty"` // ids of the stories that were done at its start
	HeadAfter   string         `json:"head_after,omitempty"`
	Scanned     bool           `json:"scanned"`
	Verified    bool           `json:"verified,omitempty"`   // loop's verdict was that the story passed
	ScanNote    string         `json:"scan_note,omitempty"`  // what the scan could not read
	Recovered   bool           `json:"recovered,omitempty"`  // ended by a later run, because loop died
	Receipts    *Receipts      `json:"receipts,omitempty"`   // nil = receipts were off
	AuditRoot   string         `json:"audit_root,omitempty"` // of the audit trail at the end of the attempt

	AttemptWork
}

// Receipts is how many of an attempt's results have a receipt.
type Receipts struct {
	Results   int      `json:"results"`           // calls that ran and did not fail
	Receipted int      `json:"receipted"`         //
	Missing   []string `json:"missing,omitempty"` // the calls without one: hostile text

	Cited  int        `json:"cited,omitempty"`  // receipts that the agent wrote and that are good where they stand
	Judged []Citation `json:"judged,omitempty"` // those that are not
}

// Citation is a receipt that the agent wrote and that is not good there.
type Citation struct {
	Token    string `json:"token"`              // as it was written, cut
	Verdict  string `json:"verdict"`            // misplaced, replayed, revoked, foreign, forged, malformed
	Severity string `json:"severity"`           // info, warn, high
	Reason   string `json:"reason"`             // one line; may quote hostile text
	Sentence string `json:"sentence,omitempty"` // what it stands for: hostile text
	Line     int    `json:"line,omitempty"`     // of the transcript
}

// Gate is one run of a gate.
type Gate struct {
	Command  string        `json:"command"`
	Passed   bool          `json:"passed"`
	ExitCode int           `json:"exit_code"`
	Duration time.Duration `json:"duration_ns"`
	Output   string        `json:"output,omitempty"` // last 16 KiB
	Error    string        `json:"error,omitempty"`  // timed out, could not start

	Merged     bool     `json:"merged,omitempty"`      // it ran with what other stories had brought meanwhile
	Before     string   `json:"before,omitempty"`      // of one that failed: how it stood before, for a person
	WasRed     bool     `json:"was_red,omitempty"`     // it failed in the same way before the session
	Kept       []string `json:"kept,omitempty"`        // what the agent changed of it: it ran with these as they were at the start
	AtStart    string   `json:"at_start,omitempty"`    // with Kept: passes or fails, as they were; the gate has passed if both do
	WithChange string   `json:"with_change,omitempty"` // with Kept: passes or fails, as the agent left them
}

// MemoryChange is what an attempt did to a memory file.
type MemoryChange struct {
	File string `json:"file"`
	Diff string `json:"diff"` // unified
}

// Finding is something the report must show that is not an action.
type Finding struct {
	Schema  int       `json:"schema"`
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Story   string    `json:"story,omitempty"`
	Attempt string    `json:"attempt,omitempty"`
	Kind    string    `json:"kind"` // claim, asked, reopened, weakened, broke, gate-copy, red-before, unguarded, tampered, untested, old-client, recovered, scan-gap, leftover, escaped, allowed, denied, receipt, limit
	Text    string    `json:"text"` // for a person; may quote hostile text
	When    time.Time `json:"when"`
}

// StoryState is what loop knows of a story, apart from the story file.
type StoryState struct {
	Schema  int       `json:"schema"`
	File    string    `json:"file"`
	Story   string    `json:"story"`
	Hash    string    `json:"hash"`    // of its text; another text is another story
	Outcome Outcome   `json:"outcome"` // "" = its text changed after it was done
	Session string    `json:"session"`
	Worked  bool      `json:"worked,omitempty"` // attempts since it last passed have left changes in the work tree
	When    time.Time `json:"when"`
}
