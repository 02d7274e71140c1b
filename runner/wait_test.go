package runner

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// hours makes a night's waits pass at once: sleeping puts the clock forward.
func (n *night) hours() (slept *[]time.Duration) {
	slept = new([]time.Duration)
	ahead := time.Duration(0)
	n.o.Now = func() time.Time { return time.Now().Add(ahead) }
	n.o.Sleep = func(ctx context.Context, d time.Duration) error {
		ahead += d
		*slept = append(*slept, d)
		return ctx.Err()
	}
	n.o.Jitter = func(time.Duration) time.Duration { return 0 }
	n.o.Wait, n.o.Log = 12*time.Hour, slog.New(slog.DiscardHandler)
	return slept
}

// firstTime does one thing the first n times and another later.
func firstTime(n int, first, later sim.Step) sim.Step {
	s := sim.Bash(fmt.Sprintf("echo x >> attempts.count; test $(wc -l < attempts.count) -gt %d", n), "")
	s.IfFailed, s.IfOK = []sim.Step{first}, []sim.Step{later}
	return s
}

func outcomesOf(snap queue.Snapshot) []string {
	var out []string
	for _, a := range snap.Attempts {
		out = append(out, fmt.Sprintf("%s-%d %s", a.Story, a.Number, a.Outcome))
	}
	return out
}

// A usage limit is waited for, and the story goes on without having lost a
// try.
func TestALimitIsWaitedFor(t *testing.T) {
	n := newNight(t, sim.Any(firstTime(1, sim.Step{Fail: "usage-limit"}, say("ok"))), "first", "second")
	slept := n.hours()
	snap := n.run(t.Context())
	if diff := cmp.Diff([]string{"1-1 limit", "1-2 done", "2-1 done"}, outcomesOf(snap)); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, n.log.String())
	}
	if snap.Session.StopKind != "" || len(snap.Session.Waits) != 1 {
		t.Fatalf("stopped %q, waits %+v", snap.Session.StopKind, snap.Session.Waits)
	}
	w := snap.Session.Waits[0]
	if d := w.Duration(); d < 119*time.Minute || d > 121*time.Minute || w.Story != "1" || w.Cause != queue.FiveHourLimit || !strings.Contains(w.Why, "5-hour limit") {
		t.Errorf("%v: %+v", d, w)
	}
	if !strings.Contains(n.log.String(), "notice limit: waiting until "+w.Until.Local().Format("15:04")+" (2 h)") {
		t.Errorf("log\n%s", n.log.String())
	}
	for i, a := range snap.Attempts[:2] {
		if !strings.HasSuffix(a.Dir, fmt.Sprintf("-%d", i+1)) {
			t.Errorf("folder %s", a.Dir)
		}
	}
	for _, d := range *slept {
		if d > waitStep {
			t.Errorf("slept %v without looking at the clock", d)
		}
	}
	told, err := os.ReadFile(filepath.Join(snap.Attempts[1].Dir, promptName))
	if err != nil || !strings.Contains(string(told), "cut short by a usage limit") {
		t.Errorf("%v: the second attempt does not know that there was a first", err)
	}
}

// The first signal ends a wait at once, and everything has its end.
func TestASignalEndsAWait(t *testing.T) {
	n := newNight(t, sim.Any(sim.Step{Fail: "usage-limit"}), "first", "second")
	n.hours()
	ctx, cancel := context.WithCancel(t.Context())
	n.o.Sleep = func(ctx context.Context, _ time.Duration) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	snap := n.run(ctx)
	s := snap.Session
	if s.StopKind != queue.Interrupted || s.Ended.IsZero() || len(snap.Attempts) != 1 || snap.Attempts[0].Outcome != queue.Limit {
		t.Errorf("%+v, %v", s, outcomesOf(snap))
	}
	if len(s.Waits) != 1 || s.Waits[0].Ended.IsZero() || !s.Waits[0].Ended.Before(s.Waits[0].Until) {
		t.Errorf("waits %+v", s.Waits)
	}
}

// A machine that slept finds the time passed; a clock that is put back makes
// no wait longer.
func TestAWaitLooksAtTheWallClock(t *testing.T) {
	for name, tt := range map[string]struct {
		jump time.Duration
		most int
	}{"machine slept": {3 * time.Hour, 1}, "clock put back": {-5 * time.Hour, 2 * 60 * 4}} {
		n := newNight(t, sim.Any(), "first")
		n.hours()
		now, sleeps := time.Now(), 0
		n.o.Now = func() time.Time { return now }
		n.o.Sleep = func(_ context.Context, d time.Duration) error {
			if sleeps++; sleeps == 1 {
				now = now.Add(tt.jump)
			}
			now = now.Add(d)
			return nil
		}
		r := &run{o: &n.o, session: queue.Session{ID: uuid.Must(uuid.NewV7()).String()}}
		came, err := r.wait(t.Context(), t.Context(), &queue.Attempt{Outcome: queue.Limit}, now.Add(2*time.Hour), 1)
		if !came || err != nil || sleeps > tt.most {
			t.Errorf("%s: %v, %v, %d sleeps", name, came, err, sleeps)
		}
	}
}

