package firewall

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

func promptHook(l policy.Level) PromptHook { return PromptHook{Program: "/opt/loop <x>", Level: l} }

const wantEntry = `          {
            "type": "command",
            "command": "/opt/loop <x>",
            "args": [
              "hook",
              "--level",
              "interactive"
            ],
            "timeout": 10
          }
`

func TestAddPromptHookWritesTheWholeFile(t *testing.T) {
	for _, empty := range []string{"", " \n", "{}\n"} {
		got, err := AddPromptHook([]byte(empty), promptHook(policy.Interactive))
		if err != nil {
			t.Fatal(err)
		}
		want := "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"hooks\": [\n" + wantEntry + "        ]\n      }\n    ]\n  }\n}\n"
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Error(d)
		}
	}
}

func TestHigherLevelsBlockWhenTheHookFails(t *testing.T) {
	for l := policy.Interactive; l <= policy.Lockdown; l++ {
		got, err := AddPromptHook(nil, promptHook(l))
		if err != nil {
			t.Fatal(err)
		}
		if blocks := strings.Contains(string(got), `"onFailure": "block"`); blocks != (l != policy.Interactive) {
			t.Errorf("%s: blocks on failure: %v", l, blocks)
		}
	}
}

// settings of the shapes that people have.
var someSettings = map[string]string{
	"plain":                 "{\n  \"model\": \"opus\",\n  \"env\": {\"A\": \"1\"}\n}\n",
	"tabs":                  "{\n\t\"model\": \"opus\"\n}\n",
	"four blanks":           "{\n    \"model\": \"opus\"\n}",
	"no last newline":       "{\n  \"model\": \"opus\"\n}",
	"windows":               "{\r\n  \"model\": \"opus\",\r\n  \"x\": []\r\n}\r\n",
	"byte order mark":       "\ufeff{\n  \"model\": \"opus\"\n}\n",
	"one line":              `{"model":"opus"}`,
	"one spaced line":       `{ "model": "opus" }` + "\n",
	"comments":              "// mine\n{\n  // the model\n  \"model\": \"opus\" /* best */ // really\n  // no more\n}\n// end\n",
	"trailing comma":        "{\n  \"model\": \"opus\",\n  // soon\n}\n",
	"empty hooks":           "{\n  \"hooks\": {\n  }\n}\n",
	"other events":          "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": []}]\n  },\n  \"z\": 1\n}\n",
	"others before":         "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]\n      } // keep\n    ]\n  }\n}\n",
	"others in one line":    `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}}`,
	"empty list":            "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
	"hooks twice":           "{\n  \"hooks\": {},\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
	"unicode and escapes":   "{\n  \"n\\u00e4me\": \"\\u202e ü\",\n  \"a\": 1e400\n}\n",
	"the key written apart": "{\n  \"ho\\u006fks\": {\n    \"Stop\": []\n  }\n}\n",
}

