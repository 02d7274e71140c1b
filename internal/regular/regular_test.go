package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, text := range []string{"", "x", strings.Repeat("0123456789", 1000)} {
		got, err := Read(write("text", text), 10_000)
		if err != nil || string(got) != text {
			t.Errorf("%d bytes: %d, %v", len(text), len(got), err)
		}
	}
	if _, err := Read(write("large", "0123"), 3); !errors.Is(err, ErrLarge) {
		t.Errorf("more than is read: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "missing"), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Read(dir, 1<<20); err == nil {
		t.Error("a folder was read")
	}
}
