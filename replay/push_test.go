package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// pushBench is a repository with a remote that has its first commit.
func pushBench(t *testing.T) (b *bench, bare string) {
	t.Helper()
	b = newBench(t)
	bare = filepath.Join(filepath.Dir(b.repo), "bare")
	b.git("init", "-q", "--bare", "-b", "main", bare)
	b.git("remote", "add", "origin", bare)
	b.git("push", "-q", "-u", "origin", "main")
	return b, bare
}

// commit makes a commit that changes one file.
func (b *bench) commit(subject string) string {
	b.t.Helper()
	path := filepath.Join(b.repo, "file.txt")
	old, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(old, subject+"\n"...), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", subject)
	b.head = b.git("rev-parse", "HEAD")
	return b.head
}

// elsewhere is a commit that somebody else pushes to the remote's main.
func (b *bench) elsewhere(bare string) {
	b.t.Helper()
	other := filepath.Join(filepath.Dir(b.repo), "other")
	b.git("clone", "-q", bare, other)
	for _, args := range [][]string{{"commit", "-q", "--allow-empty", "-m", "theirs"}, {"push", "-q", "origin", "HEAD:main"}} {
		if out := proc.Run(b.t.Context(), proc.RunOptions{Argv: append([]string{"git"}, args...), Dir: other, Env: b.env}); !out.OK() {
			b.t.Fatalf("%s", out.Tail)
		}
	}
}

// look looks at the only push of an action.
func (b *bench) look(a queue.Action) Push {
	b.t.Helper()
	all := LookPush(b.t.Context(), a, PushOptions{Env: b.env})
	if len(all) != 1 {
		b.t.Fatalf("%d pushes in %q", len(all), a.Command)
	}
	return all[0]
}

func subjects(r PushRef) (out []string) {
	for _, c := range r.Commits {
		s := c.Subject
		if c.Newer {
			s += " (newer)"
		}
		out = append(out, s)
	}
	return out
}

