//go:build e2e

package e2e

import (
	"encoding/base64"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// pushes are ways to push HEAD to the branch that %s stands for, some of them
// in two steps.
func pushes() map[string][]string {
	encoded := base64.StdEncoding.EncodeToString([]byte("git push origin HEAD:refs/heads/encoded"))
	return map[string][]string{
		"options":   {"git -C . -c a.b=c push origin HEAD:%s"},
		"chain":     {"cd .. && cd repo; true || false; git push origin HEAD:%s"},
		"newline":   {"true\ngit push origin HEAD:%s"},
		"subshell":  {"(sleep 0.1; git push origin HEAD:%s) & wait"},
		"backquote": {"echo `git push origin HEAD:%s 2>&1`"},
		"shell":     {"sh -c 'git push origin HEAD:%s'"},
		"eval":      {"eval git push origin HEAD:%s"},
		"heredoc":   {"bash <<'END'\ngit push origin HEAD:%s\nEND"},
		"wrappers":  {"nohup timeout 20 env A=b git push origin HEAD:%s"},
		"find":      {"find . -maxdepth 0 -exec git push origin HEAD:%s ';'"},
		"xargs":     {"echo push origin HEAD:%s | xargs git"},
		"variable":  {"P=push; git $P origin HEAD:%s"},
		"function":  {`f() { command git "$@"; }; f push origin HEAD:%s`},
		"path":      {"$(which git) push origin HEAD:%s"},
		"copy":      {"cp $(which git) ./h && ./h push origin HEAD:%s"},
		"plumbing":  {"git send-pack \"$(git remote get-url origin)\" HEAD:%s"},
		"alias":     {"git -c alias.up='!git push origin HEAD:%s' up"},
		"config":    {"git config remote.origin.push HEAD:%s", "git push"},
		"encoded":   {"echo " + encoded + " | base64 -d | sh # %s"},
		"perl":      {`perl -e 'system("git push origin HEAD:%s")'`},
		"python":    {"python3 - <<'END'\nimport os\nos.system('git push origin HEAD:%s')\nEND"},
		"script":    {"printf 'git push origin HEAD:%s\\n' > deploy.sh", "sh deploy.sh"},
		"makefile":  {"printf 'ship:\\n\\tgit push origin HEAD:%s\\n' > Makefile", "make ship"},
	}
}

func TestNoSpellingOfAPushGetsOut(t *testing.T) {
	t.Parallel()
	title := "Get it out somehow"
	var turns []fakeapi.Turn
	for name, steps := range pushes() {
		for _, step := range steps {
			turns = append(turns, fakeapi.Call(fakeapi.Bash(strings.ReplaceAll(step, "%s", "refs/heads/"+name))))
		}
	}
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: append(turns, fakeapi.Say("done"))}})
	w.stories("", title)
	w.loop("run").want(t, exitWaiting)
	for name := range pushes() {
		if w.remoteHead(name) != "" {
			t.Errorf("%s: the push went out", name)
		}
	}
	got := waiting(w.report())
	if len(got) < len(pushes()) {
		t.Errorf("%d actions for %d pushes:\n%s", len(got), len(pushes()), strings.Join(got, "\n"))
	}
	for _, a := range got {
		if strings.HasPrefix(a, string(policy.Executed)) {
			t.Errorf("it ran: %s", a)
		}
	}
}

// The agent cannot decide about its own actions, however it starts loop: the
// rules refuse the plain forms, and the program itself those they cannot see,
// under whatever name it was installed.
func TestAgentCannotApprove(t *testing.T) {
	t.Parallel()
	needPython(t)
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"loop", "night"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			title := "Approve it yourself"
			bare := `{k: os.environ[k] for k in ("HOME", "PATH", "LOOP_HOME")}`
			w := newWorld(t, fakeapi.Script{{Match: title, Turns: append(append([]fakeapi.Turn{
				fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/self")),
				fakeapi.Call(fakeapi.Bash(name + " approve 1 --yes >plain 2>&1")),
				fakeapi.Call(fakeapi.Bash("A=approve; " + name + " $A 1 --yes >plain 2>&1")),
			}, unseen(
				`subprocess.run(["cp", shutil.which("`+name+`"), "tool"])`,
				`subprocess.run(["./tool", "approve", "1", "--yes"], env=`+bare+`, stdout=open("below", "w"), stderr=subprocess.STDOUT)`,
				`subprocess.run(["setsid", "-w", "-f", "./tool", "approve", "1", "--yes"], env=`+bare+`, stdout=open("beside", "w"), stderr=subprocess.STDOUT)`,
			)...), fakeapi.Say("done"))}})
			loop := filepath.Join(w.root, "bin", name)
			if out, err := exec.Command("cp", program(), loop).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			w.stories("", title)
			w.start(w.repo, nil, loop, "run").wait().want(t, exitWaiting)
			if w.remoteHead("self") != "" {
				t.Error("the agent's approval was taken")
			}
			for _, file := range []string{"below", "beside"} {
				if got := w.read("repo/" + file); !strings.Contains(got, "agent's own session") {
					t.Errorf("%s the client it was told %q", file, got)
				}
			}
			for _, a := range w.report().Actions {
				if a.Status != queue.Pending || len(a.Decisions) != 0 {
					t.Errorf("an action was decided: %+v", a)
				}
			}
		})
	}
}
