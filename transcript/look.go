package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// maxLook is how deep a record of no known shape is looked into.
const maxLook = 16

// look goes through the objects of a record of no known shape for calls and
// results. under is the key under which value stands, outer the id of the
// call that it is a part of. It reports whether it found any.
func (d *lineDecoder) look(value string, ev Event, under, outer string, depth int) bool {
	if value == "" || depth > maxLook {
		return false
	}
	found := false
	switch value[0] {
	case '[':
		eachElement(value, func(e string) { found = d.look(e, ev, under, outer, depth+1) || found })
		return found
	case '{':
	default:
		return false
	}
	if depth > 0 && d.inner(value, ev, depth) {
		return true
	}
	t := readThing(value)
	calls, known := t.special(under)
	if c := t.call(under); !known && c != nil {
		calls = append(calls, c)
	}
	for _, c := range calls {
		if c.ID == "" && c.Key == "" {
			c.ID = outer
		}
		d.addCall(c, ev)
	}
	res := t.result(under, len(calls) > 0)
	if res != nil {
		d.addResult(res, ev)
	}
	if known || len(calls) > 0 || res != nil && t.raw["cause"] != "" {
		return true
	}
	if id := t.callID(); id != "" {
		outer = id
	}
	return d.fields(value, under, res != nil && t.ref != "", outer, ev, depth) || res != nil
}

// fields looks into the fields of an object that is no call. What a result
// gave back is not looked into: no agent made it.
func (d *lineDecoder) fields(value, under string, result bool, outer string, ev Event, depth int) bool {
	found := false
	ran := depth == 0 && gjson.Get(value, "trajectory").IsArray()
	if depth == 0 && strings.HasPrefix(gjson.Get(value, "trajectory_format").String(), "mini-swe-agent") {
		d.miniSWE(value, ev)
	}
	eachField(value, func(key, v string) {
		switch {
		case v[0] != '{' && v[0] != '[':
		case result && (key == "output" || key == "result" || key == "content" || key == "response" || key == "observation"):
		case key == "tools" || key == "functionDeclarations" || key == "tool_definitions":
		case ran && key == "history": // SWE-agent keeps the same twice
		case strings.HasSuffix(key, "ToolCall") && v[0] == '{' && len(key) > len("ToolCall") && gjson.Get(v, "args").IsObject():
			found = true
			d.keyed(strings.TrimSuffix(key, "ToolCall"), v, outer, ev)
		default:
			if key == "value" {
				key = under
			}
			found = d.look(v, ev, key, outer, depth+1) || found
		}
	})
	return found
}

// miniSWE adds the commands of a trajectory in which they stand as texts: in a
// list of actions, or in a block of the message that is no more than that.
func (d *lineDecoder) miniSWE(value string, ev Event) {
	gjson.Get(value, "messages").ForEach(func(_, m gjson.Result) bool {
		if m.Get("role").String() != "assistant" || m.Get("tool_calls").Exists() {
			return true
		}
		actions := m.Get("extra.actions")
		for _, a := range actions.Array() {
			if a.Type == gjson.String {
				d.addCall(&Call{Name: "bash", Input: object("command", a.Raw)}, ev)
			}
		}
		if _, block, ok := strings.Cut(m.Get("content").String(), "```bash\n"); ok && !actions.Exists() {
			block, _, _ = strings.Cut(block, "\n```")
			if input, err := json.Marshal(map[string]string{"command": block}); err == nil {
				d.addCall(&Call{Name: "bash", Input: input}, ev)
			}
		}
		return true
	})
}

// keyed decodes a call whose tool is the key under which it stands, as
// Cursor's command line has it.
func (d *lineDecoder) keyed(name, value, id string, ev Event) {
	v := gjson.Parse(value)
	c := &Call{ID: id, Name: name, Input: rawMessage(v.Get("args").Raw)}
	if tool := v.Get("args.toolName"); name == "mcp" && tool.String() != "" {
		c.Name = "mcp__" + first(v, "args.providerIdentifier", "args.serverName").String() + "__" + tool.String()
		c.Input = rawMessage(v.Get("args.args").Raw)
	}
	d.addCall(c, ev)
	if res := v.Get("result"); res.IsObject() {
		r := &Result{CallID: id, Text: outputText(res.Raw), IsError: res.Get("error").Exists() || res.Get("failure").Exists()}
		if code := res.Get("*.exitCode"); code.Exists() && code.Int() != 0 {
			r.IsError = true
		}
		if res.Get("rejected").Exists() || res.Get("permissionDenied").Exists() {
			r.NotRun, r.DeniedBy = true, "config"
		}
		d.addResult(r, ev)
	}
}

func (d *lineDecoder) addCall(c *Call, ev Event) {
	ev.Kind, ev.Call = KindCall, c
	d.add(ev)
}

func (d *lineDecoder) addResult(r *Result, ev Event) {
	ev.Kind, ev.Result = KindResult, r
	d.add(ev)
}

// inner decodes an object inside a record that is a message or a block of a
// known shape.
func (d *lineDecoder) inner(value string, ev Event, depth int) bool {
	r := readRow(value)
	switch r.typ {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if r.name == "" || r.input == "" {
			return false
		}
	case "tool_result", "mcp_tool_result":
		if r.callID == "" {
			return false
		}
	case "function_call", "custom_tool_call", "local_shell_call", "function_call_output", "custom_tool_call_output", "toolCall":
		if r.input == "" && r.output == "" {
			return false
		}
	default:
		if !r.isMessage() && r.toolCalls == "" {
			return false
		}
		if r.role == "" && r.toolCalls != "" && r.toolCalls[0] != '[' {
			return false
		}
	}
	before := len(d.events)
	d.nested(r, ev, depth)
	return len(d.events) > before
}
