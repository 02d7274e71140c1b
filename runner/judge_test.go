package runner

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// endingOf reads a capture of the real client as the watch does.
func endingOf(t *testing.T, name string) ending {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return endingOfStream(t, f)
}

func endingOfStream(t *testing.T, f io.Reader) ending {
	t.Helper()
	w := &watch{
		o: &Options{}, guard: allAsked{}, a: &queue.Attempt{}, calls: map[string]*shown{}, grace: time.Hour,
		afterResult: time.NewTimer(time.Hour),
	}
	defer w.afterResult.Stop()
	dec := transcript.NewDecoder(f, transcript.Options{})
	for {
		ev, err := dec.Next()
		if errors.Is(err, io.EOF) {
			return w.end
		}
		if err != nil {
			t.Fatal(err)
		}
		w.see(ev)
	}
}

// allAsked is a firewall that was asked about everything.
type allAsked struct{}

func (allAsked) Started() bool             { return true }
func (allAsked) Fate(string) firewall.Fate { return firewall.LetRun }
func (allAsked) Deferred() int             { return 0 }

// What each real ending means. The exit codes are those seen with the capture.
func TestJudgeRealEndings(t *testing.T) {
	now := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	tests := []struct {
		capture string
		exit    int
		want    queue.Outcome
		reason  string
	}{
		{"stream-hook-deny-json", 0, queue.Done, ""},
		{"stream-refusal", 0, queue.Done, ""},
		{"stream-error-401", 1, queue.Auth, "Invalid API key · Fix external API key"},
		{"stream-error-403", 1, queue.Auth, ""},
		{"stream-not-logged-in", 1, queue.Auth, "Not logged in · Please run /login"},
		{"stream-error-429-apikey", 1, queue.Limit, ""},
		{"stream-error-429-usage-limit-subscription", 1, queue.Limit, "You've hit your 5-hour limit · resets 5:19am (UTC)"},
		{"stream-error-429-usage-limit-subscription", 0, queue.Limit, ""}, // older clients exit with 0
		{"stream-error-credit", 1, queue.Limit, "Credit balance is too low"},
		{"stream-error-500", 1, queue.Outage, ""},
		{"stream-error-529-default-retries", 1, queue.Outage, ""},
		{"stream-connection-refused", 1, queue.Outage, ""},
		{"stream-error-prompt-too-long", 1, queue.AgentFailed, ""},
		{"stream-max-turns", 1, queue.AgentFailed, "Reached maximum number of turns (1)"},
		{"stream-max-budget", 1, queue.AgentFailed, ""},
		{"stream-sigint", 0, queue.AgentFailed, ""},
		{"stream-sigterm-no-result", 143, queue.AgentFailed, "the client ended with exit code 143 and without a result"},
		{"stream-defer", 0, queue.AgentFailed, "the client stopped early: tool_deferred"},
		{"stream-pre-continue-false-tool-still-ran", 0, queue.AgentFailed, "the client stopped early: hook_stopped"},
		{"stream-hook-deny-json", 137, queue.AgentFailed, "the client reported success and then ended with exit code 137"},
	}
	for _, tt := range tests {
		e := endingOf(t, tt.capture)
		e.state = proc.State{ExitCode: tt.exit}
		got := judge(e, now)
		if got.outcome != tt.want || tt.reason != "" && got.reason != tt.reason {
			t.Errorf("%s, exit %d: %s %q, want %s %q", tt.capture, tt.exit, got.outcome, got.reason, tt.want, tt.reason)
		}
		if got.outcome != queue.Done && got.reason == "" {
			t.Errorf("%s: %s without a reason", tt.capture, got.outcome)
		}
	}
}

func TestJudgeUsageLimitKnowsTheReset(t *testing.T) {
	e := endingOf(t, "stream-error-429-usage-limit-subscription")
	got := judge(e, time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC))
	if got.resetsAt.IsZero() || !got.resetsAt.Equal(e.limit.ResetsAt) {
		t.Errorf("resets at %v, the event says %v", got.resetsAt, e.limit.ResetsAt)
	}
}

// A text about limits in an answer that ended well is only a text.
func TestJudgeTalkOfLimitsIsNoLimit(t *testing.T) {
	e := ending{started: true, final: &transcript.Final{
		Subtype: "success", TerminalReason: "completed", Result: "You've hit your 5-hour limit · resets 5am: this text is now shown in red.",
	}}
	if got := judge(e, time.Now()); got.outcome != queue.Done {
		t.Errorf("%+v", got)
	}
}

func TestJudgeLoopsOwnCauseComesFirst(t *testing.T) {
	final := &transcript.Final{Subtype: "success", TerminalReason: "completed"}
	tests := map[cause]queue.Outcome{
		stopInterrupt: queue.Interrupted, stopSilence: queue.Hung, stopWall: queue.Hung,
		stopUnguarded: queue.Unguarded, stopTranscript: queue.AgentFailed,
		// The client stayed after a good result: the work is done.
		stopGrace: queue.Done, notStopped: queue.AgentFailed,
	}
	for c, want := range tests {
		e := ending{cause: c, started: true, final: final, state: proc.State{ExitCode: 143}}
		if got := judge(e, time.Now()); got.outcome != want {
			t.Errorf("cause %d: %s, want %s", c, got.outcome, want)
		}
	}
}
