package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// row is one record with the fields that are looked at, each as raw JSON.
type row struct {
	raw          string
	typ, subtype string
	id, name     string
	server       string // server_name of an MCP connector's block
	role         string
	callID       string // tool_use_id
	agent        string // agent_id, agentId
	parent       string // parent_tool_use_id
	session      string
	cwd          string
	timestamp    string
	synthetic    bool
	isError      bool

	message, content, data, input string
	text, thinking                string
	meta, detail                  string // tool_result_meta, tool_use_result
	decision, nonExecution        string // what an on-disk row says instead of meta
	attachment, normalized        string
	parentCall                    string // parentToolUseID

	payload, item, output, toolCalls, run string // of other agents
	hints                                 *Hints
	failed                                bool
}

// readRow takes a record apart.
func readRow(s string) *row {
	r := &row{raw: s}
	eachField(s, r.set)
	return r
}

func (r *row) set(key, value string) {
	switch key {
	case "type":
		r.typ = text(value)
	case "subtype":
		r.subtype = text(value)
	case "id":
		r.id = text(value)
	case "name", "tool_name", "toolName":
		r.name = text(value)
	case "server_name":
		r.server = text(value)
	case "role":
		r.role = text(value)
	case "tool_use_id", "tool_id", "call_id", "toolCallId", "tool_call_id", "toolUseID", "toolUseId":
		r.callID = text(value)
	case "agent_id", "agentId":
		r.agent = text(value)
	case "parent_tool_use_id":
		r.parent = text(value)
	case "parentToolUseID":
		r.parentCall = text(value)
	case "session_id", "sessionId", "sessionID":
		r.session = text(value)
	case "cwd":
		r.cwd = text(value)
	case "timestamp":
		r.timestamp = text(value)
	case "isSynthetic", "isMeta":
		r.synthetic = r.synthetic || value == "true"
	case "is_error", "isError":
		r.isError = value == "true"
	case "success":
		r.failed = value == "false"
	case "status":
		r.failed = r.failed || value == `"error"`
	case "toolDenialKind", "nonExecutionKind", "non_execution_kind":
		r.nonExecution = text(value)
	default:
		r.setPart(key, value)
	}
}

func (r *row) setPart(key, value string) {
	if value == "null" {
		return
	}
	switch key {
	case "message":
		r.message = value
	case "content":
		r.content = value
	case "data":
		r.data = value
	case "input", "arguments", "parameters", "action":
		r.input = value
	case "payload":
		r.payload = value
	case "item":
		r.item = value
	case "output", "result":
		r.output = value
	case "tool_calls":
		r.toolCalls = value
	case "run":
		r.run = value
	case "annotations", "toolAnnotations", "tool_annotations":
		r.hints = readHints(value)
	case "text":
		r.text = value
	case "thinking":
		r.thinking = value
	case "tool_result_meta":
		r.meta = value
	case "tool_use_result", "toolUseResult":
		r.detail = value
	case "permissionDecision", "permission_decision":
		r.decision = value
	case "attachment":
		r.attachment = value
	case "normalizedMessages":
		r.normalized = value
	}
}

// isRecord says whether the row is a record of a transcript or a block of a
// message, and not just any JSON object.
func (r *row) isRecord() bool {
	switch r.typ {
	case "assistant", "user", "system", "result", "progress", "agent_progress", "attachment",
		"rate_limit_event", "stream_event", "tool_progress", "command_lifecycle", "summary",
		"queue-operation", "file-history-snapshot", "last-prompt",
		"response_item", "tool.execution_start", "tool.execution_complete", "item.started", "item.completed", "event_msg":
		return true
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return r.name != ""
	case "tool_result", "mcp_tool_result":
		return r.callID != ""
	default:
		return isRequest(r.typ) || r.session != "" || r.isMessage()
	}
}

func (r *row) isMessage() bool { return r.role != "" && r.content != "" }

// isRequest says whether a row is the client's copy of its own request: it
// repeats whole prompts and conversations.
func isRequest(typ string) bool {
	return strings.HasPrefix(typ, "api-request") || typ == "prompt_snapshot" || typ == "deferred_tools_record"
}

func (r *row) isRequest() bool {
	return isRequest(r.typ) || r.attachment != "" && isRequest(gjson.Get(r.attachment, "type").String())
}

// identify fills in what a record says about itself.
func (r *row) identify(ev Event) Event {
	ev.Request = r.isRequest()
	if r.session != "" {
		ev.SessionID = r.session
	}
	switch {
	case r.parent != "":
		ev.Agent = r.parent
	case r.agent != "" && ev.Agent == "":
		ev.Agent = r.agent
	}
	if r.timestamp != "" {
		ev.Time = parseTime(r.timestamp)
	}
	if r.cwd != "" {
		ev.Cwd = r.cwd
	}
	return ev
}

