package fakeapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Script is everything the model is going to say.
//
// A request belongs to the first conversation whose Match occurs in its first
// user message: a story is found by its title, a subagent by the prompt that
// the Agent call gave it. Put the narrower match first.
type Script []Conversation

// Conversation is one conversation of the main agent or of a subagent.
type Conversation struct {
	Match string // text in the first user message; "" matches every one
	Turns []Turn // turn i answers a request that already holds i assistant messages
}

// Turn is one reply of the model.
type Turn struct {
	Blocks []Block
	// From makes further blocks out of the request, for a reply that quotes
	// what the model was given.
	From   func(Request) []Block
	Stop   string  // stop_reason; "" = tool_use when a block is a tool call, else end_turn
	Faults []Fault // fault i befalls the i-th attempt at this turn; later ones get the reply
	Header http.Header
}

// Block is one content block: text, or a tool call when Tool is set.
type Block struct {
	Text  string
	Tool  string
	ID    string // of a tool call; "" = a fresh one
	Input any    // of a tool call; marshalled as JSON
}

// Fault is what goes wrong with one attempt at a turn.
type Fault struct {
	// Make, when set, makes the fault at the moment that it befalls; all else is
	// then left out. For what holds a time.
	Make func() Fault

	Delay   time.Duration // wait before anything is answered
	Status  int           // answer this instead of the reply; 0 = the reply
	Header  http.Header
	Message string // with Status; what the error object says, "" = a word that fits it
	Body    string // with Status; this instead of an error object, as a gateway's page

	// Hold makes the reply go silent after Events events of its stream until
	// Hold is closed, the client leaves or the server closes. With Events 0 no
	// byte is sent before that, not even the status.
	Hold   <-chan struct{}
	Cut    bool   // cut the connection after Events events
	Reset  bool   // the same with a reset
	End    bool   // end the stream after Events events as if it were whole
	Error  string // send an error of this type after Events events, and end the stream
	Events int

	Whole  bool // with Events: befalls a reply that is no stream as well, before its first byte
	Sticky bool // befalls all later attempts at the turn as well
}

// Text is a text block.
func Text(s string) Block { return Block{Text: s} }

// Tool is a tool call.
func Tool(name string, input any) Block { return Block{Tool: name, Input: input} }

// Bash is a call of the Bash tool.
func Bash(command string) Block {
	return Tool("Bash", map[string]any{"command": command, "description": "run a command"})
}

// Agent is a call that runs a subagent in the foreground; its conversation is
// the one that matches prompt. run_in_background is left out because a client
// with background work switched off refuses the parameter.
func Agent(prompt string) Block {
	return Tool("Agent", map[string]any{
		"description": "a part", "prompt": prompt, "subagent_type": "general-purpose",
	})
}

// Say is a turn of one text, which ends the conversation.
func Say(s string) Turn { return Turn{Blocks: []Block{Text(s)}} }

// Call is a turn of tool calls.
func Call(blocks ...Block) Turn { return Turn{Blocks: blocks} }

// Always makes a turn that fails every time with f.
func Always(f Fault) Turn {
	f.Sticky = true
	return Turn{Faults: []Fault{f}}
}

// UsageLimit is the answer that a subscription gets when its five hours are
// used up. The client takes it for one only when it is logged in by OAuth.
func UsageLimit(reset time.Time) Fault {
	at := strconv.FormatInt(reset.Unix(), 10)
	h := http.Header{}
	for k, v := range map[string]string{
		"status": "rejected", "reset": at, "representative-claim": "five_hour",
		"5h-status": "rejected", "5h-reset": at, "5h-utilization": "1",
		"7d-status": "allowed", "7d-reset": at, "7d-utilization": "0.5",
		"overage-status": "rejected", "overage-disabled-reason": "out_of_credits",
	} {
		h.Set("anthropic-ratelimit-unified-"+k, v)
	}
	return Fault{Status: http.StatusTooManyRequests, Header: h}
}

// body is the error object for the status of f, or the body it says.
func (f Fault) body() []byte {
	if f.Body != "" {
		return []byte(f.Body)
	}
	return f.object(cmp.Or(kinds[f.Status], "api_error"))
}

// kinds are the types of error by status.
var kinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
	500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

func statusOf(kind string) int {
	for status, k := range kinds {
		if k == kind {
			return status
		}
	}
	return http.StatusInternalServerError
}

func (f Fault) object(kind string) []byte {
	return mustJSON(map[string]any{"type": "error", "error": map[string]any{
		"type": kind, "message": cmp.Or(f.Message, "scripted "+kind),
	}})
}

// mustJSON marshals values that this package builds itself; a script's own
// input that cannot be marshalled becomes a string that says so.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal("unmarshallable: " + err.Error())
	}
	return b
}
