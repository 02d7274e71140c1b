//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/internal/trap"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/stories"
)

// longNight is a repository with stories, a remote, a scripted client and the
// built program.
type longNight struct {
	t                        testing.TB
	root, repo, remote, mark string
	env                      []string
}

const longNightConfig = `gates = ["sh gate.sh"]
[budget]
silence = "4s"
[retries]
attempts = 2
`

func newLongNight(t testing.TB, script sim.Script, titles []string) *longNight {
	t.Helper()
	root := t.TempDir()
	n := &longNight{t: t, root: root, repo: filepath.Join(root, "repo"), remote: filepath.Join(root, "remote.git"), mark: filepath.Join(root, "marks")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	type story struct {
		ID     string `json:"id"`
		Title  string `json:"title"`
		Passes bool   `json:"passes"`
	}
	var list []story
	for i, title := range titles {
		list = append(list, story{ID: fmt.Sprint(i + 1), Title: title})
	}
	prd, err := json.MarshalIndent(map[string]any{"userStories": list}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	played, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"repo/prd.json":                 string(prd) + "\n",
		"repo/loop.toml":                longNightConfig,
		"repo/gate.sh":                  "! grep -l BROKEN s*.txt\n",
		"script.json":                   string(played),
		"home/.config/loop/config.toml": "[firewall]\nself_test = false\n",
		"bin/claude":                    "#!/bin/sh\nexec loop sim --script '" + filepath.Join(root, "script.json") + "' \"$@\"\n",
	} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(n.mark, 0o700), os.Symlink(self, filepath.Join(root, "bin", "loop"))); err != nil {
		t.Fatal(err)
	}
	n.env = []string{
		"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "LOOP_HOME=" + filepath.Join(root, "state"),
		"TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com",
	}
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", n.remote}, {"init", "-q", "-b", "main", "."}, {"add", "--all"}, {"commit", "-q", "-m", "start"},
		{"remote", "add", "origin", n.remote}, {"push", "-q", "origin", "main"},
	} {
		if code, out := n.do("git", args...); code != 0 {
			t.Fatalf("git %q: %s", args, out)
		}
	}
	return n
}

