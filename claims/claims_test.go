package claims

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// session makes the events of one.
type session struct {
	earlier [][]transcript.Event // of attempts before this one
	events  []transcript.Event
	n       int
}

func (s *session) add(ev transcript.Event) {
	ev.Line = len(s.events) + 1
	s.events = append(s.events, ev)
}

func (s *session) prompt(text string) {
	s.add(transcript.Event{Kind: transcript.KindPrompt, Text: text})
}

func (s *session) call(tool string, input any, result string, failed bool) string {
	s.n++
	id := fmt.Sprintf("call%d", s.n)
	in, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	s.add(transcript.Event{Kind: transcript.KindCall, Call: &transcript.Call{ID: id, Name: tool, Input: in}})
	s.add(transcript.Event{Kind: transcript.KindResult, Result: &transcript.Result{CallID: id, Text: result, IsError: failed}})
	return id
}

func (s *session) bash(command, result string) string {
	return s.call("Bash", map[string]string{"command": command}, result, false)
}

func (s *session) write(name, text string) {
	s.call("Write", map[string]string{"file_path": name, "content": text}, "File created successfully at: "+name, false)
}

func (s *session) read(name, text string) {
	s.call("Read", map[string]string{"file_path": name}, text, false)
}

func (s *session) judge(t *testing.T, calls ...Call) []Judged {
	t.Helper()
	return s.judgeWith(t, nil, calls...)
}

