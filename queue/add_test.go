package queue

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

func TestAddSetsWhatItOwns(t *testing.T) {
	s := newStore(t)
	in := push("t1")
	in.Number, in.Status, in.Repeats = 77, Replayed, 9
	in.Decisions = []Decision{{Verb: Approve}}
	a, created, err := s.Add(t.Context(), in)
	if err != nil || !created {
		t.Fatalf("Add = %v, %v", created, err)
	}
	if a.Number != 1 || a.Schema != Schema || a.Status != Pending || a.Kind != "call" ||
		a.DetectedAt != testTime || a.Repeats != 0 || a.Decisions != nil {
		t.Errorf("stored %+v", a)
	}
	if got, err := s.Get(t.Context(), a.ID); err != nil || cmp.Diff(a, got) != "" {
		t.Errorf("Get: %v\n%s", err, cmp.Diff(a, got))
	}
}

func TestSameCallIsOneAction(t *testing.T) {
	hook := push("t1")
	scan := push("t1")
	scan.FoundBy, scan.Transcript, scan.Line, scan.Excerpt = ByScan, "/t.jsonl", 7, "git push"
	scan.Rules, scan.Cwd = []string{"classic-git-push", "git-push"}, ""
	for _, c := range []struct {
		name          string
		first, second policy.Evidence
		want          policy.Evidence
	}{
		{"hook then scan", policy.Blocked, policy.Blocked, policy.Blocked},
		{"scan saw only words", policy.Blocked, policy.Mentioned, policy.Blocked},
		{"it ran after all", policy.Blocked, policy.Executed, policy.Executed},
		{"scan before hook", policy.Executed, policy.Blocked, policy.Executed},
		{"words then file", policy.Mentioned, policy.Written, policy.Written},
		{"file then words", policy.Written, policy.Mentioned, policy.Written},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			first, second := hook, scan
			first.Evidence, second.Evidence = c.first, c.second
			one := mustAdd(t, s, first)
			two, created, err := s.Add(t.Context(), second)
			if err != nil || created {
				t.Fatalf("second Add = %v, %v", created, err)
			}
			want := one
			want.Evidence = c.want
			want.Rules = []string{"git-push", "classic-git-push"}
			want.Transcript, want.Line, want.Excerpt = "/t.jsonl", 7, "git push"
			if d := cmp.Diff(want, two); d != "" {
				t.Errorf("merged:\n%s", d)
			}
			list, err := s.Actions(t.Context(), Filter{})
			if err != nil || cmp.Diff([]Action{two}, list) != "" {
				t.Errorf("Actions: %v\n%s", err, cmp.Diff([]Action{two}, list))
			}
		})
	}
}

func TestMergeTakesTierAndOutcome(t *testing.T) {
	s := newStore(t)
	a := push("t1")
	a.Tier, a.Outcome, a.Evidence = policy.Shared, "unknown", policy.Executed
	mustAdd(t, s, a)
	a.Tier, a.Outcome = policy.External, "failed"
	if got := mustAdd(t, s, a); got.Tier != policy.External || got.Outcome != "failed" {
		t.Errorf("tier %v, outcome %q", got.Tier, got.Outcome)
	}
	a.Tier, a.Outcome = policy.Local, ""
	if got := mustAdd(t, s, a); got.Tier != policy.External || got.Outcome != "failed" {
		t.Errorf("tier %v, outcome %q after a sight that knew less", got.Tier, got.Outcome)
	}
}

