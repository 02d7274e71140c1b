package queue

import (
	"slices"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// A refused call that comes back in another spelling is linked to the first
// and counted there; another intent, another story and the same call again are
// not.
func TestAnotherSpellingIsLinked(t *testing.T) {
	s := newStore(t)
	add := func(id, story, command, rule, family, target string) Action {
		t.Helper()
		a, _, err := s.Add(t.Context(), Action{
			Session: "0192d3c4-0000-7000-8000-00000000000a", Story: story, Tool: "Bash", ToolUseID: id, Command: command, Rules: []string{rule},
			Family: family, Target: target, Tier: policy.External, Evidence: policy.Blocked, FoundBy: ByHook,
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := add("a", "1", "git push origin main", "git-push", "git", "origin")
	for _, c := range []struct{ id, story, command, rule, family, target, related string }{
		{"b", "1", "git -C . push", "git-push", "git", "", "1"},
		{"c", "1", "git send-pack origin", "git-send", "git", "origin", "1"},
		{"d", "1", "git push backup", "git-push", "git", "backup", ""},
		{"e", "1", "npm publish", "npm-publish", "package", "", ""},
		{"f", "2", "git push origin main", "git-push", "git", "origin", ""},
		{"g", "1", "sh deploy.sh", "opaque-script", "http", "", ""},
		{"h", "1", "sh release.sh", "opaque-script", "http", "", ""},
	} {
		if got := add(c.id, c.story, c.command, c.rule, c.family, c.target); got.RelatedTo != c.related {
			t.Errorf("%s is related to %q, want %q", c.command, got.RelatedTo, c.related)
		}
	}
	if again := add("i", "1", "git push origin main", "git-push", "git", "origin"); again.ID != first.ID || again.Repeats != 1 {
		t.Errorf("the very same call again: %+v", again)
	}
	got, err := s.Get(t.Context(), "1")
	if err != nil || !slices.Equal(got.Again, []uint64{2, 3}) {
		t.Errorf("counted %v, error %v", got.Again, err)
	}
}
