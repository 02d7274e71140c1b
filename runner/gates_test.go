package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// What was red before is told from what was made red.
func TestRedBeforeIsToldFromMadeRed(t *testing.T) {
	tests := map[string]struct {
		gates   []string
		does    string
		redPass bool
		want    queue.Outcome
		before  string // of the gate that failed
		ran     int    // gates in the attempt
	}{
		"red before":              {[]string{"exit 3", "true"}, "echo x > b", false, queue.GateFailed, "was red before the session", 2},
		"made red":                {[]string{"test ! -e b", "true"}, "echo x > b", false, queue.GateFailed, "was green before the first story", 1},
		"red before, made worse":  {[]string{"test -e b && exit 4 || exit 3"}, "echo x > b", false, queue.GateFailed, "was red before the session, in another way", 1},
		"red before, green after": {[]string{"test -e b"}, "echo x > b", false, queue.Done, "", 1},
		"not counted":             {[]string{"exit 3", "true"}, "echo x > b", true, queue.Done, "was red before the session", 2},
		"nothing else":            {[]string{"exit 3"}, "echo x > b", true, queue.Unproven, "was red before the session", 1},
		"not counted, made red":   {[]string{"exit 3", "test ! -e b"}, "echo x > b", true, queue.GateFailed, "was red before the session", 2},
		"hides nothing":           {[]string{"exit 3", "test ! -e b"}, "echo x > b", false, queue.GateFailed, "was red before the session", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNight(t, sim.Any(sim.Bash(tt.does, ""), say("done")), "first")
			n.committed(nil)
			n.o.Gates, n.o.Baseline, n.o.RedPass = tt.gates, true, tt.redPass
			snap := n.run(t.Context())
			a := snap.Attempts[0]
			if a.Outcome != tt.want || len(a.Gates) != tt.ran {
				t.Fatalf("%s (%s), %d gates, want %s", a.Outcome, a.Reason, len(a.Gates), tt.want)
			}
			if len(snap.Session.Baseline) != len(tt.gates) {
				t.Errorf("baseline %+v", snap.Session.Baseline)
			}
			if got := a.Gates[0].Before; got != tt.before {
				t.Errorf("before %q, want %q", got, tt.before)
			}
			if tt.before != "" && !strings.Contains(a.Reason, "red before") && !strings.Contains(a.Reason, "green before") {
				t.Errorf("reason %q", a.Reason)
			}
			if red := !snap.Session.Baseline[0].Passed; red != strings.Contains(n.promptOf(a), "Did not pass before you began") {
				t.Errorf("red %v, and the prompt says otherwise", red)
			}
		})
	}
}

