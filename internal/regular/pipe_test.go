//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipesAndDevicesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, link, "/dev/zero"} {
		if _, err := Read(name, 1<<20); !errors.Is(err, ErrNot) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What says that it is empty and is not: files of the kernel do.
func TestFileThatSaysItIsEmpty(t *testing.T) {
	text, err := Read("/proc/self/status", 1<<20)
	if err != nil {
		t.Skip(err)
	}
	if len(text) < 100 {
		t.Errorf("read %d bytes", len(text))
	}
	if _, err := Read("/proc/self/status", 50); !errors.Is(err, ErrLarge) {
		t.Errorf("more than is read: %v", err)
	}
}
