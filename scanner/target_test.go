package scanner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// TestLongCalls holds that calls of which no copy is made are named and judged
// as others are.
func TestLongCalls(t *testing.T) {
	set := builtin(t)
	fill := strings.Repeat("a line of some length\n", policy.MaxInput/22+1)
	in := use("a", "Write", map[string]any{"file_path": "/p/a.sh", "content": fill + "git push\n"}) + "\n" +
		use("b", "Write", map[string]any{"file_path": "/p/b.md", "content": fill + "git push\n"}) + "\n" +
		use("c", "Bash", map[string]any{"command": "git push\ncat <<'E'\n" + fill + "E\n"}) + "\n" +
		use("d", "Write", map[string]any{"file_path": "/p/d.sh", "content": fill})
	hits, _ := scanReal(t, in, Options{Set: set})
	var got []string
	for _, h := range hits {
		got = append(got, string(h.Evidence)+" "+h.Command[:min(len(h.Command), 16)])
		if len(h.Command) > 64<<10 || len(h.Input) < policy.MaxInput {
			t.Errorf("%s: command of %d bytes, input of %d", h.ToolUseID, len(h.Command), len(h.Input))
		}
	}
	want := []string{"written Write /p/a.sh", "mentioned Write /p/b.md", "executed git push\ncat <<'"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

// TestRepeated holds what makes two calls of one id the same.
func TestRepeated(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{`{"command":"x y","n":1}`, `{"command":"x y","n":1}`, true},
		{`{"command":"x y","n":1}`, "{\n  \"command\": \"x y\",\n\t\"n\": 1 }", true},
		{`{"command":"x y"}`, `{"command":"x  y"}`, false},
		{`{"command":"x\" y\\"}`, `{"command":"x\"  y\\"}`, false},
		{`{"command":"x\\","n": 1}`, `{"command":"x\\","n":1}`, true},
	}
	for _, tt := range tests {
		c := newCalls()
		c.repeated(&transcript.Call{ID: "t", Name: "Bash", Input: []byte(tt.a)})
		if got := c.repeated(&transcript.Call{ID: "t", Name: "Bash", Input: []byte(tt.b)}); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}
