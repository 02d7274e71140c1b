package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What is remembered says of each name what the file system says.
func TestLinksAsTheFileSystemHasThem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"real/deep", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "real/deep/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"abs": filepath.Join(dir, "real"), "rel": "real/deep", "up": "other/../abs/deep", "real/out": "../other",
		"chain": "abs", "nowhere": "missing", "loop": "pool", "pool": "loop", "tofile": "real/deep/file",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	links := Links()
	for range 2 { // found, then remembered
		for _, name := range []string{
			"", "real", "real/deep/file", "abs/deep/file", "rel/file", "up/file", "chain/deep", "chain//deep/./file", "chain/deep/", "real/out", "chain/out",
			"rel/../deep", "abs/../real", "nowhere", "nowhere/x", "loop", "loop/x", "missing/x/y", "tofile", "tofile/x", "real/deep/file/x", "a..b",
		} {
			path := dir + "/" + name
			want, wantErr := filepath.EvalSymlinks(path)
			got, err := links(path)
			if got != want || (err == nil) != (wantErr == nil) || errors.Is(err, fs.ErrNotExist) != errors.Is(wantErr, fs.ErrNotExist) {
				t.Errorf("%q: %q, %v; want %q, %v", name, got, err, want, wantErr)
			}
		}
	}
}
