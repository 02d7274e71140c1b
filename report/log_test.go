package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/transcript"
)

// Whatever stands in a transcript, no control character is printed, no secret,
// and no line is wider than the terminal.
func TestLogOfHostileEvents(t *testing.T) {
	const evil = "\x1b[2J\u202e\r\x07 ghp_0123456789abcdefghij0123456789abcdefgh \u200b\xff"
	long := strings.Repeat("wide 漢字 ", 60) + evil + "\nsecond\nthird\nfourth\nfifth"
	input, err := json.Marshal(map[string]string{"command": long})
	if err != nil {
		t.Fatal(err)
	}
	events := []transcript.Event{
		{Kind: transcript.KindInit, Init: &transcript.Init{Version: evil, Model: long}},
		{Kind: transcript.KindPrompt, Text: long},
		{Kind: transcript.KindText, Text: long},
		{Kind: transcript.KindThinking, Text: long, Agent: evil},
		{Kind: transcript.KindCall, Call: &transcript.Call{ID: "c", Name: "Bash" + evil, Input: input}},
		{Kind: transcript.KindResult, Result: &transcript.Result{CallID: "c", Text: long}},
		{Kind: transcript.KindResult, Result: &transcript.Result{CallID: "c", Text: long, IsError: true}},
		{Kind: transcript.KindResult, Result: &transcript.Result{CallID: "seven", Text: long, NotRun: true}},
		{Kind: transcript.KindFinal, Final: &transcript.Final{IsError: true, Result: long}},
		{Kind: transcript.KindRateLimit, RateLimit: &transcript.RateLimit{Status: evil, Type: long}},
		{Kind: transcript.KindRetry, Retry: &transcript.Retry{Error: long}},
		{Kind: transcript.KindVCS, VCS: &transcript.VCS{Kind: evil, URL: long}},
		{Kind: transcript.KindPlain, Text: long},
		{Kind: transcript.KindOversize, Text: long},
	}
	for _, o := range []Options{{}, {Width: 40}, {Width: 80, All: true}, {Width: 120}} {
		var b strings.Builder
		l := NewLog(&b, o, func(id string) uint64 { return map[string]uint64{"seven": 7}[id] })
		for _, ev := range events {
			if err := l.Event(ev); err != nil {
				t.Fatal(err)
			}
		}
		got := b.String()
		if strings.ContainsAny(got, "\x1b\x07\r\u202e\u200b") || strings.Contains(got, "0123456789abcdefghij") {
			t.Errorf("width %d: raw text in\n%s", o.Width, got)
		}
		if !strings.Contains(got, "refused #7: ") {
			t.Errorf("width %d: a refusal without its number", o.Width)
		}
		for line := range strings.Lines(got) {
			if n := term.Cells(strings.TrimSuffix(line, "\n")); o.Width > 0 && n > o.Width {
				t.Errorf("width %d: %d cells: %q", o.Width, n, line)
			}
		}
		fifth := 0
		for line := range strings.Lines(got) {
			if strings.TrimSpace(line) == "fifth" {
				fifth++
			}
		}
		if !o.All && fifth != 1 {
			t.Errorf("width %d: only what the agent says is shown whole, but the last line stands there %d times", o.Width, fifth)
		}
	}
}
