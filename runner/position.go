package runner

import (
	"context"
	"strings"
	"sync"
)

// position is where a work tree stands. What is not there is "".
type position struct {
	head, tree string // the commit that is checked out, and its tree
	ref        string // the ref that is checked out
	own        string // the commit of the session's branch
}

// position asks once for all that can be asked at once: each question is a
// process, and a night has thousands.
func (t *checkout) position(ctx context.Context) position {
	args := []string{"rev-parse", "HEAD^{commit}", "HEAD^{tree}"}
	if t.branch != "" {
		args = append(args, t.branch+"^{commit}")
	}
	out, err := t.git(ctx, nil, append(args, "--symbolic-full-name", "HEAD")...)
	got := strings.Split(out, "\n")
	if err != nil || len(got) != len(args) {
		// One of them is missing: a commit, or the branch.
		p := position{head: t.commitOf(ctx, "HEAD"), ref: t.head(ctx)}
		if t.branch != "" {
			p.own = t.commitOf(ctx, t.branch)
		}
		if tree, err := t.treeOf(ctx, p.head); err == nil && p.head != "" {
			p.tree = tree
		}
		return p
	}
	p := position{head: got[0], tree: got[1], ref: got[len(got)-1]}
	if t.branch != "" {
		p.own = got[2]
	}
	if p.ref == "HEAD" {
		p.ref = "" // none is checked out
	}
	return p
}

// lookAround reads how things stand that an attempt could change. Nothing of it
// waits for another.
func (r *run) lookAround(ctx context.Context) (in integrity, mem memory, at tree) {
	var all sync.WaitGroup
	all.Go(func() { in = readIntegrity(ctx, r.o) })
	all.Go(func() { mem = readMemory(ctx, r.o) })
	all.Go(func() { at = r.trees.read(ctx) })
	all.Wait()
	return in, mem, at
}
