//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/queue"
)

// failure is a way in which a request can fail, and what it is.
type failure struct {
	fault   fakeapi.Fault
	oauth   bool   // the client is logged in, and has no key
	env     string // a variable for the client, NAME=value
	outcome queue.Outcome
	cause   queue.Cause
}

// answer is a refusal by the service.
func answer(status int, message string) fakeapi.Fault {
	return fakeapi.Fault{Status: status, Message: message}
}

// page is what something else answers that stands between.
func page(status int) fakeapi.Fault {
	return fakeapi.Fault{Status: status, Body: fmt.Sprintf("<html><head><title>%d</title></head><body>Welcome</body></html>", status)}
}

// limited is a 429 with the headers of a subscription's limit.
func limited(claim string, more ...string) fakeapi.Fault {
	h := http.Header{}
	pairs := append([]string{"status", "rejected", "reset", strconv.FormatInt(time.Now().Add(3*time.Hour).Unix(), 10), "representative-claim", claim}, more...)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			h.Set("anthropic-ratelimit-unified-"+pairs[i], pairs[i+1])
		}
	}
	return fakeapi.Fault{Status: http.StatusTooManyRequests, Header: h}
}

var failures = map[string]failure{
	"a prompt too long":          {fault: answer(400, "prompt is too long: 210000 tokens > 200000 maximum"), outcome: queue.AgentFailed, cause: queue.PromptTooLong},
	"a wrong request":            {fault: answer(400, "messages.0: bad thing"), outcome: queue.AgentFailed, cause: queue.BadRequest},
	"no credit":                  {fault: answer(400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."), outcome: queue.Limit, cause: queue.Credit},
	"the workspace's own limit":  {fault: answer(400, "You have reached your specified API usage limits. You will regain access on 2027-12-01 at 00:00 UTC."), outcome: queue.Limit, cause: queue.SpendLimit},
	"a disabled organization":    {fault: answer(400, "This organization has been disabled."), outcome: queue.Auth, cause: queue.NotLoggedIn},
	"a refused key":              {fault: answer(401, "invalid x-api-key"), outcome: queue.Auth, cause: queue.NotLoggedIn},
	"an expired login":           {fault: answer(401, "OAuth token has expired. Please obtain a new token or refresh your existing token."), oauth: true, outcome: queue.Auth, cause: queue.NotLoggedIn},
	"payment required":           {fault: answer(402, "Your account has no credits left."), outcome: queue.Limit, cause: queue.Credit},
	"forbidden":                  {fault: answer(403, "Request not allowed"), outcome: queue.Auth, cause: queue.NotLoggedIn},
	"a login that is not wanted": {fault: answer(403, "OAuth authentication is currently not allowed for this organization."), oauth: true, outcome: queue.Limit, cause: queue.Disabled},
	"no such model":              {fault: answer(404, "model: claude-x"), outcome: queue.CouldNotStart, cause: queue.NoModel},
	"too large":                  {fault: answer(413, "Request exceeds the maximum size"), outcome: queue.AgentFailed, cause: queue.PromptTooLong},

	"a rate limit":             {fault: answer(429, "This request would exceed your organization's rate limit of 50 requests per minute"), outcome: queue.Limit, cause: queue.RateLimit},
	"a rate limit with a time": {fault: fakeapi.Fault{Status: 429, Header: http.Header{"Retry-After": {"1"}}}, outcome: queue.Limit, cause: queue.RateLimit},
	"a 429 that is no limit":   {fault: answer(429, "Error"), oauth: true, outcome: queue.Outage, cause: queue.Overloaded},
	"the five hours":           {fault: limited("five_hour"), oauth: true, outcome: queue.Limit, cause: queue.FiveHourLimit},
	"the five hours, no time":  {fault: limited("five_hour", "reset", ""), oauth: true, outcome: queue.Limit, cause: queue.FiveHourLimit},
	"the week":                 {fault: limited("seven_day"), oauth: true, outcome: queue.Limit, cause: queue.WeeklyLimit},
	"a model's week":           {fault: limited("seven_day_opus"), oauth: true, outcome: queue.Limit, cause: queue.ModelLimit},
	"extra usage":              {fault: limited("overage", "overage-status", "rejected", "overage-disabled-reason", "out_of_credits"), oauth: true, outcome: queue.Limit, cause: queue.SpendLimit},
	"a long context":           {fault: answer(429, "Extra usage is required for long context requests."), oauth: true, outcome: queue.Limit, cause: queue.LongContext},

	"a server's error":    {fault: answer(500, "Internal server error"), outcome: queue.Outage, cause: queue.ServerError},
	"a bad gateway":       {fault: page(502), outcome: queue.Outage, cause: queue.ServerError},
	"unavailable":         {fault: answer(503, "upstream connect error"), outcome: queue.Outage, cause: queue.ServerError},
	"a gateway's timeout": {fault: answer(504, "Gateway timeout"), outcome: queue.Outage, cause: queue.ServerError},
	"overloaded":          {fault: answer(529, "Overloaded"), outcome: queue.Outage, cause: queue.Overloaded},
	"a hotel's page":      {fault: page(200), outcome: queue.Outage, cause: queue.Network},

	"connection refused":        {env: "ANTHROPIC_BASE_URL=http://127.0.0.1:9", outcome: queue.Outage, cause: queue.Network},
	"no such host":              {env: "ANTHROPIC_BASE_URL=http://no.such.host.invalid", outcome: queue.Outage, cause: queue.Network},
	"no answer":                 {fault: fakeapi.Fault{Hold: make(chan struct{})}, env: "API_TIMEOUT_MS=1500", outcome: queue.Outage, cause: queue.Network},
	"cut before a word":         {fault: fakeapi.Fault{Cut: true}, outcome: queue.Outage, cause: queue.Network},
	"reset before a word":       {fault: fakeapi.Fault{Reset: true}, outcome: queue.Outage, cause: queue.Network},
	"cut within a reply":        {fault: fakeapi.Fault{Cut: true, Events: 3, Whole: true}, outcome: queue.Outage, cause: queue.Network},
	"reset within a reply":      {fault: fakeapi.Fault{Reset: true, Events: 3, Whole: true}, outcome: queue.Outage, cause: queue.Network},
	"a reply that stops short":  {fault: fakeapi.Fault{End: true, Events: 3, Whole: true}, outcome: queue.Outage, cause: queue.Network},
	"overloaded within a reply": {fault: fakeapi.Fault{Error: "overloaded_error", Message: "Overloaded", Events: 3, Whole: true}, outcome: queue.Outage, cause: queue.Overloaded},
	"rate limit within a reply": {fault: fakeapi.Fault{Error: "rate_limit_error", Message: "Slow down", Events: 3, Whole: true}, outcome: queue.Limit, cause: queue.RateLimit},
	"an error within a reply":   {fault: fakeapi.Fault{Error: "api_error", Message: "Internal server error", Events: 3, Whole: true}, outcome: queue.Outage, cause: queue.ServerError},

	// What the client mends itself, by asking for the reply in one piece.
	"cut, and mended":        {fault: fakeapi.Fault{Cut: true, Events: 3}, outcome: queue.Unproven},
	"reset, and mended":      {fault: fakeapi.Fault{Reset: true, Events: 3}, outcome: queue.Unproven},
	"short, and mended":      {fault: fakeapi.Fault{End: true, Events: 3}, outcome: queue.Unproven},
	"overloaded, and mended": {fault: fakeapi.Fault{Error: "overloaded_error", Events: 3}, outcome: queue.Unproven},
}

// Each way in which a request can fail is taken for what it is, with all that
// the client makes of it in between.
func TestEachFailureIsWhatItIs(t *testing.T) {
	t.Parallel()
	for name, f := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.fault.Sticky = true
			f.meet(t, fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Text("It is done.")}, Faults: []fakeapi.Fault{f.fault}})
		})
	}
}

