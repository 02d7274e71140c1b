package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// offer commits what an attempt did that passed its gates to the lane's branch.
// Whether its story is done is decided when that is put onto the session's.
func (r *run) offer(ctx context.Context, a *queue.Attempt, was earlier) error {
	if err := r.o.withRoom(func() error { return r.checkout.commitWork(ctx, a) }); err != nil {
		return err
	}
	l := r.lane
	l.was, l.made, l.work = was, a.Commit, r.checkout.commitOf(ctx, "HEAD")
	a.Commit, a.Commits = "", 0
	return r.o.Store.PutAttempt(ctx, *a)
}

// workRef holds the commit of what an attempt did while it is put onto the
// session's branch.
func workRef(a *queue.Attempt) string { return "refs/loop/work/" + a.ID }

// offered is the commit of what an attempt did that was being put onto the
// session's branch; "" = none was.
func (t *checkout) offered(ctx context.Context, a *queue.Attempt) string {
	if a.Lane == nil {
		return ""
	}
	return t.commitOf(ctx, workRef(a))
}

// integrate puts what the lane's attempt did onto the session's branch, which
// stands at tip and is checked out in s, and returns where that stands then. One
// is put there at a time. The attempt has its outcome and its end afterwards.
func (l *lane) integrate(ctx context.Context, s *checkout, tip string) (string, error) {
	keep := context.WithoutCancel(ctx)
	a, t := l.a, l.r.checkout
	if err := s.stillAt(keep, a, tip); err != nil {
		return tip, err
	}
	a.Merged = &queue.Merged{Onto: tip}
	if _, err := t.git(keep, nil, "update-ref", workRef(a), l.work); err != nil {
		return tip, err
	}
	tree, err := l.join(ctx, keep, s, tip)
	if err == nil && a.Outcome.Passed() {
		err = l.r.mark(keep, l.s, a, l.was.stories)
	}
	switch {
	case err != nil:
		return tip, err
	case a.Outcome.Passed():
		if tip, err = l.land(keep, s, tip, tree); err != nil {
			return tip, err
		}
	case a.Outcome == queue.Conflict:
		if err := errors.Join(l.r.conclude(keep, l.s, a, l.was), l.beginAnew(keep, tip)); err != nil {
			return tip, err
		}
	default:
		if err := l.r.conclude(keep, l.s, a, l.was); err != nil {
			return tip, err
		}
	}
	return tip, t.forgetWork(keep, a)
}

// forgetWork lets go of the commit that workRef held: what is in it is on the
// session's branch, or put aside.
func (t *checkout) forgetWork(ctx context.Context, a *queue.Attempt) error {
	if t.offered(ctx, a) == "" {
		return nil
	}
	_, err := t.git(ctx, nil, "update-ref", "-d", workRef(a))
	return err
}

// stillAt puts the session's branch back to where loop left it, and keeps where
// it was.
func (t *checkout) stillAt(ctx context.Context, a *queue.Attempt, tip string) error {
	at := t.commitOf(ctx, t.branch)
	if at == tip && t.head(ctx) == t.branch {
		return nil
	}
	text := fmt.Sprintf("the session's branch %s was moved, and not by loop; it is where it was", short(t.branch))
	if at != "" && at != tip {
		ref, err := t.setRef(ctx, parkRef(a)+"-branch", at, "loop: where the branch was found")
		if err != nil {
			return err
		}
		text += "; where it was found is kept in " + ref
	}
	if err := t.moveHead(ctx, tip, "loop: put back"); err != nil {
		return err
	}
	return addFinding(ctx, t.o, a, "git", text)
}

// join makes the lane's work tree what the session's branch and the attempt's
// work are together, and lets the gates decide about that. tree is what they
// decided about.
func (l *lane) join(ctx, keep context.Context, s *checkout, tip string) (tree string, err error) {
	r, a, t := l.r, l.a, l.r.checkout
	own, err := t.treeOf(keep, l.work)
	if err != nil {
		return "", err
	}
	t.refilter(keep)
	w, err := t.snapshot(keep)
	if err != nil {
		return "", err
	}
	if w.tree != own {
		// Nobody should have been at work there; whoever was, is not judged.
		if err := t.keepRest(keep, &r.session, l.where, w); err != nil {
			return "", err
		}
		if err := addFinding(keep, r.o, a, "git", "its work tree was changed after its gates had passed: that is not part of what was committed"); err != nil {
			return "", err
		}
	}
	tree, clashes, err := s.mergeTrees(keep, tip, l.work)
	if err != nil {
		return "", err
	}
	if len(clashes) > 0 {
		a.Merged.Conflicts = clashes
		a.Outcome, a.Reason = queue.Conflict, conflictReason(clashes)
		return "", nil
	}
	if tree == w.tree {
		return tree, nil
	}
	if err := l.standOn(keep, w.tree, tree, tip); err != nil {
		return "", err
	}
	r.o.Progress.Notice("its gates again, with what other stories brought meanwhile")
	a.Outcome, a.Reason = queue.Done, ""
	left, err := r.verify(ctx, l.s, a)
	for i := range a.Gates {
		a.Gates[i].Merged = true
	}
	if a.Outcome == queue.GateFailed {
		a.Reason = "it passed alone; with what other stories brought meanwhile, " + a.Reason
	}
	return tree, errors.Join(err, r.leftovers(keep, left, a, "a gate"), r.tellGates(keep, a))
}

