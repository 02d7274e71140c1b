package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

const exactRules = `
[[rule]]
id = "yes"
tier = "local"
allow = true
why = "Mine."
cmd = ["git"]
line = ["git push origin main"]
dir = "/repo"
match = ["git push origin main", "true && git push origin main", "git push origin main > /dev/null"]
not_match = ["git push origin main --force", "git push"]

[[rule]]
id = "no"
tier = "external"
deny = true
why = "Never."
cmd = ["npm"]
line = ["npm publish"]
dir = "/repo"
match = ["npm publish", "true && npm publish", "npm publish > /dev/null"]
not_match = ["npm publish --tag x", "npm pack"]
`

// A rule about one line says nothing of any other, nor of the same in another
// folder, environment or wrapper.
func TestExactRules(t *testing.T) {
	s, err := Load(LoadOptions{Packs: []PackFile{{Name: "own", Data: []byte(exactRules), Own: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if builtin(t).Allows() || !s.Allows() {
		t.Error("Allows does not tell a user's rule from none")
	}
	for _, c := range []struct {
		line, cwd    string
		held, denied bool
	}{
		{"git push origin main", "/repo", false, false},
		{"git push 'origin' main", "/repo", false, false},
		{"git push origin main", "/other", true, false},
		{"git push origin main", "", true, false},
		{"cd sub && git push origin main", "/repo", true, false},
		{"cd /repo && git push origin main", "/tmp", false, false},
		{"git push origin main other", "/repo", true, false},
		{"git push -f origin main", "/repo", true, false},
		{"GIT_SSH_COMMAND=x git push origin main", "/repo", true, false},
		{"sudo git push origin main", "/repo", true, false},
		{"git push origin $B", "/repo", true, false},
		{"git push origin main && git push backup", "/repo", true, false},
		{"npm publish", "/repo", true, true},
		{"npm publish --tag x", "/repo", true, false},
		{"npm publish && gh pr create", "/repo", true, false},
	} {
		in, err := json.Marshal(map[string]string{"command": c.line})
		if err != nil {
			t.Fatal(err)
		}
		res := s.Classify(Call{Tool: "Bash", Input: in, Cwd: c.cwd})
		if _, denied := res.Denied(); denied != c.denied || (res.Tier == External) != c.held {
			t.Errorf("%s in %q: %v, denied %v, by %v", c.line, c.cwd, res.Tier, denied, res.Rules())
		}
	}
}

func TestDenyIsTheUsersOwn(t *testing.T) {
	_, err := Load(LoadOptions{Packs: []PackFile{{Name: "repo", Data: []byte(exactRules[strings.Index(exactRules, "[[rule]]\nid = \"no\""):])}}})
	if err == nil || !strings.Contains(err.Error(), "deny stands in your own rules.toml only") {
		t.Errorf("error %v", err)
	}
}
