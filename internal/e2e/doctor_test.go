//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/internal/selftest"
)

// doctorWorld is a world whose configuration leaves the self-test on.
func doctorWorld(t *testing.T, script fakeapi.Script) *world {
	t.Helper()
	w := newWorld(t, script)
	w.write("home/.config/loop/config.toml", "")
	return w
}

// wrap makes a client that starts the real one with other arguments: the body
// is shell, with the arguments in the array args.
func (w *world) wrap(name, body string) string {
	w.t.Helper()
	path := filepath.Join(w.root, "bin", name)
	w.write("bin/"+name, "#!/bin/bash\nargs=(\"$@\")\n"+body+"\nexec '"+os.Getenv(envClient)+"' \"${args[@]}\"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// without is a body for wrap that takes options with their values away.
func without(options string) string {
	return "args=(); while [ $# -gt 0 ]; do case \"$1\" in " + options + ") shift 2 ;; *) args+=(\"$1\"); shift ;; esac; done"
}

// live runs loop doctor --live --json and gives the states by id.
func (w *world) live(exit int, args ...string) map[string]selftest.State {
	w.t.Helper()
	r := w.loop(append([]string{"doctor", "--live", "--json"}, args...)...)
	var doc struct {
		OK bool
		selftest.Result
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.exit != exit || doc.OK != (exit == exitDone) {
		w.t.Fatalf("exit %d, want %d; %v\n%s%s", r.exit, exit, err, r.stdout, r.stderr)
	}
	out := map[string]selftest.State{}
	for _, g := range doc.Guarantees {
		out[g.ID] = g.State
	}
	w.t.Logf("%s", r.stdout)
	return out
}

// What the pinned client does is what loop relies on, all of it; a run then
// remembers the test, and makes it again when the program is another.
func TestDoctorFindsThePinnedClientSound(t *testing.T) {
	t.Parallel()
	title := "Say hello"
	w := doctorWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("echo hello > hello.txt")), fakeapi.Say("It is there."),
	}}})
	// The person's own must not get into the test, nor the test into theirs.
	w.setenv("CLAUDE_CONFIG_DIR", filepath.Join(w.root, "mine"))
	w.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
	for id, state := range w.live(exitDone) {
		if state != selftest.Holds {
			t.Errorf("%s: %s", id, state)
		}
	}
	if n := len(w.api.Requests()); n != 0 {
		t.Errorf("%d requests went to the address in the environment", n)
	}
	w.setenv("CLAUDE_CODE_USE_BEDROCK", "")
	w.stories("", title)
	// The same program by the same path: not tested again.
	r := w.loop("run")
	r.want(t, exitDone, "unproven")
	if strings.Contains(r.stderr, "testing the client") {
		t.Errorf("tested again: %s", r.stderr)
	}
	// Another program, though it ends in the same client.
	w.stories("gates = [\"true\"]\n", title)
	same := w.wrap("another", "")
	w.loop("run", "--claude", same).want(t, exitDone, "testing the client once (claude 2.1.332)…")
	w.write("repo/prd.json", storyFile(title))
	w.loop("run", "--claude", same).want(t, exitDone)
	if tests := w.read("state/client-tests.json"); strings.Count(tests, `"version": "2.1.332`) != 2 {
		t.Errorf("remembered: %s", tests)
	}
}

// Clients that break what loop relies on are found, told apart, and refused.
func TestDoctorFindsBrokenClients(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body   string
		broken []string // that must be seen as not holding
	}{
		"no hooks at all":         {`case "$*" in *--print*) args=(--bare "$@") ;; esac`, []string{selftest.HooksLive, selftest.FailureStops}},
		"no settings":             {without("--settings"), []string{selftest.HooksLive, selftest.FailureStops}},
		"the project's settings":  {without("--setting-sources"), []string{selftest.ProjectStart, selftest.ProjectLater}},
		"a session id of its own": {without("--session-id"), []string{selftest.SessionID}},
		"all that is not denied":  {"export IS_SANDBOX=1\n" + without("--permission-mode") + "\ncase \"${args[*]}\" in *--print*) args+=(--permission-mode bypassPermissions) ;; esac", []string{selftest.SilenceIsNo}},
		"a failed hook says yes":  {`for a in "$@"; do case "$a" in *settings.json) sed -E -i 's/"onFailure": ?"block"/"onFailure":"allow"/g' "$a" ;; esac; done`, []string{selftest.FailureStops}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := doctorWorld(t, nil)
			got := w.live(exitFailed, "--claude", w.wrap("broken", tt.body))
			for _, id := range tt.broken {
				if got[id] != selftest.Fails {
					t.Errorf("%s: %s", id, got[id])
				}
			}
		})
	}
}

// A run with a client without hooks begins no story, and says what to type.
func TestDoctorKeepsARunFromABrokenClient(t *testing.T) {
	t.Parallel()
	w := doctorWorld(t, nil)
	w.stories("", "Anything")
	bare := w.wrap("bare", `case "$*" in *--print*) args=(--bare "$@") ;; esac`)
	r := w.loop("run", "--claude", bare)
	r.want(t, exitFailed, "testing the client once", "does not keep what the firewall relies on", "the client reports to loop before its model is asked",
		"npm install -g @anthropic-ai/claude-code", "Node 22")
	if n := len(w.api.Requests()); n != 0 {
		t.Errorf("%d requests to the model of the stories", n)
	}
	if r := w.loop("report"); r.exit != exitFailed {
		t.Errorf("a session was begun:\n%s", r.stdout)
	}
	// A failure is not remembered as a reason to believe: it is tested again.
	w.loop("run", "--claude", bare).want(t, exitFailed, "testing the client once")
}
