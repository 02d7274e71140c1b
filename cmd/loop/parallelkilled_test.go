//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
)

// With stories at the same time too, loop is killed at its writes and at those of
// its git, and started again: each story is on the branch once, and nothing of
// the lanes is left. Which write is the n-th differs from run to run.
func TestKilledAtWritesWithStoriesAtTheSameTime(t *testing.T) {
	const count = 3
	night := func(t *testing.T) *longNight {
		return parallelNight(t, count, map[int][]sim.Step{2: {sim.Bash("echo own > own2.dat && git add own2.dat && git commit -q -m 'own'", "")}})
	}
	n, whole := night(t), &killer{}
	whole.root = n.root
	cmd, out := n.command("loop", "run")
	if err := whole.run(cmd); err != nil {
		t.Fatal(err)
	}
	n.whole(count, "own")
	if t.Failed() {
		t.Fatal(out)
	}
	every := 20
	if os.Getenv("LOOP_EVERY") != "" {
		every = 1
	}
	seen, kinds := map[string]bool{}, 0
	for i := range whole.log {
		if kind := whole.kind(i); seen[kind] {
			continue
		} else {
			seen[kind] = true
		}
		if kinds++; kinds%every != 0 {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", i+1, class(whole.log[i])), func(t *testing.T) {
			t.Parallel()
			n, killed := night(t), &killer{at: i + 1}
			killed.root = n.root
			cmd, out := n.command("loop", "run")
			if err := killed.run(cmd); err != nil {
				t.Fatal(err)
			}
			code, again := n.do("loop", "run")
			if code != exitDone {
				t.Errorf("the next run: exit %d", code)
			}
			n.whole(count, "own")
			if code, out := n.do("git", "fsck", "--no-dangling", "--no-progress"); code != 0 {
				t.Errorf("the repository is damaged: %s", out)
			}
			if t.Failed() {
				t.Logf("killed at %q:\n%s\nthe next run:\n%s", killed.log[len(killed.log)-1], out, again)
			}
		})
	}
	t.Logf("%d writes, %d kinds", len(whole.log), kinds)
}
