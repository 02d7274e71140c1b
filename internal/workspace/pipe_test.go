//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe where git has a file would hold whoever opens it: it is not opened.
func TestPipesAreNotOpened(t *testing.T) {
	for _, name := range []string{"config", "HEAD", "refs/heads/main", "packed-refs", "commondir", "file"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			top := t.TempDir()
			git := filepath.Join(top, ".git")
			if name == "commondir" || name == "file" {
				git = filepath.Join(t.TempDir(), "own")
			}
			for _, dir := range []string{"objects", "refs/heads"} {
				if err := os.MkdirAll(filepath.Join(git, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = false\n"} {
				if err := os.WriteFile(filepath.Join(git, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			pipe := filepath.Join(git, name)
			switch name {
			case "file":
				pipe = filepath.Join(top, ".git")
			case "commondir":
				if err := os.WriteFile(filepath.Join(top, ".git"), []byte("gitdir: "+git+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_ = os.Remove(pipe)
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skip(err)
			}
			r := Finder{Now: time.Now}.Repository(top)
			_, _, ok := r.head()
			if r.sure() && ok {
				t.Errorf("%+v is said to be known", r)
			}
		})
	}
}
