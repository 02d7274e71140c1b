package port

import (
	"encoding/json"

	"github.com/seed-b23e517c/loop/firewall"
)

// HookTimeout is how long the client waits for one hook, in seconds.
const HookTimeout = 30

type settings struct {
	DisableAllHooks bool                 `json:"disableAllHooks"`
	Hooks           map[string][]matcher `json:"hooks"`
	Permissions     *permissions         `json:"permissions,omitempty"`
}

type permissions struct {
	Deny []string `json:"deny"`
}

type matcher struct {
	Hooks []httpHook `json:"hooks"`
}

type httpHook struct {
	Type      string            `json:"type"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Timeout   int               `json:"timeout"`
	OnFailure string            `json:"onFailure"`
}

// Settings is the settings file that gives the client its hooks. It holds the
// server's token: it is for the client's eyes, and goes away once the client
// has read it. disableAllHooks stands in it as false, because a flag's settings
// outrank the project's and the user's. deny are permission rules of the
// client's own, see firewall.PlainDenials.
func (s *Server) Settings(deny ...string) []byte {
	out := settings{Hooks: map[string][]matcher{}}
	if len(deny) > 0 {
		out.Permissions = &permissions{Deny: deny}
	}
	hook := httpHook{
		Type: "http", URL: s.URL(), Headers: map[string]string{"Authorization": "Bearer " + s.token},
		Timeout: HookTimeout, OnFailure: "block",
	}
	for _, event := range []string{firewall.EventUserPromptSubmit, firewall.EventPreToolUse, firewall.EventPostToolUse, firewall.EventPostToolUseFailure} {
		out.Hooks[event] = []matcher{{Hooks: []httpHook{hook}}}
	}
	// Strings and numbers only: this cannot fail.
	b, _ := json.MarshalIndent(out, "", "  ")
	return append(b, '\n')
}
