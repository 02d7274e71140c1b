package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// foreign decodes the records of other agents, as far as their calls and
// results are recognisable, and says whether it is one by its type. They say
// the same in other words: a call has a name, an id and arguments; a result
// has the id and an output.
func (d *lineDecoder) foreign(r *row, ev Event, depth int) bool {
	switch r.typ {
	case "response_item", "message": // Codex, pi
		if r.isMessage() {
			return false
		}
		switch inner := r.payload + r.message; {
		case strings.HasPrefix(inner, "{"):
			d.nested(readRow(inner), ev, depth+1)
		default:
			return false
		}
	case "event_msg": // Codex: what happened, beside what was said
		return d.look(r.payload, ev, "", "", 1)
	case "function_call", "custom_tool_call", "local_shell_call", "toolCall":
		if r.input == "" {
			return false
		}
		c := r.foreignCall(r.typ)
		if code := text(r.input); c.Name == "exec" && strings.Contains(code, "tools") {
			d.jsCalls(c.ID, code, ev)
			break
		}
		d.addCall(c, ev)
	case "function_call_output", "custom_tool_call_output", "toolResult":
		if r.callID == "" {
			return false
		}
		ev.Kind, ev.Result = KindResult, r.foreignResult()
		d.add(ev)
	case "tool.execution_start", "tool.execution_complete": // Copilot
		return d.look(r.data, ev, r.typ, "", 1)
	case "item.started", "item.updated", "item.completed": // codex exec --json
		return d.item(gjson.Parse(r.item), r.typ == "item.completed", ev)
	default:
		return false
	}
	return true
}

func (r *row) foreignCall(name string) *Call {
	c := &Call{ID: r.callID, Name: r.name, Input: arguments(r.input), Hints: r.hints}
	if c.ID == "" {
		c.ID = r.id
	}
	if c.Name == "" {
		c.Name = strings.TrimSuffix(name, "_call")
	}
	return c
}

// arguments are given as an object, or as a string that holds one.
func arguments(raw string) json.RawMessage {
	if inner := strings.TrimSpace(text(raw)); strings.HasPrefix(inner, "{") && valueEnd(inner) == len(inner) && gjson.Valid(inner) {
		return json.RawMessage(inner)
	}
	return rawMessage(raw)
}

func (r *row) foreignResult() *Result {
	out := r.output
	if out == "" {
		out = r.content
	}
	res := &Result{CallID: r.callID, IsError: r.isError || r.failed, Text: contentText(out)}
	if strings.HasPrefix(out, "{") {
		res.Text = contentText(first(gjson.Parse(out), "content", "output").Raw)
	}
	if inner := gjson.Parse(res.Text); strings.HasPrefix(res.Text, "{") && inner.Get("metadata.exit_code").Int() != 0 {
		res.IsError = true
	}
	if strings.HasPrefix(out, "{") && (gjson.Get(out, "success").Raw == "false" || first(gjson.Parse(out), "isError", "is_error").Bool()) {
		res.IsError = true
	}
	settleForeign(res)
	return res
}

// item decodes one item of the event stream of codex exec, which has a call
// and its result in one.
func (d *lineDecoder) item(v gjson.Result, done bool, ev Event) bool {
	c := &Call{ID: v.Get("id").String()}
	switch v.Get("type").String() {
	case "command_execution":
		c.Name, c.Input = "shell", object("command", first(v, "command").Raw)
		if v.Get("command").Raw == "" {
			return false
		}
	case "mcp_tool_call":
		c.Name = mcpName(v.Get("server").String(), v.Get("tool").String())
		c.Input = arguments(v.Get("arguments").Raw)
	case "agent_message":
		ev.Kind, ev.Text = KindText, v.Get("text").String()
		d.add(ev)
		return true
	default:
		return d.look(v.Raw, ev, "", "", 1)
	}
	out := ev
	out.Kind, out.Call = KindCall, c
	d.add(out)
	if !done {
		return true
	}
	ev.Kind = KindResult
	text := v.Get("aggregated_output").String()
	if text == "" {
		text = outputText(first(v, "result", "error").Raw)
	}
	ev.Result = &Result{CallID: c.ID, Text: text, IsError: v.Get("exit_code").Int() != 0}
	switch v.Get("status").String() {
	case "failed":
		ev.Result.IsError = true
	case "declined":
		ev.Result.NotRun, ev.Result.DeniedBy = true, "config"
	}
	d.add(ev)
	return true
}

// toolCalls decodes the tool_calls of a chat message.
func (d *lineDecoder) toolCalls(list string, ev Event) {
	eachElement(list, func(s string) {
		v := gjson.Parse(s)
		if v.Get("function.name").String() == "" {
			d.look(s, ev, "tool_calls", "", 1)
			return
		}
		out := ev
		out.Kind = KindCall
		out.Call = &Call{
			ID:    v.Get("id").String(),
			Name:  v.Get("function.name").String(),
			Input: arguments(v.Get("function.arguments").Raw),
		}
		d.add(out)
	})
}
