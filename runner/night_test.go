package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// The test binary is also the client, as loop itself is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "as-client":
			os.Exit(sim.Main(context.Background(), sim.Invocation{
				Args: os.Args[3:], Script: os.Args[2], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
				Env: os.Environ(), Dir: ".", Now: time.Now,
			}))
		}
	}
	os.Exit(m.Run())
}

// night is a repository with stories and a scripted client.
type night struct {
	t     *testing.T
	o     Options
	store *queue.Store
	mu    sync.Mutex // stories can be worked on at the same time
	log   strings.Builder
}

func (n *night) StoryStart(i, total int, s stories.Story) { n.say("start %s", s.ID) }
func (n *night) Live(Live)                                {}
func (n *night) StoryEnd(a queue.Attempt)                 { n.say("end %s %s", a.Story, a.Outcome) }
func (n *night) Notice(text string)                       { n.say("notice %s", text) }

func (n *night) say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(&n.log, format+"\n", args...)
}

// newNight makes stories 1, 2, ... of the titles and a client that plays script.
func newNight(t *testing.T, script sim.Script, titles ...string) *night {
	t.Helper()
	root, state := t.TempDir(), t.TempDir()
	type story struct {
		ID     string   `json:"id"`
		Title  string   `json:"title"`
		Passes bool     `json:"passes"`
		Needs  []string `json:"dependsOn,omitempty"`
	}
	var list []story
	for i, title := range titles {
		s := story{ID: fmt.Sprint(i + 1), Title: title}
		if after, ok := strings.CutPrefix(title, "after "); ok {
			s.Needs = []string{after}
		}
		list = append(list, s)
	}
	writeJSON(t, filepath.Join(root, "prd.json"), map[string]any{"userStories": list})
	scriptPath := filepath.Join(state, "script.json")
	writeJSON(t, scriptPath, script)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(state, queue.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	n := &night{t: t, store: store}
	n.o = Options{
		Root: root, State: state, Stories: filepath.Join(root, "prd.json"), Level: policy.Unattended,
		Client:   []string{self, "as-client", scriptPath},
		Env:      []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0", "HOME=" + root},
		GateTime: time.Minute, Wall: time.Minute, Silence: time.Minute, TermGrace: 2 * time.Second, ResultGrace: time.Minute,
		RulesText: prompts.Rules(prompts.RulesOptions{}), ClaudeMD: true, Gates: []string{"true"},
		Set: set, Store: store, Progress: n, Now: time.Now, Receipts: Receipts{Enabled: true},
	}
	return n
}

func writeJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// run is one session to its end.
func (n *night) run(ctx context.Context) queue.Snapshot {
	n.t.Helper()
	s, err := Run(ctx, n.o)
	if err != nil {
		n.t.Fatalf("%v\n%s", err, n.log.String())
	}
	snap, err := n.store.Snapshot(n.t.Context(), s.ID)
	if err != nil {
		n.t.Fatal(err)
	}
	return snap
}

func (n *night) done() map[string]bool {
	n.t.Helper()
	f, err := stories.Read(n.o.Stories)
	if err != nil {
		n.t.Fatal(err)
	}
	out := map[string]bool{}
	for _, s := range f.Stories {
		out[s.ID] = s.Done
	}
	return out
}

func say(text string) sim.Step { return sim.Step{Text: text} }

// Each way an attempt can end, what the session does then, and whether the
// story counts as done.
func TestOutcomes(t *testing.T) {
	zero, one := 0, 1
	tests := map[string]struct {
		script sim.Script
		change func(*Options)
		want   queue.Outcome
		goesOn bool // whether story 2 is tried
	}{
		"well":               {sim.Any(say("ok")), nil, queue.Done, true},
		"without gates":      {sim.Any(say("ok")), func(o *Options) { o.Gates = nil }, queue.Unproven, true},
		"gate fails":         {sim.Any(say("all tests pass")), func(o *Options) { o.Gates = []string{"true", "exit 3", "true"} }, queue.GateFailed, true},
		"gate hangs":         {sim.Any(say("ok")), func(o *Options) { o.Gates = []string{"sleep 600"}; o.GateTime = 100 * time.Millisecond }, queue.GateFailed, true},
		"usage limit":        {sim.Any(sim.Step{Fail: "usage-limit"}), nil, queue.Limit, false},
		"key refused":        {sim.Any(sim.Step{Fail: "auth"}), nil, queue.Auth, false},
		"not logged in":      {sim.Any(sim.Step{Fail: "not-logged-in"}), nil, queue.Auth, false},
		"server error":       {sim.Any(sim.Step{Fail: "server"}), nil, queue.Outage, true},
		"crash":              {sim.Any(say("x"), sim.Step{Crash: true}), nil, queue.AgentFailed, true},
		"exit 0, no result":  {sim.Any(say("x"), sim.Step{Exit: &zero}), nil, queue.AgentFailed, true},
		"exit 1, no result":  {sim.Any(say("x"), sim.Step{Exit: &one}), nil, queue.AgentFailed, true},
		"silence":            {sim.Any(say("x"), sim.Step{Hang: true}), func(o *Options) { o.Silence = 300 * time.Millisecond }, queue.Hung, true},
		"silence, deaf":      {sim.Any(sim.Step{IgnoreTerm: true}, sim.Step{Hang: true}), func(o *Options) { o.Silence = 300 * time.Millisecond; o.TermGrace = 100 * time.Millisecond }, queue.Hung, true},
		"talks for ever":     {sim.Any(sim.Step{Endless: true}), func(o *Options) { o.Wall = 500 * time.Millisecond }, queue.Hung, true},
		"stays after result": {sim.Any(say("ok"), sim.Step{Result: map[string]any{"num_turns": 3}}, sim.Step{Hang: true}), func(o *Options) { o.ResultGrace = 200 * time.Millisecond }, queue.Done, true},
		"a line of 40 MB":    {sim.Any(sim.Step{Huge: 40 << 20}, say("ok")), nil, queue.Done, true},
		"a torn last line":   {sim.Any(say("x"), sim.Step{Torn: `{"type":"assistant","mess`}, sim.Step{Exit: &zero}), nil, queue.AgentFailed, true},
		"no hooks at all":    {sim.Script{Schema: 1, Stories: map[string]sim.Part{"*": {Hooks: sim.HooksNone, Steps: []sim.Step{sim.Bash("true", ""), sim.Step{Hang: true}}}}}, nil, queue.Unguarded, false},
		"only the handshake": {sim.Script{Schema: 1, Stories: map[string]sim.Part{"*": {Hooks: sim.HooksHandshake, Steps: []sim.Step{sim.Bash("true", ""), sim.Step{Hang: true}}}}}, nil, queue.Unguarded, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNight(t, tt.script, "first", "second")
			if tt.change != nil {
				tt.change(&n.o)
			}
			snap := n.run(t.Context())
			a := snap.Attempts[0]
			if a.Outcome != tt.want {
				t.Errorf("%s (%s), want %s\n%s", a.Outcome, a.Reason, tt.want, n.log.String())
			}
			if goesOn := len(snap.Attempts) == 2; goesOn != tt.goesOn {
				t.Errorf("%d attempts, goes on: want %v", len(snap.Attempts), tt.goesOn)
			}
			if got := n.done()["1"]; got != tt.want.Passed() {
				t.Errorf("done mark %v after %s", got, tt.want)
			}
			if a.Ended.IsZero() || !a.Scanned || snap.Session.Ended.IsZero() {
				t.Errorf("no end: attempt %v, scanned %v, session %v", a.Ended, a.Scanned, snap.Session.Ended)
			}
			if (snap.Session.Stopped != "") == tt.goesOn {
				t.Errorf("stopped: %q", snap.Session.Stopped)
			}
			nothingLeft(t, a.ID)
		})
	}
}

