package runner

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// committed makes the night's folder a repository with these files committed and
// pushed.
func (n *night) committed(files map[string]string) {
	n.t.Helper()
	for name, text := range files {
		n.write(name, text)
	}
	n.write(".gitignore", "ignored/\n.claude/\n")
	n.pushedRepository()
	n.git("add", "--all")
	n.git("commit", "-q", "-m", "files")
	n.git("push", "-q", "origin", "HEAD:main")
}

func (n *night) write(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.o.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *night) git(args ...string) {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), "git", args...)
	cmd.Dir = n.o.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// play gives the client another script from here on.
func (n *night) play(script sim.Script) {
	n.t.Helper()
	n.o.Client[2] = filepath.Join(n.o.State, "next.json")
	writeJSON(n.t, n.o.Client[2], script)
}

// What counts as having done something, and what does not.
func TestAPassWithoutAChangeIsNoPass(t *testing.T) {
	tests := map[string]struct {
		steps []sim.Step
		want  queue.Outcome
	}{
		"only words":          {[]sim.Step{say("All done, every test passes.")}, queue.Unchanged},
		"only looked":         {[]sim.Step{sim.Bash("cat a.txt; git status", ""), say("done")}, queue.Unchanged},
		"back as it was":      {[]sim.Step{sim.Bash("echo x >> a.txt; git checkout -q a.txt", ""), say("done")}, queue.Unchanged},
		"touched":             {[]sim.Step{sim.Bash("touch a.txt", ""), say("done")}, queue.Unchanged},
		"only the log":        {[]sim.Step{sim.Bash("echo 'did it' >> progress.txt", ""), say("done")}, queue.Unchanged},
		"an ignored file":     {[]sim.Step{sim.Bash("mkdir -p ignored; echo x > ignored/x", ""), say("done")}, queue.Unchanged},
		"its own mark":        {[]sim.Step{sim.Bash("sed -i 's/\"passes\": false/\"passes\": true/' prd.json", ""), say("done")}, queue.Unchanged},
		"an empty commit":     {[]sim.Step{sim.Bash("git commit -q --allow-empty -m 'implement it'", ""), say("done")}, queue.Unchanged},
		"the mark, committed": {[]sim.Step{sim.Bash("sed -i 's/\"passes\": false/\"passes\": true/' prd.json; git commit -qam done", ""), say("done")}, queue.Unchanged},
		"a file":              {[]sim.Step{sim.Bash("echo x >> a.txt", ""), say("done")}, queue.Done},
		"a new file":          {[]sim.Step{sim.Bash("echo x > b.txt", ""), say("done")}, queue.Done},
		"a removed file":      {[]sim.Step{sim.Bash("rm a.txt", ""), say("done")}, queue.Done},
		"a mode":              {[]sim.Step{sim.Bash("chmod +x a.txt", ""), say("done")}, queue.Done},
		"a commit":            {[]sim.Step{sim.Bash("echo x > b.txt; git add b.txt; git commit -qm b", ""), say("done")}, queue.Done},
		"a branch":            {[]sim.Step{sim.Bash("git branch side", ""), say("done")}, queue.Done},
		"within a repository": {[]sim.Step{sim.Bash("echo x >> sub/a", ""), say("done")}, queue.Done},
		"a call that waits":   {[]sim.Step{sim.Bash("git push origin main", ""), say("it waits")}, queue.Done},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNight(t, sim.Any(tt.steps...), "first")
			n.committed(map[string]string{"a.txt": "a\n"})
			if name == "within a repository" {
				n.git("init", "-q", "sub")
				n.git("-C", "sub", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "start")
			}
			snap := n.run(t.Context())
			a := snap.Attempts[0]
			if a.Outcome != tt.want {
				t.Errorf("%s (%s), want %s", a.Outcome, a.Reason, tt.want)
			}
			if got := n.done()["1"]; got != tt.want.Passed() {
				t.Errorf("done mark %v", got)
			}
			if tt.want == queue.Unchanged && len(a.Gates) > 0 {
				t.Error("the gates ran, and can only say what was true before")
			}
			if _, err := os.Stat(filepath.Join(n.o.State, "runs", snap.Session.ID, "objects")); err == nil {
				t.Error("the objects of the session are still there")
			}
		})
	}
}

