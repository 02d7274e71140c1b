package firewall

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Only regular files of the work tree are read, and a pipe does not hang.
func TestReadFile(t *testing.T) {
	root, other, away := t.TempDir(), t.TempDir(), "/usr/bin/env"
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "a.sh"), "x")
	write(filepath.Join(other, "b.sh"), "y")
	write(filepath.Join(root, "big"), strings.Repeat("x", maxScript+1))
	for _, link := range [][2]string{{"a.sh", "in"}, {away, "out"}, {"/proc/self/environ", "proc"}, {"loop", "loop"}} {
		if err := os.Symlink(link[0], filepath.Join(root, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(root, "pipe")).Run(); err != nil {
		t.Log("no pipe:", err)
	}
	home, err := os.MkdirTemp("/dev/shm", "home")
	if err != nil {
		home = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	write(filepath.Join(home, "h.sh"), "z")
	if err := os.Symlink(filepath.Join(home, "h.sh"), filepath.Join(root, "home")); err != nil {
		t.Fatal(err)
	}
	readable := FilesOf(root, []string{"HOME=" + home})
	for name, want := range map[string]string{
		filepath.Join(root, "a.sh"): "x", filepath.Join(root, "in"): "x", filepath.Join(other, "b.sh"): "y",
		filepath.Join(root, "big"): "", filepath.Join(root, "out"): "", filepath.Join(root, "proc"): "", filepath.Join(root, "loop"): "",
		filepath.Join(root, "home"): "z", filepath.Join(home, "h.sh"): "z", "~/h.sh": "z", "~/none": "", "~root/h.sh": "",
		filepath.Join(root, "pipe"): "", root: "", "a.sh": "", "/etc/passwd": "", "/proc/self/cmdline": "",
	} {
		if got, ok := readable.Read(other, name); got != want || ok != (want != "") {
			t.Errorf("%s: %.40q %v, want %q", name, got, ok, want)
		}
	}
	for name, want := range map[string]bool{root: true, other: true, "/etc": false, "/proc": false, filepath.Join(root, "a.sh"): false, filepath.Join(root, "none"): false, ".": false} {
		if names, ok := readable.List(other, name); ok != want || ok && len(names) == 0 {
			t.Errorf("%s: %q %v, want %v", name, names, ok, want)
		}
	}
}