// conflictReason names the files.
func conflictReason(files []string) string {
	const shown = 4
	var names []string
	for _, f := range files[:min(shown, len(files))] {
		names = append(names, fmt.Sprintf("%q", f))
	}
	text := "it passed alone, and does not go together with what other stories brought meanwhile: " + strings.Join(names, ", ")
	if more := len(files) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// standOn makes a work tree on a commit of the lane's work tree, which is one of
// from and becomes one of to. The attempt counts as begun on that commit.
func (l *lane) standOn(ctx context.Context, from, to, commit string) error {
	t, a := l.r.checkout, l.a
	tree, err := t.treeOf(ctx, commit)
	if err != nil {
		return err
	}
	if err := t.unlock(ctx); err != nil {
		return err
	}
	if err := t.moveFiles(ctx, from, to); err != nil {
		return err
	}
	if err := t.moveHead(ctx, commit, "loop: onto what other stories brought"); err != nil {
		return err
	}
	if err := t.quit(ctx); err != nil {
		return err
	}
	index, err := t.path(ctx, "index")
	if err != nil {
		return err
	}
	// The one that is there is good for whoever comes after a crash.
	kept := filepath.Join(a.Dir, indexName)
	if err := errors.Join(copyFile(index, newName(kept)), os.Rename(newName(kept), kept)); err != nil {
		return err
	}
	a.Before = &queue.TreeState{Head: commit, Tree: tree}
	return l.r.o.Store.PutAttempt(ctx, *a)
}

// beginAnew takes what was put aside out of the lane's work tree, for a try
// that begins where the session's branch stands now.
func (l *lane) beginAnew(ctx context.Context, tip string) error {
	t, a := l.r.checkout, l.a
	t.unsettled = nil
	if err := t.settle(ctx, a); err != nil {
		return err
	}
	if err := t.moveFiles(ctx, a.Before.Tree, tip); err != nil {
		return err
	}
	if err := t.moveHead(ctx, tip, "loop: begin anew"); err != nil {
		return err
	}
	return t.quit(ctx)
}

// land commits what the gates passed, with the story's mark, and moves the
// session's branch there.
func (l *lane) land(ctx context.Context, s *checkout, tip, tree string) (string, error) {
	r, a, t := l.r, l.a, l.r.checkout
	if err := r.closeStory(ctx, a); err != nil {
		return tip, err
	}
	tree, err := t.withMark(ctx, tree)
	if err != nil {
		return tip, err
	}
	parents, err := l.parents(ctx, tip)
	if err != nil {
		return tip, err
	}
	to, err := t.tip(ctx, a, tree, position{}, parents)
	if err != nil {
		return tip, err
	}
	// From here on it is done, whatever happens: whoever comes after a crash
	// only has to move the branch.
	a.Merged.Commit, a.Verified = to, true
	if err := r.o.Store.PutAttempt(ctx, *a); err != nil {
		return tip, err
	}
	if err := errors.Join(s.advance(ctx, a), r.looked(ctx, l.s, a, l.was.stories)); err != nil {
		return tip, err
	}
	if a.Commits, err = t.count(ctx, tip, to); err != nil {
		return to, err
	}
	if err := t.moveHead(ctx, to, "loop: "+phrase(a.Story, 60)); err != nil {
		return to, err
	}
	if err := t.quit(ctx); err != nil {
		return to, err
	}
	r.gates.mu.Lock()
	for i := range a.Gates {
		r.gates.stands(&a.Gates[i], a.Story)
	}
	r.gates.mu.Unlock()
	r.gates.note(r.o, l.s, a)
	return to, r.record(ctx, a, false)
}

// withMark is a tree with the story files as they are in the work tree.
func (t *checkout) withMark(ctx context.Context, tree string) (string, error) {
	w, err := t.snapshot(ctx)
	if err != nil {
		return "", err
	}
	list, err := t.changes(ctx, tree, w.tree)
	if err != nil {
		return "", err
	}
	list = slices.DeleteFunc(list, func(c change) bool { return !t.isStory(c.path) })
	if len(list) == 0 {
		return tree, nil
	}
	return t.overlay(ctx, tree, list)
}

// parents are those of the commit that brings the attempt's work to the
// session's branch. Where the agent made no commits the history stays a line.
func (l *lane) parents(ctx context.Context, tip string) ([]string, error) {
	t := l.r.checkout
	own := []string{l.work}
	if l.made == l.work && l.made != "" {
		out, err := t.git(ctx, nil, "rev-parse", l.made+"^@")
		if err != nil {
			return nil, err
		}
		own = strings.Fields(out)
	}
	if len(own) == 1 && t.within(ctx, own[0], tip) {
		return []string{tip}, nil
	}
	if len(own) > 0 && t.within(ctx, tip, own[0]) {
		return own, nil
	}
	return append([]string{tip}, own...), nil
}

// advance moves the branch to the commit that brings an attempt's work, and the
// work tree after it. It can be done again.
func (t *checkout) advance(ctx context.Context, a *queue.Attempt) error {
	if err := t.advanceRef(ctx, a); err != nil || t.commitOf(ctx, t.branch) != a.Merged.Commit {
		return err
	}
	return t.follow(ctx, a, a.Merged.Onto, a.Merged.Commit)
}

// advanceRef moves the branch alone.
func (t *checkout) advanceRef(ctx context.Context, a *queue.Attempt) error {
	from, to := a.Merged.Onto, a.Merged.Commit
	switch at := t.commitOf(ctx, t.branch); {
	case at != "" && t.within(ctx, to, at):
		return nil
	case at == from:
		_, err := t.git(ctx, nil, "update-ref", "-m", "loop: "+phrase(a.Story, 60), t.branch, to, from)
		return err
	}
	ref, err := t.setRef(ctx, parkRef(a)+"-done", to, "loop: done, and not on the branch")
	if err != nil {
		return err
	}
	return addFinding(ctx, t.o, a, "git", fmt.Sprintf("the branch %s is somewhere else by now, so the work of this story is not on it; it is kept in %s", short(t.branch), ref))
}

// follow makes the files of the branch's work tree those of a commit, where they
// were those of another.
func (t *checkout) follow(ctx context.Context, a *queue.Attempt, from, to string) error {
	w, err := t.snapshot(ctx)
	if err != nil {
		return err
	}
	touched, err := t.changes(ctx, from, to)
	if err != nil {
		return err
	}
	// What is neither the one nor the other is somebody else's.
	foreign := map[string]int{}
	for _, c := range []string{from, to} {
		list, err := t.changes(ctx, c, w.tree)
		if err != nil {
			return err
		}
		for _, x := range list {
			foreign[x.path]++
		}
	}
	if slices.ContainsFunc(touched, func(c change) bool { return foreign[c.path] == 2 }) {
		commit, err := t.commit(ctx, w.tree, "parked by loop: found in the session's work tree\n", from)
		if err != nil {
			return err
		}
		ref, err := t.setRef(ctx, parkRef(a)+"-found", commit, "loop: found in the work tree")
		if err != nil {
			return err
		}
		if err := addFinding(ctx, t.o, a, "git", fmt.Sprintf("files were changed in %q, and not by loop; as they were found they are kept in %s", t.dir, ref)); err != nil {
			return err
		}
	}
	if err := t.unlock(ctx); err != nil {
		return err
	}
	if err := t.moveFiles(ctx, from, to); err != nil {
		return err
	}
	return t.quit(ctx)
}

// mergeTrees is the tree in which two commits are together, or the files in
// which they do not go together. No work tree is touched.
func (t *checkout) mergeTrees(ctx context.Context, one, other string) (tree string, clashes []string, err error) {
	attributes, err := t.unionOf()
	if err != nil {
		return "", nil, err
	}
	t.refilter(ctx)
	out, err := t.git(ctx, nil, "-c", "core.attributesFile="+attributes, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", one, other)
	var failed *GitError
	if err != nil && (!errors.As(err, &failed) || failed.Code != 1 || failed.Err != nil) {
		return "", nil, err
	}
	parts := splitZero(out)
	if len(parts) == 0 {
		return "", nil, fmt.Errorf("git merge-tree says %q, which this loop cannot read", clip(out, 200))
	}
	if err == nil {
		return parts[0], nil, nil
	}
	if clashes = slices.Compact(parts[1:]); len(clashes) == 0 {
		clashes = []string{"(git names no file)"}
	}
	return "", clashes, nil
}

// unionOf is a file by which git takes both sides of the log that such loops
// keep: every story adds to its end.
func (t *checkout) unionOf() (string, error) {
	name := filepath.Join(t.state, "merge.attributes")
	return name, os.WriteFile(name, []byte(progressName+" merge=union\n"), 0o600)
}