// nothingLeft fails when a process still bears the attempt's mark.
func nothingLeft(t *testing.T, mark string) {
	t.Helper()
	procs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range procs {
		if b, err := os.ReadFile(p); err == nil && strings.Contains(string(b), mark) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
			t.Errorf("still running: %s %q", p, cmd)
		}
	}
}

func TestLimitKeepsTheResetTimeForTheReport(t *testing.T) {
	n := newNight(t, sim.Any(sim.Step{Fail: "usage-limit", ResetsAt: 1796015997}), "first")
	if got := n.run(t.Context()).Session.ResetsAt; !got.Equal(time.Unix(1796015997, 0)) {
		t.Errorf("resets at %v", got)
	}
}

func TestRefusedPushIsQueuedOnceAndTheStoryGoesOn(t *testing.T) {
	push := sim.Bash("git push origin main", "")
	push.ID = "toolu_push"
	n := newNight(t, sim.Any(push, sim.Bash("touch after", ""), say("waits")), "first")
	snap := n.run(t.Context())
	if len(snap.Actions) == 0 {
		t.Fatalf("nothing queued\n%s", n.log.String())
	}
	x := snap.Actions[0]
	if x.ToolUseID != "toolu_push" || x.Evidence != policy.Blocked || x.FoundBy != queue.ByHook || x.Command != "git push origin main" || x.Line == 0 {
		t.Errorf("%+v", x)
	}
	for _, other := range snap.Actions[1:] {
		if other.ToolUseID == "toolu_push" && other.Evidence != policy.Mentioned {
			t.Errorf("queued twice: %+v", other)
		}
	}
	if _, err := os.Stat(filepath.Join(n.o.Root, "after")); err != nil {
		t.Error("the call after the refused one did not run")
	}
	if a := snap.Attempts[0]; a.Denied != 1 || a.Calls != 2 || a.Outcome != queue.Done {
		t.Errorf("denied %d, calls %d, %s", a.Denied, a.Calls, a.Outcome)
	}
}

