//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// Two real clients work at the same time, each in a work tree of its own; what
// one of them was refused waits there and is replayed there, and both are on the
// session's branch in the morning.
func TestTwoClientsAtTheSameTime(t *testing.T) {
	t.Parallel()
	one, two := "Write the first half", "Write the second half"
	meet := func(own, other string) fakeapi.Turn {
		return fakeapi.Call(fakeapi.Bash(`touch "$HOME/` + own + `"; n=0; until [ -e "$HOME/` + other + `" ] || [ $n -gt 900 ]; do n=$((n+1)); sleep 0.1; done; test -e "$HOME/` + other + `"`))
	}
	w := newWorld(t, fakeapi.Script{
		{Match: one, Turns: []fakeapi.Turn{
			meet("a", "b"),
			fakeapi.Call(write("one.txt", "one\n")),
			fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/first")),
			fakeapi.Say("It waits."),
		}},
		{Match: two, Turns: []fakeapi.Turn{meet("b", "a"), fakeapi.Call(write("two.txt", "two\n")), fakeapi.Say("done")}},
	})
	w.stories("gates = [\"cat *.txt\"]\nparallel = 2\n", one, two)
	w.loop("run").want(t, exitWaiting, "2 done", "Kept, because something waits that would run there")

	s := w.report()
	diff(t, "outcomes", []string{"S1 done", "S2 done"}, outcomes(s))
	branch := s.Session.Work.Branch
	for _, want := range []string{"one", "two"} {
		diff(t, want+".txt", want, w.git(w.repo, "show", branch+":"+want+".txt"))
	}
	if got := w.git(w.repo, "show", branch+":prd.json"); strings.Count(got, `"passes": true`) != 2 {
		t.Errorf("marks: %s", got)
	}
	diff(t, "the checkout", "main", w.git(w.repo, "branch", "--show-current"))
	diff(t, "left uncommitted", "", w.git(w.repo, "status", "--porcelain"))
	for _, a := range s.Stories {
		if r := a.Attempts[0].Receipts; r == nil || r.Results == 0 || len(r.Missing) > 0 {
			t.Errorf("receipts of %s: %+v", a.ID, r)
		}
	}
	w.loop("approve", "1", "--yes", "--anyway").want(t, exitDone, "is the branch of this story's own work tree")
	if head := w.remoteHead("first"); head == "" || w.git(w.repo, "show", head+":one.txt") != "one" {
		t.Errorf("at the remote: %q", head)
	}
}
