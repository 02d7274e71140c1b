package queue

import (
	"cmp"
	"context"
	"slices"

	bolt "go.etcd.io/bbolt"
)

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
	Note    string      `json:"note,omitempty"`            // what makes the source weaker
	Doubt   ClaimDoubt  `json:"doubt,omitempty"`           // why the source does not prove it
	Rounded string      `json:"rounded_from,omitempty"`    // of a number: how the source has it, where that is not the same number
	Earlier bool        `json:"earlier_attempt,omitempty"` // the source, and its line, is of an earlier attempt in the session
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

// ClaimDoubt is why a source that was found does not prove a claim.
type ClaimDoubt string

// The doubts.
const (
	DoubtOther   ClaimDoubt = "other"   // the same number, of something else
	DoubtStale   ClaimDoubt = "stale"   // files were changed after the run
	DoubtPart    ClaimDoubt = "part"    // a part of it was run
	DoubtDerived ClaimDoubt = "derived" // two numbers that have a source give it
	DoubtUnseen  ClaimDoubt = "unseen"  // no result can show it
)

// Proven reports whether something other than an agent's words supports it: for
// a number more than the wish of the person who wrote the story.
// That something was run, only a run of this attempt shows.
func (c Claim) Proven() bool {
	if c.Failed || c.Doubt != "" {
		return false
	}
	switch c.Source {
	case SourceResult:
		return !c.Earlier || !c.ofRun()
	case SourceFile, SourcePage:
		return !c.ofRun()
	case SourceStory: // what was wished for was not measured
		return !c.ofRun() && c.Kind != "number"
	}
	return false
}

func (c Claim) ofRun() bool { return c.Kind == "run" || c.Kind == "command" }

// basis says where a claim's words come from.
func basis(s ClaimSource) string {
	switch s {
	case SourceResult:
		return "a result"
	case SourceFile:
		return "a file that the agent has not written"
	case SourceStory:
		return "only source: the story"
	case SourcePage:
		return "something fetched"
	case SourceSubagent:
		return "only source: a subagent's report"
	case SourceAgentFile:
		return "only source: a file that an agent wrote"
	case SourceAgent:
		return "only source: the agent's own command"
	case SourceNone:
		return "no source in this session"
	}
	return "a source of a kind that this version does not know"
}

// doubtful says why a source does not prove a claim.
func doubtful(d ClaimDoubt) string {
	switch d {
	case DoubtOther:
		return "no source in this session: the same number is found, of something else"
	case DoubtStale:
		return "files were changed after its last run"
	case DoubtPart:
		return "only a part of it was run"
	case DoubtDerived:
		return "no source in this session: it could be derived"
	case DoubtUnseen:
		return "nothing in this session shows it"
	}
	return "a doubt of a kind that this version does not know"
}

// Basis says in words what the claim rests on.
func (c Claim) Basis() string {
	switch {
	case c.Failed:
		return "contradicted: its last run failed"
	case c.Doubt != "":
		return doubtful(c.Doubt)
	case c.Source == SourceNone && c.ofRun(), c.Source == SourceStory && c.ofRun():
		return "no such run in this session"
	case c.Earlier && c.ofRun():
		return "run only in an earlier attempt of this session"
	}
	if c.Source == SourceStory && c.Proven() {
		return "the story"
	}
	words := basis(c.Source)
	if c.Rounded != "" {
		words += ", rounded from " + c.Rounded
	}
	if c.Earlier {
		words += " of an earlier attempt in this session"
	}
	return words
}

// GravestFirst are claims with those that a result contradicts before those
// that nothing proves, and the proven ones last.
func GravestFirst(list []Claim) []Claim {
	weight := func(c Claim) int {
		switch {
		case c.Failed:
			return 0
		case !c.Proven():
			return 1
		}
		return 2
	}
	return slices.SortedStableFunc(slices.Values(list), func(a, b Claim) int { return cmp.Compare(weight(a), weight(b)) })
}

// PutClaims keeps what was found out about an action after it was queued: what
// its text claims, and what the agent said before it. What is there stays.
func (s *Store) PutClaims(ctx context.Context, seen Action) (Action, error) {
	return s.change(ctx, seen.ID, func(_ *bolt.Tx, a *Action) error {
		if len(a.Claims) == 0 {
			a.Claims, a.MoreClaims, a.Judged = seen.Claims, seen.MoreClaims, seen.Judged
		}
		if a.Said == nil {
			a.Said = seen.Said
		}
		return nil
	})
}
