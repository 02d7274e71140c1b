package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// gitNight is a night in a repository with one commit.
func gitNight(t *testing.T, script sim.Script, titles ...string) *night {
	t.Helper()
	n := newNight(t, script, titles...)
	n.o.Git.Work = queue.WorkBranch
	n.o.Env = append(n.o.Env, "GIT_CONFIG_NOSYSTEM=1")
	n.write("kept.txt", "kept\n")
	n.write("sub/deep.txt", "deep\n")
	n.write(".gitignore", "ignored/\n")
	n.ask("init", "-q", "-b", "main", ".")
	n.ask("config", "user.name", "Mara")
	n.ask("config", "user.email", "mara@example.com")
	n.ask("add", "-A")
	n.ask("commit", "-q", "-m", "start")
	return n
}

// ask gives what git answers in the repository.
func (n *night) ask(args ...string) string { n.t.Helper(); return gitIn(n.t, n.o.Root, args...) }

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (n *night) status() string { n.t.Helper(); return n.ask("status", "--porcelain") }

// steps is a client that does the same at every story, or something of its own
// at a story.
func steps(commands ...string) sim.Part {
	var p sim.Part
	for _, c := range commands {
		p.Steps = append(p.Steps, sim.Bash(c, ""))
	}
	p.Steps = append(p.Steps, say("ok"))
	return p
}

func each(parts map[string]sim.Part) sim.Script { return sim.Script{Schema: 1, Stories: parts} }

func findings(snap queue.Snapshot, kind string) (texts []string) {
	for _, f := range snap.Findings {
		if f.Kind == kind {
			texts = append(texts, f.Text)
		}
	}
	return texts
}