func TestLookPushSaysWhatWouldGo(t *testing.T) {
	b, bare := pushBench(t)
	first := b.head
	b.commit("one")
	a := b.action("git push origin main")
	b.commit("two")
	p := b.look(a)
	if !p.Asked || p.Remote != "origin" || p.URL != bare || len(p.Refs) != 1 || p.Problem+p.Silent != "" {
		t.Fatalf("%+v", p)
	}
	r := p.Refs[0]
	if d := cmp.Diff([]string{"two (newer)", "one"}, subjects(r)); d != "" {
		t.Error(d)
	}
	if r.Source != "refs/heads/main" || r.Dest != r.Source || r.There != first || r.Seen != first || r.Now != b.head || r.Was != a.GitHead {
		t.Errorf("%+v", r)
	}
	if r.Count != 2 || r.Newer != 1 || r.Added != 2 || r.Removed != 0 || r.Changed != 1 {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff([]FileStat{{Path: "file.txt", Added: 2}}, r.Files); d != "" {
		t.Error(d)
	}
}

func TestLookPushFindsWhatIsNotAsItWas(t *testing.T) {
	const ff = "" // nothing to say
	for _, c := range []struct {
		name, command string
		since         func(*bench, string)
		stale, doubt  string
	}{
		{"as it was", "git push origin main", func(*bench, string) {}, ff, ff},
		{"all defaults", "git push", func(*bench, string) {}, ff, ff},
		{"a new branch", "git push -u origin HEAD:refs/heads/next", func(*bench, string) {}, ff, ff},
		{"grown", "git push", func(b *bench, _ string) { b.commit("more") }, ff, "main has 1 commit more since it was deferred"},
		{"rewritten", "git push", func(b *bench, _ string) { b.git("commit", "-q", "--amend", "-m", "other") }, "does not contain it", ff},
		{"gone back", "git push origin main", func(b *bench, _ string) { b.git("reset", "-q", "--hard", "HEAD^") }, "does not contain it", ff},
		{"another branch", "git push origin HEAD", func(b *bench, _ string) { b.git("checkout", "-q", "-b", "x") }, "deferred on the branch main, and x is checked out now", ff},
		{"another branch, by name", "git push origin main", func(b *bench, _ string) { b.git("checkout", "-q", "-b", "x") }, ff, ff},
		{"the branch is gone", "git push origin main", func(b *bench, _ string) { b.git("checkout", "-q", "-b", "x"); b.git("branch", "-q", "-D", "main") }, "main is not there any more", ff},
		{"the line makes the tag", "git tag v1 && git push origin v1", func(*bench, string) {}, ff, ff},
		{"another tag", "git push origin v1", func(*bench, string) {}, "v1 is not there any more", ff},
		{"remote moved", "git push origin main", func(b *bench, bare string) { b.elsewhere(bare) }, "git would refuse the push", ff},
		{"remote moved, forced", "git push -fu origin main", func(b *bench, bare string) { b.elsewhere(bare) }, "has moved from", ff},
		{"remote moved, plus", "git push origin +main", func(b *bench, bare string) { b.elsewhere(bare) }, "has moved from", ff},
		{"remote moved, lease", "git push --force-with-lease", func(b *bench, bare string) { b.elsewhere(bare) }, ff, "takes commits that are not here away"},
		{"pulled first", "git pull --rebase && git push", func(b *bench, bare string) { b.elsewhere(bare) }, ff, "git would refuse the push"},
		{"forced", "git push -f origin HEAD^:main", func(b *bench, _ string) { b.git("push", "-q") }, ff, "takes 1 commit away from the remote's main"},
		{"deleted", "git push origin --delete main", func(*bench, string) {}, ff, "it deletes the remote's main"},
		{"deleted by a colon", "git push origin :main", func(*bench, string) {}, ff, "it deletes the remote's main"},
		{"a commit by name", "git push origin COMMIT:refs/heads/main", func(b *bench, _ string) { b.commit("more") }, ff, ff},
		{"elsewhere", "cd / && git -C REPO push origin main:main", func(b *bench, _ string) { b.commit("more") }, ff, "main has 1 commit more"},
		{"a tag that is there", "git push origin v1", func(b *bench, _ string) {
			b.git("tag", "v1", "HEAD^")
			b.git("push", "-q", "origin", "v1")
			b.git("tag", "-f", "v1")
		}, "git would refuse the push", ff},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, bare := pushBench(t)
			b.commit("one")
			a := b.action(strings.NewReplacer("COMMIT", b.head, "REPO", b.repo).Replace(c.command))
			c.since(b, bare)
			p := b.look(a)
			if p.Problem != "" || !p.Asked {
				t.Fatalf("%+v", p)
			}
			for _, x := range []struct {
				name, want string
				got        []string
			}{{"stale", c.stale, p.Stale}, {"doubts", c.doubt, p.Doubts}} {
				if x.want == "" && len(x.got) > 0 || !strings.Contains(strings.Join(x.got, "\n"), x.want) {
					t.Errorf("%s: %q, want %q", x.name, x.got, x.want)
				}
			}
		})
	}
}

