package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	scanBudget = 8 // how often the bytes of one line are looked through for records in it
	maxNested  = 8 // progress records inside each other
)

// Events decodes the line into what happened in it, and counts it in s. A
// line that is no record gives one event of its text; an empty one gives none.
func (l Line) Events(s *Stats) []Event {
	s.Lines += l.Count
	if l.Oversize {
		s.Oversize++
		return []Event{l.oversize()}
	}
	d := &lineDecoder{line: l.Number}
	d.run(string(l.Bytes))
	if !d.found && l.Count > 1 {
		// not a record over several lines after all
		d = &lineDecoder{line: l.Number}
		for text := range strings.SplitSeq(string(l.Bytes), "\n") {
			d.run(strings.TrimSuffix(text, "\r"))
			d.line, d.part = d.line+1, 0
		}
	}
	s.Plain += d.plain
	s.Broken += d.broken
	return d.events
}

// lineDecoder decodes one line.
type lineDecoder struct {
	line          int
	part          int
	found         bool // a record was in it
	budget        int  // bytes that may still be looked through for records
	plain, broken int
	events        []Event
}

// run takes the records of one line and the text between them apart.
func (d *lineDecoder) run(text string) {
	d.budget = scanBudget*len(text) + firstPart
	rest := strings.TrimLeft(text, " \t")
	for at := 0; at < len(rest); {
		if end := d.record(rest, at); end >= 0 {
			rest = strings.TrimLeft(rest[end:], " \t,")
			at = 0
			continue
		}
		next := -1
		if d.budget > 0 {
			next = nextRecord(rest[at+1:])
		}
		if next < 0 {
			break
		}
		at += 1 + next
	}
	if !d.found {
		rest = text
	}
	d.text(rest)
}

// record decodes the record at rest[at:], if there is one, after the text
// that stands before it. It returns the index behind it, or -1.
func (d *lineDecoder) record(rest string, at int) int {
	s := rest[at:]
	if s[0] != '{' && s[0] != '[' {
		return -1
	}
	n := valueEnd(s)
	if n < 0 || !gjson.Valid(s[:n]) {
		d.budget -= len(s)
		return -1
	}
	v := gjson.Parse(s[:n])
	if !isRecord(v) && (at > 0 || s[0] == '[' || strings.TrimSpace(s[n:]) != "") {
		d.budget -= n
		return -1 // JSON in the middle of a text
	}
	d.text(rest[:at])
	d.found = true
	if !v.IsArray() {
		d.decode(v)
		return at + n
	}
	for _, e := range v.Array() {
		d.decode(e)
	}
	return at + n
}

// text adds what is not a record.
func (d *lineDecoder) text(s string) {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return
	}
	if beginsLikeJSON(trimmed) {
		d.broken++
	} else {
		d.plain++
	}
	d.events = append(d.events, Event{Kind: KindPlain, Line: d.line, Part: d.part, Text: s})
	d.part++
}

func beginsLikeJSON(s string) bool {
	if s[0] != '{' {
		return false
	}
	rest := strings.TrimLeft(s[1:], " \t\r\n")
	return rest != "" && (rest[0] == '"' || rest[0] == '}')
}

// recordStarts are how records and the blocks inside them begin. They are
// looked for inside a line only after its first character.
var recordStarts = [...]string{`{"type"`, `{ "type"`, `{"parentUuid"`, `{"id"`, `{"role"`, `{"duration_api_ms"`, `{"tool_use_id"`}

func nextRecord(s string) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '{')
		if i < 0 {
			return -1
		}
		at += i
		for _, start := range recordStarts {
			if strings.HasPrefix(s[at:], start) {
				return at
			}
		}
		at++
	}
}

