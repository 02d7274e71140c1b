//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"unicode"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// What an agent and a story file wrote reaches a terminal only as text.
func TestHostileTextIsMadeVisible(t *testing.T) {
	t.Parallel()
	title := "Clean up \x1b[2J\x1b]0;owned\a the \u202escreen"
	w := newWorld(t, fakeapi.Script{{Match: "Clean up", Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/x # \x1b[1A\x1b[2K\r nothing \u2066to see")),
		fakeapi.Say("I ran gh pr create \x1b[8m hidden \x1b[0m \u202e."),
	}}})
	w.stories("", title)
	for _, args := range [][]string{
		{"run", "--dry-run"}, {"run"}, {"report"}, {"report", "--all"}, {"list"}, {"show", "1"}, {"approve", "1", "--dry-run"},
		{"export"}, {"export", "--format", "state"}, {"reject", "1", "--reason", "no \x1b[31m"}, {"list", "--all"},
	} {
		r := w.loop(args...)
		if r.exit != exitDone && r.exit != exitWaiting {
			r.want(t, exitDone)
		}
		for _, c := range r.stdout + r.stderr {
			if c != '\n' && c != '\t' && !unicode.IsGraphic(c) {
				t.Errorf("loop %s prints %U:\n%q", strings.Join(args, " "), c, r.stdout+r.stderr)
				break
			}
		}
	}
}