// play gives the client another script.
func (n *longNight) play(script sim.Script) {
	n.t.Helper()
	played, err := json.Marshal(script)
	if err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.root, "script.json"), played, 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *longNight) command(name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(n.t.Context(), name, args...)
	if name == "loop" {
		cmd.Path, cmd.Err = filepath.Join(n.root, "bin", "loop"), nil
	}
	out := &bytes.Buffer{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = n.repo, n.env, out, out
	return cmd, out
}

func (n *longNight) do(name string, args ...string) (code int, out string) {
	n.t.Helper()
	cmd, b := n.command(name, args...)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		n.t.Fatalf("%s %q: %v", name, args, err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

// once is done the first time that a story gets there, work every other time.
func (n *longNight) once(name string, first ...sim.Step) func(work []sim.Step) []sim.Step {
	return func(work []sim.Step) []sim.Step {
		s := sim.Bash("mkdir "+filepath.Join(n.mark, name), "")
		s.IfOK, s.IfFailed = first, work
		return []sim.Step{s}
	}
}

// sessions are the reports of all sessions, oldest first.
func (n *longNight) sessions() []report.Document {
	n.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(n.root, "state", "repo-*"))
	if err != nil || len(dirs) != 1 {
		n.t.Fatalf("%q, %v", dirs, err)
	}
	store, err := queue.Open(dirs[0], queue.Options{Now: time.Now})
	if err != nil {
		n.t.Fatal(err)
	}
	list, err := store.Sessions(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	var docs []report.Document
	for _, s := range list {
		code, out := n.do("loop", "report", "--json", s.ID)
		var d report.Document
		if err := json.Unmarshal([]byte(out), &d); err != nil || code != 0 {
			n.t.Fatalf("report: exit %d, %v\n%s", code, err, out)
		}
		docs = append(docs, d)
	}
	return docs
}

// left are the processes of this night that still run.
func (n *longNight) left() []string {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		n.t.Fatal(err)
	}
	var out []string
	for _, dir := range dirs {
		// What goes away meanwhile is none of ours any more.
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if bytes.Contains(env, []byte(n.root+"/")) {
			cmd, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			out = append(out, fmt.Sprintf("%s %.80q", filepath.Base(dir), cmd))
		}
	}
	return out
}

// A night of 25 stories with whatever goes wrong at night: in the morning no
// story is lost or done twice, none is done that is not, nothing runs on, and
// all of it is in the reports.
func TestANightInWhichEverythingGoesWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	const count = 25
	titles := make([]string, count)
	for i := range titles {
		titles[i] = fmt.Sprintf("Write file %d", i+1)
	}
	n := newLongNight(t, sim.Script{}, titles) // the script needs the night's folders
	// A limit that is over already is waited out for a minute.
	soon := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	events := map[int]func([]sim.Step) []sim.Step{
		3:  n.once("limit-1", sim.Step{Fail: "usage-limit", ResetsAt: soon(5 * time.Second)}),
		5:  n.once("hang", sim.Step{Hang: true}),
		7:  n.once("limit-2", sim.Step{Fail: "usage-limit", ResetsAt: soon(20 * time.Second)}),
		9:  n.once("crash", sim.Step{Crash: true}),
		11: n.once("kill", sim.Step{Hang: true}), // loop itself is killed here
		13: func([]sim.Step) []sim.Step {
			return []sim.Step{sim.Bash(`sed -i '/"id": "13"/,/passes/s/false/true/' prd.json`, ""), {Text: "All 41 tests pass."}}
		},
		15: n.once("broken", sim.Call("Write", map[string]string{"file_path": "s15.txt", "content": "BROKEN\n"}), sim.Step{Text: "done"}),
		17: n.once("question", sim.Step{Text: "I need to know.\n\nQUESTION: Which colour shall it be?"}),
		21: n.once("disk", sim.Step{Text: "Now it is full."}), // nothing can be written from here on
		19: func(work []sim.Step) []sim.Step {
			return append([]sim.Step{sim.Bash("git push origin HEAD:refs/heads/night", "")}, work...)
		},
	}
	script := sim.Script{Schema: 1, Stories: map[string]sim.Part{}}
	for i := 1; i <= count; i++ {
		steps := []sim.Step{
			sim.Call("Write", map[string]string{"file_path": fmt.Sprintf("s%d.txt", i), "content": "work\n"}), {Text: "done"},
		}
		if event := events[i]; event != nil {
			steps = event(steps)
		}
		script.Stories[fmt.Sprint(i)] = sim.Part{Steps: steps}
	}
	n.play(script)

	// The first run, up to the story in which loop is killed.
	run, out := n.command("loop", "run")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	for killed := false; !killed; {
		select {
		case err := <-ended:
			t.Fatalf("the run ended before it could be killed: %v\n%s", err, out)
		case <-time.Tick(20 * time.Millisecond):
			if _, err := os.Stat(filepath.Join(n.mark, "kill")); err == nil {
				killed = true
			}
		}
	}
	if err := run.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-ended

	// The second goes on until the disk is full, the third has room again and goes
	// on to the end, the fourth has the question's answer.
	disk := &trap.FullDisk{Root: n.root, Full: func() bool {
		_, err := os.Stat(filepath.Join(n.mark, "disk"))
		return err == nil
	}}
	run, out = n.command("loop", "run")
	if _, err := trap.Start(run, run.Path, disk.Answer); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // its exit code says how it was
	if code := run.ProcessState.ExitCode(); code != exitStopped || disk.Hit.Load() == 0 {
		t.Fatalf("second run: exit %d, %d writes failed\n%s", code, disk.Hit.Load(), out)
	}
	if left := n.left(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if code, out := n.do("loop", "run"); code != exitFailed {
		t.Errorf("third run: exit %d\n%s", code, out)
	}
	docs := n.sessions()
	if len(docs) != 3 {
		t.Fatalf("%d sessions", len(docs))
	}
	if s := docs[1].Session; s.StopKind != queue.HostFailed || !strings.Contains(s.Stopped, "the disk is full") || s.Ended.IsZero() {
		t.Errorf("with a full disk it stopped as %q: %q, at %v", s.StopKind, s.Stopped, s.Ended)
	}
	question := ""
	for _, a := range slices.Concat(docs[1].Actions, docs[2].Actions) {
		if a.Kind == queue.KindQuestion {
			question = fmt.Sprint(a.Number)
		}
	}
	if code, out := n.do("loop", "answer", question, "green"); code != 0 {
		t.Errorf("answer %q: exit %d\n%s", question, code, out)
	}
	if code, out := n.do("loop", "run"); code != exitFailed { // story 13 lies on
		t.Errorf("fourth run: exit %d\n%s", code, out)
	}
	docs = n.sessions()

	got := map[string][]string{}
	waits, recovered, claims, pushes := 0, 0, 0, 0
	for _, d := range docs {
		waits += len(d.Session.Waits)
		for _, s := range d.Stories {
			for _, a := range s.Attempts {
				if a.Started.IsZero() || a.Ended.IsZero() {
					t.Errorf("story %s: an attempt without its times: %+v", s.ID, a)
				}
				got[s.ID] = append(got[s.ID], string(a.Outcome))
			}
		}
		for _, f := range d.Findings {
			switch f.Kind {
			case "recovered":
				recovered++
			case "claim":
				claims++
			}
			if f.When.IsZero() {
				t.Errorf("a finding without its time: %+v", f)
			}
		}
		for _, a := range d.Actions {
			if a.Evidence == policy.Executed {
				t.Errorf("it ran: %s", a.Command)
			}
			if a.Kind == queue.KindCall && a.Evidence == policy.Blocked && a.Status == queue.Pending {
				pushes++
			}
		}
	}
	want := map[string][]string{}
	for i := 1; i <= count; i++ {
		want[fmt.Sprint(i)] = []string{"done"}
	}
	want["3"], want["7"] = []string{"limit", "done"}, []string{"limit", "done"}
	want["5"] = []string{"hung", "done"}
	want["9"] = []string{"failed", "done"}
	want["11"] = []string{"interrupted", "done"}
	want["15"] = []string{"gate-failed", "done"}
	want["21"] = []string{"host", "done"}
	want["17"] = []string{"question", "done"}
	delete(want, "13")
	for _, o := range got["13"] {
		if o != string(queue.Unchanged) {
			t.Errorf("the story that lies: %q", got["13"])
		}
	}
	delete(got, "13")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts of the stories (-want +got)\n%s", diff)
	}
	if waits != 2 || recovered == 0 || claims == 0 || pushes != 1 {
		t.Errorf("%d waits, %d recovered, %d claims, %d pushes waiting", waits, recovered, claims, pushes)
	}
	f, err := stories.Read(filepath.Join(n.repo, "prd.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Stories {
		if s.Done == (s.ID == "13") {
			t.Errorf("story %s: done %v", s.ID, s.Done)
		}
	}
	// The work is on a branch of loop's, and the person's own is as it was.
	if _, out := n.do("git", "ls-tree", "--name-only", "HEAD"); strings.Count(out, ".txt\n") != count-1 {
		t.Errorf("committed: %s", out)
	}
	if _, out := n.do("git", "log", "--format=%s", "main"); out != "start\n" {
		t.Errorf("main: %s", out)
	}
	if _, out := n.do("git", "status", "--porcelain"); out != "" {
		t.Errorf("left uncommitted: %s", out)
	}
	if code, out := n.do("git", "ls-remote", n.remote, "refs/heads/night"); code != 0 || strings.TrimSpace(out) != "" {
		t.Errorf("pushed: %s", out)
	}
	if left := n.left(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	_, morning := n.do("loop", "report", docs[len(docs)-2].Session.ID)
	t.Log(tellNight(docs) + "\nIn the morning, `loop report`:\n\n" + morning)
}

// BenchmarkStory is what loop costs beside the client: the time of a story that
// writes one file, on a branch of its own with a gate that passes at once, less
// that of the scripted client alone. As a machine is now fast and now slow, it is
// also given in processes that do nothing, started one after the other meanwhile.
func BenchmarkStory(b *testing.B) {
	const count = 20
	titles := make([]string, count)
	for i := range titles {
		titles[i] = fmt.Sprintf("Write file %d", i+1)
	}
	script := sim.Script{Schema: 1, Stories: map[string]sim.Part{}}
	for i := 1; i <= count; i++ {
		script.Stories[fmt.Sprint(i)] = sim.Part{Steps: []sim.Step{
			sim.Call("Write", map[string]string{"file_path": fmt.Sprintf("s%d.txt", i), "content": "work\n"}), {Text: "done"},
		}}
	}
	var all, client, nothing time.Duration
	for b.Loop() {
		n := newLongNight(b, script, titles)
		began := time.Now()
		if code, out := n.do("loop", "run"); code != exitDone {
			b.Fatalf("exit %d\n%s", code, out)
		}
		all += time.Since(began)
		began = time.Now()
		for i := 1; i <= count; i++ {
			if code, out := n.do(filepath.Join(n.root, "bin", "claude"), "--print", "--output-format", "stream-json", "--verbose",
				"--permission-mode", "bypassPermissions", fmt.Sprintf("Story: %d", i)); code != 0 {
				b.Fatalf("client: exit %d\n%s", code, out)
			}
		}
		client += time.Since(began)
		began = time.Now()
		for range count {
			if code, out := n.do("true"); code != 0 {
				b.Fatalf("true: exit %d\n%s", code, out)
			}
		}
		nothing += time.Since(began)
	}
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / count / float64(b.N) }
	b.ReportMetric(per(all-client), "ms-loop/story")
	b.ReportMetric(per(client), "ms-client/story")
	b.ReportMetric(per(all-client)/per(nothing), "processes-of-nothing/story")
	b.ReportMetric(0, "ns/op")
}
