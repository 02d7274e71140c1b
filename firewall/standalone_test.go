package firewall

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// verdicts is a classifier that says what the command is.
type verdicts struct{}

func (verdicts) Classify(c policy.Call) policy.Result {
	in := string(c.Input)
	r := policy.Result{Net: strings.Contains(in, "net"), Opaque: strings.Contains(in, "opaque")}
	switch {
	case strings.Contains(in, "panic"):
		panic("the classifier failed")
	case strings.Contains(in, "external"):
		r.Tier = policy.External
	case strings.Contains(in, "shared"):
		r.Tier = policy.Shared
	}
	return r
}

func (verdicts) Undo([]string) string { return "" }

// kept is a queue that keeps what it is given, or fails.
type kept struct {
	list []queue.Action
	err  error
}

func (k *kept) Add(_ context.Context, a queue.Action) (queue.Action, bool, error) {
	k.list = append(k.list, a)
	a.Number = uint64(len(k.list))
	return a, true, k.err
}

func alone(l policy.Level, q Queue) Alone {
	return Alone{Level: l, Open: func(r Request) (*Guard, error) {
		return &Guard{Classifier: verdicts{}, Queue: q, Base: queue.Action{Session: r.SessionID}, Now: time.Now}, nil
	}}
}

func callOf(command string) string {
	return `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"` + command + `"},"tool_use_id":"t"}`
}

func TestTableOfLevels(t *testing.T) {
	for command, want := range map[string][4]Decision{ // interactive, supervised, unattended, lockdown
		"local":            {Run, Run, Run, Run},
		"shared":           {Run, Run, Run, Defer},
		"external":         {Ask, Defer, Defer, Defer},
		"opaque":           {Run, Run, Run, Defer},
		"net":              {Run, Run, Run, Defer},
		"opaque, external": {Ask, Defer, Defer, Defer},
	} {
		for l := policy.Interactive; l <= policy.Lockdown; l++ {
			q := &kept{}
			r := alone(l, q).Answer(t.Context(), strings.NewReader(callOf(command)))
			got := Run
			switch {
			case strings.Contains(r.Stdout, `"ask"`):
				got = Ask
			case strings.Contains(r.Stdout, `"deny"`):
				got = Defer
			case r.Stdout != "":
				t.Errorf("%s at %s: says %s, and silence is what grants nothing", command, l, r.Stdout)
			}
			if got != want[l] || r.Exit != 0 {
				t.Errorf("%s at %s: %s, exit %d, want %s", command, l, got, r.Exit, want[l])
			}
			if waits := len(q.list) == 1; waits != (got != Run) || waits && q.list[0].Asked != (got == Ask) {
				t.Errorf("%s at %s: queued %+v", command, l, q.list)
			}
		}
	}
}

// A failure of loop's own stays out of the way of a person and stops the call
// everywhere else.
func TestFailuresOfTheHookAlone(t *testing.T) {
	broken := func(l policy.Level) Alone {
		return Alone{Level: l, Open: func(Request) (*Guard, error) { return nil, errors.New("no rules") }}
	}
	for name, run := range map[string]func(l policy.Level) Reply{
		"torn input": func(l policy.Level) Reply {
			return alone(l, &kept{}).Answer(t.Context(), strings.NewReader(`{"hook_event_name":"Pre`))
		},
		"nothing": func(l policy.Level) Reply { return alone(l, &kept{}).Answer(t.Context(), strings.NewReader("")) },
		"read error": func(l policy.Level) Reply {
			return alone(l, &kept{}).Answer(t.Context(), iotest.ErrReader(errors.New("gone")))
		},
		"no tool": func(l policy.Level) Reply {
			return alone(l, &kept{}).Answer(t.Context(), strings.NewReader(`{"hook_event_name":"PreToolUse","tool_input":{}}`))
		},
		"panic": func(l policy.Level) Reply {
			return alone(l, &kept{}).Answer(t.Context(), strings.NewReader(callOf("panic")))
		},
		"no rules": func(l policy.Level) Reply { return broken(l).Answer(t.Context(), strings.NewReader(callOf("local"))) },
	} {
		for l := policy.Interactive; l <= policy.Lockdown; l++ {
			r, want := run(l), 2
			if l == policy.Interactive {
				want = 0
			}
			if r.Exit != want || r.Stdout != "" || r.Stderr == "" {
				t.Errorf("%s at %s: %+v, want exit %d", name, l, r, want)
			}
		}
	}
}

// A queue that fails takes nothing away from the decision.
func TestQueueFailsAtThePrompt(t *testing.T) {
	full := errors.New("disk full")
	r := alone(policy.Interactive, &kept{err: full}).Answer(t.Context(), strings.NewReader(callOf("external")))
	if r.Exit != 0 || !strings.Contains(r.Stdout, `"ask"`) || !strings.Contains(r.Stdout, "could not be noted: disk full") {
		t.Errorf("interactive: %+v", r)
	}
	r = alone(policy.Unattended, &kept{err: full}).Answer(t.Context(), strings.NewReader(callOf("external")))
	if r.Exit != 2 || !strings.Contains(r.Stderr, "disk full") {
		t.Errorf("unattended: %+v", r)
	}
}

// Older clients give a call no id.
func TestCallWithoutAnIDIsJudged(t *testing.T) {
	in := strings.Replace(callOf("external"), `,"tool_use_id":"t"`, "", 1)
	if r := alone(policy.Unattended, &kept{}).Answer(t.Context(), strings.NewReader(in)); !strings.Contains(r.Stdout, "queued as #1") {
		t.Errorf("got %+v", r)
	}
}

func TestReasonWithoutANumber(t *testing.T) {
	reason := Reason(queue.Action{Why: "It sends."}, policy.Result{Tier: policy.External})
	if strings.Contains(reason, "#") || !strings.Contains(reason, "queued for review") || !strings.HasSuffix(reason, "say that it waits.") {
		t.Errorf("got %q", reason)
	}
}
