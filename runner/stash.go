package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// stash puts the person's uncommitted work aside for the session, as a commit
// of the form that `git stash apply` takes, under a ref of its own.
func (r *run) stash(ctx context.Context, g *ground, w *queue.Work) error {
	t := g.t
	s := stashed{base: g.base}
	for _, d := range g.dirty {
		switch {
		case t.told(d.path):
		case d.untracked:
			s.untracked = append(s.untracked, d.path)
		case d.gone:
			s.gone = append(s.gone, d.path)
		default:
			s.changed = append(s.changed, d.path)
		}
	}
	if len(s.untracked)+len(s.gone)+len(s.changed) == 0 {
		return nil
	}
	commit, all, err := t.stashCommit(ctx, &s)
	if err != nil {
		return fmt.Errorf("stash the uncommitted work, which stays as it is: %w", err)
	}
	// It is on record before it is there: a loop that dies in between leaves none
	// that nobody knows.
	ref := "refs/loop/stash/" + shortID(r.session.ID)
	w.Stash = &queue.Stash{Ref: ref}
	if err := r.o.Store.PutSession(ctx, r.session); err != nil {
		return err
	}
	if _, err := t.git(ctx, nil, "update-ref", "--create-reflog", "-m", "loop: stash", ref, commit, strings.Repeat("0", len(commit))); err != nil {
		return err
	}
	r.o.Progress.Notice("your uncommitted work is put aside in " + ref)
	base, err := t.treeOf(ctx, g.base)
	if err != nil {
		return err
	}
	if err := t.moveFiles(ctx, all, base); err != nil {
		return fmt.Errorf("put the uncommitted work aside; all of it is kept in %s: %w", ref, err)
	}
	return t.resetPaths(ctx, append(s.changed, s.gone...))
}

// stashed are the paths that a stash is made of.
type stashed struct {
	base                     string
	changed, gone, untracked []string
}

// stashCommit makes the commit of a stash: the work tree's tracked files, with
// HEAD, the index and the untracked files as its parents. all is everything in
// one tree.
func (t *checkout) stashCommit(ctx context.Context, s *stashed) (commit, all string, err error) {
	index, done, err := t.scratch(ctx, true)
	if err != nil {
		return "", "", err
	}
	defer done()
	staged, err := t.git(ctx, &call{index: index}, "write-tree")
	if err != nil {
		return "", "", err
	}
	if err := errors.Join(t.update(ctx, index, s.gone, "--force-remove"), t.update(ctx, index, s.changed, "--add", "--replace")); err != nil {
		return "", "", err
	}
	work, err := t.git(ctx, &call{index: index}, "write-tree")
	if err != nil {
		return "", "", err
	}
	if err := t.update(ctx, index, s.untracked, "--add", "--replace"); err != nil {
		return "", "", err
	}
	if all, err = t.git(ctx, &call{index: index}, "write-tree"); err != nil {
		return "", "", err
	}
	parents := []string{s.base}
	i, err := t.commit(ctx, staged, "index of the work that loop put aside\n", s.base)
	if err != nil {
		return "", "", err
	}
	parents = append(parents, i)
	if len(s.untracked) > 0 {
		u, err := t.untrackedCommit(ctx, s.untracked)
		if err != nil {
			return "", "", err
		}
		parents = append(parents, u)
	}
	commit, err = t.commit(ctx, work, "work that loop put aside for a session\n", parents...)
	return commit, all, err
}

func (t *checkout) untrackedCommit(ctx context.Context, paths []string) (string, error) {
	index, done, err := t.scratch(ctx, false)
	if err != nil {
		return "", err
	}
	defer done()
	if err := t.update(ctx, index, paths, "--add", "--replace"); err != nil {
		return "", err
	}
	tree, err := t.git(ctx, &call{index: index}, "write-tree")
	if err != nil {
		return "", err
	}
	return t.commit(ctx, tree, "untracked files of the work that loop put aside\n")
}

// resetPaths makes the index say of these paths what HEAD says.
func (t *checkout) resetPaths(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := t.git(ctx, &call{stdin: lines(paths)}, "reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}
