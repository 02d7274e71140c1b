package runner

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// signals are what the client itself says of a request that failed.
type signals struct {
	status int    // HTTP status; 0 = none
	kind   string // class of the error: rate_limit, billing_error, ...
	code   string // usage_limit_reached, connection_failed
	typ    string // of the error in the response's body: overloaded_error
	text   string
	limit  *transcript.RateLimit // the last limit event, when it was a rejection
	bare   bool                  // the last limit event has no fields
	failed bool                  // the client says that it was a request that ended the attempt
}

// talking are the terminal reasons with which a result's text is the client's
// own and not the agent's last words.
var talking = map[string]bool{
	"": true, "api_error": true, "blocking_limit": true, "rapid_refill_breaker": true, "model_error": true,
	"prompt_too_long": true, "turn_setup_failed": true, "image_error": true,
}

// signalsOf takes from an ending what the client said in its own name: the last
// result record, and the last error in the model's place. What a tool gave,
// what a prompt says and what the agent talks of never counts: it may quote any
// of these texts.
func signalsOf(e ending) (signals, bool) {
	f, a := e.final, e.apiError
	if f == nil {
		if a == nil {
			return signals{}, false
		}
		return signals{status: a.Status, kind: a.Kind, code: a.Code, typ: a.Type, text: oneLine(a.Text), limit: limitOf(e), bare: e.bare, failed: true}, true
	}
	own := a != nil && a.Text == f.Result
	if !f.IsError && !own || f.IsError && !talking[f.TerminalReason] && f.APIErrorStatus == 0 {
		return signals{}, false
	}
	s := signals{
		status: f.APIErrorStatus, code: f.APIError, typ: f.APIErrorType, limit: limitOf(e), bare: e.bare,
		failed: f.IsError && f.TerminalReason == "api_error",
	}
	switch {
	case f.Subtype == "success" || len(f.Errors) == 0 && f.Subtype == "":
		s.text = oneLine(f.Result)
	default:
		s.text = oneLine(strings.Join(f.Errors, "; "))
	}
	if a != nil {
		s.kind, s.status = a.Kind, cmp.Or(s.status, a.Status)
		s.code, s.typ, s.text = cmp.Or(s.code, a.Code), cmp.Or(s.typ, a.Type), cmp.Or(s.text, oneLine(a.Text))
	}
	return s, true
}

func limitOf(e ending) *transcript.RateLimit {
	if e.limit == nil && e.apiError != nil && e.apiError.Limit != nil && e.apiError.Limit.Status == "rejected" {
		return e.apiError.Limit
	}
	return e.limit
}

// causeOf tells what is behind a failed request: fields first, then words. An
// unknown wording of a known status keeps the status's meaning.
func causeOf(s signals) queue.Cause {
	said := causeOfText(s.text)
	// These two are told by words, whatever the status.
	if said == queue.Disabled || said == queue.LongContext {
		return said
	}
	if c, ok := codes[s.code]; ok {
		return c
	}
	if c, ok := kinds[s.kind]; ok {
		return c
	}
	if strings.HasPrefix(s.code, "tls_") {
		return queue.Untrusted
	}
	if s.limit != nil && (s.status == 429 || s.status == 0) && said != queue.ModelCredits && said != queue.Overloaded {
		if c, ok := limitTypes[s.limit.Type]; ok {
			return c
		}
		if strings.HasPrefix(s.limit.Type, "seven_day_") {
			return queue.ModelLimit
		}
		return among(said, queue.UsageLimit, queue.FiveHourLimit, queue.WeeklyLimit, queue.ModelLimit, queue.SpendLimit, queue.Credit)
	}
	// An error within a reply comes under a status of the client's own, 500.
	if c, ok := types[s.typ]; ok && (s.status == 0 || s.status == 500) {
		return among(said, c, queue.Overloaded, queue.RateLimit, queue.Credit, queue.SpendLimit, queue.PromptTooLong)
	}
	if c, ok := causeOfStatus(s.status, said); ok {
		return c
	}
	switch {
	case s.code == "usage_limit_reached":
		return among(said, queue.UsageLimit, queue.FiveHourLimit, queue.WeeklyLimit, queue.ModelLimit, queue.SpendLimit)
	case s.code == "connection_failed":
		return among(said, queue.Network, queue.Untrusted, queue.Proxy)
	case s.kind == "rate_limit" && said == "":
		return queue.RateLimit
	case s.kind == "billing_error":
		return among(said, queue.Credit, queue.SpendLimit)
	case s.kind == "authentication_failed" || s.kind == "oauth_org_not_allowed":
		return queue.NotLoggedIn
	case s.kind == "model_not_found":
		return queue.NoModel
	case s.kind == "server_error" || s.kind == "overloaded":
		return among(said, queue.ServerError, queue.Overloaded, queue.Network, queue.Untrusted, queue.Proxy)
	case s.kind == "invalid_request":
		return among(said, queue.BadRequest, queue.PromptTooLong)
	case s.kind == "max_output_tokens":
		return queue.ReplyTooLong
	case said == "" && s.bare:
		return queue.UsageLimit
	case said == "" && s.failed && (s.kind == "" || s.kind == "unknown"):
		return queue.Unexplained
	}
	return said
}

