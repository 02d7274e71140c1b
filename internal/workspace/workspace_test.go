package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What is read from the files is what git says.
func TestGitDirIsWhatGitSays(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com",
			"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out[:max(len(out)-1, 0)])
	}
	main, linked, inside := filepath.Join(dir, "main"), filepath.Join(dir, "linked"), filepath.Join(dir, "main", "module")
	git(dir, "init", "-q", main)
	git(main, "commit", "-q", "--allow-empty", "-m", "start")
	git(main, "worktree", "add", "-q", linked)
	git(main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main, "module")
	for _, root := range []string{main, linked, inside} {
		if got, want := GitDir(root), git(root, "rev-parse", "--path-format=absolute", "--git-common-dir"); got != want {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
	if got := GitDir(dir); got != "" {
		t.Errorf("outside of a repository: %q", got)
	}
}
