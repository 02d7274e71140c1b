package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// indexName is the copy of git's index in an attempt's folder, taken before
// the attempt.
const indexName = "index"

// remember keeps how the work tree stands before an attempt, so that it can be
// put back.
func (t *checkout) remember(ctx context.Context, a *queue.Attempt) error {
	own, err := t.path(ctx, "index")
	if err != nil {
		return err
	}
	if err := copyFile(own, filepath.Join(a.Dir, indexName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	state, w, err := t.now(ctx, "loop: the work tree before attempt "+a.Scope())
	if err != nil {
		return fmt.Errorf("keep the work tree as it is before the attempt: %w", err)
	}
	t.left = append(w.nested, w.large...)
	a.Before = &state
	return t.hold(ctx, a)
}

// hold keeps what was uncommitted before an attempt from git's cleaning up.
func (t *checkout) hold(ctx context.Context, a *queue.Attempt) error {
	if a.Before.Snapshot == "" {
		return nil
	}
	_, err := t.git(ctx, nil, "update-ref", beforeRef(a), a.Before.Snapshot)
	return err
}

func beforeRef(a *queue.Attempt) string { return "refs/loop/before/" + a.ID }

// forget lets go of what remember kept. It is only there to be tidy.
func (t *checkout) forget(ctx context.Context, a *queue.Attempt) {
	if a.Before != nil && a.Before.Snapshot != "" {
		_, _ = t.git(ctx, nil, "update-ref", "-d", beforeRef(a))
	}
}

// park keeps everything that an attempt did as a commit under a ref of loop's
// own. It changes nothing else; nil says that there was nothing to keep.
func (t *checkout) park(ctx context.Context, a *queue.Attempt) (*queue.Parked, whole, error) {
	t.refilter(ctx)
	w, err := t.snapshot(ctx)
	if err != nil {
		return nil, w, err
	}
	diffs, err := t.changes(ctx, w.tree, a.Before.Tree)
	if err != nil {
		return nil, w, err
	}
	// What was there before and is ignored by now may have been changed too.
	if hidden := t.onDisk(diffs); len(hidden) > 0 {
		if w, err = t.snapshot(ctx, hidden...); err != nil {
			return nil, w, err
		}
	}
	at := t.position(ctx)
	if w.tree == a.Before.Tree && at.head == a.Before.Head && at.own == at.head && at.ref == t.branch {
		return nil, w, nil
	}
	var parents []string
	for _, c := range []string{at.head, at.own, t.offered(ctx, a), a.Before.Base()} {
		if c != "" && !slices.ContainsFunc(parents, func(p string) bool { return c == p || t.within(ctx, c, p) }) {
			parents = append(parents, c)
		}
	}
	commit, err := t.commit(ctx, w.tree, parkMessage(a), parents...)
	if err != nil {
		return nil, w, err
	}
	ref, err := t.setRef(ctx, parkRef(a), commit, "loop: parked")
	if err != nil {
		return nil, w, err
	}
	files, err := t.changes(ctx, a.Before.Tree, w.tree)
	return &queue.Parked{Ref: ref, Base: a.Before.Base(), Files: len(files)}, w, err
}

func parkMessage(a *queue.Attempt) string {
	return fmt.Sprintf("parked by loop: attempt %d at %s (%s)\n\n%s\n\nLoop-Session: %s\nLoop-Story: %s\n",
		a.Number, phrase(a.Story, 60), a.Outcome, phrase(a.Reason, 500), a.Session, phrase(a.Story, 200))
}

// parkRef is where what an attempt did is kept.
func parkRef(a *queue.Attempt) string {
	return fmt.Sprintf("refs/loop/parked/%s/%s-%d", shortID(a.Session), refPart(a.Story, a.StoryHash), a.Number)
}

// shortID is the part of a session's id by which people call it.
func shortID(session string) string { return session[max(0, len(session)-8):] }

// refPart makes a part of a ref's name from a story's id, which is a
// stranger's text.
func refPart(id, hash string) string {
	safe := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, clipBytes(id, 40))
	if safe != id || strings.HasPrefix(safe, "-") {
		return "s" + safe + "-" + clipBytes(hash, 8)
	}
	return safe
}

// onDisk are the paths that the second tree alone has and that exist all the
// same.
func (t *checkout) onDisk(diffs []change) []string {
	var out []string
	for _, c := range diffs {
		if !c.added() || c.submodule() || t.throughLink(c.path) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(t.dir, c.path)); err == nil && (info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0) {
			out = append(out, c.path)
		}
	}
	return out
}

// throughLink: a folder above the path is no folder.
func (t *checkout) throughLink(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(t.dir, dir)); err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// putBack makes work tree, index and branch what they were before an attempt
// whose doings are parked, and makes sure of it.
func (t *checkout) putBack(ctx context.Context, a *queue.Attempt, p *queue.Parked, w whole) error {
	if err := t.moveFiles(ctx, w.tree, a.Before.Tree); err != nil {
		return err
	}
	if err := t.unlock(ctx); err != nil {
		return err
	}
	if err := t.moveHead(ctx, a.Before.Head, "loop: put back"); err != nil {
		return err
	}
	if err := t.quit(ctx); err != nil {
		return err
	}
	if err := t.restoreIndex(ctx, filepath.Join(a.Dir, indexName)); err != nil {
		return err
	}
	// Files that only the attempt's own .gitignore hid have come to light.
	shown, err := t.differs(ctx, a.Before.Tree)
	if err != nil || len(shown) == 0 {
		return err
	}
	if err := t.parkMore(ctx, p, shown); err != nil {
		return err
	}
	if err := t.remove(shown); err != nil {
		return err
	}
	shown, err = t.differs(ctx, a.Before.Tree)
	if err == nil && len(shown) > 0 {
		err = fmt.Errorf("%d path(s) are not as they were, %q among them", len(shown), shown[0].path)
	}
	return err
}

