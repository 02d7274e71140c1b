package report

import (
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func TestVerdict(t *testing.T) {
	one := func(o queue.Outcome) queue.Snapshot {
		return queue.Snapshot{Session: session("1"), Attempts: []queue.Attempt{attempt("1", "One", 1, 0, time.Minute, o)}}
	}
	with := func(d queue.Snapshot, change func(*queue.Snapshot)) queue.Snapshot {
		change(&d)
		return d
	}
	finding := func(kind string) func(*queue.Snapshot) {
		return func(d *queue.Snapshot) { d.Findings = []queue.Finding{{ID: "f", Kind: kind, Text: "x"}} }
	}
	for name, tt := range map[string]struct {
		d           queue.Snapshot
		grade, text string
	}{
		"all done":     {goodNight(), "good", "A good night: all 4 stories are done and proven; nothing got out."},
		"one done":     {one(queue.Done), "good", "A good night: the one story is done and proven; nothing got out."},
		"one failed":   {one(queue.GateFailed), "bad", "A bad night: the one story is not proven, 1 failed; nothing got out."},
		"one asks":     {one(queue.Question), "mixed", "A mixed night: the one story is not proven, 1 waiting for an answer; nothing got out."},
		"no gates":     {one(queue.Unproven), "mixed", "A mixed night: the one story is not proven, 1 unproven; nothing got out."},
		"everything":   {badNight(), "bad", "A bad night: 1 call got out; 1 of 7 stories done and proven, 1 unproven, 2 failed, 2 cut short, 1 not started."},
		"scan gap":     {with(goodNight(), finding("scan-gap")), "mixed", "A mixed night: all 4 stories are done and proven; nothing got out, as far as the transcripts could be read."},
		"claim":        {with(goodNight(), finding("claim")), "mixed", "A mixed night: all 4 stories are done and proven; nothing got out."},
		"allowed":      {with(goodNight(), finding("allowed")), "good", "A good night: all 4 stories are done and proven; nothing got out but what your rules allow."},
		"unguarded":    {with(goodNight(), finding("unguarded")), "bad", "A bad night: whether anything got out is not certain; all 4 stories are done and proven."},
		"stopped":      {with(goodNight(), func(d *queue.Snapshot) { d.Session.StopKind = queue.Limit }), "mixed", "A mixed night: all 4 stories are done and proven; nothing got out."},
		"died":         {with(goodNight(), func(d *queue.Snapshot) { d.Session.Ended = time.Time{} }), "bad", "A bad night: all 4 stories are done and proven; nothing got out."},
		"not scanned":  {with(goodNight(), func(d *queue.Snapshot) { d.Attempts[0].Scanned = false }), "mixed", "A mixed night: all 4 stories are done and proven; nothing got out, as far as the transcripts could be read."},
		"ran, decided": {with(goodNight(), func(d *queue.Snapshot) { d.Actions = []queue.Action{decidedPush()} }), "bad", "A bad night: 1 call got out; all 4 stories are done and proven."},
		"no stories":   {queue.Snapshot{}, "none", "Nothing got out."},
	} {
		t.Run(name, func(t *testing.T) {
			got := newView(tt.d, Options{}).verdict(options(80, false))
			if want := (Verdict{tt.grade, tt.text}); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	o := options(80, false)
	o.Alive = true
	want := Verdict{"running", "So far: 2 of 4 stories done and proven, 1 running, 1 not started; nothing got out."}
	if got := newView(runningNight(), o).verdict(o); got != want {
		t.Errorf("got %+v", got)
	}
}

// decidedPush ran, and a person has looked at it since.
func decidedPush() queue.Action {
	a := action(1, "1", "git push", policy.Executed, "git-push", "")
	a.Status = queue.Rejected
	return a
}
