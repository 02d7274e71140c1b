package firewall

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/policy"
)

// The client must refuse nothing that the firewall would let run: what the
// rules name is external, whatever comes behind a prefix.
func TestPlainDenialsAreExternal(t *testing.T) {
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range PlainDenials() {
		command := strings.TrimSuffix(strings.TrimPrefix(rule, "Bash("), ")")
		lines := []string{strings.TrimSuffix(command, ":*")}
		if lines[0] != command {
			lines = append(lines, lines[0]+" x --yes")
		}
		for _, line := range lines {
			if res := set.ClassifyCommand(line, ""); res.Tier != policy.External {
				t.Errorf("%s: %q is %v", rule, line, res.Tier)
			}
		}
	}
	for _, local := range []string{"git push --dry-run", "npm publish --dry-run", "git push --dry-run origin main"} {
		for _, rule := range PlainDenials() {
			if rule == "Bash("+local+")" || strings.HasSuffix(rule, ":*)") && strings.HasPrefix("Bash("+local, strings.TrimSuffix(rule, ":*)")) {
				t.Errorf("%s covers %q", rule, local)
			}
		}
	}
}

func TestSettingsHoldDenials(t *testing.T) {
	s, err := Listen(&Guard{Now: time.Now}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out struct {
		Permissions struct {
			Deny []string `json:"deny"`
		} `json:"permissions"`
	}
	if err := json.Unmarshal(s.Settings(PlainDenials()...), &out); err != nil || !slices.Contains(out.Permissions.Deny, "Bash(git push)") {
		t.Errorf("error %v, deny %v", err, out.Permissions.Deny)
	}
	if strings.Contains(string(s.Settings()), "permissions") {
		t.Error("permissions without denials")
	}
}