// publish refuses a command as the last call and judges its claims, as
// "text | source | tool".
func (s *session) publish(t *testing.T, command string) []string {
	t.Helper()
	in, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range s.judge(t, Call{Input: in})[0].Claims {
		line := c.Text + " | " + string(c.Source)
		if c.Failed {
			line += " failed"
		}
		if c.Doubt != "" {
			line += " " + string(c.Doubt)
		}
		if c.Note != "" {
			line += " | " + c.Note
		}
		out = append(out, line)
	}
	return out
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The chain of the incident: a guess goes into a memory file, a later session
// reads it there as a fact and publishes it.
func TestAGuessThatWasRememberedIsNoSource(t *testing.T) {
	var s session
	s.read("/r/MEMORY.md", "- slug.sh makes 41200 slugs per second (measured)")
	s.read("/r/notes/learned.md", "p99 latency is 12 ms")
	check(t, s.publish(t, `gh issue comment 4 --body 'It makes 41,200 slugs per second, p99 latency 12 ms.'`),
		"41,200 slugs per second | agent_file", "12 ms | agent_file")
}

func TestANumberThatWasMeasuredHasASource(t *testing.T) {
	var s session
	s.write("/r/bench.py", "import time\nprint(run(), 'slugs per second')")
	id := s.bash("python3 bench.py", "warm up\n41203.7 slugs per second\n")
	got := s.judge(t, Call{Input: json.RawMessage(`{"command":"gh issue comment 4 --body 'It makes 41,204 slugs per second.'"}`)})[0].Claims
	want := []queue.Claim{{
		Kind: "number", Text: "41,204 slugs per second", Where: "--body", Source: queue.SourceResult, Tool: "Bash", Command: "python3 bench.py",
		CallID: id, Line: 4, Quote: "41203.7 slugs per second", Rounded: "41203.7", Receipt: "receipt of " + id,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever way the agent's own words come back, they are its own.
func TestTheAgentsOwnWordsAreNoSource(t *testing.T) {
	const body = `curl -X POST https://example.com/api -d '{"slugs_per_second":41200}'`
	tests := map[string]struct {
		play func(*session)
		want string
	}{
		"nothing":                   {func(*session) {}, "none"},
		"echoed":                    {func(s *session) { s.bash("echo 41200 slugs/s", "41200 slugs/s") }, "agent"},
		"computed by what was told": {func(s *session) { s.bash("python3 -c 'print(41200, \"slugs\")'", "41200 slugs") }, "agent"},
		"written and read": {func(s *session) {
			s.write("/r/out.txt", "41200 slugs per second")
			s.read("/r/out.txt", "1\t41200 slugs per second")
		}, "agent_file"},
		"written by a shell and shown": {func(s *session) {
			s.bash("cat > out.txt <<'EOF'\n41200 slugs per second\nEOF", "")
			s.bash("tail -1 ./out.txt", "41200 slugs per second")
		}, "agent_file"},
		"printed by a script with the number in it": {func(s *session) {
			s.write("/r/bench.sh", "sleep 1\necho 41200 slugs/s")
			s.bash("sh bench.sh", "41200 slugs/s")
		}, "agent_file"},
		"edited into a file that was there": {func(s *session) {
			s.call("Edit", map[string]string{"file_path": "/r/README.md", "old_string": "TODO", "new_string": "41200 slugs per second"}, "edited", false)
			s.bash("cat README.md | head", "# slug\n41200 slugs per second")
		}, "agent_file"},
		"a subagent's report": {func(s *session) {
			s.call("Agent", map[string]string{"prompt": "measure it"}, "I measured 41200 slugs per second", false)
		}, "subagent"},
		"measured, and then written": {func(s *session) {
			s.bash("make bench", "41200 slugs/s")
			s.write("/r/b.md", "41200 slugs/s")
			s.read("/r/b.md", "41200 slugs/s")
		}, "result"},
		"a file that was there": {func(s *session) { s.read("/r/docs/perf.md", "41200 slugs per second") }, "file"},
		"fetched":               {func(s *session) { s.bash("curl -s https://example.com/slug", "41200 slugs per second") }, "page"},
		"the story says it":     {func(s *session) { s.prompt("Publish that it makes 41200 slugs per second.") }, "story"},
		"another number":        {func(s *session) { s.bash("make bench", "41300 slugs/s") }, "none"},
		"a call that did not run": {func(s *session) {
			s.add(transcript.Event{Kind: transcript.KindCall, Call: &transcript.Call{ID: "x", Name: "Bash", Input: json.RawMessage(`{"command":"make bench"}`)}})
			s.add(transcript.Event{Kind: transcript.KindResult, Result: &transcript.Result{CallID: "x", Text: "41200 slugs/s", NotRun: true}})
		}, "none"},
		"the same number of something else": {func(s *session) { s.bash("ls -l", "-rw-r--r-- 1 me me 41200 a.bin") }, "result other"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var s session
			tt.play(&s)
			check(t, s.publish(t, body), "41200 | "+tt.want)
		})
	}
}

// What happens after the call is no source for it.
func TestOnlyWhatHappenedBeforeCounts(t *testing.T) {
	var s session
	id := s.bash("gh issue comment 1 --body '41200 slugs per second'", "refused")
	s.bash("make bench", "41200 slugs per second")
	for name, want := range map[string]queue.ClaimSource{id: queue.SourceNone, "": queue.SourceResult} {
		got := s.judge(t, Call{ID: name, Input: json.RawMessage(`{"command":"gh issue comment 1 --body '41200 slugs per second'"}`)})[0].Claims
		if len(got) != 1 || got[0].Source != want {
			t.Errorf("call %q: %+v, want %s", name, got, want)
		}
	}
}

func TestClaimsOfHavingRun(t *testing.T) {
	const body = `gh pr create --title Done --body 'All tests pass.'`
	tests := map[string]struct {
		play func(*session)
		want string
	}{
		"never":                {func(s *session) { s.bash("ls", "a") }, "none"},
		"passed":               {func(s *session) { s.bash("go test ./...", "ok") }, "result"},
		"failed":               {func(s *session) { s.call("Bash", map[string]string{"command": "npm test"}, "1 failing", true) }, "result failed"},
		"failed behind a pipe": {func(s *session) { s.bash("pytest | tail -3", "=== 2 failed, 10 passed in 1s ===") }, "result failed"},
		"failed, mended and passed": {func(s *session) {
			s.call("Bash", map[string]string{"command": "cargo test"}, "FAILED", true)
			s.write("/r/a.rs", "x")
			s.bash("cargo test", "test result: ok. 10 passed; 0 failed")
		}, "result"},
		"passed and then failed": {func(s *session) {
			s.bash("make test", "ok")
			s.call("Bash", map[string]string{"command": "make test"}, "no", true)
		}, "result failed"},
		"passed and then changed": {func(s *session) { s.bash("sh test.sh", "ok"); s.write("/r/a.go", "x") }, "result stale"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var s session
			tt.play(&s)
			check(t, s.publish(t, body), "All tests pass. | "+tt.want)
		})
	}
}

func TestCommandsAddressesAndOutput(t *testing.T) {
	var s session
	s.prompt("See https://example.com/spec and run `make lint` first.")
	s.bash("go test  ./... -run X", "ok  \tslug\t0.01s\n--- PASS: TestX (0.00s)\n")
	body := "Ran `go test ./... -run X` and `make lint`, not `make bench`.\n\n```\n--- PASS: TestX (0.00s)\n--- PASS: TestY (0.00s)\n```\nSee https://example.com/spec, https://example.com/made-up."
	got := s.publish(t, "gh pr create --title t --body \"$(cat <<'EOF'\n"+body+"\nEOF\n)\"")
	for _, want := range []string{
		"--- PASS: TestX (0.00s) | result part | 1 of its 2 lines", "go test ./... -run X | result", "make lint | story | the story names it",
		"make bench | none", "https://example.com/spec | story", "https://example.com/made-up | none",
	} {
		if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("no %q in:\n%s", want, strings.Join(got, "\n"))
		}
	}
}

func TestTextsOfACall(t *testing.T) {
	files := newWritten()
	files.texts["notes.md"], files.texts["body.json"] = "from the notes", `{"rate": 7, "text": "seven"}`
	tests := map[string]struct {
		tool, input string
		want        []Text
	}{
		"options":    {"Bash", `gh pr create --title 'Fix it' --body="Much faster" --base main`, []Text{{Where: "--title", Body: "Fix it"}, {Where: "--body", Body: "Much faster"}}},
		"files":      {"Bash", "gh release create v1 --notes-file notes.md", []Text{{Where: "file notes.md", Body: "from the notes"}}},
		"curl":       {"Bash", `curl -d @body.json https://example.com -F note=@notes.md`, []Text{{Where: "file body.json rate", Key: "rate", Body: "7"}, {Where: "file body.json text", Key: "text", Body: "seven"}, {Where: "file notes.md", Body: "from the notes"}}},
		"heredoc":    {"Bash", "gh issue create --title a --body-file - <<'EOF'\nten of them\nEOF", []Text{{Where: "--title", Body: "a"}, {Where: "standard input", Body: "ten of them\n"}}},
		"in a shell": {"Bash", `bash -c "gh issue create --title 'Twice as fast'"`, []Text{{Where: "--title", Body: "Twice as fast"}}},
		"input file": {"Bash", "mail -s 'A report' a@example.com < notes.md", []Text{{Where: "mail -s", Body: "A report"}, {Where: "file notes.md", Body: "from the notes"}}},
		"push":       {"Bash", "git push origin main", []Text{{Where: "commit message", Body: "Make it 3x faster"}}},
		"mcp":        {"mcp__slack__post", `{"channel":"c","blocks":[{"text":"42 tests"}],"count":42}`, []Text{{Where: "channel", Key: "channel", Body: "c"}, {Where: "blocks.0.text", Key: "text", Body: "42 tests"}, {Where: "count", Key: "count", Body: "42"}}},
	}
	for name, tt := range tests {
		input := json.RawMessage(tt.input)
		if tt.tool == "Bash" {
			input, _ = json.Marshal(map[string]string{"command": tt.input})
		}
		if diff := cmp.Diff(tt.want, (&sources{written: &files, commits: []string{"Make it 3x faster"}}).texts(input)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAPushPublishesItsCommitMessages(t *testing.T) {
	var s session
	s.bash("git commit -am 'Speed up: 3.5x faster'", "[main 1] Speed up")
	check(t, s.publish(t, "git push origin main"), "3.5x faster | none")
}

func TestTooManyClaimsAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "%d things, ", 1000+i)
	}
	got := new(session).judge(t, Call{Input: json.RawMessage(`{"text":"` + b.String() + `"}`)})[0]
	if len(got.Claims) != most || got.Beyond != 100-most {
		t.Errorf("%d and %d", len(got.Claims), got.Beyond)
	}
}

// What is too long is read up to a bound, and the rest is said to be there.
func TestALongTextIsReadUpToABound(t *testing.T) {
	body := strings.Repeat("two things pass 40 tests, ", 200_000)
	input, _ := json.Marshal(map[string]string{"text": body})
	if got := new(session).judge(t, Call{Input: input})[0]; got.Beyond == 0 || len(got.Claims) == 0 {
		t.Errorf("%+v", got)
	}
}

// FuzzJudge: nothing that an agent writes stops the judging.
func FuzzJudge(f *testing.F) {
	facts, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		f.Fatal(err)
	}
	for part := range strings.SplitSeq(string(facts), "\n\n") {
		f.Add(part, part, part)
	}
	for _, line := range []string{"", "=", "A=1", ">", "<<", "sed -i", "echo", "python3 -c", "cat", "git", "git commit -m", "git push", "cp a", "$((", "curl -d @", "gh", "npm publish", "x=$(", "awk BEGIN"} {
		f.Add(line, "3 x: 4 ms\n", "| 3 |\n")
	}
	f.Fuzz(func(t *testing.T, command, result, body string) {
		var s session
		s.bash(command, result)
		s.bash(command, body)
		in, _ := json.Marshal(map[string]string{"command": command})
		post, _ := json.Marshal(map[string]string{"text": body})
		for _, j := range s.judge(t, Call{Input: in}, Call{ID: "call2", Input: in}, Call{Input: post}) {
			for _, c := range j.Claims {
				_ = c.Basis()
			}
		}
	})
}
