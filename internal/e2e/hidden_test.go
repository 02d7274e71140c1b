//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// An agent that takes away what would witness against it, by a program that
// nobody can read beforehand, is told of.
func TestWhatIsTakenAwayIsMissed(t *testing.T) {
	t.Parallel()
	needPython(t)
	const state = `glob.glob(os.environ["LOOP_HOME"] + "/*/`
	for name, c := range map[string]struct{ does, told string }{
		"transcript":    {`[os.truncate(f, 300) for f in ` + state + `runs/*/*/transcript.jsonl")]`, "the transcript was changed while it was written"},
		"no transcript": {`[os.remove(f) for f in ` + state + `runs/*/*/transcript.jsonl")]`, "the transcript was removed or replaced"},
		"queue":         {`[os.remove(f) for f in ` + state + `queue.db")]`, "queue.db was replaced during this attempt"},
		"logs":          {`subprocess.run("g" + "it pu" + "sh origin HEAD:refs/heads/out; rm -r .git/logs", shell=True)`, "git's log of origin/main was emptied or removed"},
		"index":         {`subprocess.run(["g" + "it", "update-index", "--skip-worktree", "README"]); open("README", "w").write("")`, `git was told not to look at ["README"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			title := "Leave no trace"
			w := newWorld(t, fakeapi.Script{{Match: title, Turns: append(append([]fakeapi.Turn{
				fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/before")),
			}, unseen(c.does)...), fakeapi.Say("done"))}})
			w.stories("", title)
			w.loop("run").want(t, exitWaiting)
			if did := w.read("repo/did"); !strings.Contains(did, "did ") {
				t.Fatalf("it was not done: %q", did)
			}
			var told []string
			for _, f := range w.report().Findings {
				if f.Kind == "tampered" {
					told = append(told, f.Text)
				}
			}
			if !strings.Contains(strings.Join(told, "\n"), c.told) {
				t.Errorf("told %q, want %q", told, c.told)
			}
		})
	}
}
