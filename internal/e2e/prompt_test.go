//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// atPrompt runs the client as a person or a script of theirs does: with its
// own settings and without a supervisor.
func (w *world) atPrompt(dir, prompt string, args ...string) result {
	w.t.Helper()
	args = append([]string{"--print", "--strict-mcp-config"}, args...)
	return w.start(dir, []byte(prompt), filepath.Join(w.root, "bin", "claude"), args...).wait()
}

// pushScript works locally and pushes.
func pushScript(branch string) fakeapi.Script {
	return fakeapi.Script{{Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("echo x > n.txt && git add n.txt")),
		fakeapi.Call(fakeapi.Bash("git -C . push origin HEAD:" + branch)),
		fakeapi.Call(fakeapi.Bash("git commit -qm x")),
		fakeapi.Say("done"),
	}}}
}

// results are what the model was told of each call: "ok", or why not.
func (w *world) results() []string {
	w.t.Helper()
	var out []string
	for _, q := range w.api.Requests() {
		for _, r := range q.Results() {
			text := "ok"
			if r.IsError {
				text = r.Text
			}
			out = append(out, text)
		}
	}
	return out
}

// Installed for the repository at unattended, without any supervisor: what
// leaves the machine is refused and stands in the queue, the rest goes on.
func TestPromptUnattendedRefusesAndQueues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pushScript("top"))
	w.loop("firewall", "install", "--project", "--level", "unattended").want(t, exitDone)
	w.loop("firewall", "test").want(t, exitDone)
	w.loop("firewall", "status").want(t, exitDone, "unattended", "this program", "nothing waits")
	r := w.atPrompt(w.repo, "do it", "--allowedTools", "Bash")
	if r.exit != 0 || w.remoteHead("top") != "" {
		t.Fatalf("exit %d, pushed %q, %s", r.exit, w.remoteHead("top"), r.stderr)
	}
	got := w.results()
	if len(got) != 3 || got[0] != "ok" || !strings.Contains(got[1], "queued as #1 for review") || got[2] != "ok" {
		t.Errorf("the model was told %q", got)
	}
	w.loop("list").want(t, exitDone, "#1", "blocked", "git -C . push origin HEAD:top")
	w.loop("firewall", "status").want(t, exitDone, "1 action waits")
	// The agent went on and committed: what the push would send now is more than what it asked for.
	if r := w.loop("approve", "1", "--yes"); r.exit == exitDone || !strings.Contains(r.stderr, "commit more since it was deferred") || w.remoteHead("top") != "" {
		t.Errorf("a push that has grown: exit %d, %s", r.exit, r.stderr)
	}
	w.loop("approve", "1", "--yes", "--anyway").want(t, exitDone)
	if w.remoteHead("top") == "" {
		t.Error("the approved push did not go out")
	}
	w.loop("firewall", "uninstall", "--project").want(t, exitDone)
	if r := w.git(w.repo, "status", "--short"); r != "" {
		t.Errorf("left in the repository: %s", r)
	}
}

// At interactive the client asks; in --print nobody can be asked, which the
// client takes for a no. What is local runs under the client's own permissions.
func TestPromptInteractiveAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pushScript("top"))
	w.write("home/.claude/settings.json", `{"permissions": {"allow": ["Bash"]}}`)
	w.loop("firewall", "install").want(t, exitDone, "interactive")
	r := w.atPrompt(w.repo, "do it")
	if r.exit != 0 || w.remoteHead("top") != "" {
		t.Fatalf("exit %d, pushed %q, %s", r.exit, w.remoteHead("top"), r.stderr)
	}
	got := w.results()
	if len(got) != 3 || got[0] != "ok" || !strings.Contains(got[1], "leaves the machine") || got[2] != "ok" {
		t.Errorf("the model was told %q", got)
	}
	w.loop("list").want(t, exitDone, "#1", "asked")
	w.loop("firewall", "uninstall").want(t, exitDone, "put back")
	if got := w.read("home/.claude/settings.json"); got != `{"permissions": {"allow": ["Bash"]}}` {
		t.Errorf("the settings are %q", got)
	}
}

// Silence grants nothing: what the client would not have let run does not run
// because loop has no objection.
func TestPromptGrantsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pushScript("top"))
	w.loop("firewall", "install").want(t, exitDone)
	w.atPrompt(w.repo, "do it")
	if got := w.results(); len(got) != 3 || got[0] == "ok" || w.read("repo/n.txt") != "" {
		t.Errorf("the model was told %q", got)
	}
}

// A program that is gone: at interactive the client goes on, at unattended
// every call is refused.
func TestPromptWithoutTheProgram(t *testing.T) {
	t.Parallel()
	for level, runs := range map[string]bool{"interactive": true, "unattended": false} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakeapi.Script{{Turns: []fakeapi.Turn{fakeapi.Call(fakeapi.Bash("echo x > n.txt")), fakeapi.Say("done")}}})
			gone := filepath.Join(w.root, "bin", "loop")
			// By another process: a program that this one has written can be open
			// still in a child that another test is just starting.
			w.start(w.repo, nil, "cp", program(), gone).wait().want(t, exitDone)
			w.start(w.repo, nil, gone, "firewall", "install", "--level", level).wait().want(t, exitDone)
			if err := os.Remove(gone); err != nil {
				t.Fatal(err)
			}
			w.atPrompt(w.repo, "do it", "--allowedTools", "Bash")
			if ran := w.read("repo/n.txt") != ""; ran != runs {
				t.Errorf("ran: %v; the model was told %q", ran, w.results())
			}
			w.loop("firewall", "status").want(t, exitFailed, "not there")
		})
	}
}