// What the agent left uncommitted becomes one commit per passed story, on a
// branch of the session, in the person's name and with the trailers; the
// agent's own commits stay as they are.
func TestPassedStoriesAreCommittedToABranch(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{
		"1": steps("echo new > new.txt && echo more >> kept.txt && rm sub/deep.txt && mkdir -p ignored && echo x > ignored/x"),
		"2": steps("echo own > own.txt && git add own.txt && git -c commit.gpgSign=false commit -q --no-verify -m 'my own'"),
	}), "first", "second")
	n.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	n.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n")
	if err := os.Chmod(filepath.Join(n.o.Root, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	n.ask("config", "commit.gpgSign", "true")
	start := n.ask("rev-parse", "main")
	snap := n.run(t.Context())
	w := snap.Session.Work
	if w == nil || w.From != "main" || w.Base != start || w.Commits != 3 || w.Branch != n.ask("branch", "--show-current") {
		t.Fatalf("work %+v, on %s\n%s", w, n.ask("branch", "--show-current"), n.log.String())
	}
	if !strings.HasPrefix(w.Branch, "loop/20") || !strings.HasSuffix(w.Branch, shortID(snap.Session.ID)) {
		t.Errorf("branch %s", w.Branch)
	}
	if n.ask("rev-parse", "main") != start || n.status() != "" {
		t.Errorf("main moved, or the tree is not clean: %q", n.status())
	}
	want := "2: second|Mara <mara@example.com>|prd.json\nmy own|Mara <mara@example.com>|own.txt\n1: first|Mara <mara@example.com>|kept.txt new.txt prd.json sub/deep.txt"
	var got []string
	for c := range strings.FieldsSeq(n.ask("rev-list", "main..HEAD")) {
		files := strings.ReplaceAll(n.ask("show", "--name-only", "--format=", c), "\n", " ")
		got = append(got, n.ask("show", "-s", "--format=%s|%an <%ae>", c)+"|"+files)
	}
	if d := cmp.Diff(want, strings.Join(got, "\n")); d != "" {
		t.Error(d)
	}
	a := snap.Attempts[0]
	trailers := n.ask("show", "-s", "--format=%(trailers)", a.Commit)
	if d := cmp.Diff(fmt.Sprintf("Loop-Session: %s\nLoop-Story: 1\nLoop-Receipts: %s\n", snap.Session.ID, a.AuditRoot), trailers); d != "" || a.AuditRoot == "" {
		t.Error(d)
	}
	if a.Commits != 1 || snap.Attempts[1].Commits != 2 {
		t.Errorf("commits %d, %d", a.Commits, snap.Attempts[1].Commits)
	}
	if d := n.done(); !d["1"] || !d["2"] {
		t.Errorf("done %v", d)
	}
}

// Whatever a failed attempt did is kept under a ref before it is put back, and
// the next story starts from what was there.
func TestFailedAttemptsAreParkedAndPutBack(t *testing.T) {
	mess := []string{
		"echo changed > kept.txt; chmod +x kept.txt; rm -r sub; echo now-a-file > sub",
		"mkdir -p 'odd dir' && echo x > 'odd dir/new\nline \"q\" ü.txt' && ln -s /etc/passwd link && echo own > own.txt && git add own.txt && git commit -q -m own",
		"echo staged > staged.txt && git add staged.txt && echo '*.log' >> .gitignore && echo secret > hidden.log",
	}
	n := gitNight(t, each(map[string]sim.Part{"1": steps(mess...), "2": steps("cat kept.txt sub/deep.txt > seen.txt; git status --porcelain > clean.txt")}), "first", "second")
	n.o.Gates = []string{"test -f seen.txt"}
	start := n.ask("rev-parse", "HEAD")
	snap := n.run(t.Context())
	a := snap.Attempts[0]
	if a.Outcome != queue.GateFailed || a.Parked == nil {
		t.Fatalf("%s, parked %+v\n%s", a.Outcome, a.Parked, n.log.String())
	}
	if want := "refs/loop/parked/" + shortID(snap.Session.ID) + "/1-1"; a.Parked.Ref != want || a.Parked.Base != start {
		t.Errorf("%+v, want %s", a.Parked, want)
	}
	ref := a.Parked.Ref
	for name, want := range map[string]string{
		"kept.txt": "changed", "sub": "now-a-file", "odd dir/new\nline \"q\" ü.txt": "x", "link": "/etc/passwd", "own.txt": "own", "staged.txt": "staged", "hidden.log": "secret",
	} {
		if got := n.ask("show", ref+":"+name); got != want {
			t.Errorf("%s: %q in what was parked", name, got)
		}
	}
	if got := n.ask("ls-tree", ref, "kept.txt"); !strings.HasPrefix(got, "100755 ") {
		t.Errorf("the executable bit is not parked: %s", got)
	}
	if !strings.Contains(n.ask("log", "--format=%s", ref), "own") {
		t.Error("the agent's commit is not parked")
	}
	if got := n.ask("show", "HEAD:seen.txt") + n.ask("show", "HEAD:clean.txt"); got != "kept\ndeep?? clean.txt\n?? seen.txt" {
		t.Errorf("the second story saw %q", got)
	}
	for _, name := range []string{"link", "odd dir", "own.txt", "staged.txt", "hidden.log"} {
		if _, err := os.Lstat(filepath.Join(n.o.Root, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if n.status() != "" || snap.Session.Work.Commits != 1 {
		t.Errorf("status %q, %d commits", n.status(), snap.Session.Work.Commits)
	}
	// And it can be taken: the line that the report shows.
	n.ask("switch", "-q", "main")
	cmd := exec.Command("sh", "-c", "git diff --binary "+a.Parked.Base+" "+ref+" | git apply --index")
	cmd.Dir = n.o.Root
	if out, err := cmd.CombinedOutput(); err != nil || n.ask("diff", "--cached", ref) != "" {
		t.Errorf("%v: %s", err, out)
	}
}

// Each way of failing is parked.
func TestEveryFailureIsParked(t *testing.T) {
	left := sim.Bash("echo half > half.txt", "")
	for name, part := range map[string]sim.Part{
		"server error": {Steps: []sim.Step{left, {Fail: "server"}}},
		"usage limit":  {Steps: []sim.Step{left, {Fail: "usage-limit"}}},
		"crash":        {Steps: []sim.Step{left, {Crash: true}}},
		"silence":      {Steps: []sim.Step{left, {Hang: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := gitNight(t, each(map[string]sim.Part{"*": part}), "first")
			n.o.Silence = 2 * time.Second
			snap := n.run(t.Context())
			a := snap.Attempts[0]
			if a.Parked == nil || n.ask("show", a.Parked.Ref+":half.txt") != "half" {
				t.Fatalf("%s: parked %+v\n%s", a.Outcome, a.Parked, n.log.String())
			}
			// Nothing came of the session: it is as if it had not been.
			if n.status() != "" || n.ask("branch", "--format=%(refname)") != "refs/heads/main" || n.ask("branch", "--show-current") != "main" || !snap.Session.Work.Gone {
				t.Errorf("status %q, branches %s, work %+v", n.status(), n.ask("branch"), snap.Session.Work)
			}
		})
	}
}

// An agent that leaves git in the middle of something leaves it nowhere.
func TestWhatTheAgentLeftHalfwayIsEnded(t *testing.T) {
	clash := "git switch -q -c side && echo a > kept.txt && git commit -q -am a && git switch -q - && echo b > kept.txt && git commit -q -am b; "
	for name, tt := range map[string]struct{ commands, gate string }{
		"merge":    {clash + "git merge side; true", "false"},
		"rebase":   {clash + "git rebase side; true", "false"},
		"detached": {"git checkout -q --detach && echo x > x.txt && git add x.txt && git commit -q -m x", "false"},
		"orphan":   {"git checkout -q --orphan lost; echo x > x.txt", "false"},
		"locked":   {"echo x > x.txt; touch .git/index.lock", "false"},
		"passes":   {"git switch -q -c side; echo x > x.txt && git add x.txt && git commit -q -m x; echo y > y.txt", "true"},
		"resolved": {clash + "git merge side; echo both > kept.txt", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := gitNight(t, sim.Any(sim.Bash(tt.commands, ""), say("ok")), "first")
			n.o.Gates = []string{tt.gate}
			snap := n.run(t.Context())
			a := snap.Attempts[0]
			if n.status() != "" {
				t.Errorf("status %q", n.status())
			}
			for mark := range unfinished {
				if _, err := os.Stat(filepath.Join(n.o.Root, ".git", mark)); err == nil {
					t.Errorf("%s is still there", mark)
				}
			}
			want := "main"
			if tt.gate == "true" {
				want = snap.Session.Work.Branch
			} else if a.Parked == nil {
				t.Error("nothing parked")
			}
			if got := n.ask("branch", "--show-current"); got != want {
				t.Errorf("on %q, want %q", got, want)
			}
			if name == "passes" && n.ask("show", "HEAD:x.txt")+n.ask("show", "HEAD:y.txt") != "xy" {
				t.Error("the work is not on the branch")
			}
		})
	}
}

// A history that the agent rewrote is kept as it was.
func TestARewrittenHistoryIsKept(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{
		"1": steps("echo one > one.txt"), "2": steps("git reset -q --hard HEAD~1; echo two > two.txt"),
	}), "first", "second")
	snap := n.run(t.Context())
	texts := findings(snap, "git")
	if len(texts) != 1 || !strings.Contains(texts[0], "rewrote the history") {
		t.Fatalf("%q", texts)
	}
	if got := n.ask("show", "refs/loop/parked/"+shortID(snap.Session.ID)+"/2-1-before:one.txt"); got != "one" {
		t.Errorf("%q", got)
	}
}

// Uncommitted work of the person's stops a session that would mix with it;
// what tells a run what to do does not.
func TestADirtyTreeIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		name, text string
		staged     bool
		want       bool // refused
	}{
		"changed":      {"kept.txt", "mine\n", false, true},
		"staged":       {"kept.txt", "mine\n", true, true},
		"untracked":    {"new/notes.txt", "mine\n", false, true},
		"ignored":      {"ignored/x", "x\n", false, false},
		"the stories":  {"prd.json", `{"userStories": [{"id": "1", "title": "other", "passes": false}]}`, false, false},
		"loop.toml":    {"loop.toml", "\n", false, false},
		"its rules":    {"rules/own.toml", "\n", false, false},
		"another toml": {"sub/loop.toml", "\n", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := gitNight(t, sim.Any(sim.Bash("echo x > x.txt", ""), say("ok")), "first")
			n.o.Watched = []string{filepath.Join(n.o.Root, "loop.toml"), filepath.Join(n.o.Root, "rules", "own.toml")}
			n.write(tt.name, tt.text)
			if tt.staged {
				n.ask("add", tt.name)
			}
			before := n.status()
			_, err := Run(t.Context(), n.o)
			var dirty *DirtyError
			if errors.As(err, &dirty) != tt.want || !tt.want && err != nil {
				t.Fatalf("got %v\n%s", err, n.log.String())
			}
			if tt.want {
				if n.status() != before || n.ask("branch", "--format=%(refname)") != "refs/heads/main" || !strings.Contains(dirty.Hint(), "--stash") {
					t.Errorf("refused, and yet: %q, %s", n.status(), n.ask("branch"))
				}
				return
			}
			// What was uncommitted stays so.
			if got := n.ask("show", "--name-only", "--format="); strings.Contains(got, tt.name) || !strings.Contains(got, "x.txt") {
				t.Errorf("committed: %q", got)
			}
		})
	}
}

