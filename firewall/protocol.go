// Package firewall answers each tool call of the client before it runs.
//
// It holds the hook protocol of the client, the decision by level, and the
// loopback port between the client and the supervisor. The one invariant: a
// call runs only after an explicit allow from the supervisor; silence, an
// error and a dead supervisor all mean no.
package firewall

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The hook events loop listens to, as the client names them. UserPromptSubmit
// is the handshake: it comes before the first request to the model, and the
// client does not send SessionStart over HTTP.
const (
	EventUserPromptSubmit   = "UserPromptSubmit"
	EventPreToolUse         = "PreToolUse"
	EventPostToolUse        = "PostToolUse"
	EventPostToolUseFailure = "PostToolUseFailure"
)

// Request is what the client gives a hook on its standard input.
// Source: the client's hooks documentation, and real captures.
type Request struct {
	Event     string          `json:"hook_event_name"`
	SessionID string          `json:"session_id"`
	Cwd       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	File      string          `json:"transcript_path"` // the client's own file of the session
	Input     json.RawMessage `json:"tool_input"`
	ToolUseID string          `json:"tool_use_id"`
	AgentID   string          `json:"agent_id"` // "" = the main agent

	Response json.RawMessage `json:"tool_response"` // of PostToolUse
	Error    string          `json:"error"`         // of PostToolUseFailure
}

// tool reports whether an event is about one call.
func (r Request) tool() bool {
	return r.Event == EventPreToolUse || r.Event == EventPostToolUse || r.Event == EventPostToolUseFailure
}

// errRequest is a hook input that cannot be answered.
var errRequest = errors.New("hook input")

// ParseRequest reads a hook's input. A tool event without the fields that a
// decision needs is an error.
func ParseRequest(data []byte) (Request, error) {
	var r Request
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%w: %v", errRequest, err)
	}
	if r.Event == "" {
		return r, fmt.Errorf("%w: no hook_event_name", errRequest)
	}
	if r.tool() && (r.Tool == "" || len(r.Input) == 0 || r.ToolUseID == "") {
		return r, fmt.Errorf("%w: %s without tool_name, tool_input or tool_use_id", errRequest, r.Event)
	}
	return r, nil
}

// Reply is what the hook process does: what it prints and how it exits.
type Reply struct {
	Exit   int    `json:"exit"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// permission is put together by hand: what encoding/json has to learn of a type
// first takes longer than all else that a hook does with its answer.
func permission(decision, reason string) Reply {
	out := `{"hookSpecificOutput":{"hookEventName":"` + EventPreToolUse + `","permissionDecision":"` + decision + `"`
	if reason != "" {
		text, _ := json.Marshal(reason) // of a string it cannot fail
		out += `,"permissionDecisionReason":` + string(text)
	}
	return Reply{Stdout: out + "}}"}
}

// Allow lets the call run.
func Allow() Reply { return permission("allow", "") }

// Deny refuses the call with a reason that the agent reads. The client puts
// its own words before the reason.
func Deny(reason string) Reply { return permission("deny", reason) }

// AskPerson has the client ask the person at its prompt. Where nobody can be
// asked, the client takes it for a no.
func AskPerson(question string) Reply { return permission("ask", question) }

// NoObjection decides nothing.
func NoObjection() Reply { return Reply{} }

// Failure is the answer when loop itself failed: a call is blocked, and so is
// whatever cannot be told. After a call nothing can be blocked any more; it
// gets no receipt, which is counted.
func Failure(event string, err error) Reply {
	if event == EventPostToolUse || event == EventPostToolUseFailure {
		return Reply{Stderr: "loop: " + err.Error() + "\n"}
	}
	return Reply{Exit: 2, Stderr: "loop could not decide, so the call is refused: " + strings.TrimSpace(err.Error()) + "\n"}
}
