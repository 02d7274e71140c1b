package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// xmlTools are the tools that Cline and Roo let a model call in its text.
var xmlTools = []string{"execute_command", "use_mcp_tool", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace", "browser_action", "web_fetch"}

// xmlCalls adds the calls that an assistant's text makes, as
// <execute_command><command>...</command></execute_command>.
func (d *lineDecoder) xmlCalls(text string, ev Event) {
	if !strings.Contains(text, "</") {
		return
	}
	for _, tool := range xmlTools {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, "<"+tool+">")
			if !ok {
				break
			}
			body, next, closed := strings.Cut(after, "</"+tool+">")
			if !closed && tool != "execute_command" {
				break
			}
			d.xmlCall(tool, body, ev)
			rest = next
		}
	}
}

func (d *lineDecoder) xmlCall(tool, body string, ev Event) {
	in := map[string]string{}
	for _, k := range []string{"command", "path", "content", "diff", "server_name", "tool_name", "arguments", "url", "action", "search", "replace"} {
		if v, ok := between(body, "<"+k+">", "</"+k+">"); ok {
			in[k] = strings.Trim(v, "\n")
		}
	}
	c := &Call{Name: tool, Key: "[" + tool + " for '" + in["command"] + in["path"] + "']"}
	input, err := json.Marshal(in)
	if err != nil || len(in) == 0 {
		return
	}
	c.Input = input
	if tool == "use_mcp_tool" {
		c.Name, c.Key = mcpName(in["server_name"], in["tool_name"]), "[use_mcp_tool for '"+in["server_name"]+"']"
		if gjson.Valid(in["arguments"]) {
			c.Input = rawMessage(strings.TrimSpace(in["arguments"]))
		}
	}
	d.addCall(c, ev)
}

// between is the text between the first opening and the last closing mark:
// what is written may hold the mark itself.
func between(s, begin, end string) (string, bool) {
	i := strings.Index(s, begin)
	if i < 0 {
		return "", false
	}
	s = s[i+len(begin):]
	if j := strings.LastIndex(s, end); j >= 0 {
		return s[:j], true
	}
	return s, true
}

// xmlResults adds the results of such calls, which the next message of the
// user tells: a heading that names the call, and what came of it.
func (d *lineDecoder) xmlResults(list []*row, ev Event) {
	for i, b := range list {
		key, rest, ok := strings.Cut(text(b.text), " Result:")
		if !ok || !strings.HasPrefix(key, "[") || !strings.HasSuffix(key, "]") {
			continue
		}
		if strings.TrimSpace(rest) == "" && i+1 < len(list) {
			rest = text(list[i+1].text)
		}
		res := &Result{CallID: key, Text: strings.TrimSpace(rest)}
		settleForeign(res)
		if strings.HasPrefix(res.Text, "The tool execution failed") || strings.Contains(res.Text[:min(len(res.Text), 200)], "Command execution was not successful") {
			res.IsError = true
		}
		d.addResult(res, ev)
	}
}
