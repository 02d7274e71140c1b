package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What is read from the files is what git says: the folders, the queue that
// belongs to them, the commit and the branch.
func TestRepositoryIsWhatGitSays(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	env := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "LOOP_HOME="+filepath.Join(dir, "state"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	git := func(in string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = in, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	folder := func(parts ...string) string {
		t.Helper()
		must(os.MkdirAll(at(parts...), 0o700))
		return at(parts...)
	}
	file := func(text string, parts ...string) {
		t.Helper()
		must(os.WriteFile(at(parts...), []byte(text), 0o600))
	}
	repo := func(name string, args ...string) string {
		t.Helper()
		git(dir, append([]string{"init", "-q", "-b", "trunk", name}, args...)...)
		git(at(name), "commit", "-q", "--allow-empty", "-m", "start")
		return at(name)
	}

	main := repo("main")
	folder("main", "sub", "deep")
	git(main, "worktree", "add", "-q", "-b", "feature/one", at("linked"))
	git(main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main, "module")
	must(os.Symlink(main, at("link")))

	packed := repo("packed")
	git(packed, "branch", "trunk-2")
	git(packed, "pack-refs", "--all")
	detached := repo("detached")
	git(detached, "checkout", "-q", "--detach")
	git(dir, "init", "-q", "-b", "trunk", "unborn")
	tag := repo("tag")
	git(tag, "symbolic-ref", "HEAD", "refs/notes/x")
	alias := repo("alias")
	git(alias, "symbolic-ref", "refs/heads/other", "refs/heads/trunk")
	git(alias, "symbolic-ref", "HEAD", "refs/heads/other")
	old := repo("old-head")
	must(os.Remove(at("old-head", ".git", "HEAD")))
	must(os.Symlink("refs/heads/trunk", at("old-head", ".git", "HEAD")))

	git(dir, "clone", "-q", "--bare", main, "bare.git")
	git(dir, "clone", "-q", "--bare", main, "hub/.bare")
	file("gitdir: ./.bare\n", "hub", ".git")
	git(at("hub"), "worktree", "add", "-q", "trunk")
	elsewhere := repo("elsewhere")
	folder("its-files")
	git(elsewhere, "config", "core.worktree", at("its-files"))
	separate := repo("separate", "--separate-git-dir", at("kept"))
	outer := repo("outer")
	folder("outer", "empty", ".git")
	folder("outer", "broken")
	file("not a git file\n", "outer", "broken", ".git")
	repo("headless")
	must(os.Remove(at("headless", ".git", "HEAD")))
	must(os.Symlink(at("main", ".git"), at(filepath.Base(folder("by-link")), ".git")))
	sha256 := repo("sha256", "--object-format=sha256")
	torn := repo("torn")
	file("0123\n", "torn", ".git", "refs", "heads", "trunk")
	theirs := repo("theirs")
	if os.Geteuid() == 0 {
		must(os.Chown(theirs, 12345, 12345))
	}

	fast := 0
	for _, in := range []string{
		dir, main, at("main", "sub", "deep"), at("main", ".git"), at("main", ".git", "hooks"), at("linked"), at("main", "module"),
		at("link"), at("link", "sub"), packed, detached, at("unborn"), tag, alias, old, at("bare.git"), at("bare.git", "objects"),
		at("hub"), at("hub", "trunk"), elsewhere, at("its-files"), separate, outer, at("outer", "empty"), at("outer", "broken"),
		at("headless"), at("by-link"), sha256, torn, theirs, at("missing"),
	} {
		files := Finder{Env: env, Now: time.Now}
		// A variable that says what git does anyway makes it be asked.
		asked := Finder{Env: append(env[:len(env):len(env)], "GIT_DISCOVERY_ACROSS_FILESYSTEM=false"), Now: time.Now}
		got, err := files.At(t.Context(), in)
		must(err)
		want, err := asked.At(t.Context(), in)
		must(err)
		if got != want {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
		commit, branch := files.Head(t.Context(), files.Repository(in))
		wantCommit, wantBranch := asked.Head(t.Context(), asked.Repository(in))
		if commit != wantCommit || branch != wantBranch {
			t.Errorf("%s: at %q on %q, want %q on %q", in, commit, branch, wantCommit, wantBranch)
		}
		if files.Repository(in).sure() {
			fast++
		}
	}
	if fast < 10 {
		t.Errorf("only %d places were known without asking git", fast)
	}
}

// What git is told in its environment is not overlooked.
func TestRepositoryElsewhere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"there", "here"} {
		if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	there := filepath.Join(dir, "there")
	f := Finder{Env: append(os.Environ(), "LOOP_HOME="+dir, "GIT_DIR="+filepath.Join(there, ".git"), "GIT_WORK_TREE="+there), Now: time.Now}
	w, err := f.At(t.Context(), filepath.Join(dir, "here"))
	if err != nil || filepath.Base(w.Root) != "there" || f.Top(t.Context(), f.Repository(filepath.Join(dir, "here"))) != w.Root {
		t.Errorf("%+v, %v", w, err)
	}
}
