package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/policy"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The pack that docs/rules.md shows must load, and the configuration beside it
// must be one.
func TestRulesPageShowsWhatLoads(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(readDoc(t, "docs/rules.md"), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks, want loop.toml, a pack and a rule that allows", len(blocks))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{config.FileName: blocks[0][1], "loop-rules.toml": blocks[1][1]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load("", dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := loadRules(c)
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]policy.Verdict{
		"sudo ship into prod": policy.VerdictExternal, "ship to prod --dry-run": policy.VerdictLocal,
		"echo; bundle exec FASTLANE beta": policy.VerdictExternal,
	} {
		if got := set.ClassifyCommand(command, ""); got.Verdict != want {
			t.Errorf("%q: %s, want %s", command, got.Verdict, want)
		}
	}
}

// Every command that README and the other pages tell people to type exists.
func TestPagesNameCommandsThatExist(t *testing.T) {
	root := newRoot(&app{})
	root.InitDefaultCompletionCmd()
	known := map[string]bool{"hook": true, "sim": true}
	for _, c := range root.Commands() {
		known[c.Name()] = true
	}
	typed := regexp.MustCompile("(?m)(?:`|^|\\$ )loop ([a-z]+)")
	for _, page := range []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/architecture.md", "docs/rules.md", "docs/receipts.md", "docs/stories.md"} {
		for _, m := range typed.FindAllStringSubmatch(readDoc(t, page), -1) {
			if !known[m[1]] {
				t.Errorf("%s names `loop %s`, which is no command", page, m[1])
			}
		}
	}
	if !strings.Contains(readDoc(t, "README.md"), "loop demo") {
		t.Error("README does not name the demo")
	}
}
