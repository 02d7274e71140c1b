package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay/mcp"
)

// serverVar makes the test binary an MCP server and nothing else.
const serverVar = "LOOP_TEST_REPLAY_MCP"

// call is a call of an MCP tool that waits.
func (b *bench) call(tool, input string) queue.Action {
	a := b.action("x")
	a.Tool, a.Input, a.ToolUseID = tool, []byte(input), "t-"+tool+input
	a.Command = policy.CommandOf(policy.Call{Tool: tool, Input: a.Input})
	return a
}

// configure puts a server that notes what it is asked for into a file.
func (b *bench) configure(path, name string) (posted string) {
	b.t.Helper()
	posted = filepath.Join(filepath.Dir(b.repo), "posted")
	text := fmt.Sprintf(`{"mcpServers":{%q:{"command":%q,"env":{%q:"${POSTED}","API_TOKEN":"hunter2hunter2"}}}}`, name, os.Args[0], serverVar)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.env = append(b.env, "POSTED="+posted)
	return posted
}

func (b *bench) posted(file string) string {
	data, _ := os.ReadFile(file)
	return string(data)
}

// A call of a run is made with what the run was given.
func TestReplayOfAnMCPCall(t *testing.T) {
	b := newBench(t)
	id := "0192d3c4-0000-7000-8000-000000000009"
	if err := b.store.PutSession(t.Context(), queue.Session{ID: id, Dir: b.repo, Started: testTime}); err != nil {
		t.Fatal(err)
	}
	places := MCPPlaces{Runs: filepath.Join(b.state, "runs"), Config: filepath.Join(b.repo, "mcp.json")}
	posted := b.configure(filepath.Join(places.Runs, id, "mcp.json"), "my chat")
	now := strings.Replace(b.posted(filepath.Join(places.Runs, id, "mcp.json")), "hunter2hunter2", "another one", 1)
	if err := os.WriteFile(places.Config, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
	a := b.call("mcp__my_chat__post_message", "{\"text\":\"we shipped \u202e\",  \"n\":12345678901234567890}")
	a.Session, a.ID = id, "0192d3c4-0000-7000-8000-000000000001"
	a = b.add(a)
	r := b.request(a)
	r.MCP, r.Yes, r.IsTerminal, r.In = places, false, true, strings.NewReader("y\n")
	res, err := Run(t.Context(), r)
	if err != nil || !res.Ran || res.Action.Status != queue.Replayed {
		t.Fatalf("Run = %+v, %v\n%s", res, err, b.out.String())
	}
	if got, want := b.posted(posted), "post_message {\"text\":\"we shipped \u202e\",\"n\":12345678901234567890}\n"; got != want {
		t.Errorf("the server was asked for %q, want %q", got, want)
	}
	if got := b.stored(a).Replay; got.Output != "done: post_message\n" || got.ExitCode != 0 || got.Error != "" {
		t.Errorf("stored %+v", got)
	}
	screen := strings.NewReplacer(filepath.Dir(b.repo), "/tmp/x", os.Args[0], "/tmp/server").Replace(b.out.String())
	golden(t, "mcp.txt", screen)
	if left, err := proc.EndMarked(mark(a)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestReplayOfAnMCPCallOfThePrompt(t *testing.T) {
	b := newBench(t)
	posted := b.configure(filepath.Join(b.repo, ".mcp.json"), "chat")
	a := b.call("mcp__chat__post_message", `{"text":"x"}`)
	a.Cwd = filepath.Join(b.repo, "sub")
	if err := os.Mkdir(a.Cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	a = b.add(a)
	r := b.request(a)
	r.DryRun = true
	if _, err := Run(t.Context(), r); err != nil || b.posted(posted) != "" {
		t.Fatalf("dry run: %v, the server was asked for %q", err, b.posted(posted))
	}
	r.DryRun = false
	if _, err := Run(t.Context(), r); err != nil || b.posted(posted) != "post_message {\"text\":\"x\"}\n" {
		t.Errorf("Run: %v, the server was asked for %q", err, b.posted(posted))
	}
	if !strings.Contains(b.out.String(), "!! how the server was reached then was not recorded") {
		t.Errorf("screen:\n%s", b.out.String())
	}
}

// What is not there any more leaves the action as it is; what hangs or dies
// leaves it failed.
func TestMCPCallThatCannotBeMade(t *testing.T) {
	for name, c := range map[string]struct {
		server, tool string
		refused      bool
		reason       string
	}{
		"no server":  {`{"command":"true"}`, "mcp__other__post", true, "no configuration has the server"},
		"no program": {`{"command":"no-such-program-of-loop"}`, "mcp__chat__post", true, "program is not there"},
		"no tool":    {fmt.Sprintf(`{"command":%q,"env":{%q:"/dev/null"}}`, os.Args[0], serverVar), "mcp__chat__tweet", true, `no tool "tweet" any more`},
		"helper":     {`{"type":"http","url":"http://127.0.0.1:1","headersHelper":"x"}`, "mcp__chat__post", true, "headersHelper"},
		"dies":       {`{"command":"sh","args":["-c","echo no database >&2; exit 3"]}`, "mcp__chat__post", false, "the server ended (exit 3) before it answered"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if err := os.WriteFile(filepath.Join(b.repo, ".mcp.json"), []byte(`{"mcpServers":{"chat":`+c.server+`}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			a := b.add(b.call(c.tool, `{"text":"x"}`))
			_, err := Run(t.Context(), b.request(a))
			if c.refused {
				wantRefused(t, err, c.reason)
				if d := cmp.Diff(a, b.stored(a)); d != "" {
					t.Errorf("the action was changed:\n%s", d)
				}
				return
			}
			var failed *FailedError
			got := b.stored(a)
			if !errors.As(err, &failed) || got.Status != queue.Failed || !strings.Contains(got.Replay.Error, c.reason) || got.Replay.Output != "no database\n" {
				t.Errorf("%v; stored %s, %+v", err, got.Status, got.Replay)
			}
		})
	}
}

// A server is shown by the names of its secrets.
func TestMCPCallIsShownWithoutSecrets(t *testing.T) {
	a := screenAction("x")
	a.Tool, a.Input = "mcp__chat__post", []byte("{\"text\":\"a\u200bb\",\"to\":[1,2]}")
	since := Since{Now: testTime, Call: &ServerCall{
		Name: "chat", Tool: "post", Dir: "/work", Recorded: true, Changed: []string{"env"}, Unset: []string{"TOKEN"},
		Server: mcp.Server{
			Name: "chat\x1b", Type: "http", URL: "https://ann:hunter2hunter2@x.example/mcp", From: "/state/mcp.json",
			Headers: map[string]string{"Authorization": "Bearer ${TOKEN} verysecret", "X-Team": "verysecret"},
		},
	}}
	var b strings.Builder
	if err := Show(&b, a, since); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "verysecret") || strings.Contains(b.String(), "hunter2hunter2") {
		t.Errorf("a secret is shown:\n%s", b.String())
	}
	golden(t, "mcphttp.txt", b.String())
}