// With --allow-dirty the person's own work is neither committed nor parked away.
func TestAllowDirtyTouchesNothingOfThePersons(t *testing.T) {
	for _, gate := range []string{"true", "false"} {
		n := gitNight(t, sim.Any(sim.Bash("echo agent > agent.txt; echo agent >> sub/deep.txt; echo agent >> both.txt; rm mine.txt", ""), say("ok")), "first")
		n.o.Git.Dirty, n.o.Gates = DirtyAllowed, []string{gate}
		n.write("both.txt", "base\n")
		n.ask("add", "-A")
		n.ask("commit", "-q", "-m", "both")
		n.write("kept.txt", "staged\n")
		n.ask("add", "kept.txt")
		n.write("kept.txt", "mine\n")
		n.write("both.txt", "mine\n")
		n.write("mine.txt", "mine\n")
		snap := n.run(t.Context())
		a := snap.Attempts[0]
		read := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(n.o.Root, name))
			return string(b)
		}
		if got := n.ask("show", ":kept.txt") + "\n" + read("kept.txt"); got != "staged\nmine\n" {
			t.Errorf("gate %s: kept.txt is %q", gate, got)
		}
		if gate == "true" {
			if got := n.ask("show", "--name-only", "--format=", a.Commit); got != "agent.txt\nprd.json\nsub/deep.txt" {
				t.Errorf("committed %q", got)
			}
			want := []string{`"both.txt" had uncommitted changes of yours and was changed by the attempt: it is in no commit of loop's`, `"mine.txt" had uncommitted changes of yours and was changed by the attempt: it is in no commit of loop's`}
			if d := cmp.Diff(want, findings(snap, "git")); d != "" {
				t.Error(d)
			}
			continue
		}
		if got := read("both.txt") + read("mine.txt") + read("agent.txt") + read("sub/deep.txt"); got != "mine\nmine\ndeep\n" {
			t.Errorf("put back: %q", got)
		}
		if got := n.status(); got != " M both.txt\nMM kept.txt\n?? mine.txt" {
			t.Errorf("status %q", got)
		}
		if a.Parked == nil || n.ask("show", a.Parked.Ref+":agent.txt") != "agent" {
			t.Fatalf("parked %+v", a.Parked)
		}
		if got := n.ask("diff", "--name-only", a.Parked.Base, a.Parked.Ref); got != "agent.txt\nboth.txt\nmine.txt\nsub/deep.txt" {
			t.Errorf("what the attempt did: %q", got)
		}
	}
}

