package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// thing is an object of a record of no known shape, with the fields by which
// agents say that it is a call or its result. They say the same in other
// words: a call has a name, an id and arguments, or a command; a result has
// the id and an output.
type thing struct {
	typ, name, server string
	id, ref           string // ref: an id that can only be a call's
	args              string
	command           string
	output            string
	status            string
	exit              string
	failed, refused   bool
	definition        bool // it describes a tool
	weak              bool // its arguments have a name that much else has
	hints             *Hints

	raw map[string]string // the fields that only some agents have
}

// readThing reads the fields of an object.
func readThing(obj string) *thing {
	t := &thing{}
	eachField(obj, t.set)
	return t
}

func (t *thing) set(key, value string) {
	if value == "null" {
		return
	}
	switch key {
	case "type", "kind", "sessionUpdate", "event_type":
		t.typ += " " + text(value)
	case "name", "tool_name", "toolName", "tool", "function_name", "toolId":
		if s := text(value); s != "" && (t.name == "" || key != "name") {
			t.name = s
		}
	case "server", "server_name", "serverName", "server_label", "mcpServerName":
		t.server = text(value)
	case "id":
		t.id = scalar(value)
	case "call_id", "callId", "callID", "tool_call_id", "toolCallId", "toolCallID", "tool_use_id", "toolUseId", "toolUseID", "tool_id":
		t.ref = text(value)
	case "arguments", "args", "input", "parameters", "params", "rawInput", "raw_input", "tool_input", "toolInput", "parsedArgs", "inputs":
		t.setArgs(key, value)
	case "command", "cmd", "commandLine", "command_line":
		t.command = value
	case "inputSchema", "input_schema", "parametersJsonSchema":
		t.definition = true
	case "annotations", "toolAnnotations", "tool_annotations":
		t.hints = readHints(value)
	case "action", "function", "method", "jsonrpc", "ask", "say", "text", "partial", "cause", "thought", "code", "toolSpecificData", "invocation", "changes", "tool_call", "operation":
		if t.raw == nil {
			t.raw = map[string]string{}
		}
		t.raw[key] = value
	default:
		t.setOutcome(key, value)
	}
}

func (t *thing) setArgs(key, value string) {
	if value[0] == '{' && strings.Contains(value, `"properties"`) && gjson.Get(value, "type").String() == "object" {
		t.definition = true
		return
	}
	if t.args == "" || t.weak {
		t.args = value
		t.weak = key == "input" || key == "inputs" || key == "params" || key == "parameters"
	}
}

func (t *thing) setOutcome(key, value string) {
	switch key {
	case "output", "result", "content", "aggregated_output", "aggregatedOutput", "formatted_output", "response",
		"rawOutput", "toolResult", "stdout", "contentItems", "content_items":
		if t.output == "" || key != "content" {
			t.output = value
		}
		if value[0] == '{' {
			t.wrapped(value)
		}
	case "observation":
		if value[0] == '{' {
			t.setOutcome("output", value)
		} else {
			t.set("thought", value) // SWE-agent: beside the action
		}
	case "status", "state":
		t.setState(value)
	case "exit_code", "exitCode", "exit_status":
		t.exit = scalar(value)
	case "metadata", "extras", "shellExecution":
		if code := first(gjson.Parse(value), "exit", "exit_code", "exitCode", "metadata.exit_code"); code.Exists() {
			t.exit = code.String()
		}
	case "success":
		t.failed = t.failed || value == "false"
	case "is_error", "isError":
		t.failed = t.failed || value == "true"
	case "error":
		if value != `""` && value != "false" {
			t.failed = true
			if t.output == "" {
				t.output = value
			}
		}
	}
}

// wrapped reads what an output that is an object says of how it went.
func (t *thing) wrapped(value string) {
	v := gjson.Parse(value)
	if first(v, "isError", "is_error", "value.isError").Bool() || first(v, "error", "Err", "failure").Exists() {
		t.failed = true
	}
	if code := first(v, "exit_code", "exitCode", "metadata.exit_code", "structuredContent.exit_code", "value.structuredContent.exit_code"); code.Exists() {
		t.exit = code.String()
	}
}

// setState reads a status, or an object that holds it together with the
// arguments and the output.
func (t *thing) setState(value string) {
	if value[0] != '{' {
		t.status = strings.ToLower(text(value))
		return
	}
	eachField(value, func(key, v string) {
		if key != "id" && key != "name" && v != "null" {
			t.set(key, v)
		}
	})
}

// scalar is the text of a string or a number.
func scalar(value string) string {
	if value[0] == '"' {
		return text(value)
	}
	if value[0] == '{' || value[0] == '[' {
		return ""
	}
	return value
}

func (t *thing) callID() string {
	if t.ref != "" {
		return t.ref
	}
	return t.id
}