func TestALimitTooFarAwayStops(t *testing.T) {
	n := newNight(t, sim.Any(sim.Step{Fail: "usage-limit"}), "first", "second")
	n.hours()
	n.o.Wait = time.Hour
	s := n.run(t.Context()).Session
	if s.StopKind != queue.Limit || len(s.Waits) != 0 || s.ResetsAt.IsZero() || !strings.Contains(s.Stopped, "limits.wait = 1 h") {
		t.Errorf("%+v", s)
	}
}

// An outage is waited out with growing pauses, and spends no try either.
func TestAnOutageIsWaitedOut(t *testing.T) {
	n := newNight(t, sim.Any(firstTime(3, sim.Step{Fail: "overloaded"}, say("ok"))), "first")
	n.hours()
	snap := n.run(t.Context())
	if diff := cmp.Diff([]string{"1-1 outage", "1-2 outage", "1-3 outage", "1-4 done"}, outcomesOf(snap)); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, n.log.String())
	}
}

// The agent's faults spend tries; the next one reads what was wrong.
func TestTriesAreSpentByTheAgent(t *testing.T) {
	n := newNight(t, sim.Any(firstTime(1, say("one"), say("two"))), "first")
	n.o.Tries, n.o.Gates = 2, []string{"test $(wc -l < attempts.count) -gt 1 || { echo only one; exit 1; }"}
	snap := n.run(t.Context())
	if diff := cmp.Diff([]string{"1-1 gate-failed", "1-2 done"}, outcomesOf(snap)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	told, err := os.ReadFile(filepath.Join(snap.Attempts[1].Dir, promptName))
	if err != nil || !strings.Contains(string(told), "only one") {
		t.Errorf("%v: the second try was not told", err)
	}
}

// With the same failure, an unchanged tree is no progress; a changed one is.
func TestNoProgressBlocksAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		step sim.Step
		want int
	}{
		"nothing changed":    {sim.Bash("true", ""), 2},
		"committed":          {sim.Bash("git commit -q --allow-empty -m x", ""), 2},
		"a file changed":     {sim.Bash("echo x >> tracked", ""), 4},
		"a new file":         {sim.Bash("echo x >> new", ""), 4},
		"a change committed": {sim.Bash("echo x >> tracked; git commit -qam x", ""), 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNight(t, sim.Any(tt.step, say("done ${session}")), "first")
			n.o.Tries, n.o.Gates = 4, []string{"echo took 0.0$$ s; date >> log.ignored; exit 1"}
			n.pushedRepository()
			for _, c := range []string{"echo x > tracked", "echo '*.ignored' > .gitignore", "git add -A", "git commit -qm tracked"} {
				cmd := exec.Command("sh", "-c", c)
				cmd.Dir = n.o.Root
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v: %s", c, err, out)
				}
			}
			snap := n.run(t.Context())
			last := snap.Attempts[len(snap.Attempts)-1]
			if len(snap.Attempts) != tt.want || last.Blocked == "" || strings.Contains(last.Blocked, "no progress") != (tt.want == 2) {
				t.Errorf("%v, blocked %q", outcomesOf(snap), last.Blocked)
			}
		})
	}
}

func TestManyBlockedStoriesStopTheNight(t *testing.T) {
	for after, want := range map[int]int{0: 4, 2: 2, 4: 4} {
		n := newNight(t, sim.Any(say("no")), "a", "b", "c", "d")
		n.o.StopAfter, n.o.Gates = after, []string{"false"}
		snap := n.run(t.Context())
		if stopped := snap.Session.StopKind == queue.Blocked; len(snap.Attempts) != want || stopped != (want == 2) {
			t.Errorf("after %d: %v, %s", after, outcomesOf(snap), snap.Session.Stopped)
		}
	}
}

// The client is told what is left, and the session ends when nothing is.
func TestCaps(t *testing.T) {
	words := make([]sim.Step, 10)
	for i := range words {
		words[i] = say("word")
	}
	const reply = 0.0071
	for name, tt := range map[string]struct {
		caps Caps
		want []string
		kind queue.Outcome
	}{
		"none":           {Caps{}, []string{"1-1 done", "2-1 done"}, ""},
		"session":        {Caps{SessionUSD: 15 * reply}, []string{"1-1 done", "2-1 failed"}, queue.Budget},
		"session, spent": {Caps{SessionUSD: 9.5 * reply}, []string{"1-1 failed"}, queue.Budget},
		"story":          {Caps{StoryUSD: 5 * reply}, []string{"1-1 failed", "2-1 failed"}, ""},
		"session tokens": {Caps{SessionTokens: 1000}, []string{"1-1 done"}, queue.Budget},
	} {
		n := newNight(t, sim.Any(words...), "first", "second")
		n.o.Caps, n.o.Tries = tt.caps, 3
		snap := n.run(t.Context())
		if diff := cmp.Diff(tt.want, outcomesOf(snap)); diff != "" || snap.Session.StopKind != tt.kind {
			t.Errorf("%s: stopped %q\n%s", name, snap.Session.StopKind, diff)
		}
	}
}