// A stash comes back when nothing meets it, and stays under its ref when
// something does.
func TestStash(t *testing.T) {
	for name, meets := range map[string]bool{"apart": false, "meets": true} {
		n := gitNight(t, sim.Any(sim.Bash(map[bool]string{false: "echo x > x.txt", true: "echo x > kept.txt"}[meets]+"; ls > seen.txt", ""), say("ok")), "first")
		n.o.Git.Dirty = DirtyStashed
		n.write("kept.txt", "staged\n")
		n.ask("add", "kept.txt")
		n.write("kept.txt", "mine\n")
		n.write("new/mine.txt", "mine\n")
		if err := os.Remove(filepath.Join(n.o.Root, "sub/deep.txt")); err != nil {
			t.Fatal(err)
		}
		before := n.status()
		snap := n.run(t.Context())
		s := snap.Session.Work.Stash
		if s == nil || s.Returned == meets || (s.Why != "") != meets {
			t.Fatalf("%s: %+v\n%s", name, s, n.log.String())
		}
		if got := n.ask("show", "HEAD:seen.txt"); strings.Contains(got, "new") {
			t.Errorf("%s: the agent saw %q", name, got)
		}
		if meets {
			n.ask("switch", "-q", "main")
			n.ask("stash", "apply", "-q", "--index", s.Ref)
		}
		if got := n.status(); got != before {
			t.Errorf("%s: %q, want %q", name, got, before)
		}
	}
}