// is says whether the type, or the key under which the object stands, holds
// one of the words.
func (t *thing) is(under string, words ...string) bool {
	low := strings.ToLower(t.typ + " " + under)
	for _, w := range words {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// call is the call that the object is, nil when it is none.
func (t *thing) call(under string) *Call {
	c := &Call{ID: t.callID(), Hints: t.hints}
	switch {
	case t.definition:
		return nil
	case t.name != "" && t.args != "":
		named := t.ref != "" || t.is(under, "tool", "call", "function", "invocation", "action")
		if !named && (t.id == "" || t.weak || t.args[0] != '{') {
			return nil
		}
		c.Name, c.Input = t.name, arguments(t.args)
	case t.command != "" && t.runs(under):
		c.Name, c.Input = "shell", object("command", t.command)
	case t.args != "" && t.args[0] == '{' && t.ref != "" && t.is(under, "execute") && first(gjson.Parse(t.args), "command", "cmd").Exists():
		c.Name, c.Input = "shell", arguments(t.args) // ACP names the kind of a tool only
	default:
		return nil
	}
	if t.server != "" && !strings.HasPrefix(c.Name, "mcp__") {
		c.Name = "mcp__" + t.server + "__" + c.Name
	}
	return c
}

// runs: an object with a command is one that ran.
func (t *thing) runs(under string) bool {
	return t.exit != "" || t.ref != "" || t.is(under, "exec", "action", "shell", "terminal", "bash", "tool")
}

// result is the result that the object tells, nil when it tells none. A call
// may tell its own.
func (t *thing) result(under string, called bool) *Result {
	res := &Result{CallID: t.callID(), Text: outputText(t.output)}
	switch {
	case t.raw["jsonrpc"] != "" && t.id != "" && !called:
		res.CallID = "jsonrpc:" + t.id
	case t.raw["cause"] != "":
		res.CallID = "openhands:" + scalar(t.raw["cause"])
	case res.CallID == "", !called && t.ref == "" && !t.is(under, "result", "output", "response", "complete"):
		return nil
	}
	switch t.status {
	case "error", "failed", "failure", "errored":
		res.IsError = true
	case "declined", "denied", "rejected", "rejected-by-user", "skipped":
		res.NotRun, res.DeniedBy = true, "config"
	case "cancelled", "canceled", "aborted", "interrupted":
		res.Interrupted = true
	case "pending", "in_progress", "inprogress", "running", "started", "awaiting_approval", "validating", "scheduled", "executing":
		return nil
	case "":
		if t.output == "" && t.exit == "" && !t.failed {
			return nil
		}
	}
	res.IsError = res.IsError || t.failed || t.exit != "" && t.exit != "0"
	settleForeign(res)
	return res
}

// object is {"key": value}.
func object(key, value string) json.RawMessage {
	return json.RawMessage(`{"` + key + `":` + value + `}`)
}

// outputText is the text of an output, however deep it is wrapped.
func outputText(raw string) string {
	for range 4 {
		if raw != "" && raw[0] == '[' && gjson.Get(raw, "0.functionResponse").Exists() {
			raw = gjson.Get(raw, "0").Raw
		}
		if raw == "" || raw[0] != '{' {
			break
		}
		inner := first(gjson.Parse(raw), "content", "output", "value", "text", "stdout", "message", "Ok", "Err", "success", "error", "functionResponse.response", "response", "aggregated_output")
		if !inner.Exists() {
			break
		}
		raw = inner.Raw
	}
	return contentText(raw)
}

// settleForeign reads from the text how a call went, in the words of agents
// that have no field for it.
func settleForeign(res *Result) {
	head := strings.TrimSpace(res.Text)
	for _, p := range []string{"Exit code: ", "Process exited with code ", "exit code: "} {
		if i := strings.Index(head[:min(len(head), 200)], p); i >= 0 {
			code, _, _ := strings.Cut(strings.TrimLeft(head[i+len(p):], " "), "\n")
			res.IsError = res.IsError || strings.TrimSpace(code) != "0"
		}
	}
	if i := strings.LastIndex(head, "completed with exit code "); i >= 0 && len(head)-i < 40 {
		res.IsError = res.IsError || !strings.HasPrefix(head[i+len("completed with exit code "):], "0>")
	}
	for _, p := range []string{
		"exec command rejected", "command rejected by user", "rejected by user", "The user rejected", "The user denied", "User rejected",
		"The user has specified a rule which prevents", "[Operation Cancelled] Reason: User did not allow", "Permission denied and could not request",
		"Permission to run this tool was denied", "Tool execution denied", "Command rejected",
	} {
		if strings.HasPrefix(head, p) {
			res.NotRun, res.DeniedBy = true, "config"
		}
	}
}
