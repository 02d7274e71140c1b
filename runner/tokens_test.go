package runner

import (
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// The stand-in says 1,201 tokens of each reply. An attempt that reaches what is
// left of a cap is ended while it works, its story is left and the night goes
// on, or ends where the cap is the session's. Attempts before count.
func TestTokenCapsEndAnAttempt(t *testing.T) {
	works := func() sim.Step { return sim.Bash("date >> log.txt", "") }
	script := each(map[string]sim.Part{
		"1": {Steps: []sim.Step{works(), works(), works(), {Hang: true}}},
		"2": {Steps: []sim.Step{works(), say("ok")}},
	})
	tests := map[string]struct {
		caps    Caps
		reason  string
		stories string
		stop    queue.Outcome
	}{
		"story":              {Caps{StoryTokens: 3000}, "the story's cap of 3000 tokens is reached: 3603 with this attempt", "1 2", ""},
		"session":            {Caps{SessionTokens: 3000, StoryTokens: 5000}, "the session's cap of 3000 tokens is reached: 3603", "1", queue.Budget},
		"what is left of it": {Caps{SessionTokens: 3500, StoryTokens: 3500}, "the story's cap of 3500 tokens is reached: 3603", "1", queue.Budget},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNight(t, script, "first", "second")
			n.o.Caps, n.o.Tries = tt.caps, 3
			snap := n.run(t.Context())
			if got := strings.Join(storiesOf(snap), " "); got != tt.stories {
				t.Fatalf("worked on %s, want %s\n%s", got, tt.stories, n.log.String())
			}
			a := snap.Attempts[0]
			if a.Outcome != queue.AgentFailed || a.Cause != queue.OverTokens || a.Fault() != queue.ConfigFault || !strings.HasPrefix(a.Reason, tt.reason) || a.Tokens != 3603 {
				t.Errorf("%s %s %q, %d tokens", a.Outcome, a.Cause, a.Reason, a.Tokens)
			}
			if !strings.Contains(a.Blocked, "token cap reached") || snap.Session.StopKind != tt.stop {
				t.Errorf("blocked %q, stopped %q %q", a.Blocked, snap.Session.StopKind, snap.Session.Stopped)
			}
		})
	}
}

// So is one that works beside others, which go on.
func TestTokenCapsEndAnAttemptInALane(t *testing.T) {
	t.Parallel()
	works := func() sim.Step { return sim.Bash("date >> log.txt", "") }
	n, _ := fleetNight(t, map[string]sim.Part{
		"1": {Steps: []sim.Step{works(), works(), works(), {Hang: true}}}, "2": steps("echo 2 > 2.txt"),
	}, "first", "second")
	n.o.Caps, n.o.Tries = Caps{StoryTokens: 3000}, 3
	snap := n.run(t.Context())
	for _, a := range snap.Attempts {
		switch {
		case a.Story == "2" && a.Outcome.Passed():
		case a.Story == "1" && a.Cause == queue.OverTokens && strings.HasPrefix(a.Reason, "the story's cap of 3000 tokens is reached: 3603"):
		default:
			t.Errorf("story %s: %s %s %q", a.Story, a.Outcome, a.Cause, a.Reason)
		}
	}
	if len(snap.Attempts) != 2 {
		t.Errorf("%d attempts", len(snap.Attempts))
	}
}

// The last words are said, even where they go over: nothing comes after them.
func TestTheLastWordsMayGoOver(t *testing.T) {
	n := newNight(t, each(map[string]sim.Part{"1": {Steps: []sim.Step{sim.Bash("date >> log.txt", ""), say("ok")}}}), "first")
	n.o.Caps = Caps{StoryTokens: 2000}
	if a := n.run(t.Context()).Attempts[0]; a.Outcome != queue.Done || a.Tokens <= 2000 {
		t.Errorf("%s %q, %d tokens", a.Outcome, a.Reason, a.Tokens)
	}
}
