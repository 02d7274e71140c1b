package seal

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/firewall"
)

// The stream shows the results of subagents as texts only, in the client's own
// ways; R is the receipt.
func TestResultShownAsText(t *testing.T) {
	const (
		read  = `{"type":"text","file":{"filePath":"/p/a.txt","content":"alpha\n2\tbeta\n\n","numLines":4,"startLine":1,"totalLines":4}}`
		wrote = `{"type":"create","filePath":"/p/d/a.txt","content":"x","structuredPatch":[]}`
		mcp   = `[{"type":"text","text":"7 rows"},{"type":"text","text":"done"}]`
	)
	bash := func(stdout, stderr, more string) string {
		out, _ := json.Marshal(stdout)
		return fmt.Sprintf(`{"stdout":%s,"stderr":%q,"interrupted":false,"isImage":false%s}`, out, stderr, more)
	}
	for _, tt := range []struct {
		tool, response, text string
		same                 bool
	}{
		{"Bash", bash("ok", "", ""), "ok\n\nR", true},
		{"Bash", bash("\n\n a\x1b[31mb \n", "warn ", ""), "ab\nwarn\n\nR\n<note>", true},
		{"Bash", bash("", "", ""), "(no output)\n\nR", true},
		{"Bash", bash("ok", "", ""), "FAIL\n\nR", false},
		{"Bash", bash("ok", "", ""), "FAIL\nok\n\nR", false},
		{"Bash", bash("ok", "", ""), "o\n\nR", false},
		{"Bash", bash("ok", "no", ""), "ok\n\nR", false},
		{"Bash", bash("ok", "", ""), "ok", false},
		{"Bash", bash("ok", "", `,"persistedOutputPath":"/nowhere"`), "<persisted-output>\nOutput too large\nPreview:\nok\n</persisted-output>\n\nR", true},
		{"Bash", bash("", "", `,"backgroundTaskId":"b1"`), "Command running in background with ID: b1.\n(no output)\n\nR", true},
		{"mcp__db__rows", mcp, "7 rows\ndone\nR", true},
		{"mcp__db__rows", mcp, "8 rows\ndone\nR", false},
		{"mcp__db__rows", `"7 rows"`, "7 rows\n\nR", true},
		{"mcp__db__rows", `"7 rows"`, "no rows\n\nR", false},
		{"mcp__db__rows", `[{"type":"text","text":"7"},{"type":"image","data":"aGk="}]`, "7 [image]\nR", true},
		{"mcp__db__rows", mcp, "<persisted-output>\nOutput too large\n</persisted-output>", true},
		{"Read", read, "1\talpha\n2\t2\tbeta\n3\t\n4\t", true},
		{"Read", read, "     1→alpha\n     2→2\tbeta\n     3→\n     4→\n\n<system-reminder>\nnot malware\n</system-reminder>\n", true},
		{"Read", read, "File unchanged since last read. The content is still current.", true},
		{"Read", read, "1\tgamma\n2\t2\tbeta\n3\t\n4\t", false},
		{"Read", read, "1\talpha\n", false},
		{"Read", read, "alpha\nbeta", false},
		{"Read", read, "1\talpha\n2\t2\tbeta\n3\t\n4\t\n5\tmore", false},
		{"Read", `{"type":"text","file":{"content":""}}`, "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>", true},
		{"Read", `{"type":"text","file":{"content":"` + strings.Repeat("x", 3000) + `"}}`, "1\txxx... [truncated]", true},
		{"Read", `{"type":"image","file":{"base64":"aGk="}}`, "", true},
		{"Write", wrote, "File created successfully at: /p/d/a.txt (file state is current)", true},
		{"Write", wrote, "The file d/a.txt has been updated.", true},
		{"Write", wrote, "File created successfully at: /etc/a.txt", false},
		{"Write", wrote, "File created successfully at: /p/d/aa.txt", false},
		{"Edit", wrote, "String to replace not found in file.", false},
		{"Edit", `{"filePath":"/p/a b.txt"}`, "The file /p/a b.txt has been updated successfully.", true},
		{"Agent", `{"status":"completed","content":[]}`, "[Subagent hand-back] anything", true},
	} {
		w := newSeal(t)
		w.Shown("t", tt.tool, "line", json.RawMessage(`{}`))
		w.Report(t.Context(), reported(tt.tool, `{}`, tt.response))
		entry, ok := w.Book.Call(w.Scope, "t")
		if !ok {
			t.Fatalf("%s %s: no receipt", tt.tool, tt.response)
		}
		w.Result("t", nil, strings.ReplaceAll(tt.text, "R", mark(entry.Token)), false)
		if a := w.Account(); (a.Receipted == 1) != tt.same || (len(a.Faults) == 0) != tt.same {
			t.Errorf("%s %s shown as %q: %q", tt.tool, tt.response, tt.text, a.Faults)
		}
	}
}

// What the model reads is held against the report too, where the client shows
// its own form of the result beside it.
func TestResultShownInTwoWays(t *testing.T) {
	for text, same := range map[string]bool{"ok\n\nR": true, "FAIL\n\nR": false, "": true} {
		w := newSeal(t)
		w.Shown("t", "Bash", "line", json.RawMessage(`{}`))
		_, updated := given(t, w.Report(t.Context(), reported("Bash", `{}`, bashResult)))
		entry, _ := w.Book.Call(w.Scope, "t")
		w.Result("t", json.RawMessage(updated), strings.ReplaceAll(text, "R", mark(entry.Token)), false)
		if a := w.Account(); (a.Receipted == 1) != same {
			t.Errorf("%q: %q", text, a.Faults)
		}
	}
}

// The client shows a result only when its hook has been answered, so a report
// that comes later is nobody's.
func TestReportAfterTheResult(t *testing.T) {
	w := newSeal(t)
	w.Shown("t", "Bash", "go test", json.RawMessage(`{}`))
	w.Result("t", json.RawMessage(bashResult), "ok", false)
	if r := w.Report(t.Context(), reported("Bash", `{}`, bashResult)); r != firewall.NoObjection() {
		t.Errorf("%+v", r)
	}
	if _, ok := w.Book.Call(w.Scope, "t"); ok {
		t.Error("it has a receipt")
	}
	if a := w.Account(); a.Receipted != 0 || len(a.Faults) != 1 || !strings.Contains(a.Faults[0], "had shown one") {
		t.Errorf("%+v", a)
	}
}