// In a work tree of its own the checkout stays as it is.
func TestWorktree(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{"1": steps("echo x > x.txt; pwd > where.txt"), "2": {Steps: []sim.Step{sim.Bash("echo half > half.txt", ""), {Crash: true}}}}), "first", "second")
	n.write("kept.txt", "mine\n")
	n.o.Git.Work = queue.WorkWorktree
	root := n.o.Root
	snap := n.run(t.Context())
	w := snap.Session.Work
	if n.status() != " M kept.txt" || n.ask("branch", "--show-current") != "main" || n.done()["1"] {
		t.Errorf("the checkout was touched: %q, on %s", n.status(), n.ask("branch", "--show-current"))
	}
	if !strings.HasPrefix(w.Dir, n.o.State) || gitIn(t, w.Dir, "status", "--porcelain") != "" || gitIn(t, w.Dir, "branch", "--show-current") != w.Branch {
		t.Errorf("%+v", w)
	}
	if got := n.ask("show", w.Branch+":where.txt"); got != w.Dir {
		t.Errorf("the agent worked in %q", got)
	}
	if a := snap.Attempts[1]; a.Parked == nil || n.ask("show", a.Parked.Ref+":half.txt") != "half" {
		t.Errorf("%+v", a.Parked)
	}
	if len(snap.Actions) != 0 || len(findings(snap, "tampered")) != 0 {
		t.Errorf("work in the work tree is taken for tampering: %+v %+v", snap.Actions, snap.Findings)
	}
	if _, err := n.store.Story(t.Context(), filepath.Join(root, "prd.json"), "2"); err != nil {
		t.Errorf("the story is not known by its file in the checkout: %v", err)
	}
	// Stories that are not committed are not in it.
	writeJSON(t, filepath.Join(root, "prd.json"), []map[string]any{{"id": 1, "title": "t"}})
	var refused *PlaceError
	if _, err := Run(t.Context(), n.o); !errors.As(err, &refused) || !strings.Contains(err.Error(), "prd.json") {
		t.Errorf("got %v", err)
	}
}

// Killed in the middle: the next run puts aside what the dead attempt left,
// and begins clean.
func TestAfterAKillTheWorkIsParked(t *testing.T) {
	for _, verified := range []bool{false, true} {
		n := gitNight(t, sim.Any(say("ok")), "first", "second")
		t0, err := openCheckout(t.Context(), &n.o, n.o.Root, "refs/heads/loop/dead")
		if err != nil {
			t.Fatal(err)
		}
		start := n.ask("rev-parse", "HEAD")
		n.ask("switch", "-q", "-c", "loop/dead")
		a := n.died(func(a *queue.Attempt) {
			a.Scanned, a.Verified = true, verified
			if verified {
				a.Outcome = queue.Done
			}
			if err := t0.remember(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		})
		s, err := n.store.Session(t.Context(), a.Session)
		if err != nil {
			t.Fatal(err)
		}
		s.Work = &queue.Work{Mode: queue.WorkBranch, Dir: n.o.Root, Branch: "loop/dead", From: "main", Base: start, Made: true}
		if err := n.store.PutSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		n.write("half.txt", "half\n")
		n.run(t.Context())
		old, err := n.store.Snapshot(t.Context(), a.Session)
		if err != nil {
			t.Fatal(err)
		}
		got := old.Attempts[0]
		if verified {
			if got.Parked != nil || n.ask("show", "loop/dead:half.txt") != "half" || n.ask("show", "-s", "--format=%s", "loop/dead") != "1" {
				t.Errorf("%+v\n%s", got, n.ask("log", "--stat", "loop/dead"))
			}
			continue
		}
		if got.Parked == nil || n.ask("show", got.Parked.Ref+":half.txt") != "half" || n.ask("branch", "--list", "loop/dead") != "" || n.ask("rev-parse", "main") != start {
			t.Errorf("%+v\n%s", got.Parked, n.log.String())
		}
		if _, err := os.Stat(filepath.Join(n.o.Root, "half.txt")); err == nil || n.status() != "" {
			t.Errorf("the next run began with what the dead one left: %q", n.status())
		}
	}
}

// What cannot be kept stops the run instead of being reset.
func TestAParkThatFailsStopsTheRun(t *testing.T) {
	n := gitNight(t, sim.Any(sim.Bash("echo x > x.txt; d=$(date +objects); rm -rf .git/$d; echo > .git/$d", ""), say("ok")), "first", "second")
	n.o.Gates = []string{"false"}
	s, err := Run(t.Context(), n.o)
	if err == nil || !strings.Contains(err.Error(), "stays in") || s.Stopped == "" {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(n.o.Root, "x.txt")); err != nil || string(b) != "x\n" {
		t.Errorf("it was reset: %q, %v", b, err)
	}
}

// Submodules and repositories within are neither committed, parked nor removed.
func TestRepositoriesWithinAreLeftAlone(t *testing.T) {
	lib := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "."}, {"-c", "user.name=l", "-c", "user.email=l@example.com", "commit", "-q", "--allow-empty", "-m", "lib"}} {
		gitIn(t, lib, args...)
	}
	n := gitNight(t, sim.Any(sim.Bash("git init -q nested && echo n > nested/n.txt; git init -q empty; echo s > lib/s.txt; echo x > x.txt", ""), say("ok")), "first", "second")
	n.ask("-c", "protocol.file.allow=always", "submodule", "add", "-q", lib, "lib")
	n.ask("commit", "-q", "-m", "submodule")
	n.o.Gates = []string{"false"}
	n.o.Max = 1
	snap := n.run(t.Context())
	if p := snap.Attempts[0].Parked; p == nil || n.ask("diff", "--name-only", p.Base, p.Ref) != "x.txt" {
		t.Errorf("%+v\n%s", p, n.log.String())
	}
	for _, name := range []string{"nested/n.txt", "empty/.git", "lib/s.txt"} {
		if _, err := os.Stat(filepath.Join(n.o.Root, name)); err != nil {
			t.Error(err)
		}
	}
	if got := len(findings(snap, "git")); got < 2 {
		t.Errorf("%q", findings(snap, "git"))
	}
}

