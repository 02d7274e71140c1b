package runner

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// clientTexts are what clients say when it is not the agent's doing.
var clientTexts = map[string]queue.Cause{
	"You've hit your limit · resets 2pm (America/Toronto)":                                                    queue.UsageLimit,
	"You've hit your session limit · resets 5:30am (Asia/Calcutta)":                                           queue.FiveHourLimit,
	"You've hit your 5-hour limit · resets 5:19am (UTC)":                                                      queue.FiveHourLimit,
	"You’ve hit your weekly limit · resets Oct 5 at 9am":                                                      queue.WeeklyLimit,
	"Weekly limit reached ∙ resets Mon 9:00 AM":                                                               queue.WeeklyLimit,
	"You've hit your Opus limit · resets 9am":                                                                 queue.ModelLimit,
	"Opus weekly limit reached ∙ resets Oct 9 at 5pm":                                                         queue.ModelLimit,
	"You've hit your org's monthly usage limit":                                                               queue.SpendLimit,
	"You've reached your org's monthly usage limit":                                                           queue.SpendLimit,
	"You've hit your individual spend limit":                                                                  queue.SpendLimit,
	"Your usage allocation has been disabled by your admin":                                                   queue.Disabled,
	"You're out of extra usage · resets 9pm":                                                                  queue.SpendLimit,
	"Extra usage is required for long context requests":                                                       queue.LongContext,
	"Spending cap reached resets 6pm":                                                                         queue.SpendLimit,
	"Credit balance is too low":                                                                               queue.Credit,
	"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.":    queue.Credit,
	"This request would exceed your workspace API usage limits":                                               queue.SpendLimit,
	"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.":    queue.SpendLimit,
	"Stop and wait for limit to reset":                                                                        queue.UsageLimit,
	"Add funds to continue with extra usage":                                                                  queue.Credit,
	"API Error: Rate limit reached":                                                                           queue.RateLimit,
	"API Error: Request rejected (429) · This request would exceed your rate limit":                           queue.RateLimit,
	"5-hour limit reached · resets 3pm":                                                                       queue.FiveHourLimit,
	"Claude AI usage limit reached|1796015997":                                                                queue.UsageLimit,
	"Claude usage limit reached. Your limit will reset at 3pm (America/Santiago).":                            queue.UsageLimit,
	"You've hit your limit · resets Feb 16, 11am":                                                             queue.UsageLimit,
	"API Error: 529 Overloaded":                                                                               queue.Overloaded,
	`API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:              queue.Overloaded,
	"API Error: 500 Internal server error":                                                                    queue.ServerError,
	"API Error: 502 Bad Gateway":                                                                              queue.ServerError,
	"API Error: 503 upstream connect failure":                                                                 queue.ServerError,
	"API Error: 504 Gateway Timeout":                                                                          queue.ServerError,
	"API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)":                   queue.Network,
	"API Error: Connection error.":                                                                            queue.Network,
	"API Error: Request timed out.":                                                                           queue.Network,
	"API Error: getaddrinfo EAI_AGAIN api.anthropic.com":                                                      queue.Network,
	"Unable to connect to API (ENOTFOUND)":                                                                    queue.Network,
	"API Error: The socket connection was closed unexpectedly.":                                               queue.Network,
	"No messages returned":                                                                                    queue.Network,
	"Unable to connect to API: Self-signed certificate detected (SELF_SIGNED_CERT_IN_CHAIN)":                  queue.Untrusted,
	"API Error: unable to get local issuer certificate":                                                       queue.Untrusted,
	"API Error: 407 Proxy Authentication Required":                                                            queue.Proxy,
	"Not logged in · Please run /login":                                                                       queue.NotLoggedIn,
	"Invalid API key · Fix external API key":                                                                  queue.NotLoggedIn,
	"OAuth token has expired · Please run /login":                                                             queue.NotLoggedIn,
	"OAuth token revoked · Please run /login":                                                                 queue.NotLoggedIn,
	"Failed to authenticate. API Error: 403 Your account does not have access":                                queue.NotLoggedIn,
	"There's an issue with the selected model (claude-x). It may not exist or you may not have access to it.": queue.NoModel,
	"Prompt is too long · the request is ~210000 tokens (limit 200000)":                                       queue.PromptTooLong,
	"API Error: 413 Request too large":                                                                        queue.PromptTooLong,
	"API Error: Claude's response exceeded the 32000 output token maximum.":                                   queue.ReplyTooLong,
	`API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`:   queue.NotLoggedIn,
	`API Error: 403 {"type":"error","error":{"type":"forbidden","message":"Request not allowed"}}`:            queue.NotLoggedIn,
	`API Error: 404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}`:          queue.NoModel,
	"API Error: 402 Your account is not paid for":                                                             queue.Credit,
	"API Error: Couldn't connect through your proxy (ERR_PROXY_TUNNEL) — the proxy refused the tunnel: check its credentials and that it allows this host": queue.Network,
	"API Error: Unable to connect to API: SSL certificate hostname mismatch":                                                                               queue.Untrusted,
	"API Error: Unable to connect to API (EPROTO)":                                                                                                         queue.Network,
	"API Error: Connection dropped (Malformed_HTTP_Response). Check the gateway set in ANTHROPIC_BASE_URL, then try again.":                                queue.Network,
	"API Error: No internet route — check your connection or VPN (ENETUNREACH)":                                                                            queue.Network,
	"API Error: Invalid URL":                                  queue.BadRequest,
	"API Error: 400 messages.0: bad thing":                    queue.BadRequest,
	"API Error: 400 This organization has been disabled.":     queue.Disabled,
	"You've hit your Fable limit · resets Oct 9 at 5pm":       queue.ModelLimit,
	"You've reached your weekly usage limit":                  queue.WeeklyLimit,
	"You've hit your usage credit limit":                      queue.SpendLimit,
	"You're out of usage credits · resets Dec 3 at 9am":       queue.SpendLimit,
	"Usage credits ran out before the response was finished.": queue.SpendLimit,
	"Your org is out of usage · contact your admin":           queue.SpendLimit,
	"Your org is out of usage · add funds to continue":        queue.Credit,
	"You've hit your org's monthly spend limit · run /usage-credits to ask your admin for a higher limit · your session limit resets 3:20pm (Asia/Seoul)": queue.SpendLimit,
	"spend limit reached · resets Aug 8 · request an increase at https://go.example.com/limits":                                                           queue.SpendLimit,
	"Your group's usage limit is set to $0":                                                    queue.Disabled,
	"Your seat type doesn't include usage credits":                                             queue.Disabled,
	"This service is disabled for your org":                                                    queue.Disabled,
	"Your organization has disabled Claude subscription access":                                queue.Disabled,
	"Fable 5 requires usage credits. Switch models to continue.":                               queue.ModelCredits,
	"API Error: Usage credits required for 1M context · run /usage-credits to turn them on":    queue.LongContext,
	"API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited": queue.Overloaded,
	"Context limit reached · /compact or /clear to continue":                                   queue.PromptTooLong,
	"Cannot be launched inside another Claude Code session":                                    "",
	"No conversation found with session ID: aaaaaaaa-1111-4111-8111-111111111111":              "",
	"Reached maximum number of turns (1)":                                                      "",
	"All tests pass; the login page shows the new text.":                                       "",
}

func TestEachTextIsWhatItIs(t *testing.T) {
	for text, want := range clientTexts {
		if got := causeOfText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		f := &transcript.Final{Subtype: "success", IsError: true, Result: text}
		j := judge(ending{started: true, final: f}, time.Unix(1796000000, 0))
		if want != "" && (j.cause != want || j.reason == "") {
			t.Errorf("%q: judged %+v, want %q", text, j, want)
		}
		if want == "" && (j.cause != "" || j.outcome != queue.AgentFailed) {
			t.Errorf("%q: judged %+v, want a plain failure", text, j)
		}
	}
}

// What the client says in fields outranks its words.
func TestFieldsOutrankWords(t *testing.T) {
	event := func(typ string) *transcript.RateLimit { return &transcript.RateLimit{Status: "rejected", Type: typ} }
	for name, tt := range map[string]struct {
		s    signals
		want queue.Cause
	}{
		"event":                       {signals{status: 429, text: "something new", limit: event("five_hour")}, queue.FiveHourLimit},
		"event of a week":             {signals{status: 429, text: "You've hit your limit", limit: event("seven_day")}, queue.WeeklyLimit},
		"event of a model":            {signals{status: 429, limit: event("seven_day_opus")}, queue.ModelLimit},
		"event of money":              {signals{status: 429, limit: event("overage")}, queue.SpendLimit},
		"event of another model":      {signals{status: 429, limit: event("seven_day_overage_included")}, queue.ModelLimit},
		"throttle beside an event":    {signals{status: 429, text: "API Error: Server is temporarily limiting requests (not your usage limit)", limit: event("five_hour")}, queue.Overloaded},
		"code: credits of a model":    {signals{status: 429, code: "model_requires_usage_credits", text: "new words"}, queue.ModelCredits},
		"code: long context":          {signals{status: 429, code: "long_context_credits_required", text: "new words", limit: event("five_hour")}, queue.LongContext},
		"code: certificate":           {signals{code: "tls_cert_signature_failure", text: "new words"}, queue.Untrusted},
		"code: the machine slept":     {signals{kind: "server_error", code: "computer_slept", text: "new words"}, queue.Network},
		"code: a stored login":        {signals{status: 400, kind: "invalid_request", code: "stored_login_refused", text: "new words"}, queue.NotLoggedIn},
		"event of a new type":         {signals{status: 429, text: "new words", limit: event("lunar_month")}, queue.UsageLimit},
		"event without fields":        {signals{status: 429, text: "You've hit your weekly limit", limit: event("")}, queue.WeeklyLimit},
		"event beside another error":  {signals{status: 500, text: "API Error: 500", limit: event("five_hour")}, queue.ServerError},
		"429 in new words":            {signals{status: 429, text: "Come back later"}, queue.RateLimit},
		"429 of a subscription":       {signals{status: 429, code: "usage_limit_reached", text: "You've hit your limit"}, queue.UsageLimit},
		"529 that talks of limits":    {signals{status: 529, text: "usage limit"}, queue.Overloaded},
		"402":                         {signals{status: 402, text: "pay"}, queue.Credit},
		"400 of billing":              {signals{status: 400, kind: "billing_error", text: "Credit balance is too low"}, queue.Credit},
		"400 with a limit's date":     {signals{status: 400, text: "You have reached your specified API usage limits."}, queue.SpendLimit},
		"403 of an admin":             {signals{status: 403, text: "Your usage allocation has been disabled by your admin"}, queue.Disabled},
		"403":                         {signals{status: 403, text: "Request not allowed"}, queue.NotLoggedIn},
		"524 of a gateway":            {signals{status: 524, text: "a timeout occurred"}, queue.ServerError},
		"kind alone: billing":         {signals{kind: "billing_error", text: "new words"}, queue.Credit},
		"kind alone: authentication":  {signals{kind: "authentication_failed", text: "new words"}, queue.NotLoggedIn},
		"kind alone: model":           {signals{kind: "model_not_found", text: "new words"}, queue.NoModel},
		"kind alone: rate limit":      {signals{kind: "rate_limit", text: "new words"}, queue.RateLimit},
		"code alone: no connection":   {signals{code: "connection_failed", text: "new words"}, queue.Network},
		"code alone: no certificate":  {signals{code: "connection_failed", text: "self-signed certificate"}, queue.Untrusted},
		"overloaded within a reply":   {signals{status: 500, kind: "server_error", typ: "overloaded_error", text: "API Error: 500 new words"}, queue.Overloaded},
		"rate limit within a reply":   {signals{status: 500, kind: "server_error", typ: "rate_limit_error", text: "API Error: 500 new words"}, queue.RateLimit},
		"a wrong request, in a reply": {signals{status: 500, kind: "server_error", typ: "invalid_request_error", text: "API Error: 500 new words"}, queue.BadRequest},
		"type alone":                  {signals{typ: "billing_error", text: "new words"}, queue.Credit},
		"type beside a status":        {signals{status: 503, typ: "overloaded_error", text: "new words"}, queue.ServerError},
		"kind: account on hold":       {signals{status: 403, kind: "account_on_hold", text: "new words"}, queue.Disabled},
		"kind: verification":          {signals{status: 400, kind: "verification_required", text: "new words"}, queue.NotLoggedIn},
		"code: the client is too old": {signals{status: 400, kind: "invalid_request", code: "claude_code_version_too_old", text: "new words"}, queue.Outdated},
		"code: the agent's history":   {signals{status: 400, kind: "invalid_request", code: "tool_history_mismatch", text: "API Error: 400 new words", failed: true}, ""},
		"event with nothing in it":    {signals{text: "new words", bare: true}, queue.UsageLimit},
		"a failed request, new words": {signals{kind: "unknown", text: "new words", failed: true}, queue.Unexplained},
		"new words, and no request":   {signals{kind: "unknown", text: "new words"}, ""},
		"long context beside a limit": {signals{status: 429, text: "Extra usage is required for long context requests.", limit: event("five_hour")}, queue.LongContext},
	} {
		if got := causeOf(tt.s); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// What the real client, 2.1.332, wrote at each failure, and what it is.
func TestCausesOfRealFailures(t *testing.T) {
	for name, want := range map[string]struct {
		outcome queue.Outcome
		cause   queue.Cause
	}{
		"connection-refused":                 {queue.Outage, queue.Network},
		"error-401":                          {queue.Auth, queue.NotLoggedIn},
		"error-402":                          {queue.Limit, queue.Credit},
		"error-403":                          {queue.Auth, queue.NotLoggedIn},
		"error-403-subscription-disabled":    {queue.Limit, queue.Disabled},
		"error-404":                          {queue.CouldNotStart, queue.NoModel},
		"error-429-apikey":                   {queue.Limit, queue.RateLimit},
		"error-429-usage-limit-subscription": {queue.Limit, queue.FiveHourLimit},
		"error-500":                          {queue.Outage, queue.ServerError},
		"error-529-default-retries":          {queue.Outage, queue.Overloaded},
		"error-connection-reset":             {queue.Outage, queue.Network},
		"error-credit":                       {queue.Limit, queue.Credit},
		"error-empty-response":               {queue.Outage, queue.Network}, // a gateway's page in place of a reply
		"error-model-limit":                  {queue.Limit, queue.ModelLimit},
		"error-organization-disabled":        {queue.Auth, queue.NotLoggedIn},
		"error-overloaded-within-reply":      {queue.Outage, queue.Overloaded},
		"error-prompt-too-long":              {queue.AgentFailed, queue.PromptTooLong},
		"error-rate-limit-within-reply":      {queue.Limit, queue.RateLimit},
		"error-spend-limit-subscription":     {queue.Limit, queue.SpendLimit},
		"error-throttled-subscription":       {queue.Outage, queue.Overloaded}, // a 429 that is no limit
		"error-timeout":                      {queue.Outage, queue.Network},
		"not-logged-in":                      {queue.Auth, queue.NotLoggedIn},
	} {
		j := judge(endingOf(t, "stream-"+name), time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
		if j.outcome != want.outcome || j.cause != want.cause {
			t.Errorf("%s: %s, %q, want %s, %q (%s)", name, j.outcome, j.cause, want.outcome, want.cause, j.reason)
		}
	}
}

// An event with no fields says only that there is a limit, and one with fields
// after it says more.
func TestABareLimitEvent(t *testing.T) {
	bare := record{"type": "rate_limit_event", "rate_limit_info": record{"status": nil, "resetsAt": nil, "rateLimitType": nil}}
	allowed := record{"type": "rate_limit_event", "rate_limit_info": record{"status": "allowed"}}
	failed := record{"type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error", "result": "Come back later"}
	for name, tt := range map[string]struct {
		events []any
		want   queue.Cause
	}{
		"bare":            {[]any{bare, failed}, queue.UsageLimit},
		"lifted":          {[]any{bare, allowed, failed}, queue.Unexplained},
		"and a success":   {[]any{bare, resultRecord("ok", false)}, ""},
		"nothing of both": {[]any{failed}, queue.Unexplained},
	} {
		if j := judge(see(t, append([]any{record{"type": "system", "subtype": "init"}}, tt.events...)...), time.Now()); j.cause != tt.want {
			t.Errorf("%s: %+v, want %q", name, j, tt.want)
		}
	}
}

// see plays records to a watch, as a client that writes them.
func see(t *testing.T, records ...any) ending {
	t.Helper()
	var b strings.Builder
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return endingOfStream(t, strings.NewReader(b.String()))
}

type record = map[string]any

func message(role string, block record) record {
	return record{"type": role, "parent_tool_use_id": nil, "message": record{"role": role, "content": []record{block}}}
}

func resultRecord(text string, isError bool) record {
	return record{"type": "result", "subtype": "success", "is_error": isError, "terminal_reason": "completed", "result": text}
}

// None of the texts is one where it is quoted: in a prompt, in what a tool
// gave, in the agent's words in between and at the end.
func TestAQuotedTextIsOnlyAText(t *testing.T) {
	for text := range clientTexts {
		quoting := []any{
			message("user", record{"type": "text", "text": text}),
			message("assistant", record{"type": "text", "text": text}),
			message("assistant", record{"type": "tool_use", "id": "t1", "name": "Bash", "input": record{"command": "echo '" + text + "'"}}),
			message("user", record{"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": true}),
		}
		for name, tt := range map[string]struct {
			last []any
			want queue.Outcome
		}{
			"ended well":     {[]any{resultRecord("Now it says: "+text, false)}, queue.Done},
			"in these words": {[]any{resultRecord(text, false)}, queue.Done},
			"too many turns": {[]any{record{"type": "result", "subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns", "result": text, "errors": []string{"Reached maximum number of turns (9)"}}}, queue.AgentFailed},
			"died":           {nil, queue.AgentFailed},
			"aborted":        {[]any{record{"type": "result", "subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools", "result": text}}, queue.AgentFailed},
		} {
			e := see(t, append(append([]any{record{"type": "system", "subtype": "init"}}, quoting...), tt.last...)...)
			if j := judge(e, time.Unix(1796000000, 0)); j.outcome != tt.want || j.cause != "" {
				t.Errorf("%s, %q: %s, cause %q", name, text, j.outcome, j.cause)
			}
		}
	}
}

// The client's own error record counts without a result, and beside a result
// that calls itself a success; not when the model was heard again after it.
func TestTheClientsErrorRecord(t *testing.T) {
	text := "You've hit your limit · resets 2pm (America/Toronto)"
	failed := message("assistant", record{"type": "text", "text": text})
	failed["is_api_error_message"], failed["error"] = true, "rate_limit"
	for name, tt := range map[string]struct {
		records []any
		want    queue.Outcome
	}{
		"no result":          {[]any{failed}, queue.Limit},
		"a success":          {[]any{failed, resultRecord(text, false)}, queue.Limit},
		"heard again":        {[]any{failed, message("assistant", record{"type": "text", "text": "ok"}), resultRecord("ok", false)}, queue.Done},
		"another last words": {[]any{failed, resultRecord("ok", false)}, queue.Done},
	} {
		if j := judge(see(t, append([]any{record{"type": "system", "subtype": "init"}}, tt.records...)...), time.Now()); j.outcome != tt.want {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

// A client that fell silent over requests that it tried again is no agent that
// hung.
func TestSilenceWhileTryingAgainIsAnOutage(t *testing.T) {
	retry := record{"type": "system", "subtype": "api_retry", "attempt": 7, "max_retries": 10, "error_status": nil, "error": "unknown"}
	e := see(t, record{"type": "system", "subtype": "init"}, retry)
	e.cause, e.detail = stopSilence, "20m"
	if j := judge(e, time.Now()); j.outcome != queue.Outage || j.cause != queue.Network {
		t.Errorf("%+v", j)
	}
	e = see(t, record{"type": "system", "subtype": "init"}, retry, message("assistant", record{"type": "text", "text": "ok"}))
	e.cause, e.detail = stopSilence, "20m"
	if j := judge(e, time.Now()); j.outcome != queue.Hung {
		t.Errorf("%+v", j)
	}
}
