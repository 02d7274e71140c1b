package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func TestStoriesComeAsPlannedThenAsBegun(t *testing.T) {
	d := queue.Snapshot{Session: session("b", "a"), Attempts: []queue.Attempt{
		attempt("z", "Not planned", 1, 0, time.Minute, queue.Done),
		attempt("a", "Second", 1, 5, time.Minute, queue.AgentFailed),
		attempt("a", "Second", 2, 9, 2*time.Minute, queue.Done),
	}}
	v := newView(d, Options{})
	var got []string
	for _, s := range v.stories {
		got = append(got, s.id+" "+string(s.state)+" "+duration(s.time))
	}
	want := []string{"b not started 0s", "a done 3m00s", "z done 1m00s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnAttemptWithoutEndRecord(t *testing.T) {
	a := attempt("1", "Cut off", 1, 0, time.Minute, "")
	a.Ended = time.Time{}
	d := queue.Snapshot{Session: session("1"), Attempts: []queue.Attempt{a}}
	d.Session.Ended = time.Time{}
	o := options(80, false)
	if out := string(terminal(t, d, o)); !strings.Contains(out, "1 cut short") || !strings.Contains(out, "\nno end record  1  Cut off") {
		t.Errorf("with a dead process:\n%s", out)
	}
	o.Alive = true
	if out := string(terminal(t, d, o)); !strings.Contains(out, "1 running") || !strings.Contains(out, "\nrunning  1  Cut off") {
		t.Errorf("with a live process:\n%s", out)
	}
}

func TestOutcomesAreCountedByWhoseFaultTheyAre(t *testing.T) {
	want := map[queue.Outcome]class{
		queue.Done: classDone, queue.Unproven: classUnproven,
		queue.GateFailed: classFailed, queue.AgentFailed: classFailed, queue.Hung: classFailed, queue.CouldNotStart: classFailed,
		queue.Limit: classCut, queue.Auth: classCut, queue.Interrupted: classCut, queue.Unguarded: classCut,
		"something new": classFailed,
	}
	for o, c := range want {
		if got := (&story{outcome: o}).class(); got != c {
			t.Errorf("%s counts as %s, want %s", o, classWords[got], classWords[c])
		}
	}
}

func TestDoubts(t *testing.T) {
	one := attempt("1", "One", 1, 0, time.Minute, queue.Unguarded)
	one.Reason, one.Recovered, one.ScanNote = "no handshake", true, "line 7 is torn"
	two := attempt("2", "Two", 1, 5, time.Minute, queue.Done)
	two.Scanned = false
	three := attempt("3", "Three", 1, 9, time.Minute, queue.Done)
	three.Recovered = true
	d := queue.Snapshot{Session: session("1", "2", "3"), Attempts: []queue.Attempt{one, two, three}, Findings: []queue.Finding{
		{ID: "a", Kind: "odd", Text: "later kinds come last"},
		{ID: "b", Kind: "claim", Story: "1", Text: "of a story in the table"},
		{ID: "c", Kind: "claim", Story: "gone", Text: "of a story that is not in the table"},
		{ID: "d", Kind: "tampered", Story: "2", Text: "twice"},
		{ID: "e", Kind: "tampered", Story: "2", Text: "twice"},
		{ID: "f", Kind: "recovered", Story: "3", Attempt: three.ID, Text: "said by the runner"},
	}}
	var got []string
	for _, x := range newView(d, Options{}).doubts {
		got = append(got, strings.Join([]string{x.Kind, x.Story, x.Text}, "|")+strings.Repeat("+", x.times-1))
	}
	want := []string{
		"unguarded|1|no handshake",
		"tampered|2|twice+",
		"claim|1|of a story in the table",
		"claim|gone|of a story that is not in the table",
		"scan-gap|1|line 7 is torn",
		"scan-gap|2|the transcript of attempt 1 was not scanned",
		"recovered|3|said by the runner",
		"recovered|1|attempt 1 was ended by a later run, because loop had died",
		"odd||later kinds come last",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownEvidenceIsNotHidden(t *testing.T) {
	d := queue.Snapshot{Actions: []queue.Action{
		action(1, "1", "git push", policy.Executed, "r", ""),
		action(2, "1", "npm publish", "a new kind", "r", ""),
	}}
	v := newView(d, Options{})
	if len(v.waiting) != 2 || v.waiting[0].Number != 2 {
		t.Errorf("an action with evidence of a later version must come first: %+v", v.waiting)
	}
}

func TestLongDiffIsCutUnlessAll(t *testing.T) {
	a := attempt("1", "One", 1, 0, time.Minute, queue.Done)
	a.Memory = []queue.MemoryChange{{File: "MEMORY.md", Diff: strings.Repeat("+fact\n", 60)}}
	d := queue.Snapshot{Session: session("1"), Attempts: []queue.Attempt{a}}
	out := string(terminal(t, d, options(80, false)))
	if n := strings.Count(out, "+fact"); n != 40 || !strings.Contains(out, "20 more lines; --all shows them") {
		t.Errorf("%d lines in\n%s", n, out)
	}
	o := options(80, false)
	o.All = true
	if n := strings.Count(string(terminal(t, d, o)), "+fact"); n != 60 {
		t.Errorf("%d lines with All", n)
	}
}

func TestShowMarksLookalikesInCommandAndInput(t *testing.T) {
	a := action(1, "1", "curl https://ex\u0430mple.com", policy.Blocked, "r", "")
	var b strings.Builder
	if err := Show(&b, a, options(80, false)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `https://ex\u0430mple.com`); n != 2 {
		t.Errorf("marked %d times, want 2, in\n%s", n, b.String())
	}
}

func TestUnknownStatusIsNotHidden(t *testing.T) {
	a := action(1, "1", "git push", policy.Blocked, "r", "")
	a.Status = "a new status"
	out := string(terminal(t, queue.Snapshot{Actions: []queue.Action{a}}, options(80, false)))
	if !strings.Contains(out, "#1 git push\n     status a new status\n") {
		t.Errorf("not shown:\n%s", out)
	}
}

func TestAMentionIsKnownByItsWords(t *testing.T) {
	a := action(1, "1", "", policy.Mentioned, "classic-git-push", "")
	a.Excerpt = "then I will git push"
	o := options(80, false)
	o.All = true
	var b strings.Builder
	if err := Terminal(&b, queue.Snapshot{Actions: []queue.Action{a}}, o); err != nil {
		t.Fatal(err)
	}
	if err := List(&b, []queue.Action{a}, o); err != nil {
		t.Fatal(err)
	}
	if err := Export(&b, []queue.Action{a}, "s", "state", Options{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), a.Excerpt); n != 3 {
		t.Errorf("shown %d times, want in report, list and export:\n%s", n, b.String())
	}
}
