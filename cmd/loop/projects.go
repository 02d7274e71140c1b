package main

import (
	"os"
	"path/filepath"
	"strings"
)

// projects names the projects of a session folder. The client names a
// project's folder after its path, with every other character as "-", which
// does not tell the path again; the directories that records name do.
type projects struct {
	paths map[string]string // the folder's name to the project's path
}

func newProjects() *projects { return &projects{paths: map[string]string{}} }

// note learns from a directory that a record of the folder names. Two projects
// can share a folder; which of them is kept does not depend on the order.
func (p *projects) note(folder, cwd string) {
	if path := projectOf(folder, cwd); path != "" && (p.paths[folder] == "" || path < p.paths[folder]) {
		p.paths[folder] = path
	}
}

// projectOf is the directory, or the one above it, that the folder is named
// after; "" when there is none.
func projectOf(folder, cwd string) string {
	for dir := cwd; dir != "" && folder != ""; dir = parent(dir) {
		if isEncoded(folder, dir) {
			return dir
		}
	}
	return ""
}

// name is the path of the project: the one that fits the folder's name, else
// the directory of the record, else what can be read from the folder's name.
func (p *projects) name(folder, cwd string) string {
	if path := projectOf(folder, cwd); path != "" {
		return path
	}
	switch {
	case p.paths[folder] != "":
		return p.paths[folder]
	case cwd != "":
		return cwd
	case folder == "":
		return "(no project)"
	}
	p.paths[folder] = decodeFolder(folder)
	return p.paths[folder]
}

// parent cuts the last name off a path of any system, "" when there is none.
func parent(dir string) string {
	return dir[:max(strings.LastIndexAny(dir, `/\`), 0)]
}

// longName is the length from which the client cuts a folder's name and adds
// a hash.
const longName = 200

func isEncoded(folder, dir string) bool {
	name := encodeFolder(dir)
	return name == folder || len(name) > longName && strings.HasPrefix(folder, name[:longName])
}

// encodeFolder is the client's name for the folder of a project.
func encodeFolder(dir string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, dir)
}

// decodeFolder finds the path that a folder is named after, as far as it
// exists on this machine; the rest keeps its dashes.
func decodeFolder(folder string) string {
	rest, ok := strings.CutPrefix(folder, "-")
	if !ok {
		return folder
	}
	dir, left := existing(string(filepath.Separator), rest)
	switch {
	case left == rest:
		return folder
	case left == "":
		return dir
	}
	return filepath.Join(dir, left)
}

// existing follows the name down from dir and returns the deepest folder that
// it leads to, with what is left of the name.
func existing(dir, name string) (deepest, left string) {
	deepest, left = dir, name
	entries, err := os.ReadDir(dir)
	if err != nil {
		return deepest, left
	}
	for _, e := range entries {
		code := encodeFolder(e.Name())
		if !strings.HasPrefix(name, code) || !isDir(filepath.Join(dir, e.Name())) {
			continue
		}
		rest := name[len(code):]
		if rest == "" {
			return filepath.Join(dir, e.Name()), ""
		}
		if rest[0] != '-' {
			continue
		}
		if d, l := existing(filepath.Join(dir, e.Name()), rest[1:]); len(l) < len(left) {
			deepest, left = d, l
		}
	}
	return deepest, left
}
