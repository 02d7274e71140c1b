package transcript

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// system decodes a system record; the many subtypes without use are other.
func (d *lineDecoder) system(r *row, ev Event) {
	v := gjson.Parse(r.raw)
	switch sub := r.subtype; sub {
	case "init":
		ev.Kind, ev.Init = KindInit, initOf(v)
	case "hook_started", "hook_response":
		ev.Kind = KindHook
		ev.Hook = &Hook{
			Event:    v.Get("hook_event").String(),
			Response: sub == "hook_response",
			ExitCode: int(v.Get("exit_code").Int()),
			Outcome:  v.Get("outcome").String(),
		}
	case "vcs_state_changed":
		ev.Kind = KindVCS
		ev.VCS = &VCS{Kind: v.Get("kind").String(), Branch: v.Get("branch").String(), URL: v.Get("url").String()}
	case "code_change_published":
		ev.Kind = KindVCS
		ev.VCS = &VCS{Kind: VCSPublished, Branch: v.Get("branch").String(), URL: first(v, "url", "pr_url").String(), Action: v.Get("action").String()}
	case "api_retry":
		ev.Kind = KindRetry
		ev.Retry = &Retry{
			Attempt: int(v.Get("attempt").Int()),
			Max:     int(v.Get("max_retries").Int()),
			Delay:   milliseconds(v.Get("retry_delay_ms")),
			Status:  int(v.Get("error_status").Int()),
			Error:   v.Get("error").String(),
		}
	case "background_tasks_changed":
		ev.Kind, ev.Task = KindTask, &Task{Event: sub}
	default:
		if !strings.HasPrefix(sub, "task_") {
			return
		}
		ev.Kind, ev.Task = KindTask, taskOf(v, sub)
	}
	d.add(ev)
}

func initOf(v gjson.Result) *Init {
	in := &Init{
		SessionID:      v.Get("session_id").String(),
		Model:          v.Get("model").String(),
		Version:        v.Get("claude_code_version").String(),
		PermissionMode: v.Get("permissionMode").String(),
		APIKeySource:   v.Get("apiKeySource").String(),
		Cwd:            v.Get("cwd").String(),
		Tools:          stringsOf(v.Get("tools")),
	}
	for _, s := range v.Get("mcp_servers").Array() {
		in.MCPServers = append(in.MCPServers, MCPServer{Name: s.Get("name").String(), Status: s.Get("status").String()})
	}
	return in
}

func taskOf(v gjson.Result, event string) *Task {
	return &Task{
		Event:     event,
		ID:        v.Get("task_id").String(),
		ToolUseID: v.Get("tool_use_id").String(),
		Status:    first(v, "status", "patch.status").String(),
	}
}

// attachment decodes a hook's outcome in an on-disk row; the rest is other.
func (d *lineDecoder) attachment(r *row, ev Event) {
	a := gjson.Parse(r.attachment)
	typ := a.Get("type").String()
	if !strings.HasPrefix(typ, "hook_") {
		return
	}
	ev.Kind = KindHook
	ev.Hook = &Hook{
		Event:    a.Get("hookEvent").String(),
		Response: true,
		ExitCode: int(a.Get("exitCode").Int()),
		Outcome:  strings.TrimPrefix(typ, "hook_"),
	}
	d.add(ev)
}

// final decodes a result record.
func (d *lineDecoder) final(v gjson.Result, ev Event) {
	usage := v.Get("usage")
	f := &Final{
		Subtype:             v.Get("subtype").String(),
		IsError:             v.Get("is_error").Bool(),
		TerminalReason:      v.Get("terminal_reason").String(),
		APIErrorStatus:      int(v.Get("api_error_status").Int()),
		APIError:            v.Get("api_error").String(),
		APIErrorType:        v.Get("api_error_type").String(),
		Result:              v.Get("result").String(),
		Errors:              stringsOf(v.Get("errors")),
		NumTurns:            int(v.Get("num_turns").Int()),
		Duration:            milliseconds(v.Get("duration_ms")),
		CostUSD:             v.Get("total_cost_usd").Float(),
		InputTokens:         usage.Get("input_tokens").Int(),
		OutputTokens:        usage.Get("output_tokens").Int(),
		CacheReadTokens:     usage.Get("cache_read_input_tokens").Int(),
		CacheCreationTokens: usage.Get("cache_creation_input_tokens").Int(),
		Tokens:              modelTokens(v.Get("modelUsage")),
	}
	for _, p := range v.Get("permission_denials").Array() {
		f.Denials = append(f.Denials, Denial{
			Tool:      p.Get("tool_name").String(),
			ToolUseID: p.Get("tool_use_id").String(),
			Input:     rawMessage(p.Get("tool_input").Raw),
		})
	}
	if u := v.Get("deferred_tool_use"); u.IsObject() {
		f.Deferred = &Denial{Tool: u.Get("name").String(), ToolUseID: u.Get("id").String(), Input: rawMessage(u.Get("input").Raw)}
	}
	ev.Kind, ev.Final = KindFinal, f
	d.add(ev)
}

// rateLimit decodes a rate_limit_event. Its fields stand in rate_limit_info
// or bare in the record; a rejected window's reset is taken when there is no
// other.
func (d *lineDecoder) rateLimit(v gjson.Result, ev Event) {
	info := v.Get("rate_limit_info")
	if !info.IsObject() {
		info = v
	}
	ev.Kind, ev.RateLimit = KindRateLimit, rateLimitOf(info)
	d.add(ev)
}

func rateLimitOf(info gjson.Result) *RateLimit {
	rl := &RateLimit{
		Status:   info.Get("status").String(),
		Type:     first(info, "rateLimitType", "rate_limit_type").String(),
		ResetsAt: epoch(first(info, "resetsAt", "resets_at")),
	}
	if rl.ResetsAt.IsZero() {
		first(info, "unifiedWindows").ForEach(func(_, w gjson.Result) bool {
			if t := epoch(w.Get("resetsAt")); w.Get("status").String() == "rejected" && t.After(rl.ResetsAt) {
				rl.ResetsAt = t
			}
			return true
		})
	}
	return rl
}

// milliseconds reads a duration; one out of range is cut, not wrapped.
func milliseconds(v gjson.Result) time.Duration {
	const most = float64(1<<63-1) / float64(time.Millisecond)
	ms := v.Float()
	if !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms, most/2)) * time.Millisecond
}
