package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// A gate is run by loop, which no hook is asked about: what the agent wrote and
// it would run is judged before, and what nobody could read is seen by what it
// has sent.
func TestGatesDoNotSendForTheAgent(t *testing.T) {
	write := func(name, text string) sim.Step {
		return sim.Call("Write", map[string]any{"file_path": name, "content": text})
	}
	for name, c := range map[string]struct {
		gate  string
		steps []sim.Step
		held  string // by the finding; "" = the gate runs
		sent  bool
	}{
		"a gate's script": {"sh check.sh", []sim.Step{write("check.sh", "true\ngit push -q origin HEAD:other\n")}, `"sh check.sh" was not run as the agent left what it runs: git push -q origin HEAD:other would leave the machine (check.sh:2`, false},
		"a test": {"python3 -m unittest -q test_a", []sim.Step{
			write("test_a.py", "import helpers\nhelpers.prepare()\n"), write("helpers.py", "import subprocess\ndef prepare():\n    subprocess.run(['git', 'push', '-q', 'origin', 'HEAD:other'])\n"),
		}, "helpers.py:3", false},
		"unreadable":    {"sh tool.sh", []sim.Step{write("x", "hju qvti -r psjhjo HEAD:puifs\n"), write("tool.sh", "eval \"$(tr b-za a-z < x)\"\n")}, "", true},
		"the person's":  {"sh mine.sh", []sim.Step{write("a.txt", "x")}, "", true},
		"ordinary":      {"sh check.sh", []sim.Step{write("check.sh", "true\necho more\n")}, "", false},
		"only prepared": {"sh check.sh", []sim.Step{write("release.sh", "git push\n"), write("check.sh", "true # release.sh\n")}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNight(t, sim.Any(append(c.steps, say("done"))...), "first")
			for file, text := range map[string]string{"check.sh": "true\n", "mine.sh": "git push -q origin HEAD:other\n", "tool.sh": "true\n"} {
				if err := os.WriteFile(filepath.Join(n.o.Root, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			n.pushedRepository()
			n.ask("add", "-A")
			n.ask("commit", "-qm", "mine")
			n.o.Gates = []string{c.gate}
			snap := n.run(t.Context())
			told := strings.Join(findings(snap, "tampered"), "\n")
			if c.held != "" && (!strings.Contains(told, c.held) || snap.Attempts[0].Outcome != queue.GateFailed) || c.held == "" && strings.Contains(told, "was not run") {
				t.Errorf("told %q, %s", told, snap.Attempts[0].Outcome)
			}
			if sent := n.ask("ls-remote", "origin", "other") != ""; sent != c.sent {
				t.Errorf("sent %v, want %v", sent, c.sent)
			}
			executed := 0
			for _, a := range snap.Actions {
				if a.Evidence == policy.Executed {
					executed++
				}
			}
			if (executed > 0) != c.sent {
				t.Errorf("%d actions got out: %+v", executed, snap.Actions)
			}
		})
	}
}
