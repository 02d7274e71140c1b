//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// The work goes to a branch of its own with a commit for the story that
// passed, what did not pass is put aside, and the person's branch stays.
func TestWorkIsOnABranchOfItsOwn(t *testing.T) {
	t.Parallel()
	good, bad := "Do it well", "Do it badly"
	w := newWorld(t, fakeapi.Script{
		{Match: good, Turns: []fakeapi.Turn{
			fakeapi.Call(write("good.txt", "good\n")),
			fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/theirs")),
			fakeapi.Say("done"),
		}},
		{Match: bad, Turns: []fakeapi.Turn{fakeapi.Call(write("bad.txt", "bad\n")), fakeapi.Say("done")}},
	})
	w.stories("gates = [\"! test -f bad.txt\"]\n[retries]\nattempts = 1\n", good, bad)
	before := w.git(w.repo, "rev-parse", "main")
	w.loop("run").want(t, exitFailed, "made from main", "Put aside: story S2")

	diff(t, "main", before, w.git(w.repo, "rev-parse", "main"))
	if branch := w.git(w.repo, "branch", "--show-current"); !strings.HasPrefix(branch, "loop/") {
		t.Errorf("on branch %q", branch)
	}
	message := w.git(w.repo, "log", "--format=%B", "main..HEAD")
	for _, want := range []string{"S1: " + good, "Loop-Session: ", "Loop-Story: S1", "Loop-Receipts: "} {
		if !strings.Contains(message, want) {
			t.Errorf("the commits do not say %q:\n%s", want, message)
		}
	}
	diff(t, "good.txt", "good", w.git(w.repo, "show", "HEAD:good.txt"))
	diff(t, "bad.txt", "", w.read("repo/bad.txt"))
	parked := w.git(w.repo, "for-each-ref", "--format=%(refname)", "refs/loop/parked")
	diff(t, "what was put aside", "bad", w.git(w.repo, "show", parked+":bad.txt"))
	diff(t, "left uncommitted", "", w.git(w.repo, "status", "--porcelain"))
	diff(t, "passed", []string{"S1"}, w.passed(good, bad))

	// The push of the whole branch is replayed as it was written.
	w.loop("approve", "1", "--yes").want(t, exitDone, "the work of that session is on the branch loop/")
	diff(t, "at the remote", w.git(w.repo, "rev-parse", "HEAD"), w.remoteHead("theirs"))
}