func TestLookPushSaysWhatItCannotKnow(t *testing.T) {
	for command, want := range map[string]string{
		"git push origin $BRANCH":                     "not known before the line runs",
		"ssh host git push origin main":               "another machine, host",
		"GIT_DIR=/x git push":                         "variables of git's",
		"git --git-dir=/x push":                       "another repository",
		"git push origin 'refs/heads/*:refs/heads/*'": "whatever matches",
		"git push origin :":                           "whatever matches",
		"cd nowhere && git push":                      "it is gone",
		"git push origin HEAD~0":                      "would not know which branch",
	} {
		b, _ := pushBench(t)
		if p := b.look(b.action(command)); !strings.Contains(p.Problem, want) {
			t.Errorf("%s: %q, want %q", command, p.Problem, want)
		}
	}
	b, _ := pushBench(t)
	for _, command := range []string{"echo git push", "git status", "git stash push", "f() { git push; }", "gh pr create"} {
		if got := LookPush(t.Context(), b.action(command), PushOptions{Env: b.env}); got != nil {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

// Looking must not run what an agent has put into the repository.
func TestLookPushRunsNothingOfTheRepository(t *testing.T) {
	for _, c := range []struct{ key, value, command string }{
		{"remote.origin.uploadpack", "touch PROOF;git-upload-pack", "git push"},
		{"core.sshCommand", "touch PROOF;ssh", "git push ssh://localhost:1/x main"},
		{"credential.helper", "!touch PROOF", "git push"},
		{"remote.origin.vcs", "evil", "git push"},
		{"", "", "git -c core.sshCommand='touch PROOF' push ssh://localhost:1/x main"},
		{"", "", "git push --receive-pack='touch PROOF' origin main"},
	} {
		b, _ := pushBench(t)
		proof := filepath.Join(filepath.Dir(b.repo), "proof")
		real := strings.NewReplacer("PROOF", proof)
		if c.key != "" {
			b.git("config", c.key, real.Replace(c.value))
		}
		hook := filepath.Join(b.repo, ".git", "hooks", "pre-push")
		if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+proof+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		b.git("config", "gpg.program", hook)
		b.git("config", "log.showSignature", "true")
		b.commit("one")
		p := b.look(b.action(real.Replace(c.command)))
		if _, err := os.Stat(proof); err == nil {
			t.Errorf("%s, %s: it ran a program of the repository's", c.command, c.key)
		}
		if p.Asked || p.Silent == "" {
			t.Errorf("%s, %s: %+v", c.command, c.key, p)
		}
		if len(p.Refs) != 1 || p.Refs[0].Count == 0 {
			t.Errorf("%s, %s: what would go is not known: %+v", c.command, c.key, p)
		}
	}
}

func TestLookPushOfARemoteThatDoesNotAnswer(t *testing.T) {
	b, bare := pushBench(t)
	b.commit("one")
	if err := os.Rename(bare, bare+"-gone"); err != nil {
		t.Fatal(err)
	}
	p := b.look(b.action("git push origin main"))
	if p.Asked || p.Silent == "" || len(p.Stale)+len(p.Doubts) > 0 || p.Refs[0].Count != 1 {
		t.Errorf("%+v", p)
	}
	if p := b.look(b.action("git push -f origin main")); len(p.Doubts) == 0 {
		t.Errorf("forced: %+v", p)
	}
}

// The reflog knows where a branch stood that was not checked out.
func TestLookPushKnowsAnotherBranchByItsLog(t *testing.T) {
	b, _ := pushBench(t)
	at := func(hour string) {
		b.env = append([]string{"GIT_COMMITTER_DATE=2026-02-23T" + hour + ":00:00Z"}, b.env...)
	}
	at("01")
	b.git("branch", "side")
	b.git("checkout", "-q", "side")
	b.commit("early")
	was := b.head
	at("08")
	b.commit("late")
	b.git("checkout", "-q", "main")
	a := b.action("git push origin side") // deferred at 05:15
	if p := b.look(a); p.Refs[0].Was != was || p.Refs[0].Newer != 1 {
		t.Errorf("%+v", p.Refs[0])
	}
}

func TestStalePushIsRefused(t *testing.T) {
	b, bare := pushBench(t)
	b.commit("one")
	a := b.add(b.action("git push -f origin main"))
	b.elsewhere(bare)
	there := func() string { return strings.Fields(b.git("ls-remote", bare, "main"))[0] }
	before := there()
	r := b.request(a)
	_, err := Run(t.Context(), r)
	wantRefused(t, err, "has moved from")
	r.Yes, r.IsTerminal, r.In = false, true, strings.NewReader("y\n")
	_, err = Run(t.Context(), r)
	wantRefused(t, err, "has moved from")
	if got := b.stored(a); got.Status != queue.Pending || there() != before {
		t.Errorf("status %s, remote at %s", got.Status, there())
	}
	r = b.request(a)
	r.Anyway = true
	if _, err := Run(t.Context(), r); err != nil || there() != b.head {
		t.Errorf("anyway: %v, remote at %s", err, there())
	}
}

// A branch that went on needs a person, who sees by how much.
func TestGrownPushIsAskedAbout(t *testing.T) {
	b, bare := pushBench(t)
	b.commit("one")
	a := b.add(b.action("git push origin main"))
	b.commit("two")
	_, err := Run(t.Context(), b.request(a))
	wantRefused(t, err, "main has 1 commit more since it was deferred")
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Advice, "--anyway") {
		t.Errorf("advice: %v", err)
	}
	r := b.request(a)
	r.Yes, r.IsTerminal, r.In = false, true, strings.NewReader("y\n")
	if _, err := Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(b.git("ls-remote", bare, "main"))[0]; got != b.head {
		t.Errorf("the remote is at %s", got)
	}
}

// What the session itself has added to its branch is what the push is about.
func TestPushOfASessionsOwnWorkIsNoSurprise(t *testing.T) {
	b, _ := pushBench(t)
	b.git("checkout", "-q", "-b", "loop/night")
	b.commit("one")
	a := b.action("git push origin HEAD:refs/heads/night")
	a.GitBranch = "loop/night"
	b.commit("two")
	o := PushOptions{Env: b.env, Work: &queue.Work{Branch: "loop/night", Head: b.head}}
	if p := LookPush(t.Context(), a, o)[0]; len(p.Stale)+len(p.Doubts) > 0 || len(p.Notes) != 1 {
		t.Errorf("%+v", p)
	}
	b.commit("by hand")
	if p := LookPush(t.Context(), a, o)[0]; len(p.Doubts) != 1 {
		t.Errorf("a commit of the person's: %+v", p)
	}
}

func TestPushesAreShown(t *testing.T) {
	push := Push{Remote: "origin", URL: "https://ann:hunter2secret@example.com/x.git", Asked: true}
	r := PushRef{Source: "refs/heads/m\u0430in", Dest: "refs/heads/main", Now: "1111111111111111", There: "2222222222222222", Count: 30, Changed: 9, Added: 7, Removed: 2}
	for i := range 20 {
		r.Commits = append(r.Commits, Commit{Hash: fmt.Sprintf("%016d", i), Subject: fmt.Sprintf("subject %d\x1b[2K", i), Newer: i == 0})
	}
	for i := range 9 {
		r.Files = append(r.Files, FileStat{Path: fmt.Sprintf("f%d\n", i), Added: i - 1})
	}
	push.Refs = []PushRef{r, {Dest: "refs/heads/old", There: "3333333333333333"}, {Source: "refs/heads/x", Dest: "refs/heads/x", Now: "4", There: "4"}}
	push.Doubts, push.Notes = []string{"a doubt"}, []string{"a note"}
	unknown := Push{Problem: "why\x1b"}
	since := screenSince()
	since.Pushes = []Push{push, unknown}
	var b strings.Builder
	if err := Show(&b, screenAction("git push"), since); err != nil {
		t.Fatal(err)
	}
	golden(t, "push.txt", b.String())
}

func TestPushWords(t *testing.T) {
	for command, want := range map[string]pushLine{
		"git push":                       {},
		"git push -u origin a b:c":       {remote: "origin", specs: []refspec{{src: "a"}, {src: "b", dst: "c"}}},
		"git push -fo x origin +a":       {remote: "origin", force: true, specs: []refspec{{src: "a", force: true}}},
		"git push --repo r":              {remote: "r"},
		"git push --repo=r --tags":       {remote: "r", tags: true},
		"git push -o x -- origin -a":     {remote: "origin", specs: []refspec{{src: "-a"}}},
		"git push origin tag v1":         {remote: "origin", specs: []refspec{{src: "refs/tags/v1"}}},
		"git push -d origin a":           {remote: "origin", deletes: true, specs: []refspec{{dst: "a"}}},
		"git push --all --follow-tags":   {all: true, follow: true},
		"git push --mirror --dry-run":    {mirror: true, dryRun: true},
		"git -P push --force-with-lease": {lease: true},
	} {
		want.line, want.dir = command, "/w"
		got := pushLines(queue.Action{Tool: "Bash", Command: command, Cwd: "/w"})
		if d := cmp.Diff([]pushLine{want}, got, cmp.AllowUnexported(pushLine{}, refspec{})); d != "" {
			t.Errorf("%s:\n%s", command, d)
		}
	}
}

func TestDangerousSettings(t *testing.T) {
	for _, key := range []string{"core.sshcommand", "credential.https://x.helper", "remote.origin.receivepack", "http.https://x.proxy", "protocol.ext.allow"} {
		if !dangerous(key, "origin") {
			t.Errorf("%s is let through", key)
		}
	}
	for _, key := range []string{"core.bare", "remote.other.receivepack", "remote.origin.url", "user.name", "http.postbuffer"} {
		if dangerous(key, "origin") {
			t.Errorf("%s is not", key)
		}
	}
	if env := quiet([]string{"GIT_ASKPASS=x", "A=b"}); slices.Contains(env, "GIT_ASKPASS=x") || !slices.Contains(env, "A=b") {
		t.Errorf("git would ask: %q", env)
	}
}
