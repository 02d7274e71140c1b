package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProjectNames(t *testing.T) {
	long := "/home/mara/" + strings.Repeat("deep/", 60) + "shop"
	for name, c := range map[string]struct {
		folder, cwd string
		others      []string // directories of other records of the folder
		want        string
	}{
		"the folder's own":       {folder: "-home-mara-shop", cwd: "/home/mara/shop", want: "/home/mara/shop"},
		"a folder within":        {folder: "-home-mara-shop", cwd: "/home/mara/shop/web/src", want: "/home/mara/shop"},
		"dashes and dots":        {folder: "-home-mara-my-shop--v2", cwd: "/home/mara/my-shop/.v2", want: "/home/mara/my-shop/.v2"},
		"known by another":       {folder: "-home-mara-shop", cwd: "/tmp", others: []string{"/home/mara/shop"}, want: "/home/mara/shop"},
		"two in one folder":      {folder: "-a-b-c", cwd: "/a/b-c", others: []string{"/a/b/c"}, want: "/a/b-c"},
		"elsewhere":              {folder: "copied", cwd: "/home/mara/shop", want: "/home/mara/shop"},
		"another system":         {folder: "C--Users-mara-shop", cwd: `C:\Users\mara\shop\web`, want: `C:\Users\mara\shop`},
		"a cut name":             {folder: encodeFolder(long)[:longName] + "-x1y2", cwd: long, want: long},
		"nothing known":          {folder: "-no-such-place-here", want: "-no-such-place-here"},
		"neither":                {want: "(no project)"},
		"no folder, a directory": {cwd: "/home/mara", want: "/home/mara"},
	} {
		p := newProjects()
		for _, o := range c.others {
			p.note(c.folder, o)
		}
		p.note(c.folder, c.cwd)
		if got := p.name(c.folder, c.cwd); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A folder's name tells its path as far as the path exists.
func TestDecodeFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "my-shop", "v2.x")
	if err := os.MkdirAll(want, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "my"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := decodeFolder(encodeFolder(want)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	gone := filepath.Join(dir, "my-shop", "gone-since")
	if got := decodeFolder(encodeFolder(gone)); got != gone {
		t.Errorf("%q, want %q", got, gone)
	}
}
