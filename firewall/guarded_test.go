package firewall

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a shell makes of a pattern is looked for where it would be found.
func TestGuardedLooksAround(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".claude/settings.json", "claude/settings.json", "a/git", "b/git", "b/make"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	g := Guarded(dir, "", []string{"HOME=" + dir, "PATH=rel" + string(os.PathListSeparator) + a + string(os.PathListSeparator) + b}, nil, func() []string { return nil })
	for pattern, want := range map[string][]string{
		"/.c*/settings.json": {filepath.Join(dir, ".claude", "settings.json")},
		"/*/settings.json":   {filepath.Join(dir, "claude", "settings.json")},
		"/[":                 nil,
	} {
		if diff := cmp.Diff(want, g.Glob(dir+pattern)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
	if got := g.Glob("/*/*/*/*/*/*/settings.json"); len(got) > 0 {
		t.Errorf("it was looked for everywhere: %q", got)
	}
	for _, c := range []struct {
		program, except string
		want            bool
	}{{"git", a, true}, {"make", a, true}, {"make", b, false}, {"none", a, false}} {
		if got := g.Finds(c.program, c.except); got != c.want {
			t.Errorf("%s elsewhere than in %s: %v", c.program, c.except, got)
		}
	}
	if diff := cmp.Diff([]string{a, b}, g.Path); diff != "" {
		t.Error(diff)
	}
}
