package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
)

// A story may ask for a stricter level and gets it whole: rules, tools and
// firewall. A looser one is not granted.
func TestAStoryTightensItsLevel(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("git commit --allow-empty -m x || true", ""), say("ok")), "strict", "loose", "plain")
	n.o.RulesAt = func(l policy.Level) string { return prompts.Rules(prompts.RulesOptions{Level: l}) }
	n.o.RulesText = n.o.RulesAt(policy.Unattended)
	data := `{"userStories":[{"id":"1","title":"strict","level":"lockdown","passes":false},` +
		`{"id":"2","title":"loose","level":"supervised","passes":false},{"id":"3","title":"plain","passes":false}]}`
	if err := os.WriteFile(n.o.Stories, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	snap := n.run(t.Context())
	want := []string{"lockdown", "unattended", "unattended"}
	for i, a := range snap.Attempts {
		if a.Level != want[i] {
			t.Errorf("story %s ran at %q, want %q", a.Story, a.Level, want[i])
		}
		for _, name := range []string{promptName, rulesName} {
			b, err := os.ReadFile(filepath.Join(a.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(b), "in lockdown"); got != (want[i] == "lockdown") {
				t.Errorf("story %s: %s speaks of lockdown: %v", a.Story, name, got)
			}
		}
	}
	if len(snap.Actions) != 1 || snap.Actions[0].Story != "1" || snap.Actions[0].Evidence != policy.Blocked {
		t.Errorf("only the commit of the strict story is held: %+v", snap.Actions)
	}
	if len(snap.Attempts) != 3 || snap.Session.Level != "unattended" || snap.Attempts[0].Outcome == queue.Unguarded {
		t.Errorf("session %+v", snap.Session)
	}
}