// What a call runs is read before it runs, whoever wrote it.
func TestAScriptWithAPushIsRefusedWhenItIsRun(t *testing.T) {
	write := sim.Bash("mkdir -p sub && printf 'touch ran\\ngit push origin main\\n' > go.sh && printf 'all:\\n\\ttouch ran\\n\\tgit push\\n' > Makefile &&"+
		" printf 'import os\\nopen(\"ran\", \"w\")\\nos.system(\"git push\")\\n' > sub/p.py &&"+
		` echo '{"scripts":{"go":"touch ran && git push"}}' > package.json`, "")
	runs := []string{"sh go.sh", "make all", "cd sub && python3 p.py", "npm run go"}
	steps := []sim.Step{write}
	for i, line := range runs {
		step := sim.Bash(line, "")
		step.ID = fmt.Sprintf("toolu_%d", i)
		steps = append(steps, step)
	}
	n := newNight(t, sim.Any(append(steps, sim.Bash("make -n all; touch after", ""), say("waits"))...), "first")
	snap := n.run(t.Context())
	files := []string{"go.sh, line 2", "Makefile, line 3", "sub/p.py, line 3", "package.json, line 1"}
	for i, line := range runs {
		found := false
		for _, x := range snap.Actions {
			if x.ToolUseID == fmt.Sprintf("toolu_%d", i) && x.Evidence == policy.Blocked {
				found = x.FoundBy == queue.ByHook && x.Command == line && strings.Contains(x.Why, files[i])
			}
		}
		if !found {
			t.Errorf("%s is not queued as blocked, with its file: %+v", line, snap.Actions)
		}
	}
	for _, name := range []string{"ran", "sub/ran"} {
		if _, err := os.Stat(filepath.Join(n.o.Root, name)); err == nil {
			t.Errorf("%s: a refused call ran", name)
		}
	}
	if _, err := os.Stat(filepath.Join(n.o.Root, "after")); err != nil {
		t.Error("the harmless call did not run")
	}
}

// A script that was read whole before it ran is no alarm afterwards, whatever
// its name; one that was not there to be read is refused.
func TestAHarmlessDeployScriptIsNoAlarm(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("sh ./deploy.sh", ""), sim.Bash("./publish.sh", ""), say("ok")), "first")
	if err := os.WriteFile(filepath.Join(n.o.Root, "deploy.sh"), []byte("#!/bin/sh\nset -e\nmkdir -p out\ncp prd.json out\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range n.run(t.Context()).Actions {
		if x.Evidence != policy.Mentioned {
			got = append(got, string(x.Evidence)+" "+x.Command)
		}
	}
	if len(got) != 1 || got[0] != "blocked ./publish.sh" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(n.o.Root, "out", "prd.json")); err != nil {
		t.Error("the harmless script did not run")
	}
}

