package runner

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// What a run says of itself while it works and when it has ended.
func TestStatusFollowsTheRun(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("cp \"$PWD\"/../x/status.json . 2>/dev/null; true", "look"), say("ok")), "one", "two")
	n.o.Gates = []string{"cp " + n.o.State + "/status.json seen.json"}
	snap := n.run(t.Context())

	st, ok, err := ReadStatus(n.o.State)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if st.Phase != PhaseEnded || st.Session != snap.Session.ID || st.Passed != 2 || st.Number != 2 || st.Total != 2 || st.Alive() || st.Doing != "" {
		t.Errorf("after the run: %+v", st)
	}
	// The gate of the second story read it while the run was on.
	if err := os.Rename(filepath.Join(n.o.Root, "seen.json"), filepath.Join(n.o.State, statusName)); err != nil {
		t.Fatal(err)
	}
	during, _, err := ReadStatus(n.o.State)
	if err != nil {
		t.Fatal(err)
	}
	if during.Story != "2" || during.Title != "two" || during.Passed != 1 || !during.Alive() || !strings.HasPrefix(during.Notice, "gate: ") {
		t.Errorf("during the run: %+v", during)
	}
	during.PidStart += "1"
	if during.Alive() {
		t.Error("another process with the same pid passes for the run")
	}
}

// A stop that was asked for ends the session before the next story; one that
// is meant for another process does nothing.
func TestStopAfterTheStory(t *testing.T) {
	self := proc.Self()
	for name, tt := range map[string]struct {
		start string
		ended int
	}{"this run": {self.Start, 1}, "another": {self.Start + "1", 2}} {
		t.Run(name, func(t *testing.T) {
			n := newNight(t, sim.Any(say("ok")), "one", "two")
			n.o.Tell = func(e Event) {}
			asked := false
			n.o.Vet = nil
			n.o.Progress = &hooked{night: n, onStart: func() {
				if asked {
					return
				}
				asked = true
				if err := AskStop(n.o.State, StopRequest{Pid: self.Pid, Start: tt.start, How: StopAfterStory, Who: "jo", When: time.Now()}); err != nil {
					t.Error(err)
				}
			}}
			snap := n.run(t.Context())
			if len(snap.Attempts) != tt.ended {
				t.Errorf("%d attempts, want %d", len(snap.Attempts), tt.ended)
			}
			if tt.ended == 1 && (snap.Session.StopKind != queue.Interrupted || snap.Session.Stopped != "stopped before the next story by jo (loop stop)") {
				t.Errorf("session: %q %q", snap.Session.StopKind, snap.Session.Stopped)
			}
			if _, err := os.Stat(filepath.Join(n.o.State, stopName)); err == nil {
				t.Error("the request is still there")
			}
		})
	}
}

// Stopping now ends the client and keeps what it did.
func TestStopNow(t *testing.T) {
	n := newNight(t, sim.Any(sim.Step{Hang: true}), "one", "two")
	self := proc.Self()
	n.o.Progress = &hooked{night: n, onStart: func() {
		if err := AskStop(n.o.State, StopRequest{Pid: self.Pid, Start: self.Start, How: StopNow, Who: "jo"}); err != nil {
			t.Error(err)
		}
	}}
	snap := n.run(t.Context())
	if len(snap.Attempts) != 1 || snap.Attempts[0].Outcome != queue.Interrupted || snap.Attempts[0].Reason != "stopped by jo (loop stop --now)" {
		t.Errorf("attempts: %+v", snap.Attempts)
	}
}

// A person who is away hears of what got out, what did not pass, and the end.
func TestEventsAreTold(t *testing.T) {
	n := newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{
		"1": {Steps: []sim.Step{say("ok")}},
		"2": {Hooks: sim.HooksHandshake, Steps: []sim.Step{{Tool: "Bash", Input: []byte(`{"command":"git push origin main"}`), Output: "pushed"}, say("ok")}},
		"3": {Steps: []sim.Step{say("ok")}},
	}}, "one", "two", "three")
	n.o.Gates = []string{"test ! -e broken"}
	var got []string
	n.o.Tell = func(e Event) {
		got = append(got, string(e.What)+" "+e.Story)
		if e.Session == "" || e.Text == "" {
			t.Errorf("an event that says nothing: %+v", e)
		}
		if e.What != HappenedExecuted {
			return
		}
		open, err := n.store.OpenAttempts(t.Context())
		if err != nil || len(open) != 1 || open[0].Scanned || open[0].ChildPid == 0 {
			t.Errorf("the push is not told while its attempt runs: %+v, %v", open, err)
		}
		if len(e.Actions) != 1 || e.Actions[0].Number == 0 || !strings.Contains(e.Text, "git push origin main") {
			t.Errorf("it is not in the queue: %+v", e)
		}
	}
	snap := n.run(t.Context())
	if want := []string{"executed 2", "end "}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if len(snap.Actions) != 1 || snap.Actions[0].Line == 0 || snap.Actions[0].Evidence != policy.Executed {
		t.Errorf("the scan found the same call, which is one action: %+v", snap.Actions)
	}
}

type hooked struct {
	*night
	onStart func()
}

func (h *hooked) StoryStart(i, total int, s stories.Story) {
	h.night.StoryStart(i, total, s)
	h.onStart()
}

// What a run comes to is in the file at once, however soon after another word
// it comes; what it cost is what the run itself counts.
func TestStatusOfAWait(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")))
	at := time.Unix(1000, 0)
	n.o.Now, n.o.Log = func() time.Time { return at }, slog.New(slog.DiscardHandler)
	p := newPresence(t.Context(), &n.o, nil)
	spent := 0.5
	p.begin(&queue.Session{ID: "s"}, 2, func() float64 { return spent })
	p.Notice("about to wait")
	p.Live(Live{Story: "1", Waiting: "limit: waiting until 04:00 (1 h)", Until: at.Add(time.Hour), Cost: spent})
	st, _, err := ReadStatus(n.o.State)
	if err != nil || st.Phase != PhaseWaiting || !st.Until.Equal(at.Add(time.Hour)) || st.Why != "limit" {
		t.Errorf("%+v, %v", st, err)
	}
	p.Live(Live{Story: "1", Calls: 3})
	p.StoryEnd(queue.Attempt{Story: "1", CostUSD: 0.5, Outcome: queue.Done})
	if st, _, err = ReadStatus(n.o.State); err != nil || st.CostUSD != 0.5 || !st.Until.IsZero() || st.Why != "" || st.Calls != 3 {
		t.Errorf("%+v, %v", st, err)
	}
}