// decode adds the events of one record, at least one.
func (d *lineDecoder) decode(r *row) {
	base := Event{Line: d.line, Part: d.part, Record: r.raw}
	d.tools(r, r.identify(base))
	before := len(d.events)
	d.nested(r, base, 0)
	if len(d.events) == before {
		if r.namedCall() {
			d.unread++
		}
		d.add(r.identify(base))
	}
	d.part++
}

// namedCall: the record's type says that it is a call, and not a part of one
// or what came of it.
func (r *row) namedCall() bool {
	low := strings.ToLower(r.typ)
	for _, part := range []string{"delta", "result", "output", "update", "progress", "summary", "partial"} {
		if strings.Contains(low, part) {
			return false
		}
	}
	for _, call := range []string{"tool_call", "toolcall", "tool-call", "tool_use", "tooluse", "function_call", "functioncall", "exec_command", "command_execution"} {
		if strings.Contains(low, call) {
			return true
		}
	}
	return false
}

// add keeps an event. Who keeps the ids and the name in it must not keep the line.
func (d *lineDecoder) add(ev Event) {
	ev.Agent = strings.Clone(ev.Agent)
	if c := ev.Call; c != nil {
		c.ID, c.Name = strings.Clone(c.ID), strings.Clone(c.Name)
	}
	if r := ev.Result; r != nil {
		r.CallID = strings.Clone(r.CallID)
	}
	d.events = append(d.events, ev)
}

func (d *lineDecoder) nested(r *row, base Event, depth int) {
	ev := r.identify(base)
	if ev.Request || depth > maxNested {
		return
	}
	switch r.typ {
	case "assistant", "user":
		d.message(r, ev)
	case "system":
		d.system(r, ev)
	case "result":
		d.final(gjson.Parse(r.raw), ev)
	case "rate_limit_event":
		d.rateLimit(gjson.Parse(r.raw), ev)
	case "progress", "agent_progress":
		d.progress(r, ev, depth)
	case "attachment":
		d.attachment(r, ev)
	case "tool_use", "server_tool_use", "mcp_tool_use", "tool_result", "mcp_tool_result":
		if r.name+r.callID == "" { // opencode has all in a part
			d.look(r.raw, ev, "", "", 0)
			return
		}
		d.blocks(r, r.raw, ev, "")
	case "stream_event", "tool_progress", "command_lifecycle", "summary", "queue-operation", "file-history-snapshot", "last-prompt",
		"control_request", "control_response", "keep_alive", "compacted":
		// what they tell of calls is told again
	default:
		d.unknown(r, ev, depth)
	}
}

// unknown decodes a record that the client has not: those of other agents.
func (d *lineDecoder) unknown(r *row, ev Event, depth int) {
	switch {
	case d.foreign(r, ev, depth):
	case r.role == "tool" || r.role == "toolResult":
		ev.Kind, ev.Result = KindResult, r.foreignResult()
		d.add(ev)
	case r.isMessage():
		d.blocks(r, r.content, ev, r.role)
		d.toolCalls(r.toolCalls, ev)
		d.rest(r.raw, ev, depth)
	case r.toolCalls != "" && r.toolCalls[0] == '[':
		d.toolCalls(r.toolCalls, ev)
	case strings.HasPrefix(r.message, "{"):
		d.message(r, ev)
		d.rest(r.raw, ev, depth)
	default:
		d.look(r.raw, ev, "", "", 0)
	}
}

// rest looks into what a message holds beside its content.
func (d *lineDecoder) rest(raw string, ev Event, depth int) {
	eachField(raw, func(key, v string) {
		switch {
		case v[0] != '{' && v[0] != '[', key == "content", key == "tool_calls":
		case key == "message" && v[0] == '{':
			d.rest(v, ev, depth)
		default:
			d.look(v, ev, key, "", depth+1)
		}
	})
}

// progress decodes the record inside a progress row: what a subagent does is
// found only there in some session files.
func (d *lineDecoder) progress(r *row, ev Event, depth int) {
	data := r
	if strings.HasPrefix(r.data, "{") {
		data = readRow(r.data)
	}
	ev.Agent = data.agent
	if ev.Agent == "" {
		ev.Agent = r.parentCall
	}
	inner := func(s string) {
		if s != "" && s[0] == '{' {
			d.nested(readRow(s), ev, depth+1)
		}
	}
	inner(data.message)
	eachElement(data.normalized, inner)
}

// text is the value of a raw JSON string, "" for anything else.
func text(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return unescape(raw[1 : len(raw)-1])
}

func rawMessage(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