// Unguarded: what ran all the same is on top of the report.
func TestAPushThatRanUnaskedIsFoundByTheScan(t *testing.T) {
	n := newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{"*": {
		Hooks: sim.HooksNone, Steps: []sim.Step{sim.Bash("git push origin main || true", ""), sim.Step{Hang: true}},
	}}}, "first")
	snap := n.run(t.Context())
	if len(snap.Actions) == 0 || snap.Actions[0].Evidence != policy.Executed || snap.Actions[0].FoundBy != queue.ByScan {
		t.Errorf("%+v", snap.Actions)
	}
}

func TestTheAgentsOwnDoneMarkIsPutBackAndShown(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash(`sed -i 's/"passes": false/"passes": true/' prd.json`, ""), say("done")), "first", "second")
	n.o.Gates = []string{"false"}
	n.o.Only = "1"
	snap := n.run(t.Context())
	if d := n.done(); d["1"] || d["2"] {
		t.Errorf("done marks of the agent stand: %v", d)
	}
	claims := 0
	for _, f := range snap.Findings {
		if f.Kind == "claim" {
			claims++
		}
	}
	if claims != 2 {
		t.Errorf("%d claims in %+v, want 2", claims, snap.Findings)
	}
}

// A story whose text the agent changed is not the one it was given.
func TestAStoryThatTheAgentRewroteIsNotMarked(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash(`sed -i 's/"first"/"something easier"/' prd.json`, ""), say("done")), "first")
	snap := n.run(t.Context())
	if a := snap.Attempts[0]; a.Outcome != queue.AgentFailed || n.done()["1"] {
		t.Errorf("%s, done %v", a.Outcome, n.done())
	}
}

func TestAStoryFileThatTheAgentBrokeIsPutBack(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash(`echo '{"userStories": [' > prd.json`, ""), say("done")), "first")
	snap := n.run(t.Context())
	if !n.done()["1"] {
		t.Error("the story passed and is not marked")
	}
	left, err := os.ReadFile(filepath.Join(snap.Attempts[0].Dir, "stories-as-left-1"))
	if err != nil || string(left) != "{\"userStories\": [\n" {
		t.Errorf("what the agent left is lost: %q, %v", left, err)
	}
}

