// Package policy says how far one tool call reaches.
//
// It holds the tiers, the rules (embedded packs and a user's own) and the
// classifier that reads one call. It runs nothing, opens no network
// connection, and never panics on any input. The one invariant: when it is
// unsure, the higher tier wins, and the doubt is visible in the result.
package policy

import (
	"encoding/json"
	"fmt"
)

// Tier is how far a call reaches. The order is meaningful: a higher tier wins.
type Tier uint8

// The tiers, nearest first.
const (
	Local    Tier = iota // this machine's files only
	Shared               // state that collaborators will see, or hard to undo here
	External             // leaves the machine
)

var tierNames = [...]string{"local", "shared", "external"}

func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return fmt.Sprintf("tier(%d)", uint8(t))
}

// MarshalText writes the tier's name.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a tier's name; an unknown one is an error.
func (t *Tier) UnmarshalText(b []byte) error {
	for i, n := range tierNames {
		if n == string(b) {
			*t = Tier(i)
			return nil
		}
	}
	return fmt.Errorf("unknown tier %q (local, shared or external)", b)
}

// Evidence is what is known about a hit.
type Evidence string

// The kinds of evidence, gravest first.
const (
	Executed  Evidence = "executed"  // it ran
	Blocked   Evidence = "blocked"   // the firewall stopped it
	Written   Evidence = "written"   // put into a script or file for later
	Mentioned Evidence = "mentioned" // only words
)

// Verdict is the one-word answer for a call.
type Verdict string

// The verdicts, gravest first: external > shared > mention > local.
const (
	VerdictExternal Verdict = "external"
	VerdictShared   Verdict = "shared"
	VerdictMention  Verdict = "mention"
	VerdictLocal    Verdict = "local"
)

// Level is the autonomy level: the less supervision, the stricter.
type Level uint8

// The levels, loosest first, so that a larger value is the stricter one.
const (
	Interactive Level = iota
	Supervised
	Unattended
	Lockdown
)

var levelNames = [...]string{"interactive", "supervised", "unattended", "lockdown"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// ParseLevel reads a level's name.
func ParseLevel(s string) (Level, error) {
	for i, n := range levelNames {
		if n == s {
			return Level(i), nil
		}
	}
	return 0, fmt.Errorf("unknown level %q (interactive, supervised, unattended or lockdown)", s)
}

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level's name.
func (l *Level) UnmarshalText(b []byte) error {
	v, err := ParseLevel(string(b))
	if err == nil {
		*l = v
	}
	return err
}

// Call is one tool call as the client makes it.
type Call struct {
	Tool  string          // "Bash", "Write", "mcp__slack__post_message", ...
	Input json.RawMessage // the tool's input object
	Cwd   string          // directory it would run in; "" when not known

	// ReadFile gives the text of a file that the call would run or be governed
	// by: a script, a Makefile, a package.json. The name is joined to Cwd when
	// that is known. Nil, or false, means that it cannot be read, and then the
	// call is judged by the file's name.
	ReadFile func(name string) (text string, ok bool)

	// ReadDir lists the names in a folder whose files ReadFile gives. It is
	// asked for where a file names others by a pattern or by their folder.
	ReadDir func(name string) (names []string, ok bool)

	// Changed lists the files of the work tree that the agent may have written, in
	// the form of names joined to Cwd. It is asked when tests run; nil = not known.
	Changed func() []string

	// ProgramOf is the name of the system's program that a file is, by another name:
	// a copy of it or a link to it. Nil, or "", when there is none.
	ProgramOf func(name string) string

	// Builds is what the calls before this one have built; nil = that is not known.
	Builds *Builds

	// Guarded is the run in which the call is made; nil where there is none.
	Guarded *Guarded

	// Annotations is what the tool's server says of the tool, nil when it is not
	// known. It is hostile text: it can lower only what is unknown otherwise.
	Annotations *Annotations

	// NoWords leaves out what the call only speaks of, where nobody asks for it.
	NoWords bool

	in      map[string]any // the input, once it is decoded
	readErr error
}

// Decoded is the call with its input decoded, for those who ask several
// questions about one call.
func (c Call) Decoded() Call {
	if c.in == nil && c.readErr == nil && len(c.Input) > 0 {
		c.readErr = json.Unmarshal(c.Input, &c.in)
	}
	return c
}

// input is the decoded input; not ok when it is no object.
func (c Call) input() (in map[string]any, ok bool) {
	c = c.Decoded()
	return c.in, c.readErr == nil
}

// Annotations are the hints of an MCP tool definition; nil is not said.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

// Hit is what one rule says about one simple command, tool call or span of text.
type Hit struct {
	Rule    string `json:"rule"`              // rule id
	Tier    Tier   `json:"tier"`              // the tier the rule gives; of what is only mentioned, the tier it would have
	Why     string `json:"why"`               // one sentence
	Text    string `json:"text"`              // the simple command or span it speaks of, as it would run; never masked, hostile
	Net     bool   `json:"net,omitempty"`     // reads the network
	Mention bool   `json:"mention,omitempty"` // only words: nothing runs
	Allowed bool   `json:"allowed,omitempty"` // the user's own rule takes back what others say
	Denied  bool   `json:"denied,omitempty"`  // the user's own rule refuses it for good
	Opaque  bool   `json:"opaque,omitempty"`  // cannot be seen through (decoded payload, curl|sh, unknown script)
	File    string `json:"file,omitempty"`    // the file in which it stands, as ReadFile was asked for it; "" = the call itself
	Instead string `json:"instead,omitempty"` // what to do in place of it
	Line    int    `json:"line,omitempty"`    // its line in File; 0 = not known
}

// Result is the classification of one call.
type Result struct {
	Verdict  Verdict  `json:"verdict"`
	Tier     Tier     `json:"tier"`     // Local when the verdict is mention
	Evidence Evidence `json:"evidence"` // executed for what runs, written for files, mentioned for words; "" when local without a hit
	Net      bool     `json:"net"`
	Opaque   bool     `json:"opaque,omitempty"`
	Hits     []Hit    `json:"hits,omitempty"` // gravest first, never nil for a verdict other than local
}

// Rules lists the ids of the rules that spoke, gravest first, each once.
func (r Result) Rules() []string {
	out := make([]string, 0, len(r.Hits))
	seen := make(map[string]bool, len(r.Hits))
	for _, h := range r.Hits {
		if !seen[h.Rule] {
			seen[h.Rule] = true
			out = append(out, h.Rule)
		}
	}
	return out
}
