package firewall

import (
	"strings"
	"testing"

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
