package policy

import (
	"path"
	"strings"
)

// The bounds of listing folders for one call.
const (
	maxListed  = 24
	maxMatches = 64
)

// names lists a folder of the work tree.
func (t *worktree) names(dir string) []string {
	if t.list == nil || t.listed >= maxListed {
		return nil
	}
	name := t.path(dir)
	if dir == "" {
		name = t.path(".")
	}
	if name == "" {
		return nil
	}
	t.listed++
	names, ok := t.list(name)
	if !ok {
		return nil
	}
	return names
}

// glob lists the names that a pattern stands for: * in any of its parts, and
// ** for one folder.
func (t *worktree) glob(pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}
	}
	out := []string{""}
	for part := range strings.SplitSeq(path.Clean(pattern), "/") {
		if part == "**" {
			part = "*"
		}
		var next []string
		for _, dir := range out {
			if !strings.ContainsAny(part, "*?[") {
				next = append(next, path.Join(dir, part))
				continue
			}
			for _, n := range t.names(dir) {
				if ok, err := path.Match(part, n); err == nil && ok && (n[0] != '.' || part[0] == '.') && n != "node_modules" && len(next) < maxMatches {
					next = append(next, path.Join(dir, n))
				}
			}
		}
		out = next
	}
	return out
}
