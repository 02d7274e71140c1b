package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// special recognises calls that have neither a name beside their arguments
// nor a plain command, and says whether the object is of such a shape.
func (t *thing) special(under string) ([]*Call, bool) {
	if len(t.raw) == 0 && (t.command == "" || !t.isExecution()) && !strings.HasPrefix(t.typ, " tool-") {
		return nil, false
	}
	one := func(c Call) ([]*Call, bool) { return []*Call{&c}, true }
	field := func(key string) gjson.Result { return gjson.Parse(t.raw[key]) }
	switch {
	case t.raw["method"] == `"tools/call"`:
		return t.rpc(), true
	case field("function").Get("arguments").Exists():
		name := field("function").Get("name").String()
		if name == "" {
			name = "bash" // mini-SWE-agent has one tool
		}
		return one(Call{ID: t.callID(), Name: name, Input: arguments(field("function").Get("arguments").Raw)})
	case t.raw["ask"]+t.raw["say"] != "" && t.raw["text"] != "":
		return t.clineRow(), true
	case text(t.raw["action"]) != "" && strings.HasPrefix(t.args, "{"):
		return t.openHands(), true
	case field("tool_call").Get("arguments").Exists() && t.is("", "actionevent"):
		return one(Call{ID: t.callID(), Name: field("tool_call").Get("name").String(), Input: arguments(field("tool_call").Get("arguments").Raw)})
	case t.name != "" && t.ref != "" && field("action").IsObject():
		return one(Call{ID: t.ref, Name: t.name, Input: rawMessage(t.raw["action"])})
	case t.is("", "shell_call") && field("action").IsObject():
		return one(Call{ID: t.callID(), Name: "shell", Input: rawMessage(t.raw["action"])})
	case t.is("", "code_interpreter") && t.raw["code"] != "":
		return one(Call{ID: t.callID(), Name: "code_interpreter", Input: object("code", t.raw["code"])})
	case strings.TrimSpace(text(t.raw["action"])) != "" && (t.output != "" || t.raw["thought"] != ""):
		return one(Call{Name: "bash", Input: object("command", t.raw["action"])}) // SWE-agent
	case field("toolSpecificData").Get("kind").String() == "terminal":
		line := first(field("toolSpecificData"), "commandLine.userEdited", "commandLine.toolEdited", "commandLine.original", "command")
		if line.Type != gjson.String {
			return nil, false
		}
		return one(Call{ID: t.callID(), Name: "run_in_terminal", Input: object("command", line.Raw), Again: true})
	case field("invocation").Get("tool").String() != "": // Codex: mcp_tool_call_begin, _end
		v := field("invocation")
		return one(Call{ID: t.callID(), Name: mcpName(v.Get("server").String(), v.Get("tool").String()), Input: arguments(v.Get("arguments").Raw), Again: true})
	case field("changes").IsObject() && t.is(under, "patch", "filechange"):
		return t.changes(), true
	case field("operation").Get("diff").Exists() && t.is("", "patch"):
		return one(Call{ID: t.callID(), Name: "apply_patch", Input: rawMessage(t.raw["operation"])})
	case strings.HasPrefix(t.typ, " tool-") && t.name == "" && t.args != "":
		return one(Call{ID: t.callID(), Name: strings.TrimPrefix(t.typ, " tool-"), Input: arguments(t.args)})
	case t.command != "" && t.isExecution():
		return one(Call{ID: t.callID(), Name: "shell", Input: object("command", t.command), Again: true})
	}
	return nil, false
}

// isExecution: the record tells of a command that ran, beside the call that
// asked for it.
func (t *thing) isExecution() bool {
	return t.is("", "exec_command", "commandexecution", "command_execution")
}

func mcpName(server, tool string) string { return "mcp__" + server + "__" + tool }

// rpc is a call in the traffic of an MCP server. Its ids count from one in
// every connection, so they only name the result.
func (t *thing) rpc() []*Call {
	v := gjson.Parse(t.args)
	if v.Get("name").String() == "" {
		return nil
	}
	return []*Call{{Key: "jsonrpc:" + t.id, Name: v.Get("name").String(), Input: arguments(v.Get("arguments").Raw)}}
}

// clineRow reads a row of the messages that Cline and Roo keep.
func (t *thing) clineRow() []*Call {
	said := text(t.raw["text"])
	what := text(t.raw["ask"]) + text(t.raw["say"])
	switch {
	case t.raw["partial"] == "true" || said == "":
	case what == "command":
		return []*Call{{Name: "execute_command", Input: object("command", t.raw["text"])}}
	case (what == "use_mcp_server" || what == "tool") && strings.HasPrefix(said, "{") && gjson.Valid(said):
		in := gjson.Parse(said)
		if server := in.Get("serverName").String(); server != "" {
			return []*Call{{Name: mcpName(server, in.Get("toolName").String()), Input: arguments(in.Get("arguments").Raw)}}
		}
		switch name := in.Get("tool").String(); name {
		case "":
		case "newFileCreated", "editedExistingFile", "appliedDiff":
			return []*Call{{Name: "write_to_file", Input: rawMessage(said)}}
		default:
			return []*Call{{Name: name, Input: rawMessage(said)}}
		}
	}
	return nil
}

// openHands reads an action of OpenHands.
func (t *thing) openHands() []*Call {
	c := &Call{Key: "openhands:" + t.id, Name: text(t.raw["action"]), Input: rawMessage(t.args)}
	switch c.Name {
	case "run":
		c.Name = "execute_bash"
	case "run_ipython":
		c.Name = "execute_ipython_cell"
	case "browse", "browse_interactive":
		c.Name = "browse"
	case "call_tool_mcp":
		args := gjson.Parse(t.args)
		c.Name, c.Input = mcpName("openhands", args.Get("name").String()), rawMessage(args.Get("arguments").Raw)
	case "message", "system", "think", "finish", "recall", "change_agent_state", "null", "condensation", "task_tracking", "delegate":
		return nil
	}
	return []*Call{c}
}

// changes are the files of a patch that Codex applied.
func (t *thing) changes() []*Call {
	var out []*Call
	gjson.Parse(t.raw["changes"]).ForEach(func(name, f gjson.Result) bool {
		input := `{"file_path":` + name.Raw
		if content := first(f, "content", "add.content"); content.Exists() {
			input += `,"content":` + content.Raw
		} else if diff := first(f, "unified_diff", "diff", "update.unified_diff"); diff.Exists() {
			name := name.String()
			if text, err := json.Marshal("--- a/" + name + "\n+++ b/" + name + "\n" + diff.String()); err == nil {
				input += `,"diff":` + string(text)
			}
		}
		out = append(out, &Call{ID: t.callID() + "#" + name.String(), Name: "file_change", Input: rawMessage(input + "}"), Again: true})
		return true
	})
	return out
}