func TestHookComesAndGoesWithoutATrace(t *testing.T) {
	for name, text := range someSettings {
		with, err := AddPromptHook([]byte(text), promptHook(policy.Unattended))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, err := ReadPromptSettings(with)
		if err != nil || !cmp.Equal(s.Hooks, []PromptHook{promptHook(policy.Unattended)}) {
			t.Errorf("%s: reads %+v, %v:\n%s", name, s, err, with)
		}
		again, err := AddPromptHook(with, promptHook(policy.Unattended))
		if err != nil || string(again) != string(with) {
			t.Errorf("%s: a second time changes it: %v\n%s", name, err, cmp.Diff(string(with), string(again)))
		}
		checkOnlyAdded(t, name, text, string(with))
		gone, ok, err := RemovePromptHook(with, Containers([]byte(text)))
		if err != nil || !ok {
			t.Errorf("%s: remove: %v, %v", name, ok, err)
		}
		if name == "empty hooks" || name == "empty list" {
			continue // what was white space between brackets is not kept apart
		}
		if d := cmp.Diff(text, string(gone)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// checkOnlyAdded: each line that was there is still there, in order.
func checkOnlyAdded(t *testing.T, name, before, after string) {
	t.Helper()
	rest := after
	for line := range strings.FieldsFuncSeq(before, func(r rune) bool { return strings.ContainsRune("\r\n,]}/", r) }) {
		_, r, ok := strings.Cut(rest, strings.TrimRight(line, " \t"))
		if !ok {
			t.Errorf("%s: %q is gone or moved:\n%s", name, line, after)
			return
		}
		rest = r
	}
}

func TestAnotherLevelTakesThePlaceOfTheFirst(t *testing.T) {
	text := someSettings["others before"]
	one, err := AddPromptHook([]byte(text), promptHook(policy.Interactive))
	if err != nil {
		t.Fatal(err)
	}
	// The user's own hook behind ours.
	one = []byte(strings.Replace(string(one), "\n    ]\n  }", ",\n      {\"hooks\": []}\n    ]\n  }", 1))
	two, err := AddPromptHook(one, promptHook(policy.Lockdown))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(one), `"interactive"`, `"lockdown"`, 1)
	want = strings.Replace(want, "\"timeout\": 10\n", "\"timeout\": 10,\n            \"onFailure\": \"block\"\n", 1)
	if d := cmp.Diff(want, string(two)); d != "" {
		t.Error(d)
	}
}

// A matcher that somebody put round the hook would let other tools pass.
func TestNarrowedHookIsMadeAnew(t *testing.T) {
	text := `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
		{"type": "command", "command": "x"},
		{"type": "command", "command": "'/old/loop' hook --level=lockdown"}]}]}}`
	got, err := AddPromptHook([]byte(text), promptHook(policy.Interactive))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Hooks map[string][]struct {
			Matcher *string
			Hooks   []struct{ Command string }
		}
	}
	if err := json.Unmarshal(got, &s); err != nil {
		t.Fatal(err)
	}
	groups := s.Hooks[EventPreToolUse]
	if len(groups) != 2 || len(groups[0].Hooks) != 1 || groups[0].Hooks[0].Command != "x" || groups[1].Matcher != nil {
		t.Errorf("got %s", got)
	}
}

func TestBrokenSettingsAreRefusedWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1,\n  \"b\" 2\n}": "line 3, column 7",
		"[]":                           "line 1, column 1: not a JSON object",
		"{\"a\": 1} x":                 "line 1, column 10",
		"{\n  \"hooks\": []\n}":        "line 2, column 12: \"hooks\" is not an object",
		"{\"hooks\": null}":            "\"hooks\" is not an object",
		"{\n  \"hooks\": {\n    \"PreToolUse\": {}\n  }\n}": "line 3, column 19: \"PreToolUse\" is not a list",
	} {
		_, err := AddPromptHook([]byte(text), promptHook(policy.Interactive))
		if !errors.Is(err, errSettings) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestForeignHooksAreNotOurs(t *testing.T) {
	for _, entry := range []string{
		`{"type": "command", "command": "/x/loop", "args": ["hook", "--socket", "s"]}`,
		`{"type": "command", "command": "/x/loop", "args": ["hook", "--level", "loud"]}`,
		`{"type": "command", "command": "/x/loop", "args": ["hook", "--level"]}`,
		`{"type": "http", "command": "/x/loop", "args": ["hook", "--level", "lockdown"]}`,
		`{"type": "command", "command": "hook"}`, `"loop hook --level lockdown"`, `null`,
	} {
		s, err := ReadPromptSettings([]byte(`{"hooks": {"PreToolUse": [{"hooks": [` + entry + `]}, 7]}, "disableAllHooks": true}`))
		if err != nil || len(s.Hooks) > 0 || s.DisableAll == nil || !*s.DisableAll {
			t.Errorf("%s: %+v, %v", entry, s, err)
		}
	}
}

// Whatever a settings file holds: what comes out can be read, holds the hook
// once, and a value that was there is still there.
func FuzzAddPromptHook(f *testing.F) {
	for _, text := range someSettings {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := AddPromptHook(text, promptHook(policy.Lockdown))
		if err != nil {
			return
		}
		s, err := ReadPromptSettings(with)
		if err != nil || len(s.Hooks) != 1 {
			t.Fatalf("%q becomes %q: %+v, %v", text, with, s, err)
		}
		gone, ok, err := RemovePromptHook(with, []string{keyHooks, EventPreToolUse})
		if err != nil || !ok {
			t.Fatalf("%q: %v", with, err)
		}
		if s, err := ReadPromptSettings(gone); err != nil || len(s.Hooks) != 0 {
			t.Fatalf("%q: %+v, %v", gone, s, err)
		}
	})
}
