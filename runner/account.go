package runner

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// The values of billing.
const (
	BillKey          = "api-key"
	BillSubscription = "subscription"
)

// keyVars are the variables whose value is billed by use.
var keyVars = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}

// BillingError says that an API key would be billed although there is a
// subscription, and nobody has said that it should be.
type BillingError struct{ Login string }

func (e *BillingError) Error() string {
	return "both ANTHROPIC_API_KEY and " + e.Login + " are there: the client would bill the key"
}

// Hint says how to choose.
func (e *BillingError) Hint() string {
	return "say which with --billing subscription or --billing api-key, or for good with `billing` in your own config.toml"
}

// Account tells what the client's work will be charged to, by which of its
// variables are set: no value is looked at but that of its address and its
// switches. login says that the client's own login is on this machine. The
// environment that comes back is the one to start it with.
func Account(env []string, login bool, billing string) (name string, given []string, err error) {
	has := func(name string) bool { return proc.Getenv(env, name) != "" }
	for _, cloud := range []struct{ asks, name string }{
		{"CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"}, {"CLAUDE_CODE_USE_MANTLE", "Amazon Bedrock"},
		{"CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"}, {"CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"},
	} {
		if v := strings.ToLower(proc.Getenv(env, cloud.asks)); v != "" && v != "0" && v != "false" {
			return fmt.Sprintf("%s (%s), billed by use", cloud.name, cloud.asks), env, nil
		}
	}
	subscription := ""
	switch {
	case has("CLAUDE_CODE_OAUTH_TOKEN"):
		subscription = "a subscription (CLAUDE_CODE_OAUTH_TOKEN)"
	case login:
		subscription = "the client's own login"
	}
	key := has("ANTHROPIC_API_KEY") || has("ANTHROPIC_AUTH_TOKEN")
	switch gateway := proc.Getenv(env, "ANTHROPIC_BASE_URL"); {
	case billing == BillSubscription && key:
		// Without the key the client takes its login, or says that it has none.
		return "the client's own login; the API key is kept from it", override(env, keyVars, nil), nil
	case key && foreignHost(gateway):
		return "the gateway in ANTHROPIC_BASE_URL", env, nil
	case key && billing == "" && subscription != "":
		return "", nil, &BillingError{Login: subscription}
	case has("ANTHROPIC_AUTH_TOKEN"):
		return "the token in ANTHROPIC_AUTH_TOKEN, billed by use", env, nil
	case key:
		return "the API key in ANTHROPIC_API_KEY, billed by use", env, nil
	case subscription != "":
		return subscription, env, nil
	}
	return "the client's own login", env, nil
}

// isKey reads what the client says of where its key is from; a login has none.
func isKey(source string) bool {
	switch strings.ToLower(source) {
	case "", "none", "oauth":
		return false
	}
	return true
}

// foreignHost reports whether an address is not the provider's own.
func foreignHost(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host != "anthropic.com" && !strings.HasSuffix(host, ".anthropic.com")
}