// The story that made a gate red is named to the next one.
func TestAGateThatAnEarlierStoryBrokeSaysSo(t *testing.T) {
	n := newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{
		"2": {Steps: []sim.Step{sim.Bash("echo x > broken", ""), say("done")}},
		"*": {Steps: []sim.Step{sim.Bash("date +%N >> ok", ""), say("done")}},
	}}, "a", "b", "c")
	n.committed(nil)
	n.o.Gates = []string{"test ! -e broken"}
	snap := n.run(t.Context())
	var got []string
	for _, a := range snap.Attempts {
		got = append(got, a.Story+" "+a.Gates[0].Before)
	}
	want := []string{"1 ", `2 was green after story "1"`, `3 has been red since story "2"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A gate that the agent changed runs as it was; what the agent made of it stays.
func TestGatesRunAsTheyWere(t *testing.T) {
	npm := `{"name":"x","scripts":{"test":"sh ci/t.sh"},"dependencies":{"a":"1"}}`
	tests := map[string]struct {
		gate, does      string
		want            queue.Outcome
		kept            []string
		atStart, change string
	}{
		"made to pass":        {"sh check.sh", "echo 'exit 0' > check.sh; echo x > b", queue.GateFailed, []string{"check.sh"}, "fails", "passes"},
		"made to fail":        {"./ok.sh", "echo 'exit 1' > ok.sh", queue.GateFailed, []string{"ok.sh"}, "passes", "fails"},
		"both pass":           {"sh ok.sh", "echo 'true # more' >> ok.sh", queue.Done, []string{"ok.sh"}, "passes", "passes"},
		"removed":             {"test ! -e check.sh || sh check.sh", "rm check.sh", queue.GateFailed, []string{"check.sh"}, "fails", "passes"},
		"a recipe":            {"make -s check", "printf 'check:\\n\\ttrue\\n' > Makefile", queue.GateFailed, []string{"Makefile"}, "fails", "passes"},
		"a hiding makefile":   {"make -s check", "printf 'check:\\n\\ttrue\\n' > GNUmakefile", queue.GateFailed, []string{"GNUmakefile"}, "fails", "passes"},
		"a tool's setting":    {"test -e .cargo/config.toml || cargo test", "mkdir .cargo; echo x > .cargo/config.toml", queue.GateFailed, []string{".cargo/config.toml"}, "fails", "passes"},
		"another registry":    {"test -e .npmrc || npm test", "echo registry=x > .npmrc", queue.Done, nil, "", ""},
		"npm's shell":         {"test -e .npmrc || npm test", "echo script-shell=x > .npmrc", queue.GateFailed, []string{".npmrc"}, "fails", "passes"},
		"behind a recipe":     {"make -s deep", "echo true > check.sh", queue.GateFailed, []string{"check.sh"}, "fails", "passes"},
		"a target not run":    {"make -s fine", "echo true > check.sh", queue.Done, nil, "", ""},
		"a link in its place": {"sh check.sh", "rm check.sh; ln -s ok.sh check.sh", queue.GateFailed, []string{"check.sh"}, "fails", "passes"},
		"made by the story":   {"sh new.sh", "echo true > new.sh", queue.Done, nil, "", ""},
		"its own tests":       {"python3 test_a.py || true", "echo 'x = 1' > test_a.py", queue.Done, nil, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := t.TempDir()
			n := newNight(t, sim.Any(sim.Bash(tt.does, ""), sim.Bash("cp -a . "+left, ""), say("done")), "first")
			n.committed(map[string]string{
				"check.sh": "exit 1\n", "ok.sh": "#!/bin/sh\ntrue\n", "package.json": npm, "ci/t.sh": "exit 1\n", "test_a.py": "x = 0\n",
				"Makefile": "check:\n\t@sh check.sh\ndeep: below\nbelow:\n\t@./check.sh\nfine:\n\t@true\nother:\n\tsh check.sh\n",
			})
			for _, name := range []string{"check.sh", "ok.sh"} {
				if err := os.Chmod(filepath.Join(n.o.Root, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			n.o.Gates = []string{tt.gate}
			snap := n.run(t.Context())
			a := snap.Attempts[0]
			g := a.Gates[0]
			if a.Outcome != tt.want || g.AtStart != tt.atStart || g.WithChange != tt.change || !cmp.Equal(g.Kept, tt.kept) {
				t.Errorf("%s (%s), at start %q, with the change %q, kept %q", a.Outcome, a.Reason, g.AtStart, g.WithChange, g.Kept)
			}
			told := 0
			for _, f := range snap.Findings {
				if f.Kind == "gate-copy" {
					told++
				}
			}
			if (told == 1) != (tt.kept != nil) {
				t.Errorf("findings %+v", snap.Findings)
			}
			if diff := cmp.Diff(standing(left), standing(n.o.Root)); diff != "" {
				t.Errorf("the tree is not as the agent left it (-left +is)\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(n.o.State, swapName)); err == nil {
				t.Error("the note of the swap is still there")
			}
		})
	}
}

// standing is how the files of the gates stand in a folder.
func standing(dir string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"check.sh", "ok.sh", "Makefile", "GNUmakefile", "new.sh", "test_a.py", "package.json"} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		link, _ := os.Readlink(path)
		text, _ := os.ReadFile(path)
		out[name] = fmt.Sprintf("%v %v %s %s", info.Mode(), info.ModTime(), link, text)
		if link != "" {
			out[name] = link
		}
	}
	return out
}

// Killed while a gate ran with the files of the start: the next run puts the
// agent's back, with mode and links.
func TestASwapSurvivesAKill(t *testing.T) {
	n := newNight(t, sim.Any(say("ok")), "first")
	n.write("check.sh", "the agent's\n")
	n.write("hiding", "new\n")
	if err := os.Symlink("check.sh", filepath.Join(n.o.Root, "link.sh")); err != nil {
		t.Fatal(err)
	}
	r, a := &run{o: &n.o}, &queue.Attempt{Dir: t.TempDir()}
	files := []keptFile{
		{name: "check.sh", data: []byte("old\n"), mode: 0o755}, {name: "link.sh", data: []byte("old\n"), mode: 0o755},
		{name: "hiding", gone: true}, {name: "removed.sh", data: []byte("old\n"), mode: 0o600},
	}
	var note []byte
	err := r.withKept(a, files, func() {
		note, _ = os.ReadFile(filepath.Join(n.o.State, swapName))
		if b, _ := os.ReadFile(filepath.Join(n.o.Root, "link.sh")); string(b) != "old\n" {
			t.Errorf("link.sh is %q in the run", b)
		}
		if _, err := os.Stat(filepath.Join(n.o.Root, "hiding")); err == nil {
			t.Error("what hides is there in the run")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	// As a dead loop leaves it: the files of the start, and the note on disk.
	for _, f := range files {
		if err := f.put(n.o.Root); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(n.o.State, swapName), note, 0o600); err != nil {
		t.Fatal(err)
	}
	n.run(t.Context())
	for name, want := range map[string]string{"check.sh": "the agent's\n", "hiding": "new\n", "link.sh": "the agent's\n"} {
		if b, err := os.ReadFile(filepath.Join(n.o.Root, name)); string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(n.o.Root, "link.sh")); err != nil || to != "check.sh" {
		t.Errorf("the link is gone: %q, %v", to, err)
	}
	if _, err := os.Stat(filepath.Join(n.o.Root, "removed.sh")); err == nil {
		t.Error("what the agent had removed is there again")
	}
}

func TestWithScripts(t *testing.T) {
	for _, c := range []struct{ now, was, want string }{
		{`{"scripts": {"test": "true"}, "dependencies": {"b": "2"}}`, `{"scripts":{"test":"jest"}}`, `{"scripts": {"test":"jest"}, "dependencies": {"b": "2"}}`},
		{`{"name": "a"}`, `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"jest"},"name": "a"}`},
		{`{}`, `{"scripts":{"test":"jest"}}`, `{"scripts":{"test":"jest"}}`},
		{`{"scripts":{"test":"true"}}`, `{}`, `{"scripts":{}}`},
	} {
		got, ok := withScripts([]byte(c.now), []byte(c.was))
		if !ok || string(got) != c.want || !json.Valid(got) {
			t.Errorf("%s with the scripts of %s: %s", c.now, c.was, got)
		}
	}
	if _, ok := withScripts([]byte("{broken"), []byte("{}")); ok {
		t.Error("a broken file was mixed")
	}
}

// A check that a story names is run only when the user says so; what a later
// story broke of it is named.
func TestALaterStoryThatBreaksACheckIsNamed(t *testing.T) {
	for _, on := range []bool{true, false} {
		n := newNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{
			"1": {Steps: []sim.Step{sim.Bash("echo x > one", ""), say("done")}},
			"2": {Steps: []sim.Step{sim.Bash("rm one; echo x > two", ""), say("done")}},
			"*": {Steps: []sim.Step{sim.Bash("echo x > three", ""), say("done")}},
		}}, "a", "b", "c")
		n.committed(nil)
		n.write("prd.json", `[{"id": "1", "title": "a", "verify": "test -e one", "passes": false}, {"id": "2", "title": "b", "verify": "test -e two", "passes": false}]`)
		n.o.Verify = on
		snap := n.run(t.Context())
		var broke []string
		for _, f := range snap.Findings {
			if f.Kind == "broke" {
				broke = append(broke, f.Story+": "+f.Text)
			}
		}
		if !on {
			if len(broke) > 0 || len(snap.Attempts[0].Gates) != 1 {
				t.Errorf("a command of the story file ran unasked: %q, %+v", broke, snap.Attempts[0].Gates)
			}
			continue
		}
		if len(broke) != 1 || !strings.HasPrefix(broke[0], `1: its check "test -e one"`) || !strings.HasSuffix(broke[0], `story "2" broke it`) {
			t.Errorf("%q", broke)
		}
	}
}

// A story whose text changed after it was done is open again, once.
func TestAChangedStoryIsOpenAgain(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("date +%N >> b.txt", ""), say("done")), "first", "second")
	n.committed(nil)
	n.run(t.Context())
	text, err := os.ReadFile(n.o.Stories)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), n.o); err == nil {
		t.Fatal("worked on again without a change")
	}
	n.write("prd.json", strings.Replace(string(text), `"first"`, `"first, and more"`, 1))
	plan, _, err := Plan(t.Context(), &n.o)
	if err != nil || len(plan) != 1 || plan[0].ID != "1" || plan[0].Conflict == "" {
		t.Fatalf("%+v, %v", plan, err)
	}
	n.o.Gates = []string{"false"}
	snap := n.run(t.Context())
	if len(snap.Attempts) != 1 || snap.Attempts[0].Story != "1" || n.done()["1"] {
		t.Errorf("%+v, done %v", snap.Attempts, n.done())
	}
	if f := snap.Findings; len(f) != 1 || f[0].Kind != "reopened" || f[0].Story != "1" {
		t.Errorf("%+v", f)
	}
	// A person who marks it then has the last word.
	f, err := stories.Read(n.o.Stories)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetDone("1", true); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), n.o); err == nil {
		t.Error("opened again against the person's word")
	}
}

// The next session begins with what an agent made of a gate's file, and says so
// until somebody has changed it.
func TestAGateFileLeftByAnAgentIsToldTheNextNight(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("echo 'exit 0' > check.sh", ""), say("done")), "first")
	n.committed(map[string]string{"check.sh": "exit 1\n"})
	n.o.Gates = []string{"sh check.sh"}
	told := func() (times int) {
		for _, f := range n.run(t.Context()).Findings {
			if f.Kind == "gate-copy" && strings.Contains(f.Text, "of an earlier session") {
				times++
			}
		}
		return times
	}
	if told() != 0 {
		t.Error("told in the session itself")
	}
	n.play(sim.Any(sim.Step{Fail: "server"}))
	if told() != 1 || told() != 1 {
		t.Error("not told as long as it stands")
	}
	n.write("check.sh", "exit 2\n")
	if told() != 0 {
		t.Error("told of what a person wrote")
	}
	if _, err := os.Stat(filepath.Join(n.o.State, leftName)); err == nil {
		t.Error("what is over is not forgotten")
	}
}