// A person who rejected a blocked push has not seen that it ran: it comes back.
// What loop refused has not run because the transcript ends before the refusal.
func TestARefusalOutlivesATranscriptThatEndsBeforeIt(t *testing.T) {
	for name, tt := range map[string]struct {
		first, seen Action
		want        policy.Evidence
	}{
		"refused, no result":       {Action{FoundBy: ByHook, Evidence: policy.Blocked}, Action{Evidence: policy.Executed, Outcome: "unknown"}, policy.Blocked},
		"refused, and it ran":      {Action{FoundBy: ByHook, Evidence: policy.Blocked}, Action{Evidence: policy.Executed, Outcome: "ok"}, policy.Executed},
		"refused, and it failed":   {Action{FoundBy: ByHook, Evidence: policy.Blocked}, Action{Evidence: policy.Executed, Outcome: "failed"}, policy.Executed},
		"asked, no result":         {Action{FoundBy: ByHook, Evidence: policy.Blocked, Asked: true}, Action{Evidence: policy.Executed, Outcome: "unknown"}, policy.Executed},
		"by a scan, no result now": {Action{FoundBy: ByScan, Evidence: policy.Blocked}, Action{Evidence: policy.Executed, Outcome: "unknown"}, policy.Executed},
	} {
		if got := merge(tt.first, tt.seen); got.Evidence != tt.want {
			t.Errorf("%s: %s, want %s", name, got.Evidence, tt.want)
		}
	}
}

func TestExecutedReopensADecision(t *testing.T) {
	s := newStore(t)
	mustAdd(t, s, push("t1"))
	if _, err := s.Decide(t.Context(), "1", Decision{Verb: Reject, Who: "ann"}); err != nil {
		t.Fatal(err)
	}
	again := push("t1")
	if got := mustAdd(t, s, again); got.Status != Rejected {
		t.Errorf("seen again as blocked: status %s, want rejected", got.Status)
	}
	again.Evidence = policy.Executed
	if got := mustAdd(t, s, again); got.Status != Pending || len(got.Decisions) != 1 {
		t.Errorf("status %s, decisions %v; want pending with the decision kept", got.Status, got.Decisions)
	}
}

func TestRepeatsCountOnTheFirst(t *testing.T) {
	s := newStore(t)
	first := mustAdd(t, s, push("t1"))
	again := push("t2")
	again.Input = []byte(`{ "command": "git push", "description": "try once more" }`)
	for range 2 { // the second time is the scan after the hook
		got, created, err := s.Add(t.Context(), again)
		if err != nil || created || got.ID != first.ID || got.Repeats != 1 {
			t.Fatalf("Add = #%d repeats %d, %v, %v", got.Number, got.Repeats, created, err)
		}
	}
	for name, change := range map[string]func(*Action){
		"other story":   func(a *Action) { a.Story = "4" },
		"other session": func(a *Action) { a.Session = "s2" },
		"other tool":    func(a *Action) { a.Tool = "Shell" },
		"other folder":  func(a *Action) { a.Cwd = "/elsewhere" },
		"other command": func(a *Action) { a.Command = "git push -f" },
		"it ran":        func(a *Action) { a.Evidence = policy.Executed },
	} {
		a := push("t-" + name)
		change(&a)
		if _, created, err := s.Add(t.Context(), a); !created || err != nil {
			t.Errorf("%s: Add = %v, %v; want an action of its own", name, created, err)
		}
	}
	if _, err := s.Decide(t.Context(), "1", Decision{Verb: Reject}); err != nil {
		t.Fatal(err)
	}
	if got, created, err := s.Add(t.Context(), push("t3")); !created || err != nil {
		t.Errorf("after the first was decided: Add = #%d, %v, %v", got.Number, created, err)
	}
}

func TestRepeatsOfOtherToolsByInput(t *testing.T) {
	s := newStore(t)
	post := Action{
		Session: "s1", Story: "3", Tool: "mcp__slack__post", ToolUseID: "t1", Command: "mcp__slack__post {...}",
		Input: []byte(`{"text":"a"}`), Tier: policy.External, Evidence: policy.Blocked,
	}
	mustAdd(t, s, post)
	post.ToolUseID, post.Input = "t2", []byte(`{"text":"b"}`)
	if got := mustAdd(t, s, post); got.Number != 2 {
		t.Errorf("another text is #%d, want an action of its own", got.Number)
	}
	post.ToolUseID, post.Input = "t3", []byte(`{ "text": "a" }`)
	if got := mustAdd(t, s, post); got.Number != 1 || got.Repeats != 1 {
		t.Errorf("the same text is #%d with %d repeats", got.Number, got.Repeats)
	}
}

