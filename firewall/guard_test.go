package firewall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// byWord classifies a call by the tier's name in its input.
type byWord struct{}

func (byWord) Classify(c policy.Call) policy.Result {
	in := string(c.Input)
	r := policy.Result{Net: strings.Contains(in, "net"), Opaque: strings.Contains(in, "opaque")}
	for _, t := range []policy.Tier{policy.Local, policy.Shared, policy.External} {
		if strings.Contains(in, t.String()) {
			r.Tier = t
		}
	}
	if r.Tier > policy.Local {
		r.Hits = []policy.Hit{{Rule: "r", Why: "it reaches outside.", Tier: r.Tier}}
	}
	return r
}

func (byWord) Undo([]string) string { return policy.UndoCorrection }

// memQueue keeps what is added; err makes it fail.
type memQueue struct {
	actions []queue.Action
	err     error
}

func (q *memQueue) Add(_ context.Context, a queue.Action) (queue.Action, bool, error) {
	if q.err != nil {
		return a, false, q.err
	}
	a.Number = uint64(len(q.actions) + 1)
	q.actions = append(q.actions, a)
	return a, true, nil
}

var now = time.Date(2026, 2, 23, 8, 15, 0, 0, time.UTC)

func newGuard(l policy.Level, q Queue) *Guard {
	return &Guard{
		Classifier: byWord{}, Queue: q, Level: l, Now: func() time.Time { return now },
		Base:  queue.Action{Session: "s", Story: "3", Attempt: "a"},
		Place: func(string) Place { return Place{Head: "abc", Branch: "main"} },
	}
}

func pre(id, words string) Request {
	return Request{
		Event: EventPreToolUse, Tool: "Bash", ToolUseID: id, Cwd: "/repo",
		Input: json.RawMessage(`{"command":"` + words + `"}`),
	}
}

// decision reads the client's side of a reply.
func decision(t *testing.T, r Reply) (decision, reason string) {
	t.Helper()
	var o struct {
		HookSpecificOutput struct{ HookEventName, PermissionDecision, PermissionDecisionReason string }
	}
	if err := json.Unmarshal([]byte(r.Stdout), &o); err != nil {
		t.Fatalf("%v in %q", err, r.Stdout)
	}
	if o.HookSpecificOutput.HookEventName != EventPreToolUse {
		t.Errorf("hookEventName %q", o.HookSpecificOutput.HookEventName)
	}
	return o.HookSpecificOutput.PermissionDecision, o.HookSpecificOutput.PermissionDecisionReason
}

// The table of levels in the architecture document.
func TestLevels(t *testing.T) {
	tests := []struct {
		words string
		allow map[policy.Level]bool
	}{
		{"local", map[policy.Level]bool{policy.Supervised: true, policy.Unattended: true, policy.Lockdown: true}},
		{"shared", map[policy.Level]bool{policy.Supervised: true, policy.Unattended: true, policy.Lockdown: false}},
		{"external", map[policy.Level]bool{policy.Supervised: false, policy.Unattended: false, policy.Lockdown: false}},
		{"local net", map[policy.Level]bool{policy.Supervised: true, policy.Unattended: true, policy.Lockdown: false}},
		{"local opaque", map[policy.Level]bool{policy.Supervised: true, policy.Unattended: true, policy.Lockdown: false}},
		{"external opaque", map[policy.Level]bool{policy.Supervised: false, policy.Unattended: false, policy.Lockdown: false}},
	}
	for _, tt := range tests {
		for level, allow := range tt.allow {
			q := &memQueue{}
			got, reason := decision(t, newGuard(level, q).Handle(t.Context(), pre("t1", tt.words)))
			want := "deny"
			if allow {
				want = "allow"
			}
			if got != want {
				t.Errorf("%s at %v: %s, want %s (%s)", tt.words, level, got, want, reason)
			}
			if queued := len(q.actions) == 1; queued == allow {
				t.Errorf("%s at %v: allowed %v, queued %v", tt.words, level, allow, queued)
			}
		}
	}
}

