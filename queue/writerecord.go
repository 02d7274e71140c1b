package queue

import (
	"strconv"
	"time"
)

// writeAction writes an action as encoding/json does, without what that first
// finds out about the type: a hook writes one action in its life, and its agent
// waits. ok is false for one that has more than a new call has. Each field of
// Action stands here, in its order: a test holds the two against each other.
func writeAction(a *Action, input, exact []byte) (record []byte, ok bool) {
	if a.Holds != nil || a.Said != nil || a.Again != nil || a.Claims != nil || a.Edited != nil || a.Decisions != nil ||
		a.Replay != nil || a.Earlier != nil || a.Owner != nil || exact != nil {
		return nil, false
	}
	w := &jsonWriter{b: make([]byte, 0, 1<<10)}
	w.number("schema", int64(a.Schema), true)
	w.string("id", a.ID, true)
	w.name("number")
	w.b = strconv.AppendUint(w.b, a.Number, 10)
	w.string("kind", a.Kind, true)
	w.string("session", a.Session, true)
	w.string("story", a.Story, true)
	w.string("story_title", a.StoryTitle, false)
	w.string("story_hash", a.StoryHash, false)
	w.string("checkpoint", a.Checkpoint, false)
	w.string("attempt", a.Attempt, true)
	w.string("tool", a.Tool, true)
	w.string("tool_use_id", a.ToolUseID, false)
	w.string("agent", a.Agent, false)
	if len(input) > 0 {
		w.name("input")
		w.b = append(w.b, input...)
	}
	w.string("command", a.Command, true)
	w.string("cwd", a.Cwd, false)
	w.string("git_head", a.GitHead, false)
	w.string("git_branch", a.GitBranch, false)
	w.texts("rules", a.Rules)
	w.string("why", a.Why, false)
	w.string("undo", a.Undo, false)
	w.string("tier", a.Tier.String(), true)
	w.string("evidence", string(a.Evidence), true)
	w.flag("opaque", a.Opaque)
	w.flag("tampering", a.Tampering)
	w.flag("asked", a.Asked)
	w.string("transcript", a.Transcript, false)
	w.number("line", int64(a.Line), false)
	w.string("excerpt", a.Excerpt, false)
	w.name("detected_at")
	w.time(a.DetectedAt)
	w.string("found_by", string(a.FoundBy), true)
	w.string("outcome", a.Outcome, false)
	w.string("family", a.Family, false)
	w.string("target", a.Target, false)
	w.string("related_to", a.RelatedTo, false)
	w.number("repeats", int64(a.Repeats), false)
	w.number("more_claims", int64(a.MoreClaims), false)
	w.flag("judged", a.Judged)
	w.string("status", string(a.Status), true)
	return append(w.b, '}'), !w.bad
}

// jsonWriter writes the members of one object in the form of encode.
type jsonWriter struct {
	b   []byte
	bad bool // a value that encoding/json has to write
}

func (w *jsonWriter) name(name string) {
	c := byte(',')
	if len(w.b) == 0 {
		c = '{'
	}
	w.b = append(append(append(w.b, c, '"'), name...), '"', ':')
}

func (w *jsonWriter) string(name, v string, always bool) {
	if always || v != "" {
		w.name(name)
		w.text(v)
	}
}

func (w *jsonWriter) number(name string, v int64, always bool) {
	if always || v != 0 {
		w.name(name)
		w.b = strconv.AppendInt(w.b, v, 10)
	}
}

func (w *jsonWriter) flag(name string, v bool) {
	if v {
		w.name(name)
		w.b = append(w.b, "true"...)
	}
}

func (w *jsonWriter) texts(name string, list []string) {
	w.name(name)
	if list == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.b = append(w.b, '[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.text(s)
	}
	w.b = append(w.b, ']')
}

func (w *jsonWriter) time(t time.Time) {
	text, err := t.MarshalJSON()
	w.b, w.bad = append(w.b, text...), w.bad || err != nil
}

// text writes a string. What has to be written otherwise than it stands is left
// to encoding/json.
func (w *jsonWriter) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			b, err := encode(s)
			w.b, w.bad = append(w.b, b...), w.bad || err != nil
			return
		}
	}
	w.b = append(append(append(w.b, '"'), s...), '"')
}
