package firewall

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A program of the system is known by what it holds.
func TestProgramUnderAnotherName(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	if git, err = filepath.EvalSymlinks(git); err != nil || compiledSize(git) == 0 {
		t.Skip("git is no compiled program here")
	}
	root := t.TempDir()
	data, err := os.ReadFile(git)
	if err != nil {
		t.Fatal(err)
	}
	other := append([]byte{}, data...)
	other[len(other)-1]++
	for name, text := range map[string][]byte{"copy": data, "other": other, "script": []byte("#!/bin/sh\ngit push\n")} {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(git, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	f := FilesOf(root, []string{"PATH=" + filepath.Join(root, "bin") + ":" + filepath.Dir(git)})
	for name, want := range map[string]string{"copy": "git", "link": "git", "other": "", "script": "", "missing": "", git: ""} {
		if got := f.Program(root, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