func TestDeferredCallIsStoredExactlyAndTheAgentIsTold(t *testing.T) {
	q := &memQueue{}
	g := newGuard(policy.Unattended, q)
	r := pre("toolu_1", "external   two  spaces")
	r.AgentID = "sub"
	verdict, reason := decision(t, g.Handle(t.Context(), r))
	if verdict != "deny" || !strings.HasPrefix(reason, "queued as #1 for review; go on with local work") {
		t.Errorf("%s: %q", verdict, reason)
	}
	for _, want := range []string{"it reaches outside", "Do not retry", "do not work round", "do not report it as done"} {
		if !strings.Contains(reason, want) {
			t.Errorf("the reason does not say %q: %q", want, reason)
		}
	}
	want := queue.Action{
		Kind: "call", Session: "s", Story: "3", Attempt: "a", Tool: "Bash", ToolUseID: "toolu_1", Agent: "sub",
		Input: r.Input, Command: "external   two  spaces", Cwd: "/repo", GitHead: "abc", GitBranch: "main",
		Rules: []string{"r"}, Why: "it reaches outside.", Undo: policy.UndoCorrection, Tier: policy.External, Evidence: policy.Blocked,
		DetectedAt: now, FoundBy: queue.ByHook, Number: 1,
	}
	if diff := cmp.Diff(want, q.actions[0]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if g.Deferred() != 1 || g.Fate("toolu_1") != Refused || g.Fate("toolu_2") != Unasked {
		t.Errorf("deferred %d, %v", g.Deferred(), g.Fate("toolu_1"))
	}
}

// The client may ask twice about one call; it gets one answer and one entry.
func TestTheSameCallIsAnsweredOnce(t *testing.T) {
	q := &memQueue{}
	g := newGuard(policy.Unattended, q)
	a, b := g.Handle(t.Context(), pre("t", "external")), g.Handle(t.Context(), pre("t", "external"))
	if a != b || len(q.actions) != 1 || g.Deferred() != 1 {
		t.Errorf("%v, %v, %d queued, %d deferred", a, b, len(q.actions), g.Deferred())
	}
}

// A queue that cannot be written must not let the call through.
func TestAQueueThatFailsBlocks(t *testing.T) {
	g := newGuard(policy.Unattended, &memQueue{err: errors.New("disk full")})
	if r := g.Handle(t.Context(), pre("t", "external")); r.Exit != 2 || !strings.Contains(r.Stderr, "disk full") {
		t.Errorf("%+v", r)
	}
}

func TestHandshake(t *testing.T) {
	g := newGuard(policy.Unattended, &memQueue{})
	if g.Started() {
		t.Error("started before the handshake")
	}
	if r := g.Handle(t.Context(), Request{Event: EventUserPromptSubmit}); r != NoObjection() {
		t.Errorf("%+v", r)
	}
	if !g.Started() {
		t.Error("not started after the handshake")
	}
}

// byFile is external by name, unless the file named so can be read.
type byFile struct{ byWord }

func (byFile) Classify(c policy.Call) policy.Result {
	if c.ReadFile != nil {
		if text, ok := c.ReadFile("f"); ok {
			c.Input = json.RawMessage(text)
		}
	}
	return byWord{}.Classify(c)
}

func TestFilesDecideBeforeNames(t *testing.T) {
	tests := map[string]struct {
		text     string
		ok       bool
		deferred int
		cleared  bool
	}{
		"harmless file": {"local", true, 0, true},
		"external file": {"external", true, 1, false},
		"no file":       {"", false, 1, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGuard(policy.Unattended, &memQueue{})
			g.Classifier = byFile{}
			g.ReadFile = func(cwd, name string) (string, bool) {
				if cwd != "/w" || name != "f" {
					t.Errorf("asked for %q in %q", name, cwd)
				}
				return tt.text, tt.ok
			}
			g.Handle(t.Context(), Request{Event: EventPreToolUse, Tool: "Bash", ToolUseID: "t", Cwd: "/w", Input: json.RawMessage(`"external"`)})
			if g.Deferred() != tt.deferred || g.Cleared("t") != tt.cleared {
				t.Errorf("deferred %d, cleared %v", g.Deferred(), g.Cleared("t"))
			}
		})
	}
}

// heard is what a guard tells about the calls.
type heard struct{ asked []string }

func (h *heard) Asked(_ context.Context, r Request, refused, queued bool) {
	h.asked = append(h.asked, fmt.Sprintf("%s refused=%v queued=%v", r.ToolUseID, refused, queued))
}

func (h *heard) Report(_ context.Context, r Request) Reply { return Reply{Stdout: r.ToolUseID} }

// Who gives the receipts is told of each call what became of it, and answers
// for its result.
func TestSealerIsTold(t *testing.T) {
	for _, queueErr := range []error{nil, errors.New("disk full")} {
		h := &heard{}
		g := newGuard(policy.Unattended, &memQueue{err: queueErr})
		g.Seal = h
		g.Handle(t.Context(), pre("t", "external"))
		g.Handle(t.Context(), pre("u", "local"))
		want := []string{fmt.Sprintf("t refused=true queued=%v", queueErr == nil), "u refused=false queued=false"}
		if diff := cmp.Diff(want, h.asked); diff != "" {
			t.Error(diff)
		}
		for _, event := range []string{EventPostToolUse, EventPostToolUseFailure} {
			if r := g.Handle(t.Context(), Request{Event: event, ToolUseID: "t"}); r.Stdout != "t" {
				t.Errorf("%s: %+v", event, r)
			}
		}
	}
}
