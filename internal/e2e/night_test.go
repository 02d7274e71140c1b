//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/policy"
)

// The way through the house: refused, queued, reported, shown, replayed once;
// on a branch of the session's and where the person is.
func TestPushWaitsAndApproveReplaysIt(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*world){"on a branch": func(*world) {}, "where the person is": (*world).whereThePersonIs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPushWaits(t, prepare)
		})
	}
}

func testPushWaits(t *testing.T, prepare func(*world)) {
	title := "Say hello louder"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("echo HELLO > README && git add README && git commit -qm louder")),
		fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/review")),
		fakeapi.Say("The work is committed; the push waits."),
	}}})
	prepare(w)
	w.stories("", title)

	w.loop("run").want(t, exitWaiting, "DEFERRED ACTIONS REQUIRE REVIEW", "1 external command(s) detected.", "unproven")
	if w.remoteHead("review") != "" {
		t.Fatal("the push went out")
	}
	if got := w.told(title); !strings.Contains(got, "queued as #1") {
		t.Errorf("the model was told %q", got)
	}
	diff(t, "passed", []string{"S1"}, w.passed(title))
	s := w.report()
	diff(t, "outcomes", []string{"S1 unproven"}, outcomes(s))
	diff(t, "waiting", []string{"blocked git push origin HEAD:refs/heads/review"}, waiting(s))
	w.loop("report").want(t, exitDone, "Story #S1 [", "]: git push origin HEAD:refs/heads/review")
	w.loop("report", "--check").want(t, exitWaiting)
	w.loop("list").want(t, exitDone, "git push origin")
	w.loop("show", "1").want(t, exitDone, "git push origin", w.repo)

	w.loop("approve", "1", "--dry-run").want(t, exitDone, "git push origin")
	if w.remoteHead("review") != "" {
		t.Error("--dry-run pushed")
	}
	w.loop("approve", "1", "--yes").want(t, exitDone, "git push origin")
	diff(t, "review at the remote", w.git(w.repo, "rev-parse", "HEAD"), w.remoteHead("review"))
	if r := w.loop("approve", "1", "--yes"); r.exit == exitDone {
		t.Error("the action was replayed twice")
	}
	w.loop("report", "--check").want(t, exitDone)
}

// A chain is one call: nothing of it runs, and all of it is replayed. On a
// branch of its own loop would have committed what the chain is to commit.
func TestChainWaitsWhole(t *testing.T) {
	t.Parallel()
	title := "Add a file and ship it"
	chain := "git add new.txt && git commit -qm ship && git push origin HEAD:refs/heads/ship"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(write("new.txt", "new\n")),
		fakeapi.Call(fakeapi.Bash(chain)),
		fakeapi.Say("It waits."),
	}}})
	w.whereThePersonIs()
	w.stories("", title)
	w.loop("run").want(t, exitWaiting)
	if got := w.git(w.repo, "log", "-1", "--format=%s"); got != "prepare" || w.remoteHead("ship") != "" {
		t.Errorf("last commit %q, remote %q: a part of the chain ran", got, w.remoteHead("ship"))
	}
	diff(t, "waiting", []string{"blocked " + chain}, waiting(w.report()))
	w.loop("approve", "1", "--yes").want(t, exitDone)
	diff(t, "commit that arrived", "ship", w.git(w.remote, "log", "-1", "--format=%s", "ship"))
}

func TestPushFromSubagentWaits(t *testing.T) {
	t.Parallel()
	title := "Let somebody else do it"
	w := newWorld(t, fakeapi.Script{
		{Match: "SUBTASK", Turns: []fakeapi.Turn{
			fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/sub")), fakeapi.Say("refused"),
		}},
		{Match: title, Turns: []fakeapi.Turn{fakeapi.Call(fakeapi.Agent("SUBTASK")), fakeapi.Say("It waits.")}},
	})
	w.stories("", title)
	w.loop("run").want(t, exitWaiting)
	if w.remoteHead("sub") != "" {
		t.Error("the push went out")
	}
	if got := w.told("SUBTASK"); !strings.Contains(got, "queued as #1") {
		t.Errorf("the subagent was told %q", got)
	}
	s := w.report()
	diff(t, "waiting", []string{"blocked git push origin HEAD:refs/heads/sub"}, waiting(s))
	if len(s.Actions) == 0 || s.Actions[0].Agent == "" {
		t.Errorf("the action does not say that a subagent called it: %+v", s.Actions)
	}
}

func TestMCPPostWaitsAndReadRuns(t *testing.T) {
	t.Parallel()
	title := "Tell the team"
	post := fakeapi.Tool("mcp__chat__post_message", map[string]any{"text": "we shipped"})
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Tool("mcp__chat__read_messages", nil)), fakeapi.Call(post), fakeapi.Say("It waits."),
	}}})
	w.write("mcp.json", w.mcpConfig())
	w.stories("[mcp]\nconfig = "+fmt.Sprintf("%q", filepath.Join(w.root, "mcp.json"))+"\n", title)
	w.loop("run").want(t, exitWaiting)
	diff(t, "what reached the server", "read_messages {}\n", w.read("posted"))
	s := w.report()
	if got := waiting(s); len(got) != 1 || !strings.Contains(got[0], "we shipped") {
		t.Errorf("waiting: %q", got)
	}
	w.loop("show", "1").want(t, exitDone, "mcp__chat__post_message", "we shipped")
	w.loop("approve", "1", "--yes").want(t, exitDone, "the server's configuration is the same", "done: post_message")
	diff(t, "what reached the server", "read_messages {}\npost_message {\"text\":\"we shipped\"}\n", w.read("posted"))
	w.loop("report", "--check").want(t, exitDone)
}

