package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// maxTools is how many tools of one record are listed.
const maxTools = 4096

// readHints reads the annotations of a tool, nil when there are none.
func readHints(value string) *Hints {
	v := gjson.Parse(value)
	h := &Hints{
		ReadOnly: hint(v, "readOnlyHint"), Destructive: hint(v, "destructiveHint"),
		Idempotent: hint(v, "idempotentHint"), OpenWorld: hint(v, "openWorldHint"),
	}
	if *h == (Hints{}) {
		return nil
	}
	return h
}

func hint(v gjson.Result, key string) *bool {
	if b := v.Get(key); b.IsBool() {
		return new(b.Bool())
	}
	return nil
}

// tools adds the tools that a record lists with annotations. Records of what
// was said and given back are not looked into: whoever wrote that text is not
// the client.
func (d *lineDecoder) tools(r *row, ev Event) {
	switch r.typ {
	case "assistant", "user", "result", "progress", "agent_progress", "tool_use", "tool_result", "message", "response_item", "event_msg":
		return
	}
	if r.isMessage() || !strings.Contains(r.raw, `"readOnlyHint"`) {
		return
	}
	ev.Kind, ev.Tools = KindTools, listTools(nil, gjson.Parse(r.raw), "", "", 0)
	if len(ev.Tools) > 0 {
		d.add(ev)
	}
}

// listTools gathers the tools in v: objects with a name and annotations.
// server is the one under whose name they stand.
func listTools(list []Tool, v gjson.Result, key, server string, depth int) []Tool {
	if depth > maxLook || !v.IsObject() && !v.IsArray() {
		return list
	}
	if v.IsObject() {
		name := v.Get("name").String()
		for _, k := range []string{"annotations", "toolAnnotations", "tool_annotations"} {
			if h := readHints(v.Get(k).Raw); h != nil && name != "" && len(list) < maxTools {
				own := first(v, "server", "serverName", "server_name").String()
				if own == "" {
					own = server
				}
				return append(list, Tool{Server: own, Name: name, Hints: *h})
			}
		}
		if name != "" && v.Get("tools").Exists() {
			server = name
		} else if key != "" && v.Get("tools").Exists() {
			server = key // {"servers": {"x": {"tools": [...]}}}
		}
	}
	v.ForEach(func(k, e gjson.Result) bool {
		under := k.String()
		if v.IsArray() || !servers(key) {
			under = ""
		}
		if v.IsObject() && servers(k.String()) {
			under = k.String()
		}
		if k.String() != "messages" && k.String() != "content" {
			list = listTools(list, e, under, server, depth+1)
		}
		return true
	})
	return list
}

func servers(key string) bool {
	return key == "servers" || key == "mcpServers" || key == "mcp_servers"
}
