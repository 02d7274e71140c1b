package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shell runs a script in a folder, with a git that knows nobody's settings.
func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// What an index hides is read from its bytes, in each form that git writes.
func TestHiddenPaths(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		for _, format := range []string{"sha1", "sha256"} {
			dir := t.TempDir()
			shell(t, dir, "git init -q --object-format="+format+` . ; mkdir -p a/b; for f in a/b/one a/b/other a/c plain long-name-of-a-file z; do echo x > $f; done
				git add . ; git update-index --index-version `+version+`; git update-index --assume-unchanged a/b/other z; git update-index --skip-worktree long-name-of-a-file`)
			want := []string{"a/b/other", "long-name-of-a-file", "z"}
			if diff := cmp.Diff(want, hiddenPaths(filepath.Join(dir, ".git", "index"))); diff != "" {
				t.Errorf("version %s, %s (-want +got):\n%s", version, format, diff)
			}
		}
	}
	for _, text := range []string{"", "DIRC", "DIRC\x00\x00\x00\x02\xff\xff\xff\xff", "DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\xff", 200)} {
		name := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := hiddenPaths(name); got != nil {
			t.Errorf("%q hides %q", text, got)
		}
	}
}

// An agent that takes away what git noted of a push is told of; git's own
// tidying is not.
func TestLogsOfPushesAreMissed(t *testing.T) {
	for _, c := range []struct{ does, want string }{
		{"rm -r .git/logs", "git's log of o/main was emptied or removed"},
		{": > .git/logs/refs/remotes/o/main", "git's log of o/main was emptied or removed"},
		{"git pack-refs --all; rm -r .git/logs", "git's log of o/main was emptied or removed"},
		{"git update-ref refs/remotes/o/main HEAD", ""},
		{"git branch -q -d -r o/main", ""},
		{"git replace HEAD~1 HEAD", "refs/replace/"},
		{"git gc -q", ""},
	} {
		dir := t.TempDir()
		shell(t, dir, "git init -q . ; git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; git update-ref --create-reflog -m 'update by push' refs/remotes/o/main HEAD~1")
		common := filepath.Join(dir, ".git")
		was := readGitView(dir, common)
		shell(t, dir, c.does)
		told := was.changedSince(readGitView(dir, common), common, &Options{Root: dir, Now: time.Now})
		if c.want == "" && len(told) > 0 || c.want != "" && (len(told) != 1 || !strings.Contains(told[0], c.want)) {
			t.Errorf("%s: told %q, want %q", c.does, told, c.want)
		}
	}
}

// A transcript in which somebody else writes is no witness.
func TestTranscriptIsWatched(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(path string) error
		want string
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"cut", func(p string) error { return os.Truncate(p, 3) }, "was changed while it was written"},
		{"written", func(p string) error {
			f, err := os.OpenFile(p, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			if _, err = f.WriteAt([]byte("F"), 0); err != nil {
				return err
			}
			return f.Close()
		}, "was changed while it was written"},
		{"removed", os.Remove, "loop has put it back"},
		{"replaced", func(p string) error { return os.Rename(p, p+"-") }, "loop has put it back"},
		{"linked", func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Symlink("/dev/null", p)
		}, "loop has put it back"},
	} {
		path := filepath.Join(t.TempDir(), transcriptName)
		f, err := create(path)
		if err != nil {
			t.Fatal(err)
		}
		k := keepTranscript(f)
		if _, err := k.Write([]byte("one\n")); err != nil {
			t.Fatal(err)
		}
		if err := c.does(path); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Write([]byte("two\n")); err != nil {
			t.Fatal(err)
		}
		got := k.check()
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if text, err := os.ReadFile(path); strings.Contains(c.want, "back") && (err != nil || string(text) != "one\ntwo\n") {
			t.Errorf("%s: %q, %v", c.name, text, err)
		}
		f.Close()
	}
}
