package policy

import (
	"strings"
	"testing"
)

const goodPack = `
pack = "mine"

[[tool]]
name = "acme"
value = ["--region"]

[[rule]]
id = "acme-ship"
tier = "external"
why = "It ships."
cmd = ["acme ship|send"]
dry = ["--dry-run"]
match = ["acme ship", "acme --region eu ship x", "sudo acme send"]
not_match = ["acme ship --dry-run", "acme status"]

[[rule]]
id = "git-wip"
tier = "shared"
why = "Our hook mirrors stashes."
cmd = ["git stash"]
match = ["git stash", "git stash push", "git -C x stash pop"]
not_match = ["git status", "git commit -m stash"]
`

func TestUserPack(t *testing.T) {
	s, err := Load(LoadOptions{Packs: []PackFile{{Name: "mine.toml", Data: []byte(goodPack)}}, Patterns: []string{"FastLane", "our-internal-cli"}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Verdict{
		"acme --region eu ship":             VerdictExternal,
		"acme ship --dry-run":               VerdictLocal,
		"git stash":                         VerdictShared,
		"git push":                          VerdictExternal,
		"bundle exec fastlane lanes":        VerdictExternal,
		"timeout 5 our-internal-cli":        VerdictExternal,
		"ls":                                VerdictLocal,
		"echo 'then acme ship'":             VerdictMention,
		"git add x # our-internal-cli":      VerdictMention,
		"cat > f <<'E'\nFASTLANE beta\nE\n": VerdictMention,
	} {
		if r := s.ClassifyCommand(line, ""); r.Verdict != want {
			t.Errorf("%q is %s by %v, want %s", line, r.Verdict, r.Rules(), want)
		}
	}
	if r := s.ClassifyText("we use FASTLANE"); r.Verdict != VerdictMention || r.Rules()[0] != "pattern:fastlane" {
		t.Errorf("text: %s %v", r.Verdict, r.Rules())
	}
	found := false
	for _, r := range s.Rules() {
		found = found || r.ID == "acme-ship" && r.Pack == "mine" && r.Tier == External
	}
	if !found {
		t.Error("the user's rule is not listed")
	}
}

// TestUserPackCannotLoosen: a rule that says local takes nothing away.
func TestUserPackCannotLoosen(t *testing.T) {
	pack := strings.NewReplacer("acme-ship", "push-is-fine", `"external"`, `"local"`, "acme ship|send", "git push",
		`"acme ship", "acme --region eu ship x", "sudo acme send"`, `"git push", "git push x", "git -C a push"`,
		`"acme ship --dry-run", "acme status"`, `"git pull", "git fetch"`).Replace(goodPack)
	s, err := Load(LoadOptions{Packs: []PackFile{{Name: "mine.toml", Data: []byte(pack)}}})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.ClassifyCommand("git push", ""); r.Verdict != VerdictExternal {
		t.Errorf("git push is %s", r.Verdict)
	}
}

func TestUserPackErrors(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown key":       {`why = "It ships."`, `wy = "It ships."`, `mine.toml:11: rule "acme-ship": unknown key "rule.wy"`},
		"wrong type":        {`tier = "external"`, `tier = 3`, `mine.toml:10: rule "acme-ship": `},
		"unknown tier":      {`tier = "external"`, `tier = "far"`, `mine.toml:9: rule "acme-ship": unknown tier "far"`},
		"no why":            {`why = "It ships."`, ``, `mine.toml:9: rule "acme-ship": why is missing`},
		"no cmd":            {`cmd = ["acme ship|send"]`, ``, `mine.toml:9: rule "acme-ship": cmd is missing`},
		"unknown predicate": {`dry = ["--dry-run"]`, `when = ["full-moon"]`, `mine.toml:9: rule "acme-ship": unknown predicate "full-moon"`},
		"few examples":      {`, "sudo acme send"`, ``, `mine.toml:9: rule "acme-ship": 2 match examples`},
		"few near misses":   {`, "acme status"`, ``, `mine.toml:9: rule "acme-ship": 1 not_match examples`},
		"no match":          {`"sudo acme send"`, `"acme fetch"`, `mine.toml:9: rule "acme-ship": the example "acme fetch" does not match`},
		"near miss matches": {`"acme status"`, `"acme send x"`, `mine.toml:9: rule "acme-ship": the near miss "acme send x" matches`},
		"id twice":          {`id = "git-wip"`, `id = "acme-ship"`, `rule "acme-ship": the id stands twice`},
		"bad undo":          {`dry = ["--dry-run"]`, `undo = "maybe"`, `rule "acme-ship": undo is "maybe"`},
		"syntax":            {`cmd = ["git stash"]`, `cmd = ["git stash"`, `mine.toml:`},
	} {
		if !strings.Contains(goodPack, c.old) {
			t.Fatalf("%s: %q is not in the pack", name, c.old)
		}
		_, err := Load(LoadOptions{Packs: []PackFile{{Name: "mine.toml", Data: []byte(strings.Replace(goodPack, c.old, c.new, 1))}}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q in it", name, err, c.want)
		}
	}
	if _, err := Load(LoadOptions{Patterns: []string{" "}}); err == nil {
		t.Error("an empty pattern is taken")
	}
}
