package firewall

import (
	"encoding/json"
	"slices"
)

// HookTimeout is how long the client waits for one hook, in seconds.
const HookTimeout = 30

type settings struct {
	DisableAllHooks bool                 `json:"disableAllHooks"`
	Hooks           map[string][]matcher `json:"hooks"`
}

type matcher struct {
	Hooks []command `json:"hooks"`
}

type command struct {
	Type      string   `json:"type"`
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	Timeout   int      `json:"timeout"`
	OnFailure string   `json:"onFailure"`
}

// Settings is the settings file that gives the client its hooks. hook is the
// hook program and its leading arguments. disableAllHooks stands in it as
// false, because a flag's settings outrank the project's and the user's.
func Settings(hook []string, socket string) []byte {
	s := settings{Hooks: map[string][]matcher{}}
	for _, event := range []string{EventSessionStart, EventPreToolUse} {
		args := append(slices.Clone(hook[1:]), "--socket", socket, "--event", event)
		c := command{Type: "command", Command: hook[0], Args: args, Timeout: HookTimeout, OnFailure: "block"}
		s.Hooks[event] = []matcher{{Hooks: []command{c}}}
	}
	// Strings and numbers only: this cannot fail.
	b, _ := json.MarshalIndent(s, "", "  ")
	return append(b, '\n')
}
