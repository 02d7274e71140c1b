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
		if inner := r.payload + r.message; strings.HasPrefix(inner, "{") {
			d.nested(readRow(inner), ev, depth+1)
		}
	case "function_call", "custom_tool_call", "local_shell_call", "toolCall":
		ev.Kind, ev.Call = KindCall, r.foreignCall(r.typ)
		d.add(ev)
	case "function_call_output", "custom_tool_call_output", "toolResult":
		ev.Kind, ev.Result = KindResult, r.foreignResult()
		d.add(ev)
	case "tool.execution_start", "tool.execution_complete": // Copilot
		if !strings.HasPrefix(r.data, "{") {
			break
		}
		data := readRow(r.data)
		if r.typ == "tool.execution_start" {
			ev.Kind, ev.Call = KindCall, data.foreignCall("")
		} else {
			ev.Kind, ev.Result = KindResult, data.foreignResult()
		}
		d.add(ev)
	case "item.started", "item.updated", "item.completed": // codex exec --json
		d.item(gjson.Parse(r.item), r.typ == "item.completed", ev)
	default:
		return false
	}
	return true
}

func (r *row) foreignCall(name string) *Call {
	c := &Call{ID: r.callID, Name: r.name, Input: arguments(r.input)}
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
	return res
}

// item decodes one item of the event stream of codex exec, which has a call
// and its result in one.
func (d *lineDecoder) item(v gjson.Result, done bool, ev Event) {
	c := &Call{ID: v.Get("id").String()}
	switch v.Get("type").String() {
	case "command_execution":
		input, err := json.Marshal(map[string]string{"command": v.Get("command").String()})
		if err != nil {
			return
		}
		c.Name, c.Input = "shell", input
	case "mcp_tool_call":
		c.Name = "mcp__" + v.Get("server").String() + "__" + v.Get("tool").String()
		c.Input = arguments(v.Get("arguments").Raw)
	case "agent_message":
		ev.Kind, ev.Text = KindText, v.Get("text").String()
		d.add(ev)
		return
	default:
		return
	}
	out := ev
	out.Kind, out.Call = KindCall, c
	d.add(out)
	if !done {
		return
	}
	ev.Kind = KindResult
	ev.Result = &Result{CallID: c.ID, Text: v.Get("aggregated_output").String(), IsError: v.Get("exit_code").Int() != 0}
	switch v.Get("status").String() {
	case "failed":
		ev.Result.IsError = true
	case "declined":
		ev.Result.NotRun, ev.Result.DeniedBy = true, "config"
	}
	d.add(ev)
}

// toolCalls decodes the tool_calls of a chat message.
func (d *lineDecoder) toolCalls(list string, ev Event) {
	eachElement(list, func(s string) {
		v := gjson.Parse(s)
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
