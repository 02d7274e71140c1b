package policy

import (
	"strings"
	"testing"
)

const allowPack = `pack = "mine"
[[rule]]
id = "allow-staging"
tier = "local"
allow = true
why = "The staging remote is a disk in this room."
cmd = ["git push staging"]
match = ["git push staging main", "cd x && git push staging", "git -C a push --force staging HEAD"]
not_match = ["git push origin main", "git push"]
`

func TestAllowTakesBackOneCommandAndNothingElse(t *testing.T) {
	s, err := Load(LoadOptions{Packs: []PackFile{{Name: "mine.toml", Data: []byte(allowPack), Own: true}}})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Verdict{
		"git push staging main":                             VerdictLocal,
		"sudo git push staging":                             VerdictLocal,
		"git push origin main":                              VerdictExternal,
		"git push":                                          VerdictExternal,
		"git push $REMOTE main":                             VerdictExternal, // it may be another
		"git push origin staging":                           VerdictExternal, // a branch of that name
		"git push staging && git push origin":               VerdictExternal,
		"git push staging && npm publish":                   VerdictExternal,
		"git -c core.sshCommand='npm publish' push staging": VerdictExternal,
	} {
		got := s.ClassifyCommand(command, "")
		if got.Verdict != want {
			t.Errorf("%s: %s %v, want %s", command, got.Verdict, got.Rules(), want)
		}
		if want == VerdictLocal && (len(got.Hits) != 1 || !got.Hits[0].Allowed) {
			t.Errorf("%s: the result does not say that it was allowed: %+v", command, got.Hits)
		}
	}
}

// Who may loosen, and how narrow it must be.
func TestAllowIsRefusedWhereItLoosensTooMuch(t *testing.T) {
	tests := map[string]struct {
		change func(string) string
		own    bool
		want   string
	}{
		"a repository's":   {func(s string) string { return s }, false, `mine.toml:3: rule "allow-staging": allow stands in your own rules.toml only`},
		"a whole program":  {func(s string) string { return strings.Replace(s, `["git push staging"]`, `["git"]`, 1) }, true, `cmd "git" allows too much`},
		"a wildcard":       {func(s string) string { return strings.Replace(s, "git push staging\"]", "git push *\"]", 1) }, true, `allows too much`},
		"of another tier":  {func(s string) string { return strings.Replace(s, `"local"`, `"shared"`, 1) }, true, `allow is for rules with tier local`},
		"that never holds": {func(s string) string { return strings.Replace(s, `"cd x && git push staging"`, `"git pull"`, 1) }, true, `the example "git pull" does not match`},
	}
	for name, tt := range tests {
		_, err := Load(LoadOptions{Packs: []PackFile{{Name: "mine.toml", Data: []byte(tt.change(allowPack)), Own: tt.own}}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
