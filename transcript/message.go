package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// message decodes an assistant or user record.
func (d *lineDecoder) message(r *row, ev Event) {
	ev.Synthetic = r.synthetic
	role, content := r.typ, r.content
	if r.role != "" {
		role = r.role
	}
	switch {
	case strings.HasPrefix(r.message, "{"):
		m := readRow(r.message)
		content = m.content
		if m.role != "" {
			role = m.role
		}
	case r.message != "":
		content = r.message
	}
	if content == "" && strings.HasPrefix(r.message, "{") {
		d.look(r.message, ev, "", "", 1)
		return
	}
	d.blocks(r, content, ev, role)
}

// blocks decodes the content of a message of the record r: a string, one
// block or a list of them.
func (d *lineDecoder) blocks(r *row, content string, ev Event, role string) {
	var list []*row
	add := func(s string) {
		if s[0] == '{' {
			list = append(list, readRow(s))
		}
	}
	switch {
	case content == "":
		return
	case content[0] == '"':
		d.prose(r, text(content), ev, role)
		return
	case content[0] == '[':
		eachElement(content, add)
	default:
		add(content)
	}
	results := 0
	if role == "user" && r.typ != role {
		d.xmlResults(list, ev)
	}
	for _, b := range list {
		if strings.HasSuffix(b.typ, "tool_result") {
			results++
		}
	}
	for _, b := range list {
		out := ev
		switch b.typ {
		case "text":
			d.prose(r, text(b.text), ev, role)
		case "thinking":
			out.Kind, out.Text = KindThinking, text(b.thinking)
			d.add(out)
		case "tool_use", "server_tool_use", "mcp_tool_use":
			out.Kind, out.Call = KindCall, b.call()
			d.add(out)
		case "toolCall", "function_call":
			out.Kind, out.Call = KindCall, b.foreignCall("")
			d.add(out)
		case "image", "document", "redacted_thinking", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
			"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result":
			// no call of the client's
		case "tool_result", "mcp_tool_result":
			out.Kind, out.Result = KindResult, b.result(r, results == 1)
			d.add(out)
		default:
			d.look(b.raw, ev, "", "", 1)
		}
	}
}

// prose adds a text. In that of the client's own assistant no call can stand:
// its tools are called by blocks, and whoever writes of another agent's quotes.
func (d *lineDecoder) prose(r *row, text string, ev Event, role string) {
	ev.Kind, ev.Text = KindPrompt, text
	if role == "assistant" {
		ev.Kind = KindText
	}
	d.add(ev)
	if role == "assistant" && r.typ != role {
		ev.Text = ""
		d.xmlCalls(text, ev)
	}
}

func (r *row) call() *Call {
	c := &Call{ID: r.id, Name: r.name, Input: rawMessage(unquoted(r.input)), Hints: r.hints}
	if c.ID == "" {
		c.ID = r.callID
	}
	if r.server != "" {
		c.Name = "mcp__" + r.server + "__" + c.Name
	}
	return c
}

// result decodes one tool_result block of a record. The client's notes on the
// whole record are about this call only when it is alone there.
func (r *row) result(record *row, alone bool) *Result {
	res := &Result{CallID: r.callID, Text: contentText(r.content), IsError: r.isError}
	if r.content == "" {
		res.Text, res.IsError = contentText(r.output), r.isError || r.failed
	}
	if r.run != "" { // Amp
		t := readThing(r.run)
		t.ref = res.CallID
		if got := t.result("run", true); got != nil {
			*res = *got
		}
	}
	known := applyMeta(res, gjson.Parse(record.meta))
	if alone && !known && record.decision+record.nonExecution != "" {
		known = true
		decided(res, gjson.Parse(record.decision), record.nonExecution)
	}
	if !known && res.IsError {
		guess(res)
	}
	if alone {
		res.Structured = record.detail
	}
	if strings.HasPrefix(record.detail, "{") {
		res.Detailed = alone
		eachField(record.detail, res.setDetail)
	}
	return res
}

// setDetail reads one field of the client's structured result.
func (r *Result) setDetail(key, value string) {
	switch key {
	case "backgroundTaskId":
		r.Background = r.Background || value != "null"
	case "isAsync":
		r.Background = r.Background || value == "true"
	case "interrupted":
		r.Interrupted = r.Interrupted || value == "true"
	case "gitOperation":
		if value[0] != '{' {
			return
		}
		eachField(value, func(operation, _ string) {
			switch operation {
			case "push":
				r.VCS = append(r.VCS, VCSPush)
			case "pr":
				r.VCS = append(r.VCS, VCSPublished)
			}
		})
	}
}

// contentText joins the text of a result's content: a string, or blocks.
func contentText(raw string) string {
	if raw == "" || raw[0] == '"' {
		return text(raw)
	}
	var parts []string
	add := func(s string) {
		switch s[0] {
		case '"':
			parts = append(parts, text(s))
		case '{':
			if b := readRow(s); b.text != "" {
				parts = append(parts, text(b.text))
			}
		}
	}
	if raw[0] == '[' {
		eachElement(raw, add)
	} else {
		add(raw)
	}
	return strings.Join(parts, "\n")
}

// applyMeta reads the client's note on the call of r out of tool_result_meta,
// and says whether there was one.
func applyMeta(r *Result, meta gjson.Result) bool {
	for _, m := range meta.Array() {
		if id := m.Get("id").String(); id != r.CallID && r.CallID != "" {
			continue
		}
		decided(r, m.Get("permission_decision"), m.Get("non_execution_kind").String())
		return true
	}
	return false
}

// decided judges from the permission decision and the kind of non-execution.
// A refusal by a person without a decision is what an interrupt leaves too,
// and then the call may have begun.
func decided(r *Result, decision gjson.Result, kind string) {
	verdict := decision.Get("decision").String()
	switch {
	case verdict == "reject":
		r.NotRun = true
		r.DeniedBy = decision.Get("source").String()
	case kind == "user-rejected", kind == "interrupted":
		r.Interrupted = true
	case kind != "" && verdict != "accept":
		r.NotRun = true
		if _, by := refusal(r.Text); by != "" {
			r.DeniedBy = by
		}
	}
}

// guess judges from the text alone, for clients that add no note.
func guess(r *Result) {
	if strings.HasPrefix(strings.TrimSpace(r.Text), "The user doesn't want to ") {
		r.Interrupted = true
		return
	}
	r.NotRun, r.DeniedBy = refusal(r.Text)
}

// refusal says whether a text is how the client words that a call was not
// run, and who denied it.
func refusal(text string) (refused bool, by string) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "<tool_use_error>"):
		return true, ""
	case strings.HasPrefix(text, "PreToolUse:") && strings.Contains(text, "hook"):
		return true, "hook"
	case strings.HasPrefix(text, "Permission to use "), strings.HasPrefix(text, "Claude requested permissions to "):
		return true, "config"
	}
	return false, ""
}
