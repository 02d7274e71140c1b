package sim

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
)

// object is one JSON object of the stream.
type object = map[string]any

// emitter writes records, one a line. A reader that has gone is none of its
// business: the client works on too.
type emitter struct {
	w       io.Writer
	session string
	now     func() time.Time
	gone    bool
	silent  bool // text and json formats show no events
}

func (e *emitter) line(s string) {
	if _, err := io.WriteString(e.w, s); err != nil {
		e.gone = true
	}
}

// encode is o as the client writes it: one line, nothing escaped for HTML.
func encode(o any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		return "{}\n"
	}
	return b.String()
}

// emit adds what every record has and writes it.
func (e *emitter) emit(o object) {
	o["session_id"] = e.session
	o["uuid"] = uuid.NewString()
	if !e.silent {
		e.line(encode(o))
	}
}

// emitTimed is emit for the records of a conversation.
func (e *emitter) emitTimed(o object) {
	o["timestamp"] = e.now().UTC().Format("2006-01-02T15:04:05.000Z")
	e.emit(o)
}

func zeroUsage() object {
	return object{
		"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
		"output_tokens_details": object{"thinking_tokens": 0},
		"server_tool_use":       object{"web_search_requests": 0, "web_fetch_requests": 0},
		"service_tier":          "standard",
		"cache_creation":        object{"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
		"inference_geo":         "", "iterations": []any{}, "speed": "standard", "fallback_credit": nil,
	}
}

var toolNames = []string{
	"Task", "Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterWorktree", "ExitWorktree", "ListAgents",
	"Monitor", "NotebookEdit", "Read", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill", "TaskStop",
	"ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
}

// initRecord is the system/init record.
func (s *session) initRecord() object {
	tools := []string{}
	for _, t := range toolNames {
		if !s.flags.disallowed[t] {
			tools = append(tools, t)
		}
	}
	servers := []object{}
	for _, name := range s.servers {
		servers = append(servers, object{"name": name, "status": "connected", "source": "dynamic"})
	}
	return object{
		"type": "system", "subtype": "init", "cwd": s.dir, "original_cwd": s.dir, "tools": tools, "mcp_servers": servers,
		"model": s.flags.model, "permissionMode": s.flags.mode, "apiKeySource": "none", "claude_code_version": Version,
		"slash_commands": []string{"compact", "context", "init", "review"}, "terminal_slash_commands": []string{"doctor"},
		"output_style": "default", "agents": []string{"claude", "Explore", "general-purpose", "Plan"},
		"skills": []string{}, "plugins": []object{}, "capabilities": []string{}, "additional_directories": []string{},
		"analytics_disabled": true, "product_feedback_disabled": true, "served_by_anthropic": false, "sandbox_enabled": false,
		"messaging_socket_path": "", "fast_mode_state": "off", "fast_mode_disabled_reason": "sdk_opt_in_required",
		"per_turn_effort_active": true, "ultrathink_available": false, "ultrathink_typed_raises": false, "view_mode": "default",
	}
}

// result is the result record of a run that ended well; changes say what is
// different about this one.
func (s *session) result(changes object) object {
	models := object{}
	usage := zeroUsage()
	usage["input_tokens"], usage["output_tokens"] = s.in, s.out
	if s.in > 0 {
		models[s.flags.model] = object{
			"inputTokens": s.in, "outputTokens": s.out, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0,
			"webSearchRequests": 0, "costUSD": s.cost, "contextWindow": 1000000, "maxOutputTokens": 128000, "thinkingTokens": 0,
			"cacheCreationEphemeral5mInputTokens": 0, "cacheCreationEphemeral1hInputTokens": 0,
			"canonicalModel": s.flags.model, "provider": "firstParty", "costBasis": "list",
		}
	}
	ms := s.now().Sub(s.began).Milliseconds()
	r := object{
		"type": "result", "subtype": "success", "is_error": false, "api_error_status": nil, "stop_reason": "end_turn",
		"terminal_reason": "completed", "result": s.lastText, "num_turns": s.turns + 1, "duration_ms": ms, "duration_api_ms": ms / 2,
		"ttft_ms": 1, "ttft_stream_ms": 1, "time_to_request_ms": 1, "first_content_frame_ms": 1,
		"total_cost_usd": s.cost, "usage": usage, "modelUsage": models, "model_usage_since_last_result": models,
		"permission_denials": s.denials, "fast_mode_state": "off", "fast_mode_disabled_reason": "sdk_opt_in_required",
		"subagent_stats": s.subagentStats(), "safety_stops": 0, "queued_turn_count": 0, "result_index": s.results,
	}
	for k, v := range changes {
		if _, ok := v.(absent); ok {
			delete(r, k)
			continue
		}
		r[k] = v
	}
	return r
}

// untimed are the fields that only a run that ended well has.
func untimed(changes object) object {
	for _, k := range []string{"ttft_ms", "ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms"} {
		changes[k] = absent{}
	}
	return changes
}

// broken is the result of a run that was cut off.
func broken(subtype, reason, stop, text string) object {
	return untimed(object{
		"subtype": subtype, "is_error": true, "terminal_reason": reason, "stop_reason": stop, "errors": []string{text},
		"result": absent{}, "api_error_status": absent{},
	})
}

// absent as a change takes the field away.
type absent struct{}

func (s *session) subagentStats() object {
	byType := object{}
	depth := 0
	if s.spawned > 0 {
		byType["general-purpose"], depth = s.spawned, 1
	}
	return object{
		"spawned": s.spawned, "requested": object{"background": 0, "foreground": 0, "unset": s.spawned},
		"started_in_background": 0, "max_depth": depth, "spawned_by_subagents": 0, "completed": s.spawned, "failed": 0,
		"killed":  object{"parent": 0, "user": 0, "system": 0},
		"refused": object{"depth_limit": 0, "concurrency_limit": 0, "budget": 0}, "by_type": byType,
	}
}
