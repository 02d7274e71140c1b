package policy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoaded: only what a text loads counts, in whatever form it does.
func TestLoaded(t *testing.T) {
	for _, c := range []struct {
		lang, text string
		want       []string
	}{
		{"python", "import stripe, os as o\nfrom google import genai\nx = 'import slack_sdk'", []string{"google", "google.genai", "os", "stripe"}},
		{"python", "import a; m = __import__('b')", []string{"a", "b"}},
		{"javascript", `import s from "npm:stripe@14"; const f = require('node:fs'); await import("https://esm.sh/@slack/web-api@7/x")`, []string{"@slack/web-api/x", "fs", "stripe"}},
		{"javascript", `const s = "from 'stripe'"`, []string{}},
	} {
		got := lex(c.lang, c.text).loaded()
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.text, diff)
		}
	}
}

// TestNamedFor: a server that speaks for a service is not taken for a local
// one whose name its own has in it.
func TestNamedFor(t *testing.T) {
	table := builtin(t).table().mcp()
	for name, want := range map[string]bool{
		"filesystem": true, "my-filesystem": true, "plugin_serena_serena": true, "time": true,
		"time-tracker": false, "google-docs": false, "github-files": false,
	} {
		if known := table.server(name); (known != nil && known.tier == Local) != want {
			t.Errorf("%q is taken for %v, want a local one: %v", name, known, want)
		}
	}
}
