package queue

import "cmp"

// Claim is one thing that an action's text says, beside what supports it.
type Claim struct {
	Kind    string      `json:"kind"`            // number, run, command, url, output
	Text    string      `json:"text"`            // as it stands, cut: hostile text
	Where   string      `json:"where,omitempty"` // the option, key or file that it stands in: hostile text
	Source  ClaimSource `json:"source"`
	Failed  bool        `json:"failed,omitempty"`  // of a run or a command: the call failed
	Tool    string      `json:"tool,omitempty"`    // of the source
	Command string      `json:"command,omitempty"` // of the source, cut: hostile text
	CallID  string      `json:"tool_use_id,omitempty"`
	Line    int         `json:"line,omitempty"`  // of the source in the transcript
	Quote   string      `json:"quote,omitempty"` // of the source, cut: hostile text
	Receipt string      `json:"receipt,omitempty"`
	Note    string      `json:"note,omitempty"` // what makes the source weaker
}

// ClaimSource is where a claim's words come from.
type ClaimSource string

// The sources, best first.
const (
	SourceResult    ClaimSource = "result"     // a tool result
	SourceFile      ClaimSource = "file"       // a file that the agent has read and not written
	SourceStory     ClaimSource = "story"      // the story or the person's prompt
	SourcePage      ClaimSource = "page"       // something fetched
	SourceSubagent  ClaimSource = "subagent"   // a subagent's report
	SourceAgentFile ClaimSource = "agent_file" // a file that an agent wrote
	SourceAgent     ClaimSource = "agent"      // the agent's own words, in the command that printed them
	SourceNone      ClaimSource = "none"
)

// Proven reports whether something other than an agent's words supports it.
func (c Claim) Proven() bool {
	switch c.Source {
	case SourceResult, SourceFile, SourceStory, SourcePage:
		return !c.Failed
	}
	return false
}

// basis says where a claim's words come from.
var basis = map[ClaimSource]string{
	SourceResult:    "a result",
	SourceFile:      "a file that the agent has not written",
	SourceStory:     "the story",
	SourcePage:      "something fetched",
	SourceSubagent:  "only source: a subagent's report",
	SourceAgentFile: "only source: a file that an agent wrote",
	SourceAgent:     "only source: the agent's own command",
	SourceNone:      "no source in this session",
}

// Basis says in words what the claim rests on.
func (c Claim) Basis() string {
	switch {
	case c.Failed:
		return "its last run failed"
	case c.Source == SourceNone && (c.Kind == "run" || c.Kind == "command"):
		return "no such run in this session"
	}
	return cmp.Or(basis[c.Source], "a source of a kind that this version does not know")
}