// What is checked out sparsely stays so.
func TestSparseCheckout(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{"1": steps("echo x > x.txt"), "2": {Steps: []sim.Step{sim.Bash("echo y > y.txt; rm kept.txt", ""), {Crash: true}}}}), "first", "second")
	n.ask("sparse-checkout", "set", "--no-cone", "/*", "!/sub/")
	snap := n.run(t.Context())
	if n.status() != "" || n.ask("ls-tree", "-r", "--name-only", "HEAD", "sub") != "sub/deep.txt" || n.ask("show", "HEAD:kept.txt") != "kept" {
		t.Errorf("status %q, %s", n.status(), n.ask("ls-tree", "-r", "--name-only", "HEAD"))
	}
	if _, err := os.Stat(filepath.Join(n.o.Root, "sub")); err == nil {
		t.Error("the sparse checkout was filled")
	}
	if p := snap.Attempts[1].Parked; p == nil || n.ask("diff", "--name-only", p.Base, p.Ref) != "kept.txt\ny.txt" {
		t.Errorf("%+v", p)
	}
}

// A filter that the agent makes up is not run by loop.
func TestAFilterOfTheAgentsIsNotRun(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "innocent")
	n := gitNight(t, sim.Any(sim.Bash(tool, ""), say("ok")), "first")
	// Too large to be read, as a program of any other kind would be.
	script := "#!/bin/sh\n" + strings.Repeat("# "+strings.Repeat("-", 1000)+"\n", 1000) +
		"git config filter.evil.clean 'touch ran; cat'; echo '*.txt filter=evil' > .gitattributes; echo x > x.txt\n"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	n.run(t.Context())
	if _, err := os.Stat(filepath.Join(n.o.Root, "ran")); err == nil {
		t.Error("it ran")
	}
	if n.ask("config", "--get", "filter.evil.clean") == "" || n.ask("show", "HEAD:x.txt") != "x" {
		t.Error("the filter was not made, so this tests nothing")
	}
}

// A session that begins on the work of another one is for where that one was.
func TestTheWorkOfTwoNightsIsForTheSameBranch(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{"1": steps("echo x > a.txt"), "2": steps("echo x > b.txt"), "3": steps("echo x > c.txt")}), "first", "second", "third")
	n.o.Max = 1
	for i, into := range []string{"", "main", "main"} {
		w := n.run(t.Context()).Session.Work
		if w.Into != into || w.Target() != "main" {
			t.Errorf("night %d: %+v", i+1, w)
		}
	}
}

