package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// What decides about an attempt, or runs after it, is compared before and
// after it, whoever changed it; ordinary work raises no alarm.
func TestWhatDecidesIsCompared(t *testing.T) {
	for _, c := range []struct{ name, gate, does, want string }{
		{"gate script", "sh check.sh", "echo 'exit 0' > check.sh", `check.sh was changed during this attempt, and the gate "sh check.sh" runs it`},
		{"gate removed", "true || ./ci/gate.sh", "rm ci/gate.sh", "ci/gate.sh was removed"},
		{"gate made", "make -n || true", "echo 'x:' > Makefile", "Makefile was made"},
		{"package script", "npm test || true", `echo '{"scripts":{"test":"true"}}' > package.json`, "package.json was changed"},
		{"below a folder", "cd ci && sh gate.sh", "echo exit 0 > ci/gate.sh", "ci/gate.sh was changed"},
		{"hook", "true", "f=$(date +pre-push); echo x > $(git rev-parse --git-common-dir 2>/dev/null | tail -1)/$(date +hooks)/$f", "the git hook .git/hooks/pre-push was made"},
		{"client", "true", "mkdir -p .claude/rules && cd .claude/rules && echo x > a.md", ".claude/rules/a.md was made"},
		{"setting", "true", "k=$(date +core.hooksPath); git config $k /tmp/h", `git's setting core.hookspath was set to "/tmp/h"`},
		{"alias", "true", "git config alias.lg log", `git's setting alias.lg was set to "log"`},
		{"remote", "true", "git remote set-url origin https://b.example/x", `remote.origin.url was changed during this attempt from "https://a.example/x" to "https://b.example/x"`},
		{"exclude", "true", "echo x >> .git/info/exclude", ".git/info/exclude was changed during this attempt; it decides what git shows"},
		{"attributes", "true", "f=$(date +attributes); echo '* -diff' > .git/info/$f", ".git/info/attributes was made"},
		{"hidden", "true", "git add check.sh && git update-index $(date +--skip-worktree) check.sh", `git was told not to look at ["check.sh"]`},
		{"home", "true", "f=$(date +.vimrc); echo x > ~/$f", ".vimrc was made during this attempt; programs of yours read it"},
		{"program", "npx jest || true", "echo x > node_modules/.bin/jest", "node_modules/.bin/jest was changed during this attempt although no other packages were asked for"},
		{"installed", "npx jest || true", "echo x > node_modules/.bin/jest; echo '{}' > package.json", ""},
		{"ordinary", "sh check.sh; npm test || true", `git checkout -q -b topic && git config user.name Jo && git config core.pager cat; git config branch.topic.remote origin
			git remote add upstream https://c.example/x; mkdir -p .claude; echo x > .claude/CLAUDE.md; echo '{"scripts":{"test":"exit 0"},"dependencies":{"a":"1"}}' > package.json; echo x > src.txt`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNight(t, sim.Any(sim.Bash(c.does, ""), say("ok")), "first")
			n.o.Env = append(slices.DeleteFunc(n.o.Env, func(e string) bool { return strings.HasPrefix(e, "HOME=") }), "HOME="+t.TempDir()) // the agents of a home are the client's of every project
			n.repository(map[string]string{
				"check.sh": "true\n", "ci/gate.sh": "true\n", "node_modules/.bin/jest": "true\n", "package.json": `{"scripts":{"test":"exit 0"}}`,
			})
			n.o.Gates = []string{c.gate}
			snap := n.run(t.Context())
			var told []string
			for _, f := range snap.Findings {
				if f.Kind == "tampered" {
					told = append(told, f.Text)
				}
			}
			switch {
			case len(snap.Actions) > 0:
				t.Fatalf("the call was held: %+v", snap.Actions)
			case c.want == "" && len(told) > 0,
				c.want != "" && (len(told) != 1 || !strings.Contains(told[0], c.want)):
				t.Errorf("told %q, want %q", told, c.want)
			}
			if len(snap.Attempts) != 1 || snap.Attempts[0].Outcome == queue.Unguarded {
				t.Errorf("attempts %+v", snap.Attempts)
			}
		})
	}
}

// repository makes the night's folder one of git's, with these files.
func (n *night) repository(files map[string]string) {
	n.t.Helper()
	for name, text := range files {
		path := filepath.Join(n.o.Root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			n.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			n.t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "https://a.example/x"}} {
		cmd := exec.CommandContext(n.t.Context(), "git", args...)
		cmd.Dir = n.o.Root
		if out, err := cmd.CombinedOutput(); err != nil {
			n.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}