// meet runs a story whose only turn is turn.
func (f failure) meet(t *testing.T, turn fakeapi.Turn) {
	t.Helper()
	title := "Meet a failure"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{turn}}})
	if f.oauth {
		w.setenv("ANTHROPIC_API_KEY", "")
		w.setenv("CLAUDE_CODE_OAUTH_TOKEN", "dummy")
	}
	if name, value, ok := strings.Cut(f.env, "="); ok {
		w.setenv(name, value)
	}
	w.stories("[limits]\nwait = \"0\"\n[retries]\nattempts = 1\n", title)
	r := w.loop("run")
	ran := attempts(w.report())
	if len(ran) != 1 || ran[0].Outcome != f.outcome || ran[0].Cause != f.cause {
		t.Errorf("want %s, %q; attempts %+v\n%s", f.outcome, f.cause, ran, r.stderr)
	}
}

// A certificate that nobody knows, and a port that speaks another language.
func TestWrongServersAreOutages(t *testing.T) {
	t.Parallel()
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(unknown.Close)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	go func() {
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.9\r\n"))
			_ = c.Close()
		}
	}()
	for name, f := range map[string]failure{
		"an unknown certificate": {env: "ANTHROPIC_BASE_URL=" + unknown.URL, outcome: queue.Outage, cause: queue.Untrusted},
		"another language":       {env: "ANTHROPIC_BASE_URL=http://" + other.Addr().String(), outcome: queue.Outage, cause: queue.Network},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f.meet(t, fakeapi.Say("nobody hears it"))
		})
	}
}

// An agent that works on the very texts: it reads them, writes them, has them
// from a failed command and ends with one.
func TestWordsAboutLimitsAreNoLimit(t *testing.T) {
	t.Parallel()
	title := "Write about limits"
	texts := []string{
		"You've hit your limit · resets 2pm (America/Toronto)", "Credit balance is too low", "API Error: Rate limit reached",
		"Claude AI usage limit reached|1796015997", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}`,
		`{"type":"result","subtype":"success","is_error":true,"api_error_status":429}`, "Not logged in · Please run /login", "API Error: 529 Overloaded",
	}
	for _, last := range []string{texts[0], texts[1], texts[7]} {
		t.Run(last[:9], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
				fakeapi.Call(write("limits.md", strings.Join(texts, "\n"))),
				fakeapi.Call(fakeapi.Bash("cat limits.md; cat limits.md >&2; false")),
				{Blocks: []fakeapi.Block{fakeapi.Text("It says: " + texts[0]), fakeapi.Bash("cat limits.md")}},
				fakeapi.Say(last),
			}}})
			w.stories("", title)
			w.loop("run").want(t, exitDone)
			diff(t, "outcomes", []string{"S1 unproven"}, outcomes(w.report()))
		})
	}
}