// Once the first has run, a blocked one after it is another matter.
func TestBlockedAfterExecutedIsNoRepeat(t *testing.T) {
	s := newStore(t)
	ran := push("t1")
	mustAdd(t, s, ran)
	ran.Evidence = policy.Executed
	mustAdd(t, s, ran)
	if got, created, err := s.Add(t.Context(), push("t2")); !created || err != nil {
		t.Errorf("Add = #%d, %v, %v; want an action of its own", got.Number, created, err)
	}
}

// The repeat of a blocked call was counted on the first one; when the scan says
// that this one ran, it is not hidden in there.
func TestRepeatThatRanGetsItsOwnEntry(t *testing.T) {
	s := newStore(t)
	first := mustAdd(t, s, push("t1"))
	mustAdd(t, s, push("t2"))
	ran := push("t2")
	ran.Evidence, ran.Outcome = policy.Executed, "ok"
	got, created, err := s.Add(t.Context(), ran)
	if err != nil || !created || got.RelatedTo != strconv.FormatUint(first.Number, 10) || got.Evidence != policy.Executed {
		t.Fatalf("Add = %+v, %v, %v", got, created, err)
	}
	if first, err = s.Get(t.Context(), "1"); err != nil || first.Repeats != 0 || first.Evidence != policy.Blocked {
		t.Errorf("the first: repeats %d, %s, %v", first.Repeats, first.Evidence, err)
	}
	if again := mustAdd(t, s, ran); again.ID != got.ID {
		t.Errorf("seen again: #%d, want #%d", again.Number, got.Number)
	}
}

// A scan that was cut short is done again from the start: what has no
// tool_use_id is known by its place.
func TestScanTwice(t *testing.T) {
	s := newStore(t)
	mention := Action{
		Session: "s1", Rules: []string{"classic-git-push"}, Command: "git push", Excerpt: "then git push",
		Transcript: "/t.jsonl", Line: 4, Tier: policy.External, Evidence: policy.Mentioned, FoundBy: ByScan,
	}
	other := mention
	other.Rules = []string{"classic-npm-publish"}
	later := mention
	later.Line = 5
	list := []Action{mention, other, later, push("t1")}
	if n, err := s.AddAll(t.Context(), list); n != 4 || err != nil {
		t.Fatalf("first scan: %d, %v", n, err)
	}
	if n, err := s.AddAll(t.Context(), list); n != 0 || err != nil {
		t.Fatalf("second scan: %d, %v", n, err)
	}
	if all, err := s.Actions(t.Context(), Filter{}); len(all) != 4 || err != nil {
		t.Errorf("%d actions, %v", len(all), err)
	}
}

func TestAddAllIsAllOrNothing(t *testing.T) {
	s := newStore(t)
	bad := push("t2")
	bad.ID = "no id"
	if n, err := s.AddAll(t.Context(), []Action{push("t1"), bad}); n != 0 || err == nil {
		t.Fatalf("AddAll = %d, %v", n, err)
	}
	if all, err := s.Actions(t.Context(), Filter{}); len(all) != 0 || err != nil {
		t.Errorf("kept %d actions, %v", len(all), err)
	}
}

// Whoever could not reach the queue may write an action down with an id of its
// own and add it later, more than once.
func TestAddTwiceByID(t *testing.T) {
	s := newStore(t)
	a := push("")
	a.ID, a.Evidence = "0192d3c4-0000-7000-8000-000000000001", policy.Executed
	mustAdd(t, s, a)
	if _, created, err := s.Add(t.Context(), a); created || err != nil {
		t.Errorf("second Add = %v, %v", created, err)
	}
}

