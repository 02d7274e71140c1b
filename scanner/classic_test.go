package scanner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

var classics = []string{
	"git push", "gh pr create", "gh pr merge", "railway deploy", "npm publish",
	"curl -X POST", "curl -X PUT", "curl -X PATCH", "curl -X DELETE",
}

// positions are the places of a transcript in which a text can stand; @ is
// the text as JSON without quotes.
var positions = map[string]string{
	"text":               `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I will @ now"}]}}`,
	"thinking":           `{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"@","signature":"x"}]}}`,
	"prompt":             `{"type":"user","message":{"role":"user","content":"please @"}}`,
	"prompt block":       `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x\n@\ny"}]},"isSynthetic":true}`,
	"result":             `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a\n@"}]}}`,
	"result block":       `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"@"}]}]}}`,
	"only in the detail": `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"tool_use_result":{"originalFile":"x\t@"}}`,
	"denied result":      `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"no: @","is_error":true}]},"tool_result_meta":[{"id":"t","permission_decision":{"decision":"reject","source":"hook"}}]}`,
	"command":            `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"@"}}]}}`,
	"echoed":             `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo '@'"}}]}}`,
	"commented":          `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls # @"}}]}}`,
	"dry":                `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"@ --dry-run"}}]}}`,
	"description":        `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls","description":"@"}}]}}`,
	"committed":          `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"git commit -m '@'"}}]}}`,
	"written":            `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"a.md","content":"x\n@\n"}}]}}`,
	"script":             `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"a.sh","content":"#!/bin/sh\n@\n"}}]}}`,
	"edit":               `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"a.py","old_string":"@","new_string":""}}]}}`,
	"subagent prompt":    `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Agent","input":{"prompt":"@"}}]}}`,
	"MCP":                `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"mcp__memory__search_nodes","input":{"query":"@"}}]}}`,
	"progress":           `{"type":"progress","data":{"type":"agent_progress","message":{"type":"assistant","message":{"content":[{"type":"text","text":"@"}]}}}}`,
	"bash progress":      `{"type":"progress","data":{"type":"bash_progress","output":"@"}}`,
	"final":              `{"type":"result","subtype":"success","result":"did @","permission_denials":[]}`,
	"final error":        `{"type":"result","subtype":"error_during_execution","errors":["@"],"permission_denials":[]}`,
	"hook":               `{"type":"system","subtype":"hook_response","hook_event":"Stop","stdout":"@"}`,
	"attachment":         `{"type":"attachment","attachment":{"type":"hook_success","hookEvent":"PreToolUse","command":"run @"}}`,
	"task":               `{"type":"system","subtype":"task_started","task_id":"x","description":"@"}`,
	"unknown record":     `{"type":"system","subtype":"never_seen","a":[{"b":"@"}]}`,
	"other JSON":         `{"level":"info","msg":"@"}`,
	"key":                `{"type":"user","toolUseResult":{"@":1}}`,
	"partial":            `{"type":"stream_event","event":{"delta":{"type":"text_delta","text":"@"}}}`,
	"torn":               `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"x @`,
	"glued":              `{"type":"user","message":{"content":"a"}}{"type":"user","message":{"content":"@"}}`,
	"plain":              `@`,
	"prompted":           `$ @ origin`,
	"traced":             `+ @`,
	"in a word":          `x@y`,
	"after a date":       `[2026-11-30T03:05:39Z] INFO @`,
	"quoted JSON":        `{"type":"user","message":{"content":"{\"command\":\"x\\n@\"}"}}`,
}

