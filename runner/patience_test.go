package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

func TestWhatFollowsAnAttempt(t *testing.T) {
	now := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	limit := func(c queue.Cause, in time.Duration) *queue.Attempt {
		a := &queue.Attempt{Outcome: queue.Limit, Cause: c, Reason: "limit"}
		if in != 0 {
			a.ResetsAt = now.Add(in)
		}
		return a
	}
	outage := func(c queue.Cause) *queue.Attempt { return &queue.Attempt{Outcome: queue.Outage, Cause: c} }
	for name, tt := range map[string]struct {
		t    tally
		a    *queue.Attempt
		wait time.Duration // Options.Wait
		do   step
		in   time.Duration // of a wait
		says string
	}{
		"passed":                    {a: &queue.Attempt{Outcome: queue.Done}, do: goOn},
		"a reset ahead":             {a: limit(queue.FiveHourLimit, 2*time.Hour), wait: 12 * time.Hour, do: waitFirst, in: 2*time.Hour + afterReset},
		"a reset that has passed":   {a: limit(queue.FiveHourLimit, -time.Minute), wait: 12 * time.Hour, do: waitFirst, in: time.Minute},
		"no reset":                  {a: limit(queue.UsageLimit, 0), wait: 12 * time.Hour, do: waitFirst, in: time.Minute},
		"no reset, third probe":     {t: tally{probes: 2, since: now}, a: limit(queue.UsageLimit, 0), wait: 12 * time.Hour, do: waitFirst, in: 4 * time.Minute},
		"no reset, many probes":     {t: tally{probes: 20, since: now}, a: limit(queue.UsageLimit, 0), wait: 12 * time.Hour, do: waitFirst, in: longestPause},
		"waited long enough":        {t: tally{probes: 20, since: now.Add(-12 * time.Hour)}, a: limit(queue.UsageLimit, 0), wait: 12 * time.Hour, do: halt, says: "limits.wait = 12 h"},
		"a week away":               {a: limit(queue.WeeklyLimit, 100*time.Hour), wait: 12 * time.Hour, do: halt, says: "limits.wait"},
		"no waiting":                {a: limit(queue.FiveHourLimit, time.Hour), do: halt, says: "limit"},
		"money with a time":         {a: limit(queue.SpendLimit, time.Hour), wait: 12 * time.Hour, do: waitFirst, in: time.Hour + afterReset},
		"money without a time":      {a: limit(queue.SpendLimit, 0), wait: 12 * time.Hour, do: halt, says: "raise the limit"},
		"no credit":                 {a: limit(queue.Credit, 0), wait: 12 * time.Hour, do: halt, says: "add credit"},
		"an administrator":          {a: limit(queue.Disabled, 0), wait: 12 * time.Hour, do: halt, says: "administrator"},
		"long context":              {a: limit(queue.LongContext, 0), wait: 12 * time.Hour, do: halt, says: "model"},
		"rate limit of a key":       {a: limit(queue.RateLimit, 0), wait: 12 * time.Hour, do: waitFirst, in: time.Minute},
		"overloaded":                {a: outage(queue.Overloaded), wait: 12 * time.Hour, do: waitFirst, in: time.Minute},
		"no network":                {t: tally{probes: 9, since: now}, a: outage(queue.Network), wait: 12 * time.Hour, do: waitFirst, in: longestPause},
		"no network, no waiting":    {a: outage(queue.Network), do: block, says: "no connection"},
		"a server's error":          {t: tally{faults: 3, probes: 3, since: now}, a: outage(queue.ServerError), wait: 12 * time.Hour, do: waitFirst, in: 8 * time.Minute},
		"a server's error, again":   {t: tally{faults: 4, probes: 4, since: now}, a: outage(queue.ServerError), wait: 12 * time.Hour, do: block, says: "5 times"},
		"a certificate, again":      {t: tally{faults: 2, probes: 2, since: now}, a: outage(queue.Untrusted), wait: 12 * time.Hour, do: halt, says: "NODE_EXTRA_CA_CERTS"},
		"login":                     {a: &queue.Attempt{Outcome: queue.Auth, Cause: queue.NotLoggedIn, Reason: "Not logged in"}, wait: time.Hour, do: halt, says: "Not logged in"},
		"no such model":             {a: &queue.Attempt{Outcome: queue.CouldNotStart, Cause: queue.NoModel, Reason: "no model"}, do: halt},
		"the prompt is too long":    {a: &queue.Attempt{Outcome: queue.AgentFailed, Cause: queue.PromptTooLong}, do: block, says: "prompt too long"},
		"the context ran full":      {a: &queue.Attempt{Outcome: queue.AgentFailed, Cause: queue.PromptTooLong, Calls: 90}, do: tryAgain},
		"the attempt's own cap":     {a: &queue.Attempt{Outcome: queue.AgentFailed, Cause: queue.OverBudget, Calls: 90}, do: block, says: "cost cap"},
		"hung":                      {a: &queue.Attempt{Outcome: queue.Hung, Reason: "x"}, do: tryAgain},
		"a gate failed twice":       {t: tally{tries: 1}, a: &queue.Attempt{Outcome: queue.GateFailed}, do: block, says: "2 of 2"},
		"as before, tree not known": {t: tally{last: &queue.Attempt{Outcome: queue.Hung, Reason: "x"}}, a: &queue.Attempt{Outcome: queue.Hung, Reason: "x"}, do: block, says: "no progress"},
	} {
		o := &Options{Wait: tt.wait, Tries: 2, Jitter: func(time.Duration) time.Duration { return 0 }}
		v := tt.t.next(o, tt.a, now)
		if v.do != tt.do || !strings.Contains(v.reason, tt.says) {
			t.Errorf("%s: step %d %q, want %d %q", name, v.do, v.reason, tt.do, tt.says)
		}
		if v.do == waitFirst && !v.until.Equal(now.Add(tt.in)) {
			t.Errorf("%s: waits %v, want %v", name, v.until.Sub(now), tt.in)
		}
	}
}