// An input is kept byte for byte, with the white space and escapes it had.
func TestInputIsExact(t *testing.T) {
	s := newStore(t)
	for i, input := range []string{
		`{"command":"git push"}`,
		`{ "command" : "git push \u003c&> \u2028",  "n": 1.0, "n": 1e0 }` + "\n",
		"{\"command\":\"raw \xff bytes and \u202e bidi\"}",
		`{"text":"<b>&amp;</b>"}`,
	} {
		a := push(fmt.Sprint("t", i))
		a.Story, a.Input = fmt.Sprint(i), []byte(input)
		got, err := s.Get(t.Context(), mustAdd(t, s, a).ID)
		if err != nil || string(got.Input) != input {
			t.Errorf("%q came back as %q, %v", input, got.Input, err)
		}
	}
}

// A torn record is no reason to lose an action, nor is a name of any length.
func TestHostileFieldsAreStored(t *testing.T) {
	s := newStore(t)
	long := strings.Repeat("x", 100_000)
	torn := push("t1")
	torn.Input = []byte(`{"command":"git pu`)
	huge := push(long)
	huge.Session, huge.Story, huge.Command = long, long, long
	nul := push("a\x00b")
	nul.Session = "s\x00"
	for _, a := range []Action{torn, huge, nul} {
		got, err := s.Get(t.Context(), mustAdd(t, s, a).ID)
		if err != nil || got.Session != a.Session || got.ToolUseID != a.ToolUseID {
			t.Errorf("Get: %v, %.20q", err, got.Session)
		}
		if list, err := s.Actions(t.Context(), Filter{Session: a.Session}); len(list) != 1 || err != nil {
			t.Errorf("by session: %d, %v", len(list), err)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("export: %v", err)
		}
	}
}

// The exported shape of an action, for whoever reads our JSON.
func TestActionGolden(t *testing.T) {
	a := Action{
		Schema: Schema, ID: "0192d3c4-0000-7000-8000-000000000001", Number: 12, Kind: "call",
		Session: "0192d3c4-0000-7000-8000-0000000000aa", Story: "3", StoryTitle: "Ship it",
		Attempt: "0192d3c4-0000-7000-8000-0000000000bb", Tool: "Bash", ToolUseID: "toolu_01", Agent: "general",
		Input: []byte(`{"command":"git push"}`), Command: "git push", Cwd: "/repo", GitHead: "abc", GitBranch: "main",
		Rules: []string{"git-push"}, Why: "Publishes commits.", Tier: policy.External, Evidence: policy.Executed,
		Opaque: true, Transcript: "/t.jsonl", Line: 7, Excerpt: "git push", DetectedAt: testTime, FoundBy: ByScan,
		Outcome: "ok", RelatedTo: "0192d3c4-0000-7000-8000-000000000002", Repeats: 2, Status: Replaying,
		Decisions: []Decision{{Verb: Approve, Who: "ann", When: testTime, Reason: "fine"}},
		Replay:    &Replay{Started: testTime, Duration: 1500, ExitCode: 1, Output: "out", Cut: true, Error: "e"},
		Earlier:   []Replay{{Started: testTime, ExitCode: 1, Output: "no network"}},
		Owner:     &Owner{Pid: 42, Start: "99", Boot: "b"},
	}
	got, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "action.json", string(got)+"\n")
	var back Action
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	back.Input = a.Input // indented above
	if d := cmp.Diff(a, back); d != "" {
		t.Errorf("round trip:\n%s", d)
	}
	b, err := encodeAction(a)
	if err != nil {
		t.Fatal(err)
	}
	if back, err = decodeAction(string(b)); err != nil || cmp.Diff(a, back) != "" {
		t.Errorf("stored: %v\n%s", err, cmp.Diff(a, back))
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("LOOP_UPDATE") != "" {
		write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (LOOP_UPDATE=1 rewrites it):\n%s", path, d)
	}
}