// isRecord says whether v is a record of a transcript, a list of them, or a
// block of a message, and not just any JSON.
func isRecord(v gjson.Result) bool {
	if v.IsArray() {
		list := v.Array()
		if len(list) == 0 {
			return false
		}
		for _, e := range list {
			if !e.IsObject() || !isRecord(e) {
				return false
			}
		}
		return true
	}
	switch typ := v.Get("type").String(); typ {
	case "assistant", "user", "system", "result", "progress", "agent_progress", "attachment",
		"rate_limit_event", "stream_event", "tool_progress", "command_lifecycle", "summary",
		"queue-operation", "file-history-snapshot", "last-prompt":
		return true
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return v.Get("name").Exists()
	case "tool_result", "mcp_tool_result":
		return v.Get("tool_use_id").Exists()
	default:
		return isRequest(typ) || v.Get("sessionId").Exists() || v.Get("session_id").Exists() || isMessage(v)
	}
}

func isMessage(v gjson.Result) bool {
	return v.Get("role").Type == gjson.String && v.Get("content").Exists()
}

// isRequest says whether a row is the client's copy of its own request: it
// repeats whole prompts and conversations.
func isRequest(typ string) bool {
	return strings.HasPrefix(typ, "api-request") || typ == "prompt_snapshot"
}

// decode adds the events of one record.
func (d *lineDecoder) decode(v gjson.Result) {
	base := Event{Line: d.line, Part: d.part, Record: v.Raw}
	before := len(d.events)
	d.nested(v, base, 0)
	if len(d.events) == before {
		d.add(base, v)
	}
	d.part++
}

// add adds one event with what every record says about itself.
func (d *lineDecoder) add(ev Event, v gjson.Result) {
	d.events = append(d.events, identify(ev, v))
}

// identify fills in what a record says about itself.
func identify(ev Event, v gjson.Result) Event {
	v.ForEach(func(k, f gjson.Result) bool {
		if f.Type != gjson.String {
			return true
		}
		switch k.String() {
		case "session_id", "sessionId":
			ev.SessionID = f.String()
		case "agent_id", "agentId":
			if ev.Agent == "" {
				ev.Agent = f.String()
			}
		case "parent_tool_use_id":
			ev.Agent = f.String()
		case "timestamp":
			ev.Time = parseTime(f.String())
		case "cwd":
			ev.Cwd = f.String()
		case "type":
			ev.Request = isRequest(f.String())
		}
		return true
	})
	return ev
}

func (d *lineDecoder) nested(v gjson.Result, base Event, depth int) {
	typ := v.Get("type").String()
	if isRequest(typ) || depth > maxNested {
		return
	}
	switch typ {
	case "assistant", "user":
		d.message(v, base)
	case "system":
		d.system(v, base)
	case "result":
		d.final(v, base)
	case "rate_limit_event":
		d.rateLimit(v, base)
	case "progress", "agent_progress":
		d.progress(v, base, depth)
	case "attachment":
		d.attachment(v, base)
	case "tool_use", "server_tool_use", "mcp_tool_use", "tool_result", "mcp_tool_result":
		d.blocks(v, v, identify(base, v), "")
	default:
		if isMessage(v) {
			d.blocks(v, v.Get("content"), identify(base, v), v.Get("role").String())
		}
	}
}

// progress decodes the record inside a progress row: what a subagent does is
// found only there in some session files.
func (d *lineDecoder) progress(v gjson.Result, base Event, depth int) {
	data := v
	if inner := v.Get("data"); inner.IsObject() {
		data = inner
	}
	base = identify(base, v)
	base.Agent = first(data, "agentId", "agent_id").String()
	if base.Agent == "" {
		base.Agent = first(v, "parentToolUseID", "parent_tool_use_id").String()
	}
	list := []gjson.Result{data.Get("message")}
	list = append(list, data.Get("normalizedMessages").Array()...)
	for _, m := range list {
		if m.IsObject() {
			d.nested(m, base, depth+1)
		}
	}
}

func raw(v gjson.Result) json.RawMessage {
	if !v.Exists() {
		return nil
	}
	return json.RawMessage(v.Raw)
}
