package claims

import (
	"encoding/json"
	"testing"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// What a client brings in another shape than a result of Bash.
func TestOtherShapes(t *testing.T) {
	const body = `gh pr create --title t --body 'All tests pass, 41200 slugs per second.'`
	background := func(s *session, status string) {
		in := json.RawMessage(`{"command":"npm test","run_in_background":true}`)
		s.add(transcript.Event{Kind: transcript.KindCall, Call: &transcript.Call{ID: "bg", Name: "Bash", Input: in}})
		s.add(transcript.Event{Kind: transcript.KindResult, Result: &transcript.Result{
			CallID: "bg", Background: true, Text: "Command running in background with ID: b1. Output is being written to: /tmp/c/tasks/b1.output. You will be notified.",
		}})
		if status != "" {
			s.add(transcript.Event{Kind: transcript.KindTask, Task: &transcript.Task{Event: "task_notification", ID: "b1", ToolUseID: "bg", Status: status}})
		}
	}
	tests := map[string]struct {
		play         func(*session)
		tests, slugs string
	}{
		"an edit shows what stands around it": {func(s *session) {
			s.write("/r/a.md", "41200 slugs per second\nTODO")
			s.call("Edit", map[string]string{"file_path": "/r/a.md", "old_string": "TODO", "new_string": "x"}, "1\t41200 slugs per second\n2\tx", false)
		}, "none", "agent_file"},
		"a list of the agent's": {func(s *session) {
			s.call("TodoWrite", map[string]string{"todos": "x"}, "measured 41200 slugs per second", false)
		}, "none", "agent"},
		"a report that comes later": {func(s *session) {
			s.add(transcript.Event{Kind: transcript.KindPrompt, Text: "[Subagent hand-back] 41200 slugs per second, all tests pass"})
		}, "none", "subagent"},
		"the client's own reminder": {func(s *session) {
			s.add(transcript.Event{Kind: transcript.KindPrompt, Synthetic: true, Text: "41200 slugs per second"})
		}, "none", "none"},
		"in the background, not over": {func(s *session) { background(s, "") }, "none", "none"},
		"in the background, over":     {func(s *session) { background(s, "completed") }, "proven", "none"},
		"in the background, failed":   {func(s *session) { background(s, "failed") }, "failed", "none"},
		"its output, read": {func(s *session) {
			background(s, "completed")
			s.read("/tmp/c/tasks/b1.output", "41200 slugs per second")
		}, "proven", "proven"},
		"another agent's shell": {func(s *session) {
			s.call("shell", map[string]any{"command": []string{"bash", "-lc", "go test ./..."}}, "ok  \tslug\t0.01s\n41200 slugs per second", false)
		}, "proven", "proven"},
		"another agent's patch": {func(s *session) {
			s.call("apply_patch", map[string]string{"input": "*** Begin Patch\n*** Add File: perf.txt\n+41200 slugs per second\n*** End Patch"}, "Done", false)
			s.bash("cat perf.txt", "41200 slugs per second")
		}, "none", "agent_file"},
		"another agent's file tool": {func(s *session) {
			s.call("write_file", map[string]string{"path": "perf.txt", "content": "41200 slugs per second"}, "Done", false)
			s.call("read_file", map[string]string{"path": "perf.txt"}, "41200 slugs per second", false)
		}, "none", "agent_file"},
		"a person's answer": {func(s *session) {
			s.call("AskUserQuestion", map[string]string{"question": "how fast?"}, "41200 slugs per second", false)
		}, "none", "story"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var s session
			tt.play(&s)
			input, _ := json.Marshal(map[string]string{"command": body})
			got := map[string]queue.Claim{}
			for _, c := range s.judge(t, Call{Input: input})[0].Claims {
				got[c.Kind] = c
			}
			if a, b := verdict(got["run"]), verdict(got["number"]); a != tt.tests || b != tt.slugs {
				t.Errorf("tests %s, want %s; slugs %s, want %s", a, tt.tests, b, tt.slugs)
			}
		})
	}
}

// More than is kept is walked through again, with the same verdicts.
func TestALongSessionIsWalkedThroughTwice(t *testing.T) {
	var s session
	s.bash("make bench", "41200 slugs per second")
	input, _ := json.Marshal(map[string]string{"command": "gh pr create --title t --body '41200 slugs per second'"})
	walks := 0
	events := func(do func(transcript.Event)) error {
		walks++
		for _, ev := range s.events {
			do(ev)
		}
		do(transcript.Event{Kind: transcript.KindPrompt, Synthetic: true, Text: string(make([]byte, maxTape))})
		return nil
	}
	got, err := Judge([]Call{{Input: input}}, []Events{events}, Options{})
	if err != nil || walks != 2 || len(got[0].Claims) != 1 || !got[0].Claims[0].Proven() {
		t.Errorf("%d walks, %+v, %v", walks, got, err)
	}
}
