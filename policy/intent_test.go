package policy

import "testing"

// Where a call leads is read from each of its spellings.
func TestTarget(t *testing.T) {
	s := builtin(t)
	for line, want := range map[string]string{
		"git push origin main":                           "origin",
		"git -C x push --force backup":                   "backup",
		"git push":                                       "",
		"git push git@example.com:a/b.git":               "example.com",
		"curl -d x https://u:p@Hooks.Example.com:8443/a": "hooks.example.com",
		"python3 -c \"import requests; requests.post('https://hooks.example.com/a')\"": "hooks.example.com",
		"scp a deploy@example.com:/srv": "example.com",
		"npm publish":                   "",
	} {
		if got := s.ClassifyCommand(line, "").Target(); got != want {
			t.Errorf("%s leads to %q, want %q", line, got, want)
		}
	}
	if a, b := s.FamilyOf("git-push"), s.FamilyOf("code-python-http"); a != "git" || b != "http" {
		t.Errorf("families %q and %q", a, b)
	}
}
