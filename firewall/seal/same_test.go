package seal

import "testing"

// As the client's stream and hooks were seen to differ, and as an invented
// call would.
func TestSameInput(t *testing.T) {
	for _, tt := range []struct {
		shown, given string
		want         bool
	}{
		{`{"command":"a","description":"d"}`, `{"description":"d", "command":"a"}`, true},
		{`{"file_path":"README"}`, `{"file_path":"/repo/README"}`, true},
		{`{"file_path":"./a/../README","limit":"5"}`, `{"file_path":"/repo/README","limit":5}`, true},
		{`{"file_path":"~/n.txt"}`, `{"file_path":"/home/dev/n.txt"}`, true},
		{`{"file_path":"../n.txt"}`, `{"file_path":"/home/n.txt"}`, true},
		{`{"path":"."}`, `{"path":"/repo"}`, true},
		{`{"old_string":"a"}`, `{"old_string":"a","replace_all":false}`, true},
		{`{}`, `{}`, true},
		{`[1]`, `[1]`, true},
		{`{"command":"a"}`, `{"command":"b"}`, false},
		{`{"command":"a"}`, `{"command":"/x/a"}`, false},
		{`{"command":"a"}`, `{}`, false},
		{`{"command":"a"}`, `{"command":"a","run_in_background":true}`, false},
		{`{"file_path":"README"}`, `{"file_path":"/repo/OTHER"}`, false},
		{`{"file_path":"README"}`, `{"file_path":"/repo/xREADME"}`, false},
		{`{"file_path":"/a/README"}`, `{"file_path":"/b/README"}`, false},
		{`{"file_path":"a"}`, `{"file_path":"a/b"}`, false},
		{`{"n":"5"}`, `{"n":6}`, false},
		{`null`, `{}`, false},
		{`{`, `{`, false},
	} {
		if got := sameInput([]byte(tt.shown), []byte(tt.given)); got != tt.want {
			t.Errorf("%s and %s: %v", tt.shown, tt.given, got)
		}
	}
}