// limitTypes are the values of rateLimitType.
var limitTypes = map[string]queue.Cause{
	"five_hour": queue.FiveHourLimit, "seven_day": queue.WeeklyLimit, "overage": queue.SpendLimit,
	"seven_day_oauth_apps": queue.WeeklyLimit, "seven_day_cowork": queue.WeeklyLimit, // others of seven days are of a model
}

// kinds are the classes of errors that need no further look.
var kinds = map[string]queue.Cause{
	"account_on_hold": queue.Disabled, "verification_required": queue.NotLoggedIn, "cloud_credential_error": queue.NotLoggedIn,
}

// types are those of the error in a response's body.
var types = map[string]queue.Cause{
	"overloaded_error": queue.Overloaded, "rate_limit_error": queue.RateLimit, "billing_error": queue.Credit,
	"authentication_error": queue.NotLoggedIn, "permission_error": queue.NotLoggedIn, "not_found_error": queue.NoModel,
	"request_too_large": queue.PromptTooLong, "invalid_request_error": queue.BadRequest,
	"timeout_error": queue.ServerError, "api_error": queue.ServerError,
}

// codes are the client's own names of errors, where they say all; "" = what the
// agent did, and another try may do otherwise.
var codes = map[string]queue.Cause{
	"long_context_credits_required": queue.LongContext,
	"model_requires_usage_credits":  queue.ModelCredits, "consent_unanswered": queue.ModelCredits,
	"no_allowed_fallback": queue.ModelCredits, "model_substitution_disabled": queue.ModelCredits,
	"stream_idle_timeout": queue.Network, "computer_slept": queue.Network, "no_response": queue.Network, "network_edge_blocked": queue.Network,
	"provider_credentials": queue.NotLoggedIn, "gateway_signin_required": queue.NotLoggedIn, "gateway_session_expired": queue.NotLoggedIn,
	"api_key_auth_disabled": queue.NotLoggedIn, "org_disabled_credential": queue.NotLoggedIn, "invalid_credential_header": queue.NotLoggedIn,
	"stored_login_refused": queue.NotLoggedIn, "oauth_refresh_store_refused": queue.NotLoggedIn, "named_profile_unusable": queue.NotLoggedIn,
	"message_over_context_limit": queue.PromptTooLong, "autocompact_thrashing": queue.PromptTooLong,
	"max_output_tokens": queue.ReplyTooLong, "field_not_granted": queue.BadRequest, "dlp_request_denied": queue.BadRequest,
	"effort_requires_thinking": queue.BadRequest, "advisor_incompatible": queue.BadRequest,
	"claude_code_version_too_old": queue.Outdated, "gateway_content_type": queue.ServerError,
	"safety_monitor_blocked": "", "hook_denied": "", "tool_history_mismatch": "", "media_removed": "", "pdf_too_large": "",
	"pdf_password_protected": "", "empty_completion": "", "malformed_tool_use_exhausted": "",
}

// causeOfStatus reads the HTTP status, and takes from the words only what it
// leaves open.
func causeOfStatus(status int, said queue.Cause) (queue.Cause, bool) {
	switch {
	case status == 429:
		return among(said, queue.RateLimit, queue.FiveHourLimit, queue.WeeklyLimit, queue.ModelLimit, queue.UsageLimit, queue.SpendLimit, queue.Credit,
			queue.ModelCredits, queue.Overloaded), true
	case status == 400:
		return among(said, queue.BadRequest, queue.Credit, queue.SpendLimit, queue.PromptTooLong, queue.UsageLimit, queue.NotLoggedIn), true
	case status == 401:
		return queue.NotLoggedIn, true
	case status == 402:
		return among(said, queue.Credit, queue.SpendLimit), true
	case status == 403:
		return among(said, queue.NotLoggedIn, queue.SpendLimit, queue.Credit, queue.Proxy), true
	case status == 404:
		return queue.NoModel, true
	case status == 407:
		return queue.Proxy, true
	case status == 408:
		return queue.Network, true
	case status == 413:
		return queue.PromptTooLong, true
	case status == 529:
		return queue.Overloaded, true
	case status >= 500:
		return among(said, queue.ServerError, queue.Overloaded), true
	case status >= 400:
		return queue.BadRequest, true
	}
	return "", false
}

// among is said when it is one of may, else otherwise.
func among(said, otherwise queue.Cause, may ...queue.Cause) queue.Cause {
	for _, c := range may {
		if said == c {
			return c
		}
	}
	return otherwise
}

