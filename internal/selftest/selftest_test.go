package selftest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseVersion(t *testing.T) {
	for line, want := range map[string]Version{
		"2.1.332 (Claude Code)":                    {2, 1, 332},
		"2.1.332 (Claude Code), scripted stand-in": {2, 1, 332},
		" 2.2.0\n":                    {2, 2, 0},
		"v3.0.1-beta.2 (Claude Code)": {3, 0, 1},
		"10.0.0":                      {10, 0, 0},
		"2.1.300+build.7 is no number of this form": {},
		"":                      {},
		"claude 2.1.332":        {},
		"2.1":                   {},
		"2.1.x":                 {},
		"2.-1.5":                {},
		"Error: Node.js 18+ ..": {},
	} {
		got, err := ParseVersion(line)
		if got != want && err == nil || (err == nil) != (want != Version{}) {
			t.Errorf("%q: %v, %v; want %v", line, got, err, want)
		}
	}
}

// A client of which nothing is known is held for an old one.
func TestGate(t *testing.T) {
	for version, old := range map[string]bool{
		"2.1.299 (Claude Code)": true, "2.1.300 (Claude Code)": false, "2.1.197 (Claude Code)": true, "1.9.999": true,
		"2.0.500": true, "2.2.0": false, "3.0.0 (Claude Code)": false, "something else": true, "": true,
	} {
		err := Gate(Client{Version: version})
		var e *OldError
		if errors.As(err, &e) != old {
			t.Errorf("%q: %v", version, err)
		}
		if old && !strings.Contains(e.Hint(), "npm install -g @anthropic-ai/claude-code") {
			t.Errorf("%q: hint %q", version, e.Hint())
		}
	}
}

// result has every guarantee in the state given for it, or held.
func result(states map[string]State) Result {
	r := Result{Schema: Schema}
	for _, g := range catalogue() {
		g.State = Holds
		if s, ok := states[g.ID]; ok {
			g.State = s
		}
		r.Guarantees = append(r.Guarantees, g)
	}
	return r
}

func TestPassed(t *testing.T) {
	for name, tt := range map[string]struct {
		states      map[string]State
		passed, old bool
	}{
		"all hold":                    {nil, true, true},
		"only comfort is missing":     {map[string]State{BigCall: Fails, Receipts: Unchecked, Allowed: Fails}, true, true},
		"a push could go out":         {map[string]State{RefusedMain: Fails}, false, false},
		"nobody saw whether it could": {map[string]State{RefusedSub: Unchecked}, false, false},
		"what old clients lack":       {map[string]State{FailureStops: Fails, HooksStay: Fails}, false, true},
		"that and nobody saw":         {map[string]State{FailureStops: Unchecked}, false, false},
		"that and more":               {map[string]State{FailureStops: Fails, GoneIsNo: Fails}, false, false},
	} {
		r := result(tt.states)
		if r.Passed() != tt.passed || r.PassedOld() != tt.old {
			t.Errorf("%s: passed %v, old %v", name, r.Passed(), r.PassedOld())
		}
	}
	if r := (&Result{}); r.Passed() || r.PassedOld() {
		t.Error("nothing tested is something passed")
	}
}

