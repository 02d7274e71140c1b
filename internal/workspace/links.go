package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Links gives filepath.EvalSymlinks for as long as nothing changes: each folder
// on the way to a name is looked at once. It is for a process that decides one
// call and ends, and for one goroutine.
func Links() func(name string) (string, error) {
	return links{}.eval
}

// links are the places behind names without a dot dot, and why there is none.
type links map[string]linked

type linked struct {
	place string
	err   error
}

func (l links) eval(name string) (string, error) {
	if !filepath.IsAbs(name) || filepath.VolumeName(name) != "" || strings.Contains(name, "..") {
		return filepath.EvalSymlinks(name) // what .. means depends on the links in front of it
	}
	return l.find(filepath.Clean(name))
}

func (l links) find(name string) (string, error) {
	dir := filepath.Dir(name)
	if dir == name {
		return name, nil
	}
	if found, ok := l[name]; ok {
		return found.place, found.err
	}
	place, err := l.find(dir)
	if err == nil {
		place, err = behind(filepath.Join(place, filepath.Base(name)))
	}
	l[name] = linked{place, err}
	return place, err
}

// behind is the place behind a name in a folder that is none.
func behind(name string) (string, error) {
	info, err := os.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		name, err = filepath.EvalSymlinks(name)
	}
	if err != nil {
		return "", err
	}
	return name, nil
}
