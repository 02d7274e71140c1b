package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// message decodes an assistant or user record.
func (d *lineDecoder) message(v gjson.Result, base Event) {
	ev := identify(base, v)
	msg := v.Get("message")
	if !msg.Exists() {
		msg = v
	}
	role := msg.Get("role").String()
	if role == "" {
		role = v.Get("type").String()
	}
	ev.Synthetic = first(v, "isSynthetic", "isMeta").Bool()
	content := msg.Get("content")
	if msg.Type == gjson.String {
		content = msg
	}
	d.blocks(v, content, ev, role)
}

// blocks decodes the content of a message: a string, one block or a list.
func (d *lineDecoder) blocks(v, content gjson.Result, ev Event, role string) {
	if content.Type == gjson.String {
		d.prose(content.String(), ev, role)
		return
	}
	list := []gjson.Result{content}
	if content.IsArray() {
		list = content.Array()
	}
	results := 0
	for _, b := range list {
		if strings.HasSuffix(b.Get("type").String(), "tool_result") {
			results++
		}
	}
	for _, b := range list {
		switch b.Get("type").String() {
		case "text":
			d.prose(b.Get("text").String(), ev, role)
		case "thinking":
			out := ev
			out.Kind, out.Text = KindThinking, b.Get("thinking").String()
			d.events = append(d.events, out)
		case "tool_use", "server_tool_use", "mcp_tool_use":
			out := ev
			out.Kind, out.Call = KindCall, call(b)
			d.events = append(d.events, out)
		case "tool_result", "mcp_tool_result":
			out := ev
			out.Kind, out.Result = KindResult, result(v, b, results == 1)
			d.events = append(d.events, out)
		}
	}
}

func (d *lineDecoder) prose(text string, ev Event, role string) {
	ev.Kind, ev.Text = KindPrompt, text
	if role == "assistant" {
		ev.Kind = KindText
	}
	d.events = append(d.events, ev)
}

func call(b gjson.Result) *Call {
	c := &Call{ID: b.Get("id").String(), Name: b.Get("name").String(), Input: raw(b.Get("input"))}
	if server := b.Get("server_name").String(); server != "" {
		c.Name = "mcp__" + server + "__" + c.Name
	}
	return c
}

// result decodes one tool_result block of the record v. The client's notes on
// the whole record are about this call only when it is alone there.
func result(v, b gjson.Result, alone bool) *Result {
	r := &Result{
		CallID:  b.Get("tool_use_id").String(),
		Text:    contentText(b.Get("content")),
		IsError: b.Get("is_error").Bool(),
	}
	known := applyMeta(r, v.Get("tool_result_meta"))
	if alone && !known {
		if dec := first(v, "permissionDecision", "permission_decision"); dec.Exists() {
			known = true
			decided(r, dec, first(v, "nonExecutionKind", "non_execution_kind").String())
		}
	}
	if !known && r.IsError {
		guess(r)
	}
	detail := first(v, "tool_use_result", "toolUseResult")
	if detail.IsObject() {
		r.Detailed = alone
		r.Background = detail.Get("backgroundTaskId").Exists() || detail.Get("isAsync").Bool()
		r.Interrupted = r.Interrupted || detail.Get("interrupted").Bool()
		operations := detail.Get("gitOperation")
		if operations.Get("push").Exists() {
			r.VCS = append(r.VCS, VCSPush)
		}
		if operations.Get("pr").Exists() {
			r.VCS = append(r.VCS, VCSPublished)
		}
	}
	return r
}

// contentText joins the text of a result's content: a string, or blocks.
func contentText(c gjson.Result) string {
	if c.Type == gjson.String {
		return c.String()
	}
	var parts []string
	c.ForEach(func(_, b gjson.Result) bool {
		if b.Type == gjson.String {
			parts = append(parts, b.String())
		} else if t := b.Get("text"); t.Type == gjson.String {
			parts = append(parts, t.String())
		}
		return true
	})
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
	switch {
	case decision.Get("decision").String() == "reject":
		r.NotRun = true
		r.DeniedBy = decision.Get("source").String()
	case kind == "user-rejected":
		r.Interrupted = true
	case kind != "" && decision.Get("decision").String() != "accept":
		r.NotRun = true
	}
}

// guess judges from the text alone, for clients that add no note.
func guess(r *Result) {
	t := strings.TrimSpace(r.Text)
	switch {
	case strings.HasPrefix(t, "<tool_use_error>"):
		r.NotRun = true
	case strings.HasPrefix(t, "PreToolUse:") && strings.Contains(t, "hook"):
		r.NotRun, r.DeniedBy = true, "hook"
	case strings.HasPrefix(t, "Permission to use "), strings.HasPrefix(t, "Claude requested permissions to "):
		r.NotRun, r.DeniedBy = true, "config"
	case strings.HasPrefix(t, "The user doesn't want to "):
		r.Interrupted = true
	}
}
