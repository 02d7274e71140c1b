package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestNothingSaidGivesDefaults(t *testing.T) {
	got, err := Load(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The example must load, and show the defaults it claims to show.
func TestExampleShowsTheDefaults(t *testing.T) {
	for _, text := range []string{Example, uncomment(Example)} {
		c, err := Load("", write(t, FileName, text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want := Default()
		c.Path, c.Hash, c.Sources = "", "", map[string]string{}
		if text != Example {
			// These lines show a value that a user would have, not a default.
			want.Stories, want.Gates = "prd.json", []string{"go test ./...", "npm test"}
			want.Patterns, want.MemoryFiles = []string{"fastlane"}, []string{"docs/NOTES.md"}
			c.Rules = nil
		}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// uncomment turns each `# key = value` of the example into a setting.
func uncomment(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		rest, ok := strings.CutPrefix(l, "# ")
		if key, _, eq := strings.Cut(rest, " = "); ok && eq && !strings.Contains(key, " ") {
			lines[i] = rest
		}
	}
	return strings.Join(lines, "\n")
}

func TestRepositoryOverridesUserAndSaysSo(t *testing.T) {
	user := write(t, "config.toml", "model = \"a\"\nlevel = \"supervised\"\n[budget]\nsilence = \"5m\"\n")
	root := write(t, FileName, "model = \"b\"\nlevel = \"lockdown\"\nrules = [\"r.toml\"]\n")
	c, err := Load(user, root)
	if err != nil {
		t.Fatal(err)
	}
	if c.Model != "b" || c.Level != policy.Lockdown || c.Budget.Silence != 5*time.Minute {
		t.Errorf("model %q, level %v, silence %v", c.Model, c.Level, c.Budget.Silence)
	}
	if want := []string{filepath.Join(root, "r.toml")}; !cmp.Equal(c.Rules, want) {
		t.Errorf("rules %q, want %q", c.Rules, want)
	}
	if got := c.Source("budget.silence"); got != filepath.Join(user, "config.toml") {
		t.Errorf("source of silence: %q", got)
	}
	if got := c.Source("budget.gate"); got != "default" {
		t.Errorf("source of gate: %q", got)
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"unknown key":     {"schema = 1\nlevle = \"lockdown\"\n", `line 2: unknown key "levle"`},
		"unknown table":   {"[bugdet]\nattempt = \"1h\"\n", `unknown key "bugdet`},
		"bad level":       {"level = \"yolo\"\n", `unknown level "yolo"`},
		"looser":          {"level = \"supervised\"\n", `can only tighten the level`},
		"claude":          {"claude = \"./evil\"\n", `not in the repository`},
		"bad duration":    {"[budget]\nattempt = \"soon\"\n", `"soon" is not a duration`},
		"zero duration":   {"[budget]\nsilence = \"0s\"\n", `longer than zero`},
		"empty pattern":   {"patterns = [\"\"]\n", `entry 1 is empty`},
		"empty gate":      {"gates = [\"true\", \" \"]\n", `entry 2 is empty`},
		"newer schema":    {"schema = 2\n", `schema = 2 is not known`},
		"syntax":          {"level = \n", `line 1`},
		"wrong type":      {"gates = \"go test\"\n", `line 1`},
		"a key is billed": {"billing = \"api-key\"\n", `not in the repository`},
		"no tries":        {"[retries]\nattempts = 0\n", `at least 1`},
		"bad wait":        {"[limits]\nwait = \"for ever\"\n", `for never`},
		"negative cap":    {"[budget]\nsession_usd = -1.0\n", `cannot be negative`},
		"negative":        {"[budget]\nstories = -1\n", `cannot be negative`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := write(t, FileName, tt.text)
			_, err := Load("", root)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), filepath.Join(root, FileName)) {
				t.Errorf("got %q, want it to name the file and say %q", err, tt.want)
			}
		})
	}
}

func TestUserRulesFileIsFoundByItself(t *testing.T) {
	user := write(t, "rules.toml", "")
	c, err := Load(user, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(user, "rules.toml")}; !cmp.Equal(c.OwnRules, want) || len(c.Rules) > 0 {
		t.Errorf("rules %q and %q, want %q of the user's own", c.Rules, c.OwnRules, want)
	}
}

func TestNeverWait(t *testing.T) {
	c, err := Load("", write(t, FileName, "[limits]\nwait = \"0\"\n"))
	if err != nil || c.Limits.Wait != 0 {
		t.Errorf("%v, %v", c.Limits.Wait, err)
	}
}

func TestBillingOfTheUser(t *testing.T) {
	for value, ok := range map[string]bool{"api-key": true, "subscription": true, "credit card": false} {
		c, err := Load(write(t, "config.toml", "billing = \""+value+"\"\n"), "")
		if ok != (err == nil) || ok && c.Billing != value {
			t.Errorf("%q: %q, %v", value, c.Billing, err)
		}
	}
}