// A story that only looks at something says so.
func TestACheckNeedNotChangeAnything(t *testing.T) {
	for _, field := range []string{`"check": true`, `"type": "review"`} {
		n := newNight(t, sim.Any(say("I looked: it is sound.")), "first")
		n.committed(nil)
		n.write("prd.json", `[{"id": "1", "title": "look", "passes": false, `+field+`}]`)
		if a := n.run(t.Context()).Attempts[0]; a.Outcome != queue.Done {
			t.Errorf("%s: %s (%s)", field, a.Outcome, a.Reason)
		}
	}
}

// What an earlier attempt left in the tree is work too: the second one, which
// finds it there, has passed.
func TestWorkOfAnEarlierAttemptCounts(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("echo x > b.txt", ""), say("done")), "first")
	n.committed(nil)
	n.o.Gates = []string{"false"}
	if a := n.run(t.Context()).Attempts[0]; a.Outcome != queue.GateFailed {
		t.Fatalf("%s (%s)", a.Outcome, a.Reason)
	}
	n.play(sim.Any(say("it is there already")))
	n.o.Gates = []string{"true"}
	if a := n.run(t.Context()).Attempts[0]; a.Outcome != queue.Done {
		t.Errorf("%s (%s)", a.Outcome, a.Reason)
	}
	// With no work at all the second attempt is told why the first did not pass.
	n = newNight(t, sim.Any(say("done")), "first")
	n.committed(nil)
	n.run(t.Context())
	snap := n.run(t.Context())
	if got := n.promptOf(snap.Attempts[0]); !strings.Contains(got, "nothing was changed") {
		t.Errorf("not told:\n%s", got)
	}
}

func (n *night) promptOf(a queue.Attempt) string {
	n.t.Helper()
	b, err := os.ReadFile(filepath.Join(a.Dir, promptName))
	if err != nil {
		n.t.Fatal(err)
	}
	return string(b)
}

