package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestDetailsAreWhole(t *testing.T) {
	s, err := Load(LoadOptions{Packs: []PackFile{{Name: "mine.toml", Data: []byte(goodPack)}}, Patterns: []string{"fastlane"}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Details()
	if err != nil {
		t.Fatal(err)
	}
	infos := s.Rules()
	if len(all) != len(infos) {
		t.Fatalf("%d details of %d rules", len(all), len(infos))
	}
	for i, d := range all {
		if d.RuleInfo != infos[i] {
			t.Errorf("detail %d is %+v, the rule is %+v", i, d.RuleInfo, infos[i])
		}
		if d.File != "" && (d.Line == 0 || len(d.Conditions) == 0) {
			t.Errorf("%s of %s: line %d, %d conditions", d.ID, d.File, d.Line, len(d.Conditions))
		}
	}
}

func TestDetail(t *testing.T) {
	s, err := Load(LoadOptions{Packs: []PackFile{{Name: "mine.toml", Data: []byte(goodPack)}}, Patterns: []string{"fastlane"}})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]struct {
		file, key, value string
		builtin          bool
		examples         int
	}{
		"git-push":         {file: "packs/git.toml", key: "dry", value: "--dry-run", builtin: true, examples: 3},
		"acme-ship":        {file: "mine.toml", key: "cmd", value: "acme ship|send", examples: 3},
		"opaque-script":    {builtin: true},
		"pattern:fastlane": {},
	} {
		got, err := s.Detail(id)
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d rules, %v", id, len(got), err)
			continue
		}
		d := got[0]
		if d.File != want.file || d.Builtin != want.builtin || len(d.Match) < want.examples {
			t.Errorf("%s: %+v", id, d)
		}
		if want.key != "" && !slices.Contains(d.Values(want.key), want.value) {
			t.Errorf("%s: %s is %q", id, want.key, d.Values(want.key))
		}
	}
	if got, err := s.Detail("no-such"); err != nil || len(got) != 0 {
		t.Errorf("no-such: %v, %v", got, err)
	}
}

const badPack = `wat = 1

[[rule]]
id = "a"
tier = "far"
why = "x"
cmd = ["acme a"]
match = ["acme a", "sudo acme a", "acme a b"]
not_match = ["acme b", "acme c"]

[[rule]]
id = "b"
tier = "external"
why = "x"
cmd = ["acme b"]
colour = "red"
match = [
  "acme b",
  "acme x",
]
not_match = ["acme b c", "acme d"]
`

func TestCheckSaysEverythingThatIsWrong(t *testing.T) {
	problems, rules, _ := Check(PackFile{Name: "bad.toml", Data: []byte(badPack)})
	want := []struct {
		line int
		text string
	}{
		{1, `unknown key "wat"`},
		{4, `rule "a": unknown tier "far"`},
		{12, `rule "b": 2 match examples`},
		{16, `rule "b": unknown key "rule.colour"`},
		{19, `rule "b": the example "acme x" does not match (no rule speaks of it)`},
		{21, `rule "b": the near miss "acme b c" matches`},
	}
	if rules != 2 || len(problems) != len(want) {
		t.Fatalf("%d rules, %d problems: %+v", rules, len(problems), problems)
	}
	for i, w := range want {
		if p := problems[i]; p.Line != w.line || !strings.HasPrefix(p.Text, w.text) {
			t.Errorf("problem %d is %+v, want line %d, %q", i, p, w.line, w.text)
		}
	}
}

// What Check lets pass, Load takes, and the other way round.
func TestCheckAgreesWithLoad(t *testing.T) {
	for name, data := range map[string]string{
		"good": goodPack, "bad": badPack, "empty": "", "torn": "[[rule]", "pattern": `patterns = [" "]`,
		"wrong type": strings.Replace(goodPack, `tier = "external"`, `tier = 3`, 1),
		"twice":      strings.Replace(goodPack, "git-wip", "acme-ship", 1),
		"no id":      strings.Replace(goodPack, `id = "git-wip"`, "", 1),
	} {
		f := PackFile{Name: "x.toml", Data: []byte(data)}
		problems, _, _ := Check(f)
		_, err := Load(LoadOptions{Packs: []PackFile{f}})
		if (err == nil) != (len(problems) == 0) {
			t.Errorf("%s: Load says %v, Check %+v", name, err, problems)
		}
	}
}