func TestMemoryFilesAreShownAsDiffs(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash(`echo "99.2 % of users agree" >> MEMORY.md; echo x > extra.txt; rm progress.txt
mkdir -p docs/deep node_modules && echo y > docs/deep/CLAUDE.md && echo z > node_modules/CLAUDE.md && echo same > CLAUDE.md
mkdir -p ~/.claude/projects/$(pwd -P | tr -c 'a-zA-Z0-9\n' -)/memory && echo auto > ~/.claude/projects/$(pwd -P | tr -c 'a-zA-Z0-9\n' -)/memory/MEMORY.md`, ""), say("noted")), "first")
	n.o.Memory, n.o.AutoMemory = []string{"extra.txt"}, true
	for name, text := range map[string]string{"progress.txt": "old\n", "CLAUDE.md": "same\n", ".gitignore": "node_modules\n"} {
		if err := os.WriteFile(filepath.Join(n.o.Root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", n.o.Root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := map[string]string{}
	for _, m := range n.run(t.Context()).Attempts[0].Memory {
		got[m.File] = m.Diff
	}
	want := map[string]string{
		"MEMORY.md": "+99.2 % of users agree", "extra.txt": "+x", "progress.txt": "-old", "docs/deep/CLAUDE.md": "+y",
		strings.TrimPrefix(clientMemory(&n.o), n.o.Root+"/"): "+auto", // this test's home is the root
	}
	for file, text := range want {
		if !strings.HasPrefix(got[file], "@@") || !strings.Contains(got[file], text) {
			t.Errorf("%s: %q, want %q in it", file, got[file], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files: %v", len(got), got)
	}
}

func TestDependentsOfAFailedStoryAreSkipped(t *testing.T) {
	n := newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{
		"1": {Steps: []sim.Step{{Fail: "server"}}}, "*": {Steps: []sim.Step{say("ok")}},
	}}, "first", "after 1", "after 2", "free")
	n.run(t.Context())
	want := "start 1\nend 1 outage\n" +
		"notice story \"2\" is skipped: it depends on \"1\", which did not pass\n" +
		"notice story \"3\" is skipped: it depends on \"2\", which did not pass\n" +
		"start 4\nnotice gate: true\nend 4 done\n"
	if got := n.log.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSecondRunIsRefusedWithThePidOfTheFirst(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "first")
	unlock, err := lockRun(n.o.State)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	_, err = Run(t.Context(), n.o)
	if busy, ok := err.(*BusyError); !ok || busy.Pid != fmt.Sprint(os.Getpid()) {
		t.Errorf("got %v", err)
	}
}

func TestCouldNotStart(t *testing.T) {
	n := newNight(t, sim.Any(), "first")
	n.o.Client = []string{filepath.Join(t.TempDir(), "no-claude")}
	if _, err := Run(t.Context(), n.o); err == nil || !strings.Contains(err.Error(), "no-claude") {
		t.Errorf("got %v", err)
	}
}

// events lets a test wait for a point in the run instead of sleeping.
type events struct {
	*night
	calls chan struct{}
	seen  bool
}

func (e *events) Live(l Live) {
	if l.Calls > 0 && !e.seen {
		e.seen = true
		close(e.calls)
	}
}

func TestSignals(t *testing.T) {
	for name, tt := range map[string]struct {
		script sim.Script
		twice  bool
	}{
		"once":  {sim.Any(sim.Bash("sleep 300 & echo up", ""), sim.Step{Hang: true}), false},
		"twice": {sim.Any(sim.Step{IgnoreTerm: true}, sim.Bash("setsid sleep 300 & echo up", ""), sim.Step{Hang: true}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNight(t, tt.script, "first", "second")
			e := &events{night: n, calls: make(chan struct{})}
			n.o.Progress, n.o.TermGrace = e, time.Hour
			kill := make(chan struct{})
			n.o.Kill = kill
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				<-e.calls
				cancel()
				if tt.twice {
					close(kill)
				}
			}()
			snap := n.run(ctx)
			if snap.Session.StopKind != queue.Interrupted || len(snap.Attempts) != 1 || snap.Attempts[0].Outcome != queue.Interrupted {
				t.Errorf("%s, %d attempts", snap.Session.StopKind, len(snap.Attempts))
			}
			if !snap.Attempts[0].Scanned || snap.Session.Ended.IsZero() {
				t.Error("what it did was not kept")
			}
			nothingLeft(t, snap.Attempts[0].ID)
		})
	}
}

func TestAProcessLeftBehindIsEndedAndNamed(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("setsid sleep 4711 > /dev/null 2>&1 & echo up", ""), say("ok")), "first")
	n.o.Gates = []string{"setsid sleep 4712 > /dev/null 2>&1 &"}
	snap := n.run(t.Context())
	nothingLeft(t, snap.Attempts[0].ID)
	var found []string
	for _, f := range snap.Findings {
		for _, want := range []string{"the client and was ended: sleep 4711", "a gate and was ended: sleep 4712"} {
			if f.Kind == "leftover" && strings.Contains(f.Text, want) {
				found = append(found, want)
			}
		}
	}
	if len(found) != 2 {
		t.Errorf("%q of %+v", found, snap.Findings)
	}
}

func TestOnlyAndMax(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "a", "b", "c")
	n.o.Max = 2
	if plan, _, err := Plan(t.Context(), &n.o); err != nil || len(plan) != 2 {
		t.Errorf("%d, %v", len(plan), err)
	}
	n.o.Only = "3"
	if plan, _, err := Plan(t.Context(), &n.o); err != nil || len(plan) != 1 || plan[0].ID != "3" {
		t.Errorf("%v, %v", plan, err)
	}
	n.o.Only = "9"
	if _, _, err := Plan(t.Context(), &n.o); err == nil || !strings.Contains(err.Error(), `no story "9"`) {
		t.Errorf("%v", err)
	}
}

