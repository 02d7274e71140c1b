package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// call is one tool call from the agent's words to what it does next.
type call struct {
	id    string
	tool  string
	input json.RawMessage
	step  *Step
	agent *agent
}

// outcome is what the agent sees of a call.
type outcome struct {
	text    any    // content of the tool_result
	result  any    // tool_use_result; nil = the error text
	failed  bool   // is_error
	flagged bool   // is_error stands in a good result too (Bash)
	kind    string // non_execution_kind; "" = it ran
	source  string // who decided: hook or config
	unknown bool   // no such tool, or an input it cannot take: no hooks, no decision
}

const dontAsk = "Permission to use %s has been denied because Claude Code is running in don't ask mode. " +
	"IMPORTANT: You *may* attempt to accomplish this action using other tools that might naturally be used to accomplish this goal, " +
	"e.g. using head instead of cat. But you *should not* attempt to work around this denial in malicious ways, " +
	"e.g. do not use your ability to run tests to execute non-test actions. You should only try to work around this restriction " +
	"in reasonable ways that do not attempt to bypass the intent behind this denial. If you believe this capability is essential " +
	"to complete the user's request, STOP and explain to the user what you were trying to do and why you need this permission. " +
	"Let the user decide how to proceed."

// say is one text of the agent. The client shows no text of a subagent; the
// last one comes back as the result of its call.
func (s *session) say(a *agent, text string) error {
	if a != nil {
		a.lastText = text
		return nil
	}
	s.assistant(nil, object{"type": "text", "text": text}, nil)
	s.lastText = text
	return s.overBudget("end_turn")
}

// assistant writes one content block; extra goes on the record.
func (s *session) assistant(a *agent, block, extra object) {
	s.in += 1200
	s.out += 40
	s.cost += 0.0071
	r := object{
		"type": "assistant", "parent_tool_use_id": nil, "request_id": "req_sim_" + shortID(),
		"message": object{
			"id": "msg_sim_" + shortID(), "type": "message", "role": "assistant", "model": s.flags.model, "content": []object{block},
			"stop_reason": nil, "stop_sequence": nil, "context_management": nil,
			"usage": object{"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "input_tokens": 1200, "output_tokens": 1, "service_tier": "standard"},
		},
	}
	maps.Copy(r, extra)
	a.mark(r)
	s.emitTimed(r)
}

func shortID() string { return strings.ReplaceAll(uuid.NewString(), "-", "")[:20] }

// overBudget ends the run when the reply has cost too much; what the reply
// asked for is not run then.
func (s *session) overBudget(stop string) error {
	if s.flags.maxBudget <= 0 || s.cost <= s.flags.maxBudget {
		return nil
	}
	s.conclude(broken("error_max_budget_usd", "budget_exhausted", stop, fmt.Sprintf("Reached maximum budget ($%v)", s.flags.maxBudget)))
	return leave{1}
}

// call makes one tool call.
func (s *session) call(ctx context.Context, a *agent, st *Step) error {
	c := call{id: st.ID, tool: st.Tool, input: st.Input, step: st, agent: a}
	if c.id == "" {
		c.id = "toolu_sim" + shortID()
	}
	if len(c.input) == 0 {
		c.input = json.RawMessage("{}")
	}
	c.input = json.RawMessage(s.fillJSON(string(c.input)))
	var extra object
	if server, name, ok := mcpName(c.tool); ok {
		extra = object{"tool_use_meta": []object{{"id": c.id, "display_name": name, "server_display_name": server, "tool_name": name}}}
	}
	s.assistant(a, object{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.input}, extra)
	if err := s.overBudget("tool_use"); err != nil {
		return err
	}
	o, err := s.carryOut(ctx, c)
	if err != nil {
		return err
	}
	s.toolResult(c, o)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if a == nil {
		s.turns++
	}
	if s.flags.maxTurns > 0 && s.turns >= s.flags.maxTurns {
		s.conclude(broken("error_max_turns", "max_turns", "tool_use", fmt.Sprintf("Reached maximum number of turns (%d)", s.flags.maxTurns)))
		return leave{1}
	}
	return s.play(ctx, a, st.next(o))
}

func (st *Step) next(o outcome) []Step {
	switch {
	case o.kind != "":
		return st.IfDenied
	case o.failed:
		return st.IfFailed
	}
	return st.IfOK
}

// carryOut asks, runs and tells the hooks.
func (s *session) carryOut(ctx context.Context, c call) (outcome, error) {
	if msg := s.unavailable(c.tool); msg != "" {
		return outcome{text: "<tool_use_error>Error: " + msg + "</tool_use_error>", result: "Error: " + msg, failed: true, unknown: true}, nil
	}
	o, ok := s.permit(ctx, c)
	if !ok {
		s.denials = append(s.denials, object{"tool_name": c.tool, "tool_use_id": c.id, "tool_input": c.input})
		o.result = fmt.Sprint("Error: ", o.text)
		return o, nil
	}
	began := s.now()
	ran, err := s.runTool(ctx, c)
	if err != nil || ran.unknown {
		return ran, err
	}
	if ran.source = o.source; ran.failed && ran.result == nil {
		ran.result = fmt.Sprint("Error: ", ran.text)
	}
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return outcome{
			text:   "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.",
			result: "User rejected tool use", failed: true, kind: "user-rejected",
		}, nil
	}
	s.tell(ctx, c, &ran, s.now().Sub(began))
	return ran, nil
}

