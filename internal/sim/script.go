package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Script is what the agent does, by story.
type Script struct {
	Schema  int             `json:"schema"`
	Stories map[string]Part `json:"stories"` // by story id, else by title; "*" is any other
}

// The values of Part.Hooks.
const (
	HooksRun       = ""          // as the real client does
	HooksHandshake = "handshake" // only the hooks before the first call are run: every call goes through unasked
	HooksNone      = "none"      // none is run: every call goes through unasked
)

// Part is the agent's work on one story.
type Part struct {
	Steps []Step `json:"steps"`
	// Retry is what it does when the prompt says that the last attempt did
	// not pass, or brings an answer; nothing = Steps again.
	Retry []Step `json:"retry,omitempty"`
	Hooks string `json:"hooks,omitempty"`
	// Bare leaves out the SessionStart hooks and the init record, as a client
	// that cannot start does.
	Bare bool `json:"bare,omitempty"`
}

// Step is one thing that happens. Of the fields in the first group one is
// set; the others belong to Tool.
type Step struct {
	Text       string         `json:"text,omitempty"`        // the agent says it; ${queued} is the last "#N" of a refusal, ${denied} its words, ${dir} the folder; in Input too
	Tool       string         `json:"tool,omitempty"`        // the agent calls it
	Fail       string         `json:"fail,omitempty"`        // the run ends with an API error, see failures
	RateLimit  string         `json:"rate_limit,omitempty"`  // a rate_limit_event of this status
	SleepMS    int            `json:"sleep_ms,omitempty"`    // wait
	Hang       bool           `json:"hang,omitempty"`        // fall silent until a signal comes
	Exit       *int           `json:"exit,omitempty"`        // leave at once, no result
	Crash      bool           `json:"crash,omitempty"`       // die of SIGKILL
	IgnoreTerm bool           `json:"ignore_term,omitempty"` // be deaf to TERM, INT and HUP from here on
	Raw        string         `json:"raw,omitempty"`         // a line exactly as it stands
	Torn       string         `json:"torn,omitempty"`        // the same without a newline
	Huge       int            `json:"huge,omitempty"`        // the agent says a text of so many bytes, in one line
	Endless    bool           `json:"endless,omitempty"`     // talk until a signal comes
	Stderr     string         `json:"stderr,omitempty"`      // text on standard error
	Daemon     []string       `json:"daemon,omitempty"`      // leave a process behind, in a session of its own, that holds our stdout
	Result     map[string]any `json:"result,omitempty"`      // write the result record now, with these fields changed

	ID       string          `json:"id,omitempty"`        // tool_use_id; "" = a fresh one
	Input    json.RawMessage `json:"input,omitempty"`     // of the tool
	Output   string          `json:"output,omitempty"`    // what a pretended tool gives
	Fails    bool            `json:"fails,omitempty"`     // a pretended tool fails with Output
	Steps    []Step          `json:"steps,omitempty"`     // of the subagent, with the tool Agent
	IfDenied []Step          `json:"if_denied,omitempty"` // done next when the call was refused
	IfFailed []Step          `json:"if_failed,omitempty"` // done next when it ran and failed
	IfOK     []Step          `json:"if_ok,omitempty"`     // done next when it ran and did not fail
	ResetsAt int64           `json:"resets_at,omitempty"` // of Fail "usage-limit" and RateLimit, in seconds since 1970; 0 = two hours from now
}

// Load reads a script.
func Load(path string) (Script, error) {
	if path == "" {
		return DemoScript(), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("read script: %w", err)
	}
	var s Script
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read script %q: %w", path, err)
	}
	return s, nil
}

// Any is a script that does the same with every story.
func Any(steps ...Step) Script {
	return Script{Schema: 1, Stories: map[string]Part{"*": {Steps: steps}}}
}

// Call is a step that calls a tool. An input that cannot be marshalled is
// null, which the tool will refuse.
func Call(tool string, input any) Step {
	b, err := json.Marshal(input)
	if err != nil {
		b = []byte("null")
	}
	return Step{Tool: tool, Input: b}
}

// Bash is a step that runs a command line.
func Bash(command, description string) Step {
	return Call("Bash", map[string]string{"command": command, "description": description})
}

// part picks what is done for the story that prompt names in its lines
// "Story: ID" and "Title: TITLE".
func (s Script) part(prompt string) (Part, []Step, error) {
	var id, title string
	retry := false
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "Story:"); ok && id == "" {
			id = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(line, "Title:"); ok && title == "" {
			title = strings.TrimSpace(v)
		}
		retry = retry || strings.Contains(line, "last attempt did not pass") || line == "## You asked"
	}
	for _, key := range []string{id, title, "*"} {
		p, ok := s.Stories[key]
		if !ok || key == "" {
			continue
		}
		if retry && len(p.Retry) > 0 {
			return p, p.Retry, nil
		}
		return p, p.Steps, nil
	}
	return Part{}, nil, fmt.Errorf("the script has nothing for story %q (%q)", id, title)
}
