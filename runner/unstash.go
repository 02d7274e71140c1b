package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// unstash gives the person's work back when nothing of it meets what the
// session did. After the death of a loop a part of it may be there already.
func (r *run) unstash(ctx context.Context, w *queue.Work) error {
	t := r.checkout
	if w.Stash == nil || w.Stash.Returned || w.Stash.Why != "" {
		return nil
	}
	if t.commitOf(ctx, w.Stash.Ref) == "" {
		w.Stash.Returned = true // it had not come to put it aside, or to say that it is back
		return nil
	}
	why, err := t.giveBack(ctx, w)
	if err != nil {
		return err
	}
	if why != "" {
		w.Stash.Why = why
		r.o.Progress.Notice(fmt.Sprintf("your uncommitted work stays in %s: %s", w.Stash.Ref, why))
		return nil
	}
	if _, err := t.git(ctx, nil, "update-ref", "-d", w.Stash.Ref); err != nil {
		return err
	}
	w.Stash.Returned = true
	r.o.Progress.Notice("your uncommitted work is back in the work tree")
	return nil
}

// giveBack puts a stash into work tree and index. why says why it cannot be
// given back; then nothing was touched.
func (t *checkout) giveBack(ctx context.Context, w *queue.Work) (why string, err error) {
	mine, err := t.stashedChanges(ctx, w)
	if err != nil {
		return "", err
	}
	done, err := t.changes(ctx, w.Base, "HEAD")
	if err != nil {
		return "", err
	}
	for _, c := range mine {
		if slices.ContainsFunc(done, func(d change) bool { return d.path == c.path }) {
			return fmt.Sprintf("the session changed %q too", c.path), nil
		}
	}
	here, err := t.snapshot(ctx)
	if err != nil {
		return "", err
	}
	if why, err = t.meets(ctx, here.tree, mine); why != "" || err != nil {
		return why, err
	}
	with, err := t.overlay(ctx, here.tree, mine)
	if err != nil {
		return "", err
	}
	if err := t.moveFiles(ctx, here.tree, with); err != nil {
		return "", err
	}
	staged, err := t.changes(ctx, w.Base, w.Stash.Ref+"^2")
	if err != nil || len(staged) == 0 {
		return "", err
	}
	_, err = t.git(ctx, &call{stdin: indexInfo(staged)}, "update-index", "--add", "--replace", "-z", "--index-info")
	return "", err
}

// stashedChanges are the paths of a stash, against the commit it was made on.
func (t *checkout) stashedChanges(ctx context.Context, w *queue.Work) ([]change, error) {
	mine, err := t.changes(ctx, w.Base, w.Stash.Ref)
	if err != nil || t.commitOf(ctx, w.Stash.Ref+"^3") == "" {
		return mine, err
	}
	out, err := t.git(ctx, nil, "ls-tree", "-r", "-z", w.Stash.Ref+"^3")
	if err != nil {
		return nil, err
	}
	for _, line := range splitZero(out) {
		about, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(about)
		if len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree says %q, which this loop cannot read", clip(line, 200))
		}
		mine = append(mine, change{path: name, was: noMode, is: f[0], new: f[2]})
	}
	return mine, nil
}

// meets says what in a work tree, given as a tree of git's, a stash would meet:
// anything but what HEAD has, and what is the stash's own.
func (t *checkout) meets(ctx context.Context, here string, mine []change) (string, error) {
	want, err := t.overlay(ctx, "HEAD", mine)
	if err != nil {
		return "", err
	}
	list, err := t.changes(ctx, here, want)
	if err != nil {
		return "", err
	}
	for _, c := range list {
		i := slices.IndexFunc(mine, func(m change) bool { return m.path == c.path })
		switch {
		case c.submodule() || i < 0 && t.told(c.path):
		case i < 0:
			return fmt.Sprintf("the work tree is not clean: %q", c.path), nil
		case c.added(): // not there, or ignored by git
			if _, err := os.Lstat(filepath.Join(t.dir, c.path)); err == nil {
				return fmt.Sprintf("there is a %q now", c.path), nil
			}
		case mine[i].added():
			return fmt.Sprintf("there is a %q now", c.path), nil
		case mine[i].old != c.old || mine[i].was != c.was:
			return fmt.Sprintf("the work tree is not clean: %q", c.path), nil
		}
	}
	return "", nil
}