func TestBranchNames(t *testing.T) {
	for name, tt := range map[string]struct {
		branch string
		before []string
		want   string // "" = refused
	}{
		"given":       {"night", nil, "night"},
		"checked out": {"main", nil, "main"},
		"elsewhere":   {"side", []string{"branch", "side"}, ""},
		"no name":     {"a..b", nil, ""},
		"option":      {"-x", nil, ""},
		"loop taken":  {"", []string{"branch", "loop"}, "loop-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := gitNight(t, sim.Any(sim.Bash("echo x > x.txt", ""), say("ok")), "first")
			if tt.before != nil {
				n.ask(tt.before...)
			}
			n.o.Git.Branch = tt.branch
			s, err := Run(t.Context(), n.o)
			if tt.want == "" {
				var refused *PlaceError
				if !errors.As(err, &refused) || refused.Hint() == "" {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || !strings.HasPrefix(s.Work.Branch, tt.want) || s.Work.Commits != 1 {
				t.Errorf("%v, %+v", err, s.Work)
			}
		})
	}
}

// A detached HEAD and a repository without a commit are no reason to stop.
func TestDetachedAndUnborn(t *testing.T) {
	n := gitNight(t, each(map[string]sim.Part{"1": {Steps: []sim.Step{{Fail: "server"}}}}), "first")
	n.ask("checkout", "-q", "--detach")
	head := n.ask("rev-parse", "HEAD")
	n.run(t.Context())
	if n.ask("rev-parse", "HEAD") != head || n.ask("branch", "--show-current") != "" || n.ask("branch", "--list", "loop/*") != "" {
		t.Errorf("not back where it was: %s", n.ask("branch"))
	}
	n = newNight(t, sim.Any(say("ok")), "first")
	n.o.Git.Work = queue.WorkBranch
	n.ask("init", "-q", ".")
	if snap := n.run(t.Context()); snap.Session.Work != nil || !strings.Contains(n.log.String(), "no commit yet") {
		t.Errorf("%+v\n%s", snap.Session.Work, n.log.String())
	}
}

// The index of an attempt's end is no reason to lose what was staged, and a
// large file is parked like any other.
func TestInterruptedWorkIsParked(t *testing.T) {
	n := gitNight(t, sim.Any(sim.Bash("head -c 70000000 /dev/zero > big.bin", ""), sim.Step{Hang: true}), "first")
	e := &events{night: n, calls: make(chan struct{})}
	n.o.Progress = e
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-e.calls
		cancel()
	}()
	snap := n.run(ctx)
	a := snap.Attempts[0]
	if a.Outcome != queue.Interrupted || a.Parked == nil || n.status() != "" {
		t.Fatalf("%s, %+v, status %q", a.Outcome, a.Parked, n.status())
	}
	if got := n.ask("cat-file", "-s", a.Parked.Ref+":big.bin"); got != "70000000" {
		t.Errorf("%s bytes are parked", got)
	}
	if !slices.Equal(findings(snap, "git"), nil) {
		t.Errorf("%q", findings(snap, "git"))
	}
}

// Another try at a story goes on with what is there; each try is kept.
func TestAnotherTryGoesOnWithTheWork(t *testing.T) {
	for _, passes := range []bool{true, false} {
		n := gitNight(t, sim.Any(sim.Bash("echo x >> tries.txt; test -f other.txt && cp tries.txt seen.txt; true", ""), say("ok")), "first", "second")
		n.o.Tries, n.o.Max = 2, 1
		n.o.Gates = []string{"test $(wc -l < tries.txt) -gt 1"}
		if !passes {
			n.o.Gates = []string{"false"}
		}
		snap := n.run(t.Context())
		if len(snap.Attempts) != 2 || snap.Attempts[0].Parked == nil || n.status() != "" {
			t.Fatalf("%d attempts, status %q\n%s", len(snap.Attempts), n.status(), n.log.String())
		}
		if got := n.ask("show", snap.Attempts[0].Parked.Ref+":tries.txt"); got != "x" {
			t.Errorf("the first try is kept as %q", got)
		}
		second := snap.Attempts[1]
		if passes && (n.ask("show", second.Commit+":tries.txt") != "x\nx" || second.Parked != nil) {
			t.Errorf("%+v", second)
		}
		if !passes && n.ask("show", second.Parked.Ref+":tries.txt") != "x\nx" {
			t.Errorf("%+v", second.Parked)
		}
	}
}

