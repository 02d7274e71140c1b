//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// newPost is a call of an MCP tool that waits, of a server that is a process of
// its own and leaves a line in a file for each message.
func newPost(t *testing.T) *longNight {
	n := newLongNight(t, sim.Script{}, []string{"First"})
	n.write(".mcp.json", fmt.Sprintf(`{"mcpServers":{"chat":{"command":"loop","args":["self-test-mcp",%q]}}}`, filepath.Join(n.mark, "posted")))
	cmd, out := n.command("loop", "hook", "--level", "unattended")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(
		`{"hook_event_name":"PreToolUse","tool_name":"mcp__chat__post_message","tool_input":{"text":"we shipped"},"tool_use_id":"t1","cwd":%q}`, n.repo))
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return n
}

// loop approve is killed at each of its writes while it replays a call of an MCP
// tool: what was not sent waits, of what may have been sent it is said that nobody
// knows, and nothing is sent a second time without a word.
func TestMCPReplayKilledAtEveryWrite(t *testing.T) {
	whole := &killer{}
	if s := killPost(t, whole); s != queue.Replayed || len(whole.log) < 2 {
		t.Fatalf("without a kill it is %s, after %d writes", s, len(whole.log))
	}
	seen := map[queue.Status]int{}
	for i, what := range whole.log {
		t.Run(fmt.Sprintf("%d %s", i+1, class(what)), func(t *testing.T) {
			seen[killPost(t, &killer{at: i + 1})]++
		})
	}
	if seen[queue.Pending] == 0 || seen[queue.Unknown] == 0 {
		t.Errorf("the kills are all alike: %v", seen)
	}
}

// killPost gives what the next loop finds.
func killPost(t *testing.T, killed *killer) queue.Status {
	t.Helper()
	n := newPost(t)
	killed.root = n.root
	cmd, out := n.command("loop", "approve", "1", "--yes")
	if err := killed.run(cmd); err != nil {
		t.Fatal(err)
	}
	_, shown := n.do("loop", "show", "1")
	_, listed := n.do("loop", "list", "--all")
	posted := n.marks("posted")
	code, again := n.do("loop", "approve", "1", "--yes")
	a, err := n.store().Get(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf(format+"\nthe killed one:\n%s\nthen:\n%s\n%s\nand the next:\n%s", append(args, out, shown, listed, again)...)
	}
	// What was known before the next approval, which ends what a dead one left.
	status := queue.Status(strings.Fields(strings.TrimPrefix(shown, "#1 "))[0])
	switch status {
	case queue.Pending:
		if posted != 0 || code != exitDone || n.marks("posted") != 1 || a.Status != queue.Replayed {
			bad("it waits, and was sent %d times before, %d after; exit %d, %s", posted, n.marks("posted"), code, a.Status)
		}
	case queue.Unknown:
		if !strings.Contains(shown, "loop ended in the middle of it: it may have taken effect or not") || !strings.Contains(again, "a replay of it died, and may have taken effect") || !strings.Contains(again, "loop approve 1 --again") {
			bad("that nobody knows is not said")
		}
		if posted > 1 || n.marks("posted") != posted || code != exitFailed || a.Status != queue.Unknown {
			bad("sent %d times, then %d; exit %d, %s", posted, n.marks("posted"), code, a.Status)
		}
	case queue.Replayed:
		if posted != 1 || n.marks("posted") != 1 || code != exitFailed {
			bad("sent %d times, then %d; exit %d", posted, n.marks("posted"), code)
		}
	default:
		bad("half a state: %s", status)
	}
	if left := n.left(); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	return status
}

// A command that decides is killed at each of its writes: the queue and the audit
// trail have the same decisions.
func TestDecisionsKilledAtEveryWrite(t *testing.T) {
	push := sim.Script{Schema: 1, Stories: map[string]sim.Part{"1": {Steps: []sim.Step{sim.Bash("git push origin HEAD:refs/heads/night", ""), {Text: "It waits."}}}}}
	for _, args := range [][]string{{"reject", "1"}, {"undo", "1"}, {"approve", "1", "--yes"}} {
		for at, writes := 0, 1; at <= writes; at++ {
			n := newLongNight(t, push, []string{"First"})
			n.do("loop", "run", "--no-branch")
			if args[0] == "undo" {
				n.do("loop", "reject", "1")
			}
			killed := &killer{at: at, root: n.root}
			cmd, _ := n.command("loop", args...)
			if err := killed.run(cmd); err != nil {
				t.Fatal(err)
			}
			if at == 0 {
				writes = len(killed.log)
			}
			a, err := n.store().Get(t.Context(), "1")
			if err != nil {
				t.Fatal(err)
			}
			trail, err := n.store().Audit(t.Context(), a.Session)
			if err != nil {
				t.Fatal(err)
			}
			want, got := len(a.Decisions), 0
			if a.Status == queue.Replayed {
				want++
			}
			for _, line := range trail.Records {
				switch r, err := receipt.ParseRecord(line); {
				case err != nil:
					t.Error(err)
				case slices.Contains([]receipt.Event{receipt.Approved, receipt.Rejected, receipt.TakenBack, receipt.Replayed}, r.Event):
					got++
				}
			}
			if _, out := n.do("loop", "report"); (a.Status == queue.Replaying) != strings.Contains(out, "loop died while replaying it; it may have run") {
				t.Errorf("it is %s, and the report says\n%s", a.Status, out)
			}
			if got != want {
				t.Errorf("%q, killed at write %d of %d: it is %s with %d things done, and the trail has %d", args, at, writes, a.Status, want, got)
			}
			if code, out := n.do("loop", "audit", "verify"); code != exitDone {
				t.Errorf("%q, killed at write %d: exit %d\n%s", args, at, code, out)
			}
		}
	}
}