// died makes the record of an attempt whose loop was killed at some point.
func (n *night) died(change func(*queue.Attempt)) queue.Attempt {
	n.t.Helper()
	f, err := stories.Read(n.o.Stories)
	if err != nil {
		n.t.Fatal(err)
	}
	id := func() string { return uuid.Must(uuid.NewV7()).String() }
	s := queue.Session{ID: id(), Started: time.Now(), StoryFile: n.o.Stories, StoryOrder: []string{"1"}, Pid: 1 << 30}
	a := queue.Attempt{ID: id(), Session: s.ID, Story: "1", StoryHash: f.Stories[0].Hash, Dir: n.t.TempDir(), Started: time.Now()}
	change(&a)
	for _, err := range []error{n.store.PutSession(n.t.Context(), s), n.store.PutAttempt(n.t.Context(), a)} {
		if err != nil {
			n.t.Fatal(err)
		}
	}
	return a
}

// Killed after the transcript had a push in it: it is queued, the mark that
// the agent had set is taken back, and the story is worked on again.
func TestAfterAKillTheNextRunPicksUp(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "first")
	a := n.died(func(a *queue.Attempt) {
		line := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git push"}}]}}`
		if err := os.WriteFile(filepath.Join(a.Dir, transcriptName), []byte(line+"\n{\"type\":\"ass"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	f, err := stories.Read(n.o.Stories)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetDone("1", true); err != nil {
		t.Fatal(err)
	}
	snap := n.run(t.Context())
	if len(snap.Attempts) != 1 || snap.Attempts[0].Outcome != queue.Done {
		t.Errorf("the story was not worked on again: %+v", snap.Attempts)
	}
	if len(snap.Findings) != 1 || snap.Findings[0].Kind != "recovered" {
		t.Errorf("the new session does not tell: %+v", snap.Findings)
	}
	old, err := n.store.Snapshot(t.Context(), a.Session)
	if err != nil {
		t.Fatal(err)
	}
	got := old.Attempts[0]
	if !got.Recovered || got.Ended.IsZero() || got.Outcome != queue.Interrupted || old.Session.StopKind != queue.Interrupted {
		t.Errorf("attempt %+v, session %+v", got, old.Session)
	}
	if len(old.Actions) != 1 || old.Actions[0].ToolUseID != "t1" || old.Actions[0].Evidence != policy.Executed {
		t.Errorf("actions %+v", old.Actions)
	}
	kinds := map[string]int{}
	for _, f := range old.Findings {
		kinds[f.Kind]++
	}
	if kinds["claim"] != 1 || kinds["recovered"] != 1 {
		t.Errorf("findings %v", kinds)
	}
}

// Killed after a push that no call shows: git's own notes tell of it, and only
// of those in the time of the dead attempt.
func TestAfterAKillGitsNotesAreCompared(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	n := newNight(t, sim.Any(say("ok")), "first")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", n.o.Root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	logs := filepath.Join(n.o.Root, ".git", "logs", "refs", "remotes", "origin")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	hash := strings.Repeat("0", 40)
	note := func(at time.Time) string {
		return fmt.Sprintf("%s %s t <t@e> %d +0000\tupdate by push\n", hash, hash, at.Unix())
	}
	a := n.died(func(a *queue.Attempt) {
		if err := os.WriteFile(filepath.Join(a.Dir, transcriptName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	text := note(a.Started.Add(-time.Hour)) + note(a.Started.Add(2*time.Second)) + note(a.Started.Add(time.Hour))
	if err := os.WriteFile(filepath.Join(logs, "main"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n.run(t.Context())
	old, err := n.store.Snapshot(t.Context(), a.Session)
	if err != nil {
		t.Fatal(err)
	}
	if len(old.Actions) != 1 || old.Actions[0].Evidence != policy.Executed || old.Actions[0].Rules[0] != "git-reflog-push" {
		t.Errorf("%+v", old.Actions)
	}
}

// Killed between the verdict and the mark, or just after it: the story passed
// and is not worked on again.
func TestAfterAKillAVerdictStands(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "first")
	n.died(func(a *queue.Attempt) { a.Scanned, a.Verified, a.Outcome = true, true, queue.Done })
	if _, err := Run(t.Context(), n.o); !errors.Is(err, ErrNoOpen) {
		t.Errorf("got %v, want nothing to do", err)
	}
	if !n.done()["1"] {
		t.Error("the mark of a story that passed is missing")
	}
}

// The next attempt reads why the last one did not pass, and what waits.
func TestTheNextAttemptKnowsWhatTheLastOneLeft(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("git push origin main", ""), say("ok")), "first")
	n.o.Gates = []string{"echo expected 4, got 3; exit 1"}
	n.run(t.Context())
	snap := n.run(t.Context())
	b, err := os.ReadFile(filepath.Join(snap.Attempts[0].Dir, promptName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The last attempt did not pass", "ended with exit code 1", "expected 4, got 3", "- #1: git push origin main"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
}

// An agent that rewrites what decides about it changes nothing for this
// session, and is shown.
func TestAChangedConfigurationIsReported(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("f=$(date +loop.toml); echo 'gates = []' > $f", ""), say("ok")), "first", "second")
	n.o.Watched = []string{filepath.Join(n.o.Root, "loop.toml")}
	snap := n.run(t.Context())
	var told []string
	for _, f := range snap.Findings {
		told = append(told, f.Story+" "+f.Kind)
	}
	// The second attempt writes the same again, which is no change.
	if len(told) != 1 || told[0] != "1 tampered" {
		t.Errorf("findings %q", told)
	}
	for _, a := range snap.Attempts {
		if len(a.Gates) != 1 {
			t.Errorf("story %s: the gates of the start did not run", a.Story)
		}
	}
}

// An attempt that failed before its client was started is ended; one whose
// client had run stays open, so that what it did is scanned by the next run.
func TestAnErrorOfLoopEndsOnlyWhatNeverRan(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "first")
	if err := os.WriteFile(filepath.Join(n.o.Root, "CLAUDE.md"), make([]byte, maxClaudeMD+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), n.o); err == nil || !strings.Contains(err.Error(), "more than a prompt should carry") {
		t.Fatalf("got %v", err)
	}
	stays := n.died(func(a *queue.Attempt) { a.ChildPid = 1 << 30 })
	r, failure := &run{o: &n.o}, errors.New("disk full")
	if err := r.broken(t.Context(), &stays, failure); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	open, err := n.store.OpenAttempts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(open) != 1 || open[0].ID != stays.ID {
		t.Errorf("open attempts: %+v", open)
	}
}

// What the user's own rule let through is said in the report.
func TestAnAllowedCallRunsAndIsShown(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("git push staging main || true", ""), say("ok")), "first")
	set, err := policy.Load(policy.LoadOptions{Packs: []policy.PackFile{{Name: "rules.toml", Own: true, Data: []byte(`[[rule]]
id = "allow-staging"
tier = "local"
allow = true
why = "It is a disk in this room."
cmd = ["git push staging"]
match = ["git push staging", "git push staging main", "git push -f staging"]
not_match = ["git push", "git push origin"]
`)}}})
	if err != nil {
		t.Fatal(err)
	}
	n.o.Set = set
	snap := n.run(t.Context())
	if len(snap.Findings) != 1 || snap.Findings[0].Kind != "allowed" || snap.Findings[0].Text != `your rule "allow-staging" let run: git push staging main || true` {
		t.Errorf("findings %+v", snap.Findings)
	}
	for _, x := range snap.Actions {
		if x.Evidence != policy.Mentioned {
			t.Errorf("queued all the same: %+v", x)
		}
	}
}

// A program that nobody could look into pushes: git's own note of it puts it
// on top of the report.
func TestAPushThatNoCallShowsIsFoundInTheReflog(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "innocent")
	n := newNight(t, sim.Any(sim.Bash(tool, ""), say("formatted")), "first", "second")
	// Too large to be read, as a program of any other kind would be.
	script := "#!/bin/sh\n" + strings.Repeat("# "+strings.Repeat("-", 1000)+"\n", 1000) + "git commit -q --allow-empty -m x && git push -q origin HEAD:side\n"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	n.pushedRepository()
	n.o.Max = 1
	snap := n.run(t.Context())
	if len(snap.Actions) != 1 {
		t.Fatalf("%d actions: %+v", len(snap.Actions), snap.Actions)
	}
	x := snap.Actions[0]
	if x.Evidence != policy.Executed || x.Tier != policy.External || !strings.Contains(x.Command, "origin/side") || x.Outcome != "ok" {
		t.Errorf("%+v", x)
	}
	// Another attempt in which nothing is pushed finds nothing new.
	n.o.Only, n.o.Max = "2", 0
	n.o.Client[2] = filepath.Join(n.o.State, "quiet.json")
	writeJSON(t, n.o.Client[2], sim.Any(say("ok")))
	if snap := n.run(t.Context()); len(snap.Actions) != 0 {
		t.Errorf("%+v", snap.Actions)
	}
}

// pushedRepository makes the root a repository with one commit, which has been
// pushed to a remote.
func (n *night) pushedRepository() {
	t := n.t
	t.Helper()
	remote := filepath.Join(t.TempDir(), "remote.git")
	for _, args := range [][]string{
		{"init", "-q", "--bare", remote}, {"init", "-q", "."}, {"remote", "add", "origin", remote},
		{"config", "user.name", "t"}, {"config", "user.email", "t@example.com"},
		{"commit", "-q", "--allow-empty", "-m", "start"}, {"push", "-q", "origin", "HEAD:main"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = n.o.Root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
}

// What the scan found explains the pushes that git noted only if it pushed.
func TestAFailedPushHidesNoOther(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "first")
	n.pushedRepository()
	for outcome, want := range map[string]int{"ok": 0, "unknown": 0, "failed": 1} {
		seen := []queue.Action{{Evidence: policy.Executed, Outcome: outcome, Rules: []string{"git-push"}}}
		got, err := unseenPushes(t.Context(), &n.o, earlier{}, seen, queue.Attempt{})
		if err != nil || len(got) != want {
			t.Errorf("beside a push that ended %s: %d, %v, want %d", outcome, len(got), err, want)
		}
	}
}

// What reaches for loop, the client, git's hooks or the user's shell is refused
// at every level, kept apart as tampering, and the agent reads what it may do
// instead; ordinary work beside it goes on.
func TestTamperingIsRefusedAndShown(t *testing.T) {
	for _, level := range []policy.Level{policy.Supervised, policy.Unattended, policy.Lockdown} {
		t.Run(level.String(), func(t *testing.T) {
			steps := []sim.Step{
				sim.Bash("echo x > .git/hooks/pre-commit", ""), sim.Bash("kill -9 $PPID", ""),
				sim.Bash("echo '{}' > .mcp.json", ""), say("refused: ${denied}"), sim.Bash("echo x > notes.md", ""), say("ok"),
			}
			n := newNight(t, sim.Any(steps...), "first")
			n.o.Level = level
			snap := n.run(t.Context())
			if len(snap.Actions) != 3 {
				t.Fatalf("%d actions, want 3: %+v", len(snap.Actions), snap.Actions)
			}
			for _, a := range snap.Actions {
				if !a.Tampering || a.Evidence != policy.Blocked {
					t.Errorf("#%d %s: tampering %v, %s", a.Number, a.Command, a.Tampering, a.Evidence)
				}
			}
			for _, name := range []string{".git/hooks/pre-commit", ".mcp.json"} {
				if _, err := os.Stat(filepath.Join(n.o.Root, name)); err == nil {
					t.Errorf("%s was written", name)
				}
			}
			if _, err := os.Stat(filepath.Join(n.o.Root, "notes.md")); err != nil {
				t.Error(err)
			}
			b, err := os.ReadFile(filepath.Join(snap.Attempts[0].Dir, transcriptName))
			if err != nil || !strings.Contains(string(b), "shows it as tampering") || !strings.Contains(string(b), "Instead: ") {
				t.Errorf("error %v, or the agent was not told", err)
			}
		})
	}
}

// A second spelling of what was refused is linked to the first, and the agent
// is told that it is seen.
func TestAnotherSpellingIsTold(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("git push origin main", ""), sim.Bash("git -C . push origin HEAD", ""), say("${denied}")), "first")
	snap := n.run(t.Context())
	if len(snap.Actions) != 2 || snap.Actions[1].RelatedTo != "1" || len(snap.Actions[0].Again) != 1 {
		t.Fatalf("actions %+v", snap.Actions)
	}
	b, err := os.ReadFile(filepath.Join(snap.Attempts[0].Dir, transcriptName))
	if err != nil || !strings.Contains(string(b), "queued before, as #1: this other spelling") {
		t.Errorf("error %v, or the agent was not told", err)
	}
}
