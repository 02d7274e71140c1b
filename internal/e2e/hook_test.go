//go:build e2e

package e2e

import (
	"encoding/json"
	"io"
	"strings"
)

// hookMain is a hook of the tests' own: it appends each input to the file
// args[0] and allows all calls but those that mention a push.
func hookMain(args []string, in io.Reader, out io.Writer) int {
	input, err := io.ReadAll(in)
	if err != nil || len(args) != 1 {
		return 2
	}
	if appendLine(args[0], string(input)) != nil {
		return 2
	}
	var call struct {
		Event string          `json:"hook_event_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	if json.Unmarshal(input, &call) != nil {
		return 2
	}
	if call.Event != "PreToolUse" {
		return 0
	}
	answer := map[string]any{"hookEventName": "PreToolUse", "permissionDecision": "allow"}
	if strings.Contains(string(call.Input), "push") {
		answer["permissionDecision"], answer["permissionDecisionReason"] = "deny", "queued as #1 for review"
	}
	if json.NewEncoder(out).Encode(map[string]any{"hookSpecificOutput": answer}) != nil {
		return 2
	}
	return 0
}
