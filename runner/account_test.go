package runner

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

func TestAccount(t *testing.T) {
	const key, oauth = "ANTHROPIC_API_KEY=very-secret", "CLAUDE_CODE_OAUTH_TOKEN=very-secret"
	for name, tt := range map[string]struct {
		env     []string
		login   bool
		billing string
		want    string // "" = it asks
	}{
		"nothing":                  {nil, false, "", "own login"},
		"a login":                  {nil, true, "", "own login"},
		"a token":                  {[]string{oauth}, false, "", "subscription"},
		"a key":                    {[]string{key}, false, "", "API key"},
		"an empty key":             {[]string{"ANTHROPIC_API_KEY="}, true, "", "own login"},
		"key and login":            {[]string{key}, true, "", ""},
		"key and token":            {[]string{key, oauth}, false, "", ""},
		"gateway's token":          {[]string{"ANTHROPIC_AUTH_TOKEN=very-secret"}, false, "", "AUTH_TOKEN"},
		"key that may be billed":   {[]string{key}, true, "api-key", "API key"},
		"key that may not":         {[]string{key}, true, "subscription", "kept from it"},
		"key for a gateway":        {[]string{key, "ANTHROPIC_BASE_URL=http://127.0.0.1:4000"}, true, "", "gateway"},
		"key, the provider's host": {[]string{key, "ANTHROPIC_BASE_URL=https://api.anthropic.com"}, true, "", ""},
		"Bedrock":                  {[]string{key, "CLAUDE_CODE_USE_BEDROCK=1"}, true, "", "Bedrock"},
		"Bedrock switched off":     {[]string{key, "CLAUDE_CODE_USE_BEDROCK=0"}, false, "", "API key"},
	} {
		got, env, err := Account(tt.env, tt.login, tt.billing)
		var ask *BillingError
		if asks := errors.As(err, &ask); asks != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if strings.Contains(got, "secret") || err != nil && strings.Contains(err.Error()+ask.Hint(), "secret") {
			t.Errorf("%s: a value is shown", name)
		}
		if kept := !slices.Contains(env, key) && slices.Contains(tt.env, key); err == nil && kept != (tt.billing == "subscription") {
			t.Errorf("%s: environment %d of %d", name, len(env), len(tt.env))
		}
	}
}

// A client that says it has a key is ended before it asks anything of a model,
// where only the subscription may be charged.
func TestAKeyThatMustNotBeBilled(t *testing.T) {
	for source, want := range map[string]cause{"none": notStopped, "ANTHROPIC_API_KEY": stopBilled, "apiKeyHelper": stopBilled, "": notStopped} {
		w := &watch{
			o: &Options{Keyless: true}, a: &queue.Attempt{}, child: deaf{}, guard: allAsked{}, grace: time.Hour, afterResult: time.NewTimer(time.Hour),
		}
		w.see(transcript.Event{Kind: transcript.KindInit, Init: &transcript.Init{APIKeySource: source}})
		w.afterResult.Stop()
		if w.end.cause != want {
			t.Errorf("%q: cause %d, want %d", source, w.end.cause, want)
		}
		if j := judge(w.end, time.Now()); want == stopBilled && (j.outcome != queue.Auth || !strings.Contains(j.reason, source)) {
			t.Errorf("%q: %+v", source, j)
		}
	}
}

// deaf is a child that signals do nothing to.
type deaf struct{ child }

func (deaf) Terminate() (proc.State, error) { return proc.State{}, nil }