// differs is what the work tree has otherwise than a tree, submodules apart.
func (t *checkout) differs(ctx context.Context, tree string) ([]change, error) {
	w, err := t.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	list, err := t.changes(ctx, tree, w.tree)
	return slices.DeleteFunc(list, change.submodule), err
}

// parkMore adds further paths to what is parked. Nothing but new files can be
// added: a change to another would be one that somebody makes at this moment.
func (t *checkout) parkMore(ctx context.Context, p *queue.Parked, more []change) error {
	for _, c := range more {
		if !c.added() {
			return fmt.Errorf("%q is not as it was", c.path)
		}
	}
	old := t.commitOf(ctx, p.Ref)
	tree, err := t.overlay(ctx, p.Ref, more)
	if err != nil {
		return err
	}
	commit, err := t.commit(ctx, tree, "parked by loop: files that were ignored until now\n", old)
	if err != nil {
		return err
	}
	p.Files += len(more)
	_, err = t.git(ctx, nil, "update-ref", "-m", "loop: parked", p.Ref, commit, old)
	return err
}

// overlay is a tree with changes made to it.
func (t *checkout) overlay(ctx context.Context, on string, list []change) (string, error) {
	index, done, err := t.scratch(ctx, false)
	if err != nil {
		return "", err
	}
	defer done()
	if _, err := t.git(ctx, &call{index: index}, "read-tree", on); err != nil {
		return "", err
	}
	if _, err := t.git(ctx, &call{index: index, stdin: indexInfo(list)}, "update-index", "--add", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	return t.git(ctx, &call{index: index}, "write-tree")
}

// indexInfo is a list of changes for `git update-index --index-info`.
func indexInfo(list []change) []byte {
	var info []string
	// What goes makes room for what comes.
	for _, gone := range []bool{true, false} {
		for _, c := range list {
			if c.removed() == gone {
				info = append(info, c.is+" "+c.new+"\t"+c.path)
			}
		}
	}
	return lines(info)
}

// moveFiles makes the work tree that is the first tree the second one. Only
// paths that differ are touched, and submodules never.
func (t *checkout) moveFiles(ctx context.Context, from, to string) error {
	list, err := t.changes(ctx, from, to)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, change.submodule)
	var gone []change
	var come []string
	for _, c := range list {
		if c.removed() {
			gone = append(gone, c)
		} else {
			come = append(come, c.path)
		}
	}
	if err := t.remove(gone); err != nil {
		return err
	}
	if len(come) == 0 {
		return nil
	}
	for _, name := range come {
		// git would take the whole folder away, with what it ignores in it.
		if info, err := os.Lstat(filepath.Join(t.dir, name)); err == nil && info.IsDir() {
			return fmt.Errorf("%q is a folder now, with files in it that git ignores: take it away", name)
		}
	}
	index, done, err := t.scratch(ctx, false)
	if err != nil {
		return err
	}
	defer done()
	if _, err := t.git(ctx, &call{index: index}, "read-tree", to); err != nil {
		return err
	}
	_, err = t.git(ctx, &call{index: index, stdin: lines(come)}, "checkout-index", "--force", "--quiet", "-z", "--stdin")
	return err
}

// remove takes files away, and folders that are empty then.
func (t *checkout) remove(list []change) error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, c := range list {
		if err := root.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(c.path); dir != "."; dir = path.Dir(dir) {
			if root.Remove(dir) != nil {
				break // not empty
			}
		}
	}
	return nil
}

// moveHead makes a commit the session's branch and checks the branch out, as
// far as names go.
func (t *checkout) moveHead(ctx context.Context, commit, why string) error {
	return t.moveFrom(ctx, t.position(ctx), commit, why)
}

func (t *checkout) moveFrom(ctx context.Context, at position, commit, why string) error {
	if at.own != commit {
		if _, err := t.git(ctx, nil, "update-ref", "-m", why, t.branch, commit); err != nil {
			return err
		}
	}
	if at.ref == t.branch {
		return nil
	}
	_, err := t.git(ctx, nil, "symbolic-ref", "-m", why, "HEAD", t.branch)
	return err
}

// restoreIndex puts a copy of the index in its place, the way git does it.
func (t *checkout) restoreIndex(ctx context.Context, from string) error {
	own, err := t.path(ctx, "index")
	if err != nil {
		return err
	}
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		_, err := t.git(ctx, nil, "reset", "--quiet")
		return err
	}
	f, err := os.OpenFile(own+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("put git's index back: %w", err)
	}
	if err = errors.Join(f.Close(), copyFile(from, own+".lock")); err == nil {
		err = os.Rename(own+".lock", own)
	}
	if err != nil {
		return errors.Join(err, os.Remove(own+".lock"))
	}
	// Files that were written anew are unchanged all the same; what is left to
	// do is told by its exit code.
	_, _ = t.git(ctx, nil, "update-index", "-q", "--refresh")
	return nil
}