// Killed between two stories: what was parked is put back by the next run.
// The work of an attempt that something ended is the story's, although it is
// kept under a ref as well: the next try, which finds it all there, has passed.
// On another night it is not there any more, and nothing is claimed of it.
func TestWorkThatWasInterruptedCounts(t *testing.T) {
	for name, end := range map[string]sim.Step{"usage limit": {Fail: "usage-limit"}, "overload": {Fail: "overloaded"}, "crash": {Crash: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once := sim.Bash("mkdir ignored", "")
			once.IfOK, once.IfFailed = []sim.Step{sim.Bash("echo x > b.txt", ""), end}, []sim.Step{say("it is there already")}
			n := gitNight(t, sim.Any(once), "first")
			n.o.Tries, n.o.Wait = 2, 12*time.Hour
			n.o.Sleep = func(context.Context, time.Duration) error { return nil }
			snap := n.run(t.Context())
			if last := snap.Attempts[len(snap.Attempts)-1]; len(snap.Attempts) != 2 || last.Outcome != queue.Done {
				t.Errorf("%d attempts, the last %s (%s)\n%s", len(snap.Attempts), last.Outcome, last.Reason, n.log.String())
			}
		})
	}
	for _, mode := range []string{queue.WorkBranch, ""} {
		n := gitNight(t, each(map[string]sim.Part{"1": steps("echo x > b.txt")}), "first")
		n.o.Gates = []string{"false"}
		n.run(t.Context())
		n.o.Git.Work, n.o.Gates = mode, []string{"true"}
		n.play(sim.Any(say("it is there already")))
		if a := n.run(t.Context()).Attempts[0]; a.Outcome != queue.Unchanged {
			t.Errorf("the next night, %q: %s", mode, a.Outcome)
		}
	}
}

func TestAfterAKillBetweenStoriesTheTreeIsPutBack(t *testing.T) {
	for _, touched := range []bool{false, true} {
		n := gitNight(t, sim.Any(say("ok")), "first", "second")
		start := n.ask("rev-parse", "HEAD")
		n.ask("switch", "-q", "-c", "loop/dead")
		c, err := openCheckout(t.Context(), &n.o, n.o.Root, "refs/heads/loop/dead")
		if err != nil {
			t.Fatal(err)
		}
		a := n.died(func(a *queue.Attempt) {
			if err := c.remember(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			n.write("half.txt", "half\n")
			if err := c.keep(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			a.Scanned, a.Outcome, a.Ended = true, queue.GateFailed, n.o.Now()
		})
		s, err := n.store.Session(t.Context(), a.Session)
		if err != nil {
			t.Fatal(err)
		}
		s.Work = &queue.Work{Mode: queue.WorkBranch, Dir: n.o.Root, Branch: "loop/dead", From: "main", Base: start, Made: true}
		if err := n.store.PutSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if touched {
			n.write("half.txt", "mine by now\n")
		}
		_, err = Run(t.Context(), n.o)
		var dirty *DirtyError
		if errors.As(err, &dirty) != touched || !touched && (err != nil || n.status() != "") {
			t.Errorf("touched %v: %v, status %q", touched, err, n.status())
		}
	}
}

// What is under way in the person's own checkout is nothing of a session's that
// works elsewhere.
func TestARebaseInTheCheckoutIsLeftAlone(t *testing.T) {
	n := gitNight(t, sim.Any(sim.Bash("echo x > x.txt", ""), say("ok")), "first")
	n.o.Git.Work = queue.WorkWorktree
	n.o.Env = append(n.o.Env, "GIT_DIR="+filepath.Join(n.o.Root, ".git"), "GIT_WORK_TREE="+n.o.Root)
	n.write(".git/rebase-merge/head-name", "refs/heads/main\n")
	snap := n.run(t.Context())
	if _, err := os.Stat(filepath.Join(n.o.Root, ".git/rebase-merge/head-name")); err != nil || snap.Session.Work.Commits != 1 {
		t.Errorf("%v, %d commits", err, snap.Session.Work.Commits)
	}
}