func TestQuestionIn(t *testing.T) {
	for text, want := range map[string]string{
		"I looked.\nQUESTION: Postgres or SQLite?":              "Postgres or SQLite?",
		"**QUESTION:** Which one?\n- a\n- b\n":                  "Which one?\n- a\n- b",
		"- **QUESTION**: Which one?":                            "Which one?",
		"QUESTION: one?\nQUESTION: two?":                        "one?\ntwo?",
		"QUESTION:\nWhich one?\r\n":                             "Which one?",
		"I would end with a line `QUESTION: ...` if I had one.": "",
		"QUESTION: ...":                                         "",
		"> QUESTION: Postgres or SQLite?":                       "",
		"```\nQUESTION: in a listing?\n```\ndone":               "",
		"The form has a field:\n    QUESTION: text":             "",
		"Question: is it done? Yes.":                            "",
		"done":                                                  "",
	} {
		if got := questionIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAskedInWords(t *testing.T) {
	for text, want := range map[string]bool{
		"The story names two databases.\n\nWhich one should I use?": true,
		"**Which database should it be?**":                          true,
		"I need the price list. Please provide the file.":           true,
		"どのデータベースを使いますか？":                                           true,
		"All done. Is there anything else I can help with?":         false,
		"Everything passes.":                                        false,
		"Why did it fail? Because of the clock. I mended it.":       false,
		"": false,
	} {
		if got := askedInWords(text) != ""; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A question parks its story, whatever else goes on; the answer goes into the
// next prompt, and a rejected one says so.
func TestAQuestionWaitsForItsAnswer(t *testing.T) {
	script := sim.Script{Schema: 1, Stories: map[string]sim.Part{
		"1": {Steps: []sim.Step{sim.Bash("echo begun > b.txt", ""), say("I began.\n\nQUESTION: Postgres or SQLite?")},
			Retry: []sim.Step{sim.Bash("echo x > c.txt", ""), say("done")}},
		"*": {Steps: []sim.Step{sim.Bash("echo x > d.txt", ""), say("done")}},
	}}
	n := newNight(t, script, "first", "second")
	n.committed(nil)
	snap := n.run(t.Context())
	a := snap.Attempts[0]
	if a.Outcome != queue.Question || a.Question != "Postgres or SQLite?" || len(a.Gates) > 0 || n.done()["1"] {
		t.Fatalf("%+v", a)
	}
	if len(snap.Attempts) != 2 || snap.Attempts[1].Outcome != queue.Done {
		t.Errorf("the next story did not go on: %d attempts", len(snap.Attempts))
	}
	if len(snap.Actions) != 1 || !snap.Actions[0].IsQuestion() || snap.Actions[0].Command != "Postgres or SQLite?" {
		t.Fatalf("%+v", snap.Actions)
	}
	// Not answered: it is not asked again, and costs nothing.
	if snap = n.run(t.Context()); len(snap.Attempts) != 0 || len(snap.Findings) != 1 || snap.Findings[0].Kind != "asked" {
		t.Fatalf("attempts %+v, findings %+v", snap.Attempts, snap.Findings)
	}
	if _, err := n.store.Answer(t.Context(), "1", queue.Decision{Who: "t", Reason: "SQLite. "}); err != nil {
		t.Fatal(err)
	}
	snap = n.run(t.Context())
	if got := n.promptOf(snap.Attempts[0]); !strings.Contains(got, "## You asked\n\nPostgres or SQLite?\n\nThe answer: SQLite.\n") {
		t.Errorf("not told:\n%s", got)
	}
	if snap.Attempts[0].Outcome != queue.Done || !n.done()["1"] {
		t.Errorf("%+v", snap.Attempts[0])
	}
}

// The tool for questions is not there; what it was to ask is kept. An agent
// that goes on all the same is shown.
func TestAQuestionByTool(t *testing.T) {
	input := json.RawMessage(`{"questions":[{"question":"Which port?","header":"Port","options":[{"label":"80"},{"label":"8080"}]}]}`)
	n := newNight(t, sim.Any(sim.Step{Tool: "AskUserQuestion", Input: input}, say("I could not ask.")), "first")
	n.committed(nil)
	snap := n.run(t.Context())
	if a := snap.Attempts[0]; a.Outcome != queue.Question || a.Question != "Which port?\n- 80\n- 8080" {
		t.Errorf("%s %q", a.Outcome, a.Question)
	}
	n = newNight(t, sim.Any(sim.Step{Tool: "AskUserQuestion", Input: input}, sim.Bash("echo 80 > port", ""), say("I took 80.")), "first")
	n.committed(nil)
	snap = n.run(t.Context())
	if snap.Attempts[0].Outcome != queue.Done || len(snap.Findings) != 1 || snap.Findings[0].Kind != "asked" || !strings.Contains(snap.Findings[0].Text, "Which port?") {
		t.Errorf("%s, findings %+v", snap.Attempts[0].Outcome, snap.Findings)
	}
}

// A rejected question is told as such.
func TestARejectedQuestionIsTold(t *testing.T) {
	n := newNight(t, sim.Any(say("QUESTION: Which port?")), "first")
	n.committed(nil)
	n.run(t.Context())
	if _, err := n.store.Decide(t.Context(), "1", queue.Decision{Verb: queue.Reject, Who: "t", Reason: "choose one"}); err != nil {
		t.Fatal(err)
	}
	snap := n.run(t.Context())
	if got := n.promptOf(snap.Attempts[0]); !strings.Contains(got, "The answer: choose one (it will not be answered") {
		t.Errorf("not told:\n%s", got)
	}
}
