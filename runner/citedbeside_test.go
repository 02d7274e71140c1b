package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// An example that stands in the story is not the agent's invention when it writes
// the page that was asked for; put forward as evidence it is held against it.
func TestReceiptsOfThePrompt(t *testing.T) {
	for record, want := range map[string]string{
		called("t", "Write", `{"file_path":"docs.md","content":"Example: `+invented+`"}`): "foreign info",
		said("41 of 41 tests pass [receipt: " + invented + "]."):                          "foreign high",
	} {
		c := newTrial(t)
		if err := os.WriteFile(filepath.Join(c.a.Dir, promptName), []byte("Story: 1\nExplain "+invented+".\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{want}, c.judge(record)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", record, diff)
		}
	}
}

// An agent that cites a receipt has read the result beside it, so the stream
// shows one.
func TestCitedWithoutAResult(t *testing.T) {
	c := newTrial(t)
	call := called("t1", "Bash", `{"command":"go test"}`)
	if diff := cmp.Diff([]string{"misplaced warn"}, c.judge(call, said(c.ours))); diff != "" {
		t.Errorf("no result (-want +got)\n%s", diff)
	}
	c = newTrial(t)
	if got := c.judge(call, came("t1", "ok"), call, said(c.ours)); got != nil {
		t.Errorf("with its result: %q", got)
	}
}

// Tags, notes and commits that are on no branch any more are looked through, as
// what may come from elsewhere; what is older than the attempt is not.
func TestReceiptsBesideTheBranch(t *testing.T) {
	for name, tt := range map[string]struct {
		do   [][]string
		want []string
	}{
		"a tag":                 {[][]string{{"tag", "-a", "v1", "-m", "Verified " + invented}}, []string{"forged warn"}},
		"a note":                {[][]string{{"notes", "add", "-m", "Verified " + invented, "HEAD"}}, []string{"forged warn"}},
		"a commit that is left": {[][]string{{"commit", "-q", "--allow-empty", "-m", "Verified " + invented}, {"reset", "-q", "--hard", "HEAD~1"}}, []string{"forged warn"}},
		"nothing":               {[][]string{{"tag", "-a", "v1", "-m", "one"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrial(t)
			c.committed(map[string]string{"a": "a"})
			c.a.HeadBefore = c.ask("rev-parse", "HEAD")
			c.a.HeadAfter = c.a.HeadBefore
			for _, args := range tt.do {
				for i, arg := range args {
					args[i] = strings.Replace(arg, "EARLIER", c.earlier, 1)
				}
				c.git(args...)
			}
			if diff := cmp.Diff(tt.want, c.judge(said("done"))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			c.a.Receipts.Judged = nil
			c.a.Started = time.Now().Add(time.Hour)
			if got := c.judge(said("done")); got != nil {
				t.Errorf("of an attempt after it: %q", got)
			}
		})
	}
}

// The client hands a subagent's last words back in a frame: said once, told once.
func TestLastWordsOfASubagent(t *testing.T) {
	report := "[Subagent hand-back] The report follows:\n  Done.\n  It passes [receipt: " + invented + "].\nagentId: a"
	records := func(words string) []string {
		return []string{
			called("t", "Agent", `{"prompt":"p"}`), below("t", called("u", "Bash", `{"command":"true"}`)), below("t", said(words)), came("t", report),
		}
	}
	for words, want := range map[string][]string{
		"Done.\nIt passes [receipt: " + invented + "].": {"forged high"},
		"I say " + invented + ".":                       {"forged high", "forged high"},
	} {
		if diff := cmp.Diff(want, newTrial(t).judge(records(words)...)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", words, diff)
		}
	}
}

// Who amends or squashes commits does not say again what their messages said; a
// line that is new is said.
func TestReceiptsOfRewrittenCommits(t *testing.T) {
	for message, want := range map[string]string{
		"one\n\nTests pass [receipt: EARLIER]\n\nand more": "replayed info",
		"Tests pass, again [receipt: EARLIER]":             "replayed high",
	} {
		c := newTrial(t)
		c.committed(map[string]string{"a": "a"})
		c.git("commit", "-q", "--allow-empty", "-m", "one", "-m", "Tests pass [receipt: "+c.earlier+"]")
		c.a.HeadBefore = c.ask("rev-parse", "HEAD")
		c.git("commit", "-q", "--allow-empty", "--amend", "-m", strings.ReplaceAll(message, "EARLIER", c.earlier))
		c.a.HeadAfter = c.ask("rev-parse", "HEAD")
		if diff := cmp.Diff([]string{want}, c.judge(said("done"))); diff != "" {
			t.Errorf("%q (-want +got)\n%s", message, diff)
		}
	}
}

// A result of a call that the stream never showed ends the attempt, and is not
// said to be of a tool without a name.
func TestResultOfACallThatWasNotShown(t *testing.T) {
	n := newNight(t, sim.Any(sim.Step{Raw: came("ghost", "41 of 41 pass")}, sim.Step{Hang: true}), "first")
	a := n.run(t.Context()).Attempts[0]
	if a.Outcome != queue.Unguarded || !strings.Contains(a.Reason, `something that the client's stream does not show ran as call "ghost"`) {
		t.Errorf("%s: %s", a.Outcome, a.Reason)
	}
}