// Work between two limits makes the second one a new one; without it the
// person is told once.
func TestProbes(t *testing.T) {
	now := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	o := &Options{Wait: 12 * time.Hour, Jitter: func(time.Duration) time.Duration { return 0 }}
	var l tally
	told := 0
	for range 6 {
		v := l.next(o, &queue.Attempt{Outcome: queue.Limit, Cause: queue.FiveHourLimit, ResetsAt: now.Add(-time.Hour)}, now)
		if v.tell != "" {
			told++
		}
		now = v.until
	}
	if told != 1 || l.tries != 0 {
		t.Errorf("told %d times, %d tries spent", told, l.tries)
	}
	v := l.next(o, &queue.Attempt{Outcome: queue.Limit, Cause: queue.FiveHourLimit, Calls: 7}, now)
	if !v.until.Equal(now.Add(firstPause)) || !l.since.Equal(now) {
		t.Errorf("after work: until %v, since %v", v.until, l.since)
	}
}

// Jitter is bounded: a minute, and no more than a tenth of the wait.
func TestJitterOfAReset(t *testing.T) {
	now := time.Now().Round(0)
	for in, want := range map[time.Duration]time.Duration{time.Second: 100 * time.Millisecond, 5 * time.Hour: time.Minute} {
		var most time.Duration
		o := &Options{Wait: 12 * time.Hour, Jitter: func(d time.Duration) time.Duration { most = d; return randomJitter(d) }}
		var l tally
		v := l.next(o, &queue.Attempt{Outcome: queue.Limit, Cause: queue.FiveHourLimit, ResetsAt: now.Add(in)}, now)
		if most != 0 && most != want && in == 5*time.Hour || v.until.Before(now.Add(in+afterReset)) || v.until.After(now.Add(in+afterReset+want)) {
			t.Errorf("reset in %v: jitter up to %v, until %v", in, most, v.until.Sub(now))
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		40 * time.Second: "40 s", 10 * time.Minute: "10 m", 2 * time.Hour: "2 h", 130 * time.Minute: "2 h 10 m",
		76 * time.Hour: "3 d 4 h", 48 * time.Hour: "2 d", 59*time.Minute + 59*time.Second: "60 m",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