// permit asks the PreToolUse hooks, then the mode.
func (s *session) permit(ctx context.Context, c call) (outcome, bool) {
	if s.part.Hooks != HooksRun {
		return outcome{source: "config"}, true
	}
	allowed := false
	for _, ans := range s.fire(ctx, c.agent, "PreToolUse", c.tool, c.fields()) {
		switch ans.decision {
		case "deny":
			s.lastDenied = ans.reason
			return outcome{text: "PreToolUse:" + c.tool + " hook error: " + ans.reason, failed: true, kind: "permission-rule", source: "hook"}, false
		case "ask":
			s.lastDenied = ans.reason
			return outcome{text: ans.reason, failed: true, kind: "permission-rule", source: "hook"}, false
		case "allow":
			allowed = true
		}
	}
	switch {
	case s.flags.mode == "bypassPermissions":
		return outcome{source: "config"}, true
	case allowed && !c.touchesSettings():
		return outcome{source: "hook"}, true
	case c.tool == "Read" && !allowed:
		return outcome{source: "config"}, true
	}
	o := outcome{failed: true, kind: "user-rejected", source: "config", text: "This command requires approval"}
	denied := object{"type": "system", "subtype": "permission_denied", "tool_name": c.tool, "tool_use_id": c.id}
	if s.flags.mode == "dontAsk" {
		o.kind, o.text = "permission-rule", fmt.Sprintf(dontAsk, c.tool)
		denied["decision_reason_type"] = "mode"
	}
	denied["message"] = o.text
	s.emit(denied)
	return o, false
}

// touchesSettings is what the client refuses in spite of an allow.
func (c call) touchesSettings() bool {
	var in struct {
		Path    string `json:"file_path"`
		Command string `json:"command"`
	}
	if json.Unmarshal(c.input, &in) != nil {
		return false
	}
	return strings.Contains(in.Path, "/.claude/") || strings.Contains(in.Command, "> .claude/")
}

func (c call) fields() object {
	f := object{"tool_name": c.tool, "tool_input": c.input, "tool_use_id": c.id}
	if server, _, ok := mcpName(c.tool); ok {
		f["mcp_server"] = object{"name": server, "source": "dynamic"}
	}
	return f
}

// tell runs the hooks after the call; PostToolUse may change what is seen.
func (s *session) tell(ctx context.Context, c call, o *outcome, took time.Duration) {
	if s.part.Hooks != HooksRun {
		return
	}
	f := c.fields()
	f["duration_ms"] = took.Milliseconds()
	if o.failed {
		text, _ := o.text.(string)
		f["error"], f["is_interrupt"] = text, false
		s.fire(ctx, c.agent, "PostToolUseFailure", c.tool, f)
		return
	}
	f["tool_response"] = o.result
	for _, ans := range s.fire(ctx, c.agent, "PostToolUse", c.tool, f) {
		o.replace(c.tool, ans.updated)
	}
}

// replace takes an updatedToolOutput: for Bash only in the tool's own shape.
func (o *outcome) replace(tool string, updated json.RawMessage) {
	if len(updated) == 0 || bytes.Equal(updated, []byte("null")) {
		return
	}
	if tool != "Bash" {
		o.result = updated
		if _, _, ok := mcpName(tool); ok {
			o.text = updated
		}
		return
	}
	var v struct {
		Stdout      *string `json:"stdout"`
		Stderr      *string `json:"stderr"`
		Interrupted *bool   `json:"interrupted"`
		IsImage     *bool   `json:"isImage"`
	}
	if json.Unmarshal(updated, &v) != nil || v.Stdout == nil || v.Stderr == nil || v.Interrupted == nil || v.IsImage == nil {
		return
	}
	parts := slices.DeleteFunc([]string{*v.Stdout, *v.Stderr}, func(p string) bool { return p == "" })
	o.result, o.text = updated, strings.Join(parts, "\n")
}

// toolResult writes the record of a call's end.
func (s *session) toolResult(c call, o outcome) {
	block := object{"type": "tool_result", "tool_use_id": c.id, "content": o.text}
	if o.failed || o.flagged {
		block["is_error"] = o.failed
	}
	r := object{
		"type": "user", "parent_tool_use_id": nil, "message": object{"role": "user", "content": []object{block}},
	}
	if c.agent == nil || o.failed {
		r["tool_use_result"] = o.result
	}
	if !o.unknown {
		meta := object{"id": c.id}
		decision := object{"decision": "accept", "source": o.source}
		if o.kind != "" {
			meta["non_execution_kind"], decision["decision"] = o.kind, "reject"
		}
		if o.kind != "user-rejected" {
			decision["reason_type"] = map[string]string{"hook": "hook", "config": "mode"}[o.source]
		}
		if o.source != "" {
			meta["permission_decision"] = decision
		}
		r["tool_result_meta"] = []object{meta}
	}
	c.agent.mark(r)
	s.emitTimed(r)
}

// unavailable says why there is no such tool; "" = there is.
func (s *session) unavailable(tool string) string {
	if _, _, ok := mcpName(tool); ok || tool == "Agent" && !s.flags.disallowed["Agent"] && !s.flags.disallowed["Task"] {
		return ""
	}
	switch {
	case s.flags.disallowed[tool]:
		return fmt.Sprintf("No such tool available: %s. %s is disabled for this session, in subagents as well as here.", tool, tool)
	case !slices.Contains(toolNames, tool):
		return "No such tool available: " + tool
	}
	return ""
}

// mcpName splits mcp__server__tool.
func mcpName(tool string) (server, name string, ok bool) {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "__")
}