func TestRulesAndInstructionsReachTheModel(t *testing.T) {
	t.Parallel()
	title := "Read what you were told"
	w := newWorld(t, fakeapi.Script{
		{Match: "SUBTASK", Turns: []fakeapi.Turn{fakeapi.Say("sub done")}},
		{Match: title, Turns: []fakeapi.Turn{fakeapi.Call(fakeapi.Agent("SUBTASK")), fakeapi.Say("done")}},
	})
	w.write("repo/CLAUDE.md", "PROJECT-INSTRUCTION: use tabs.\n")
	w.stories("[prompt]\nappend = \"OWN-RULE: be brief.\"\n", title)
	w.loop("run").want(t, exitDone)
	rules := w.loop("prompt", "--rules").stdout
	if !strings.Contains(rules, "OWN-RULE") || !strings.Contains(rules, "queued") {
		t.Fatalf("loop prompt --rules: %q", rules)
	}
	seen := map[string]bool{}
	for _, q := range w.api.Requests() {
		seen[q.Conversation] = true
		if !strings.Contains(q.System, strings.TrimSpace(rules)) {
			t.Errorf("the rules are not in the system prompt of conversation %q", q.Conversation)
		}
	}
	diff(t, "conversations", map[string]bool{"SUBTASK": true, title: true}, seen)
	prompt := w.api.Requests()[0].FirstUser()
	for _, want := range []string{strings.TrimSpace(rules), "PROJECT-INSTRUCTION", title, "it is there"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, prompt)
		}
	}
	if strings.HasPrefix(prompt, "/") {
		t.Errorf("the prompt can be taken for a command: %.60q", prompt)
	}
}

// Gates decide, not the agent: a mark it set itself is put back and shown.
func TestGateDecidesAndClaimIsShown(t *testing.T) {
	t.Parallel()
	good, bad := "Do it well", "Only say so"
	w := newWorld(t, fakeapi.Script{
		{Match: good, Turns: []fakeapi.Turn{fakeapi.Call(write("good.txt", "x\n")), fakeapi.Say("done")}},
		{Match: bad, Turns: []fakeapi.Turn{
			fakeapi.Call(fakeapi.Bash("sed -i.bak 's/\"passes\": false/\"passes\": true/' prd.json && rm prd.json.bak && rm good.txt")),
			fakeapi.Say("All tests pass."),
		}},
	})
	w.stories("gates = [\"test -f good.txt\"]\n[retries]\nattempts = 1\n", good, bad)
	w.loop("run").want(t, exitFailed)
	diff(t, "passed", []string{"S1"}, w.passed(good, bad))
	s := w.report()
	diff(t, "outcomes", []string{"S1 done", "S2 gate-failed"}, outcomes(s))
	var claims []string
	for _, f := range s.Findings {
		if f.Kind == "claim" {
			claims = append(claims, f.Story)
		}
	}
	diff(t, "claims", []string{"S2"}, claims)
}

// Words are kept as mentions, in the run and by loop scan on the client's own file.
func TestTranscriptsAreScanned(t *testing.T) {
	t.Parallel()
	title := "Write about it"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/words")),
		fakeapi.Call(write("HOWTO.md", "Run npm publish when it is ready.\n")),
		fakeapi.Say("I then ran gh pr create and it worked."),
	}}})
	w.stories("", title)
	w.loop("run").want(t, exitWaiting)
	s := w.report()
	diff(t, "waiting", []string{"blocked git push origin HEAD:refs/heads/words"}, waiting(s))
	found := map[string]bool{}
	for _, a := range s.Actions {
		for _, p := range []string{"npm publish", "gh pr create"} {
			if a.Evidence == policy.Mentioned && strings.Contains(a.Command+a.Excerpt, p) {
				found[p] = true
			}
		}
	}
	diff(t, "mentions", map[string]bool{"npm publish": true, "gh pr create": true}, found)

	ran := attempts(s)
	if len(ran) != 1 {
		t.Fatalf("attempts: %+v", ran)
	}
	onDisk, err := filepath.Glob(filepath.Join(w.home, ".claude", "projects", "*", ran[0].ID+".jsonl"))
	if err != nil || len(onDisk) != 1 {
		t.Fatalf("session files of the client: %q, %v", onDisk, err)
	}
	for _, file := range []string{filepath.Join(ran[0].Dir, "transcript.jsonl"), onDisk[0]} {
		r := w.loop("scan", "--json", file)
		r.want(t, exitWaiting)
		var pushes int
		for line := range strings.Lines(r.stdout) {
			var hit struct{ Command, Evidence, Tool string }
			if err := json.Unmarshal([]byte(line), &hit); err != nil {
				t.Fatalf("line %q: %v", line, err)
			}
			if hit.Tool == "Bash" && hit.Evidence == "blocked" && strings.HasPrefix(hit.Command, "git push") {
				pushes++
			}
		}
		if pushes != 1 {
			t.Errorf("loop scan %s: %d refused pushes, want 1:\n%s", file, pushes, r.stdout)
		}
	}
}
