package report

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
)

func standing(state string) Standing {
	at := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	s := Standing{
		Schema: 1, State: state, At: at, Session: "0190", Pid: 42, Level: "unattended", Started: at.Add(-2 * time.Hour), Written: at.Add(-time.Second),
		Seconds: 7200, Phase: "working", Number: 2, Total: 5, Story: "US-2", Title: "Second \x1b]0;x\x07", StorySeconds: 90, Calls: 7, Refused: 1,
		Doing: "curl -H 'Authorization: Bearer abcdefghijklmnop' \u202eevil", QuietSeconds: 12, Passed: 1, CostUSD: 1.5, Waiting: 3,
	}
	if state == StateEnded {
		s.Ended, s.Phase, s.Why = at, "ended", "usage limit\nx"
	}
	return s
}

// Each state says what it is, and nothing in it reaches the terminal raw.
func TestNowSaysTheState(t *testing.T) {
	waiting := standing(StateRunning)
	waiting.Phase, waiting.Until, waiting.WaitSeconds, waiting.Why = "waiting", waiting.At.Add(time.Hour), 3600, "You've hit your limit"
	beside := standing(StateRunning)
	beside.InFlight = []Flight{
		{Number: 2, Story: "US-2\x1b]0;x\x07", Title: "Second", Phase: "working", StorySeconds: 90, Calls: 7, Doing: "curl \u202eevil", QuietSeconds: 12},
		{Number: 4, Story: "US-4", Title: "Fourth", Phase: "checking", StorySeconds: 30, Calls: 1},
	}
	tests := map[string]struct {
		s    Standing
		want []string
		not  string
	}{
		"beside":  {beside, []string{"2 of 5: US-2", "1m30s, 7 calls; last sign of life 12s ago", `\u202eevil`, "4 of 5: US-4 Fourth the client has ended; what it did is read"}, "attempt "},
		"none":    {Standing{State: StateNone}, []string{"No run has worked"}, "story"},
		"start":   {Standing{State: StateStarting, Pid: 42}, []string{"starting (pid 42)"}, "story"},
		"working": {standing(StateRunning), []string{"Running for 2h00m (pid 42)", "2 of 5: US-2", "1m30s, 7 calls, 1 refused; last sign of life 12s ago", `\u202eevil`, "1 passed, 4 to go", "$1.50", "3 actions"}, "abcdefghijklmnop"},
		"waiting": {waiting, []string{"until 30 Nov 04:00, 1h00m more: You've hit your limit"}, "attempt "},
		"died":    {standing(StateDied), []string{"LOOP DIED", "pid 42", "1s ago"}, "last sign of life"},
		"ended":   {standing(StateEnded), []string{"No run is on. The last one: 30 Nov 01:00 – 03:00, 2h00m", `stopped early: usage limit\nx`}, "last sign of life"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int{0, 80, 120} {
				var b strings.Builder
				if err := Now(&b, tt.s, Options{Width: width, Now: tt.s.At}); err != nil {
					t.Fatal(err)
				}
				got := b.String()
				flat := strings.Join(strings.Fields(got), " ")
				for _, want := range tt.want {
					if !strings.Contains(flat, want) && width == 0 {
						t.Errorf("width %d: %q is not in\n%s", width, want, got)
					}
				}
				if strings.Contains(got, tt.not) || strings.ContainsAny(got, "\x1b\x07\u202e") {
					t.Errorf("width %d: holds %q, or a control character\n%s", width, tt.not, got)
				}
				for line := range strings.Lines(got) {
					if n := term.Cells(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
						t.Errorf("width %d: a line of %d cells: %q", width, n, line)
					}
				}
			}
		})
	}
}
