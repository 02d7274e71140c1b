package runner

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func TestAddWords(t *testing.T) {
	text := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I push with TOKEN=abcdef0123456789 so that CI runs."}]}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"git push"}}]}}
`
	actions := []queue.Action{
		{Kind: queue.KindCall, ToolUseID: "c1", Evidence: policy.Blocked},
		{Kind: queue.KindCall, ToolUseID: "c1", Evidence: policy.Mentioned},
		{Kind: queue.KindQuestion, ToolUseID: "c1"},
		{Kind: queue.KindCall, ToolUseID: "elsewhere", Evidence: policy.Executed},
	}
	if err := AddWords(strings.NewReader(text), actions); err != nil {
		t.Fatal(err)
	}
	want := &queue.Said{Text: "I push with TOKEN=abcd… so that CI runs."}
	if diff := cmp.Diff(want, actions[0].Said); diff != "" {
		t.Error(diff)
	}
	for _, a := range actions[1:] {
		if a.Said != nil {
			t.Errorf("%+v has words", a)
		}
	}
}

func TestWordsAreCutAtTheirBounds(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("many words of a long text ", 40))
	secret := long + "\n\nexport API_TOKEN=" + strings.Repeat("s3cret", 80)
	for _, tt := range []struct{ name, in, begins, ends string }{
		{"short", " I push now.\n", "I push now.", "I push now."},
		{"last paragraphs", long + "\n\nThe tests pass.\n\nI push now.", "… The tests pass.", "I push now."},
		{"one long", long, "many words", " …"},
		{"a long last one", "First.\n\n" + long, "… many words", " …"},
		{"no spaces", strings.Repeat("é", 4000), "é", "…"},
		{"a secret where it is cut", secret, "… export API_TOKEN=s3cr…", "s3cr…"},
	} {
		got := lastWords(tt.in)
		if n := utf8.RuneCountInString(got); n > keptWords+4 || !strings.HasPrefix(got, tt.begins) || !strings.HasSuffix(got, tt.ends) || !utf8.ValidString(got) {
			t.Errorf("%s: %d runes: %q", tt.name, n, got)
		}
	}
}
