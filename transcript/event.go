// Package transcript decodes what a coding agent wrote: the stream-json of
// `claude --print`, the client's on-disk session files, plain text, and the
// records of other agents as far as they can be recognised.
//
// It is tolerant: a broken, torn or unknown line never stops it, and what
// could not be read is counted. Memory is bounded whatever the size of a
// line. It judges nothing.
package transcript

import (
	"encoding/json"
	"time"
)

// Kind is the kind of one event.
type Kind uint8

// The kinds of events.
const (
	KindOther     Kind = iota // a record we know no use for
	KindInit                  // system/init
	KindText                  // text the assistant wrote
	KindThinking              // the assistant's thinking
	KindPrompt                // a user turn that is text: the prompt, a synthetic continuation
	KindCall                  // a tool_use block
	KindResult                // a tool_result block
	KindFinal                 // the result record at the end of a turn
	KindRateLimit             // rate_limit_event
	KindHook                  // system/hook_started, hook_response
	KindVCS                   // system/vcs_state_changed, code_change_published
	KindRetry                 // system/api_retry
	KindTask                  // system/task_* and background_tasks_changed
	KindPlain                 // a line that is not JSON (plain log, torn line)
	KindOversize              // a line over the cap: Text holds its first part only
	KindTools                 // a list of tools with what their servers say of them
)

// Event is one thing that happened. One record may give several events.
type Event struct {
	Kind      Kind
	Line      int // 1-based line number of the record
	SessionID string
	Agent     string    // "" = main agent; else the parent_tool_use_id or agent id of the subagent
	Cwd       string    // the directory a row of an on-disk session file names
	Time      time.Time // zero when the record has none
	Text      string    // KindText, KindThinking, KindPrompt, KindPlain, KindOversize
	Synthetic bool      // KindPrompt: the client made it, not a person
	Request   bool      // KindOther: the client's copy of its own request or prompt

	// Record is the raw JSON of the record that the event comes from, "" when
	// there is none; all events of a record have the same. Part is the number
	// of the record, or of the text between records, within its line.
	Record string
	Part   int

	Call      *Call
	Result    *Result
	Init      *Init
	Final     *Final
	RateLimit *RateLimit
	Hook      *Hook
	VCS       *VCS
	Retry     *Retry
	Task      *Task
	Tools     []Tool
}

// Call is one tool call.
type Call struct {
	ID    string
	Key   string `json:",omitempty"` // of a call without an id: what its result names it by
	Name  string
	Input json.RawMessage
	Again bool   `json:",omitempty"` // a later record's words for the call of this id, if one was seen
	Hints *Hints `json:",omitempty"`
}

// Tool is a tool of a list, with what its server says of it.
type Tool struct {
	Server, Name string // Server is "" when the list does not say whose it is
	Hints        Hints
}

// Hints are the annotations of a tool; nil is not said. A server writes them:
// hostile text.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld *bool }

// Result is one tool result.
type Result struct {
	CallID   string
	Text     string // what the model saw, text blocks joined
	IsError  bool
	NotRun   bool   // the client says that the call did not run (denied by hook or rule, unknown tool, invalid input)
	DeniedBy string // "hook", "config", ... when NotRun by a permission decision

	Interrupted bool     // stopped by a person or a signal: it may have run in part
	Background  bool     // it goes on in the background; this is only its start
	Detailed    bool     // the client added its own structured result
	Structured  string   // the client's own form of the result, raw JSON; "" = none, or of several at once
	VCS         []string // VCSPush, VCSPublished: what the client saw this call do
}

// Init is the system/init record.
type Init struct {
	SessionID, Model, Version, PermissionMode, APIKeySource, Cwd string
	Tools                                                        []string
	MCPServers                                                   []MCPServer
}

// MCPServer is one server of an init record.
type MCPServer struct{ Name, Status string }

// Final is a result record.
type Final struct {
	Subtype        string
	IsError        bool
	TerminalReason string
	APIErrorStatus int    // 0 = none
	APIError       string `json:",omitempty"` // usage_limit_reached, connection_failed, ...
	APIErrorType   string `json:",omitempty"` // of the response's body: overloaded_error, invalid_request_error, ...
	Result         string
	Errors         []string
	NumTurns       int
	Duration       time.Duration
	CostUSD        float64
	InputTokens    int64 // of the turn, without subagents
	OutputTokens   int64
	Tokens         int64 `json:",omitempty"` // of the whole process, subagents included, all but cache reads; 0 = not said

	CacheReadTokens     int64 // not part of InputTokens
	CacheCreationTokens int64 // not part of InputTokens
	Denials             []Denial
	Deferred            *Denial // the call that a hook's defer left undone
}

// Denial is one entry of a result's permission_denials.
type Denial struct {
	Tool, ToolUseID string
	Input           json.RawMessage
}

// RateLimit is a rate_limit_event; every field may be empty.
type RateLimit struct {
	Status   string // allowed, allowed_warning, rejected, ...
	ResetsAt time.Time
	Type     string // five_hour, seven_day, ...
}

// Hook is a hook_started or hook_response record.
type Hook struct {
	Event    string // SessionStart, PreToolUse, ...
	Response bool
	ExitCode int
	Outcome  string
}

// The kinds of VCS that leave the machine.
const (
	VCSPush      = "push"
	VCSPublished = "published" // a pull request was opened, merged, commented on, ...
)

// VCS is the client's own notice of a version-control change.
type VCS struct{ Kind, Branch, URL, Action string }

// Task is a system/task_* record: a subagent or a command in the background.
type Task struct {
	Event     string // task_started, task_progress, task_updated, task_notification
	ID        string
	ToolUseID string
	Status    string // completed, failed, ...
}

// Retry is a system/api_retry record.
type Retry struct {
	Attempt, Max int
	Delay        time.Duration
	Status       int
	Error        string
}

// Stats counts what a decoder read and could not read.
type Stats struct {
	Lines    int   `json:"lines"`
	Bytes    int64 `json:"bytes"`
	Plain    int   `json:"plain"`            // lines that are not JSON
	Broken   int   `json:"broken"`           // lines that begin like JSON and are not
	Oversize int   `json:"oversize"`         // lines over the cap
	Unread   int   `json:"unread,omitempty"` // records named like calls of which no call could be made
}
