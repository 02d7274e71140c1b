package queue

import (
	"bytes"
	"encoding/json"
	"time"
)

// decodeAction reads an Action as encodeAction has written it. A report reads
// ten thousand of them, for which encoding/json takes most of the time there
// is; so what it wrote in the plain way is read in the plain way, and
// everything else is left to it.
func decodeAction(b string) (Action, error) {
	var a Action
	if readAction(b, &a) {
		return a, nil
	}
	return slowDecode([]byte(b))
}

// readAction reads an object in the form that encoding/json writes: no white
// space, keys spelt exactly. It gives up, with false, at whatever is not so.
func readAction(b string, a *Action) bool {
	r := reader{b: b}
	if !r.skip('{') {
		return false
	}
	for first := true; !r.skip('}'); first = false {
		if !first && !r.skip(',') {
			return false
		}
		key, ok := r.text()
		if !ok || !r.skip(':') || !r.field(key, a) {
			return false
		}
	}
	return r.at == len(b)
}

// field reads the value of one key.
func (r *reader) field(key string, a *Action) bool {
	if to := textField(key, a); to != nil {
		var ok bool
		*to, ok = r.text()
		return ok
	}
	switch key {
	case "schema":
		return readNumber(r, &a.Schema)
	case "number":
		return readNumber(r, &a.Number)
	case "line":
		return readNumber(r, &a.Line)
	case "repeats":
		return readNumber(r, &a.Repeats)
	case "opaque":
		a.Opaque = r.word("true")
		return a.Opaque || r.word("false")
	case "rules":
		return r.texts(&a.Rules)
	case "tier":
		name, ok := r.text()
		return ok && a.Tier.UnmarshalText([]byte(name)) == nil
	}
	raw, ok := r.value()
	if !ok {
		return false
	}
	switch key {
	case "input":
		a.Input = []byte(raw)
		return json.Valid(a.Input) && len(bytes.TrimSpace(a.Input)) == len(raw)
	case "detected_at":
		t, err := time.Parse(`"`+time.RFC3339Nano+`"`, raw)
		a.DetectedAt = t
		return err == nil
	case "decisions":
		return json.Unmarshal([]byte(raw), &a.Decisions) == nil
	case "replay":
		return json.Unmarshal([]byte(raw), &a.Replay) == nil
	}
	return false
}

// textField is where the text of a key belongs; nil for a key of another kind.
func textField(key string, a *Action) *string {
	switch key {
	case "id":
		return &a.ID
	case "kind":
		return &a.Kind
	case "session":
		return &a.Session
	case "story":
		return &a.Story
	case "story_title":
		return &a.StoryTitle
	case "attempt":
		return &a.Attempt
	case "tool":
		return &a.Tool
	case "tool_use_id":
		return &a.ToolUseID
	case "agent":
		return &a.Agent
	case "command":
		return &a.Command
	case "cwd":
		return &a.Cwd
	case "git_head":
		return &a.GitHead
	case "git_branch":
		return &a.GitBranch
	case "why":
		return &a.Why
	case "transcript":
		return &a.Transcript
	case "excerpt":
		return &a.Excerpt
	case "outcome":
		return &a.Outcome
	case "related_to":
		return &a.RelatedTo
	case "evidence":
		return (*string)(&a.Evidence)
	case "found_by":
		return (*string)(&a.FoundBy)
	case "status":
		return (*string)(&a.Status)
	}
	return nil
}
