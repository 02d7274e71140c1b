package sim

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// failure is an error of the API as the client reports it.
type failure struct {
	status int    // 0 = there was no request
	kind   string // error of the assistant record
	api    string // api_error_type
	text   string
	retry  string // error of an api_retry record that comes first; "" = none
	usage  bool   // a usage limit of a subscription
}

// failureNamed knows the values of Step.Fail.
func failureNamed(name string) (failure, bool) {
	const server = ". This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1)."
	f, ok := map[string]failure{
		"usage-limit":   {429, "rate_limit", "rate_limit_error", "", "", true},
		"rate-limit":    {429, "rate_limit", "rate_limit_error", "API Error: Request rejected (429) · This request would exceed your rate limit", "rate_limit", false},
		"auth":          {401, "authentication_failed", "authentication_error", "Invalid API key · Fix external API key", "authentication_failed", false},
		"forbidden":     {403, "authentication_failed", "permission_error", "Failed to authenticate. API Error: 403 Your account does not have access", "", false},
		"not-logged-in": {0, "authentication_failed", "", "Not logged in · Please run /login", "", false},
		"credit":        {400, "billing_error", "invalid_request_error", "Credit balance is too low", "", false},
		"bad-request":   {400, "unknown", "invalid_request_error", "API Error: 400 messages.0: bad thing", "", false},
		"server":        {500, "server_error", "api_error", "API Error: 500 Internal server error" + server, "server_error", false},
		"overloaded":    {529, "server_error", "overloaded_error", "API Error: 529 Overloaded" + server, "overloaded", false},
	}[name]
	return f, ok
}

// fail ends the run as the client does when the API fails: exit code 1, and a
// result whose subtype says success.
func (s *session) fail(st *Step) error {
	f, ok := failureNamed(st.Fail)
	if !ok {
		return fmt.Errorf("the script knows no failure %q", st.Fail)
	}
	resets := st.resets(s.now())
	if f.usage {
		s.rateLimit("rejected", resets)
		f.text = "You've hit your 5-hour limit · resets " + time.Unix(resets, 0).UTC().Format("3:04pm") + " (UTC)"
	}
	if f.retry != "" {
		s.emit(object{
			"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1, "retry_delay_ms": 0, "error_status": f.status, "error": f.retry,
		})
	}
	s.emitTimed(s.failureRecord(f, resets))
	changes := untimed(object{"is_error": true, "stop_reason": "stop_sequence", "terminal_reason": "api_error", "result": f.text})
	if f.status != 0 {
		changes["api_error_status"], changes["api_error_type"] = f.status, f.api
	}
	if f.usage {
		changes["api_error"] = "usage_limit_reached"
	}
	s.conclude(changes)
	return leave{1}
}

func (s *session) failureRecord(f failure, resets int64) object {
	usage := zeroUsage()
	for _, k := range []string{"output_tokens_details", "service_tier", "inference_geo", "iterations", "speed"} {
		usage[k] = nil // there was no reply
	}
	r := object{
		"type": "assistant", "parent_tool_use_id": nil, "error": f.kind, "is_api_error_message": true,
		"message": object{
			"id": uuid.NewString(), "type": "message", "role": "assistant", "model": "<synthetic>",
			"content": []object{{"type": "text", "text": f.text}}, "stop_reason": "stop_sequence", "stop_sequence": "",
			"stop_details": nil, "container": nil, "diagnostics": nil, "context_management": nil, "usage": usage,
		},
	}
	if f.status != 0 {
		r["api_error_status"], r["api_error_type"], r["request_id"] = f.status, f.api, "req_sim_"+shortID()
	}
	if f.usage {
		r["api_error"] = "usage_limit_reached"
		r["api_error_params"] = object{"rate_limit_info": limitInfo("rejected", resets)}
	}
	return r
}

func limitInfo(status string, resets int64) object {
	return object{
		"status": status, "resetsAt": resets, "rateLimitType": "five_hour", "overageStatus": "rejected",
		"overageDisabledReason": "out_of_credits", "isUsingOverage": false,
	}
}

// rateLimit writes a rate_limit_event.
func (s *session) rateLimit(status string, resets int64) {
	info := limitInfo(status, resets)
	used, window := 1.0, object{"resetsAt": resets, "status": status}
	if status == "allowed_warning" {
		used = 0.93
		info["utilization"], info["surpassedThreshold"], window["surpassedThreshold"] = used, 0.9, 0.9
	}
	window["utilization"] = used
	info["unifiedWindows"] = object{
		"five_hour": window,
		"seven_day": object{"utilization": 0.5, "resetsAt": resets + 4*24*3600, "status": "allowed"},
	}
	s.emit(object{"type": "rate_limit_event", "rate_limit_info": info})
}