// What one scene saw break is broken, whatever another saw.
func TestFindingsAreMergedToTheWorse(t *testing.T) {
	f := findings{"a": {Holds, ""}, "b": {Fails, "x"}, "c": {Unchecked, "x"}, "d": {Unchecked, "x"}}
	f.merge(findings{"a": {Fails, "y"}, "b": {Holds, ""}, "c": {Fails, "y"}, "d": {Holds, ""}, "e": {Holds, ""}})
	want := findings{"a": {Fails, "y"}, "b": {Fails, "x"}, "c": {Fails, "y"}, "d": {Unchecked, "x"}, "e": {Holds, ""}}
	if d := cmp.Diff(want, f, cmp.AllowUnexported(finding{})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "client-tests.json")
	when := time.Date(2026, 2, 23, 8, 15, 0, 123456789, time.UTC)
	one := Client{Path: "/bin/claude", Size: 7, Changed: when, Version: "2.1.332 (Claude Code)"}
	r := result(nil)
	r.Client, r.Loop, r.When = one, "v1", when
	if _, ok := Remembered(path, one, "v1"); ok {
		t.Error("remembered without a file")
	}
	if err := Remember(path, r); err != nil {
		t.Fatal(err)
	}
	got, ok := Remembered(path, one, "v1")
	if d := cmp.Diff(r, got); !ok || d != "" {
		t.Errorf("%v (-want +got)\n%s", ok, d)
	}
	for name, change := range map[string]func(*Client){
		"path": func(c *Client) { c.Path = "/other/claude" }, "size": func(c *Client) { c.Size++ },
		"time": func(c *Client) { c.Changed = when.Add(1) }, "version": func(c *Client) { c.Version = "2.1.333 (Claude Code)" },
	} {
		other := one
		change(&other)
		if _, ok := Remembered(path, other, "v1"); ok {
			t.Errorf("remembered although its %s is another", name)
		}
	}
	if _, ok := Remembered(path, one, "v2"); ok {
		t.Error("remembered although loop is another")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// The newest test of a program is kept, and a bounded number of programs.
func TestRememberKeepsOneAClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "client-tests.json")
	for i := range mostRemembered + 3 {
		r := result(nil)
		r.Client = Client{Path: "/bin/claude" + strings.Repeat("x", i), Size: int64(i)}
		if err := Remember(path, r); err != nil {
			t.Fatal(err)
		}
	}
	again := result(map[string]State{RefusedMain: Fails})
	again.Client = Client{Path: "/bin/claude" + strings.Repeat("x", mostRemembered), Size: 99}
	if err := Remember(path, again); err != nil {
		t.Fatal(err)
	}
	m := read(path)
	if len(m.Tests) != mostRemembered || m.Tests[0].Client.Size != 99 || m.Tests[0].Passed() {
		t.Errorf("%d tests, first %+v", len(m.Tests), m.Tests[0].Client)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	// What is broken or of a later loop is as good as nothing, and replaced.
	for _, text := range []string{"{", "", `{"schema":2,"tests":[{}]}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := len(read(path).Tests); n != 0 {
			t.Errorf("%q: %d tests", text, n)
		}
		if err := Remember(path, again); err != nil || len(read(path).Tests) != 1 {
			t.Errorf("after %q: %v", text, err)
		}
	}
}

// Nothing of the person's goes to the client under test.
func TestProgramEnv(t *testing.T) {
	got := programEnv([]string{
		"PATH=/bin", "HOME=/home/me", "ANTHROPIC_API_KEY=real", "ANTHROPIC_MODEL=big", "CLAUDE_CODE_OAUTH_TOKEN=real", "CLAUDE_CONFIG_DIR=/home/me/.claude",
		"HTTPS_PROXY=http://proxy", "CLAUDE_CODE_USE_BEDROCK=1", "AWS_PROFILE=me", "GITHUB_TOKEN=real", "LANG=C.UTF-8", "GIT_DIR=/x", "NODE_OPTIONS=--require /x",
	})
	if want := []string{"PATH=/bin", "LANG=C.UTF-8"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// The settings of the scenes are the firewall's own but for place and patience.
func TestSettingsFor(t *testing.T) {
	for _, hurry := range []bool{false, true} {
		b, err := settingsFor("http://127.0.0.1:1/x", hurry)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if n := strings.Count(text, `"url":"http://127.0.0.1:1/x"`); n < 4 || n != strings.Count(text, `"onFailure":"block"`) {
			t.Errorf("%s", text)
		}
		if n := strings.Count(text, `"timeout":1,`); n == 1 != hurry || n > 1 {
			t.Errorf("hurry %v: %s", hurry, text)
		}
		if !strings.Contains(text, `"disableAllHooks":false`) {
			t.Errorf("%s", text)
		}
	}
}

func TestServeMCP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "posted")
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
not json
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"post_message","arguments":{"text":"hello"}}}
`
	var out bytes.Buffer
	if err := ServeMCP(file, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"protocolVersion":"2025-06-18"`) ||
		!strings.Contains(lines[1], "post_message") || !strings.Contains(lines[2], `"id":"x"`) {
		t.Errorf("%q", lines)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "post_message {\"text\":\"hello\"}\n" {
		t.Errorf("%q %v", b, err)
	}
}

func TestLastWords(t *testing.T) {
	for out, want := range map[string]string{
		"":                           "it said nothing",
		"error: unknown option '-x'": "error: unknown option '-x'",
		"{\"type\":\"system\"}\n":    "it said nothing",
		"{\"type\":\"result\",\"result\":\"Not logged in\"}\n{\"type\":\"system\"}": "Not logged in",
	} {
		if got := lastWords(out); got != want {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}
