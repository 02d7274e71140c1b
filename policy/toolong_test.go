package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestShortened holds that the beginning of an input is valid JSON wherever it
// is cut, and keeps the fields in front of the cut.
func TestShortened(t *testing.T) {
	inputs := []string{
		`{"file_path":"a.sh","content":"x\n\"y\" \\ \u00e9 é","n":[1,{"k":"v"}],"z":null}`,
		`{"file_path":"a.sh","edits":[{"old_string":"a","new_string":"b"}],"all":true}`,
	}
	for _, in := range inputs {
		for n := range len(in) {
			js := closed([]byte(in[:n]))
			var got map[string]any
			if err := json.Unmarshal(js, &got); err != nil {
				t.Fatalf("%q: %q: %v", in[:n], js, err)
			}
			if n > 20 && got["file_path"] != "a.sh" {
				t.Errorf("%q: %q", in[:n], js)
			}
		}
	}
}

// TestTooLong holds that a call with a very long input is judged by its words
// and its beginning, wherever they stand.
func TestTooLong(t *testing.T) {
	s := builtin(t)
	fill := strings.Repeat("a line of some length\n", MaxInput/22+1)
	input := func(v any) json.RawMessage {
		js, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return js
	}
	tests := []struct {
		name string
		call Call
		want Verdict
		rule string
	}{
		{"first command", Call{Tool: "Bash", Input: input(map[string]string{"command": "git push\ncat > x <<'E'\n" + fill + "E\n"})}, VerdictExternal, "git-push"},
		{"last command", Call{Tool: "Bash", Input: input(map[string]string{"command": "cat > x <<'E'\n" + fill + "E\ngit push\n"})}, VerdictExternal, "unread-text"},
		{"none", Call{Tool: "Bash", Input: input(map[string]string{"command": "cat > x <<'E'\n" + fill + "E\n"})}, VerdictLocal, "unread-text"},
		{"file", Call{Tool: "Write", Input: input(map[string]string{"content": fill + "\nnpm publish\n"})}, VerdictMention, "npm-publish"},
		{"quiet file", Call{Tool: "Write", Input: input(map[string]string{"content": fill})}, VerdictLocal, ""},
		{"unknown tool", Call{Tool: "frobnicate", Input: input(map[string]string{"x": fill})}, VerdictExternal, "unread-input"},
	}
	for _, tt := range tests {
		res := s.Classify(tt.call)
		if found := strings.Contains(strings.Join(res.Rules(), " "), tt.rule); res.Verdict != tt.want || !found {
			t.Errorf("%s: %s %v", tt.name, res.Verdict, res.Rules())
		}
		if tt.call.Tool == "Bash" && !res.Opaque {
			t.Errorf("%s: nothing says that it was not read to its end", tt.name)
		}
	}
}
