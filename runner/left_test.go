package runner

import (
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// The night after, an attempt is told where the work of the one that failed is;
// the second try of a night has it in front of it, and one whose ref is gone,
// or whose story has another text, hears nothing of it.
func TestALaterNightIsToldWhatWasLeft(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{"1": {Steps: steps("echo half > half.txt").Steps, Retry: steps("cat half.txt > seen.txt 2>/dev/null; true").Steps}}), "first")
	n.o.Gates = []string{"echo expected 4; test -e never"}
	n.o.Tries = 2
	first := n.run(t.Context())
	parked := first.Attempts[0].Parked
	if parked == nil || len(first.Attempts) != 2 {
		t.Fatalf("%+v", first.Attempts)
	}
	if got := n.promptOf(first.Attempts[1]); strings.Contains(got, "refs/loop/parked") || !strings.Contains(got, "> expected 4") {
		t.Errorf("the second try, which goes on in the same tree:\n%s", got)
	}
	n.o.Tries = 1
	last := first.Attempts[1].Parked // all that both did
	second := n.run(t.Context())
	got := n.promptOf(second.Attempts[0])
	for _, want := range []string{"git diff " + last.Base + " " + last.Ref + "\n", "> expected 4", "ended as gate-failed"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for ref := range strings.FieldsSeq(n.ask("for-each-ref", "--format=%(refname)", "refs/loop/parked")) {
		n.ask("update-ref", "-d", ref)
	}
	if got := n.promptOf(n.run(t.Context()).Attempts[0]); strings.Contains(got, "git diff") {
		t.Errorf("the ref is gone:\n%s", got)
	}
	n.run(t.Context()) // parks again
	n.flag("1", "description", "another text")
	n.ask("commit", "-qam", "another text")
	if got := n.promptOf(n.run(t.Context()).Attempts[0]); strings.Contains(got, "git diff") {
		t.Errorf("it was another story:\n%s", got)
	}
	n.o.Gates = nil
	if a := n.run(t.Context()).Attempts[0]; a.Outcome != queue.Unproven {
		t.Errorf("%s", a.Outcome)
	}
}
