package replay

import (
	"fmt"
	"strings"
)

// wanted is a ref of the push before anything was compared.
type wanted struct {
	src, dst string // full names where git knows them
	force    bool
	byHead   bool // it is what is checked out
	pinned   bool // the line names a commit
}

// refs are the refs that git would push.
func (g git) refs(l pushLine, branch, remote string) (out []wanted, problem string) {
	if l.all || l.mirror {
		out = g.every("refs/heads/", l.force || l.mirror)
	}
	if l.tags || l.mirror {
		out = append(out, g.every("refs/tags/", l.force || l.mirror)...)
	}
	if len(l.specs) == 0 && !l.all && !l.mirror && !l.tags {
		return g.current(l, branch, remote)
	}
	for _, s := range l.specs {
		w := wanted{src: s.src, dst: s.dst, force: s.force}
		if s.src != "" {
			full, _ := g.line("rev-parse", "--symbolic-full-name", s.src, "--")
			full, _, _ = strings.Cut(full, "\n")
			w.byHead = s.src == "HEAD" || s.src == "@"
			if strings.HasPrefix(full, "refs/") {
				w.src = full
			}
			w.pinned = hexadecimal(s.src) && !strings.HasPrefix(full, "refs/")
		}
		if w.dst == "" {
			w.dst = w.src
			if !strings.HasPrefix(w.src, "refs/") && g.is("rev-parse", "--verify", "-q", w.src) {
				problem = fmt.Sprintf("git would not know which branch %q is to become", s.src)
			}
		}
		out = append(out, w)
	}
	return out, problem
}

func hexadecimal(s string) bool {
	return len(s) >= 7 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func (g git) every(prefix string, force bool) (out []wanted) {
	for _, name := range g.lines("for-each-ref", "--format=%(refname)", prefix) {
		out = append(out, wanted{src: name, dst: name, force: force})
	}
	return out
}

// current is the push of a line that names no ref.
func (g git) current(l pushLine, branch, remote string) ([]wanted, string) {
	if branch == "" {
		return nil, "no branch is checked out, so git would not know what to push"
	}
	if g.is("config", "--get-all", "remote."+remote+".push") {
		return nil, "the settings of the remote say what is pushed"
	}
	switch way, _ := g.line("config", "--get", "push.default"); way {
	case "matching":
		return nil, "it pushes every branch that both sides have (push.default is matching)"
	case "nothing":
		return nil, "git would push nothing (push.default is nothing)"
	}
	w := wanted{src: branch, dst: branch, force: l.force, byHead: true}
	tracking := g.pushOfBranch(branch, "push")
	name, mine := strings.CutPrefix(tracking, "refs/remotes/"+remote+"/")
	setUp, _ := g.line("config", "--type=bool", "--get", "push.autoSetupRemote")
	switch {
	case mine:
		w.dst = "refs/heads/" + name
	case remote == g.defaultRemote(branch) && setUp != "true" && g.simple():
		return []wanted{w}, "the branch has no upstream of its name: git would refuse to push it"
	}
	return []wanted{w}, ""
}

func (g git) simple() bool {
	way, _ := g.line("config", "--get", "push.default")
	return way == "" || way == "simple" || way == "upstream"
}

// dests are the names that the ref may have at the remote.
func (w wanted) dests() []string {
	if w.dst == "" || strings.HasPrefix(w.dst, "refs/") {
		return []string{w.dst}
	}
	return []string{"refs/heads/" + w.dst, "refs/tags/" + w.dst}
}