// words are the client's and the provider's own texts, in the order in which
// they are tried: what is said more exactly comes first.
var words = sync.OnceValue(func() []wording {
	list := []struct {
		cause queue.Cause
		expr  string
	}{
		{queue.Disabled, `(usage|allocation|access|account|organization|organisation|workspace) (has been|is|was) disabled|disabled (by|for) (your|an?|the|this) (admin|org)|contact your admin.*(disabled|allocation)|organi[sz]ation has disabled|(service|usage|access) is disabled for|turned off (by|for) your (org|admin)|limit is set to \$0|seat type doesn't include`},
		{queue.LongContext, `(extra usage is|usage credits) required for (long|1m) context|long context.*(not (yet )?(available|enabled)|requires? extra usage)`},
		{queue.ModelCredits, `(requires?|needs?|runs on|uses) (your )?usage credits|usage credits (are )?required`},
		{queue.Credit, `credit balance|insufficient (credits?|funds|balance)|out of credits|no credits? (left|remaining)|(add|purchase|buy) (more )?(funds|credits)|payment required|\bapi error: 402\b`},
		{queue.SpendLimit, `spend(ing)? (limit|cap)|monthly (usage |spend )?limit|out of (extra )?usage|(extra usage|usage credits?) (limit|cap|ran out|are used up)|api usage limits?|specified (workspace )?(api )?usage limits?|regain access on`},
		{queue.ModelLimit, `\b(opus|sonnet|haiku|fable|mythos)[ \d.-]{0,6}(weekly |usage |5-hour )?limit|limit (for|on) (claude )?(opus|sonnet|haiku|fable|mythos)\b`},
		{queue.WeeklyLimit, `weekly (usage )?limit|(7|seven)[- ]day (usage )?limit|limit for (the|this) week`},
		{queue.FiveHourLimit, `(5|five)[- ]hours? (usage )?limit|session (usage )?limit`},
		{queue.Overloaded, `temporarily limiting|not your usage limit`},
		{queue.PromptTooLong, `context limit reached`},
		{queue.RateLimit, `rate[- _]limit|request rejected \(429\)|too many requests|(requests|tokens) per (minute|day)|concurrent (connections|requests)`},
		{queue.UsageLimit, `(hit|reached|exceeded) (your|the) (usage )?limit|usage limit|limit reached|wait for (the )?limit to reset|limit will reset`},
		{queue.Overloaded, `overloaded|\b529\b|(at|over|out of) capacity`},
		{queue.NotLoggedIn, `not logged in|\bapi error: 40[13]\b|run /login|(invalid|missing|expired|revoked|disabled) (api|auth|x-api|oauth|bearer|access)[- ](key|token)|bearer token|oauth (access )?token|oauth authentication|token (has |is )?(expired|been revoked|revoked)|authentication[_ ](error|failed|failure)|failed to authenticate|resolve authentication|unauthori[sz]ed|does not have access to claude|login (has )?expired|credentials? (has |have )?expired`},
		{queue.Proxy, `proxy authentication|\b407\b`},
		{queue.Untrusted, `certificate|self[-_ ]signed|unable_to_verify|cert_|err_(tls|ssl)|\b(tls|ssl)\b`},
		{queue.Network, `econn|enotfound|eai_again|etimedout|epipe|enetunreach|ehostunreach|enetdown|getaddrinfo|connection (error|refused|closed|reset|lost|dropped|failed|timed out|aborted)|unable to connect|can(no|')t connect|could not connect|failed to connect|check your (internet|network|connection)|network (error|is unreachable|connection|request)|fetch failed|socket (hang up|connection)|request (was )?timed? ?out|timed out|(no|empty) response|empty or malformed response|gateway intercepting|no messages returned|stream (ended|closed|idle)|failedtoopensocket|firewall or proxy|through your proxy|no internet route|can.t reach the api`},
		{queue.NoModel, `model_not_found|not_found_error.{0,40}model:|issue with the selected model|model .*(not found|not exist|not available)|no access to (the )?model`},
		{queue.PromptTooLong, `prompt is too long|context (window|limit|length)|exceeds? .*context|conversation (is )?too long|request (too large|entity too large)|too many (input )?tokens|input is too long`},
		{queue.ReplyTooLong, `output token maximum|maximum output tokens?|exceeded the \d+ output token`},
		{queue.ServerError, `internal (server )?error|bad gateway|service (is )?(temporarily )?unavailable|gateway time-?out|server-side issue|\bapi error: 5\d\d\b|\bapi_error\b|server error`},
		{queue.BadRequest, `\bapi error: (4\d\d\b|invalid url)|invalid_request_error`},
	}
	out := make([]wording, len(list))
	for i, l := range list {
		out[i] = wording{l.cause, regexp.MustCompile(l.expr)}
	}
	return out
})

type wording struct {
	cause queue.Cause
	expr  *regexp.Regexp
}

// causeOfText reads one line that the client said; "" = it is none of the
// texts that are known.
func causeOfText(text string) queue.Cause {
	low := strings.ToLower(strings.NewReplacer("’", "'", "\u00a0", " ", "\u202f", " ").Replace(text))
	for _, w := range words() {
		if w.expr.MatchString(low) {
			return w.cause
		}
	}
	return ""
}

func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return clip(text, 300)
}