// TestClassicPatterns holds that the patterns that scripts round such loops
// have always looked for are never lost, wherever they stand and in any case.
func TestClassicPatterns(t *testing.T) {
	set := builtin(t)
	for name, row := range positions {
		for _, pattern := range classics {
			mixed := strings.ToUpper(pattern[:3]) + pattern[3:]
			for _, spelling := range []string{pattern, strings.ToUpper(pattern), mixed} {
				in := strings.ReplaceAll(row, "@", spelling)
				for _, shape := range []string{in, in + "\r\nnext\r\n", "first\n" + in + "\n"} {
					hits, _ := scanReal(t, shape, Options{Set: set})
					if len(hits) == 0 {
						t.Errorf("%s: %q is lost in %q", name, spelling, shape)
					}
				}
				if strings.HasPrefix(row, "{") {
					escaped := strings.ReplaceAll(row, "@", strings.ReplaceAll(spelling, " ", `\u0020`))
					if hits, _ := scanReal(t, escaped, Options{Set: set}); len(hits) == 0 {
						t.Errorf("%s: %q is lost when escaped", name, spelling)
					}
				}
			}
		}
	}
}

// TestClassicInLongLine holds it for lines that are too long to be decoded,
// at every place relative to the borders of the pieces they are read in.
func TestClassicInLongLine(t *testing.T) {
	set := builtin(t)
	const size = 700 << 10
	for _, row := range []string{"@", `{"type":"user","message":{"content":"@`, positions["command"], positions["script"], positions["result"]} {
		before, after, _ := strings.Cut(row, "@")
		for _, at := range []int{0, 64<<10 - 3, 256<<10 - 5, 256 << 10, 320<<10 - 4, size - 20} {
			fill := []byte(strings.Repeat(`word \"x\"\n`, size/11))
			copy(fill[at:], ` git\npush `)
			hits, stats := scanReal(t, before+string(fill)+after+"\n", Options{Set: set, MaxLine: 256 << 10})
			if len(hits) == 0 || stats.Oversize != 1 {
				t.Errorf("%.40q at %d: %v, %+v", row, at, briefs(hits), stats)
				continue
			}
			want := policy.Mentioned
			switch {
			case row == positions["command"]:
				want = policy.Executed
			case row == positions["script"]:
				want = policy.Written
			}
			if hits[0].Evidence != want {
				t.Errorf("%.40q at %d: %s, want %s", row, at, hits[0].Evidence, want)
			}
		}
	}
}

// TestClassicInLargeValue holds it for values that are looked through piece by
// piece.
func TestClassicInLargeValue(t *testing.T) {
	set := builtin(t)
	for _, at := range []int{0, 1<<20 - 4, 1 << 20, 2<<20 - 20} {
		fill := []byte(strings.Repeat("some output ", 2<<20/12))
		copy(fill[at:], " GIT  PUSH ")
		for _, row := range []string{positions["result"], positions["text"], positions["written"], positions["unknown record"]} {
			hits, _ := scanReal(t, strings.ReplaceAll(row, "@", string(fill)), Options{Set: set})
			if len(hits) != 1 || !strings.Contains(hits[0].Excerpt, "GIT  PUSH") {
				t.Errorf("%.40q at %d: %v", row, at, briefs(hits))
			}
		}
	}
}

// TestHostileText holds that what an agent wrote reaches the reader of the
// JSON byte for byte.
func TestHostileText(t *testing.T) {
	command := "git push 'a\x1b[31m\u202e\u0000\u2028<script>&amp;\"\\ \t é 🚀' origin"
	hits, _ := scanReal(t, bash("a", command)+ok("a", ""), Options{File: "a\x1b]0;b"})
	if len(hits) != 1 {
		t.Fatalf("hits %v", briefs(hits))
	}
	js, err := json.Marshal(hits[0])
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(js), "\n\x1b\x00") {
		t.Errorf("raw control characters in %q", js)
	}
	var back Hit
	if err := json.Unmarshal(js, &back); err != nil {
		t.Fatal(err)
	}
	var input struct{ Command string }
	if err := json.Unmarshal(back.Input, &input); err != nil {
		t.Fatal(err)
	}
	if back.Command != command || input.Command != command || back.File != "a\x1b]0;b" {
		t.Errorf("got back %q and %q", back.Command, input.Command)
	}
	if !strings.HasPrefix(back.Excerpt, "git push 'a\x1b[31m\u202e") {
		t.Errorf("excerpt %q", back.Excerpt)
	}
}
