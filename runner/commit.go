package runner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// keepWork puts what an attempt did where it belongs: on the session's branch
// when the story passed, else under a ref of its own. The work tree of one that
// did not pass stays for the next attempt at the story, and is put back when
// there is none.
func (r *run) keepWork(ctx context.Context, a *queue.Attempt) error {
	t := r.checkout
	if t == nil || a.Before == nil {
		return nil
	}
	if a.Outcome.Passed() {
		return t.commitWork(ctx, a)
	}
	if err := t.keep(ctx, a); err != nil {
		return err
	}
	t.unsettled = a
	return nil
}

// keep parks what an attempt did, and leaves it in the work tree.
func (t *checkout) keep(ctx context.Context, a *queue.Attempt) error {
	p, w, err := t.park(ctx, a)
	if err != nil {
		return fmt.Errorf("keep what the attempt left, which stays in %q as it is: %w", t.dir, err)
	}
	a.Parked = p
	if p != nil {
		t.o.Progress.Notice(fmt.Sprintf("what the attempt did is kept in %s (%d file(s))", p.Ref, p.Files))
	}
	return t.tellUnkept(ctx, a, w)
}

// settle puts the work tree back to what it was before an attempt that was
// parked. What has changed since then is parked too.
func (t *checkout) settle(ctx context.Context, a *queue.Attempt) error {
	p, w, err := a.Parked, whole{}, error(nil)
	if same := p != nil && t.isParked(ctx, p, &w); !same {
		if p, w, err = t.park(ctx, a); err != nil {
			return fmt.Errorf("keep what is in the work tree %q, which stays as it is: %w", t.dir, err)
		}
	}
	if p != nil {
		if err := t.putBack(ctx, a, p, w); err != nil {
			return fmt.Errorf("put the work tree %q back; all that the attempt did is kept in %s: %w", t.dir, p.Ref, err)
		}
	}
	if p != nil && a.Parked == nil {
		a.Parked = p
	}
	if p != nil && p.Ref != a.Parked.Ref {
		text := fmt.Sprintf("the work tree was changed after this attempt had ended: what was in it then is kept in %s", p.Ref)
		if err := addFinding(ctx, t.o, a, "git", text); err != nil {
			return err
		}
	}
	t.forget(ctx, a)
	return nil
}

// isParked reports whether the work tree is what was parked; w is what is in
// it.
func (t *checkout) isParked(ctx context.Context, p *queue.Parked, w *whole) bool {
	kept, err := t.treeOf(ctx, p.Ref)
	if err != nil {
		return false
	}
	if *w, err = t.snapshot(ctx); err != nil || w.tree != kept {
		return false
	}
	for _, c := range []string{t.commitOf(ctx, "HEAD"), t.commitOf(ctx, t.branch)} {
		if c != "" && !t.within(ctx, c, p.Ref) {
			return false
		}
	}
	return true
}

// tellUnkept says what of an attempt is neither in a commit nor put aside.
func (t *checkout) tellUnkept(ctx context.Context, a *queue.Attempt, w whole) error {
	tell := func(format, name string) error {
		return addFinding(ctx, t.o, a, "git", fmt.Sprintf(format, name))
	}
	for _, name := range w.nested {
		if slices.Contains(t.left, name) {
			continue
		}
		if err := tell("%q is a repository of its own, made during this attempt: it is in no commit of loop's, and was left where it is", name); err != nil {
			return err
		}
	}
	for _, name := range w.large {
		if slices.Contains(t.left, name) {
			continue
		}
		if err := tell(fmt.Sprintf("%%q has more than %d MiB: it is in no commit of loop's, and was left as it is", maxKept>>20), name); err != nil {
			return err
		}
	}
	for _, name := range w.inside {
		if err := tell("the submodule %q has uncommitted changes in it: loop does not look into submodules, and left them as they are", name); err != nil {
			return err
		}
	}
	return nil
}

// commitWork commits what an attempt left uncommitted to the session's branch.
func (t *checkout) commitWork(ctx context.Context, a *queue.Attempt) error {
	t.refilter(ctx)
	if err := t.unlock(ctx); err != nil {
		return err
	}
	w, err := t.snapshot(ctx)
	if err != nil {
		return err
	}
	if err := t.tellUnkept(ctx, a, w); err != nil {
		return err
	}
	at := t.position(ctx)
	parents, err := t.joined(ctx, a, at)
	if err != nil {
		return err
	}
	tree, err := t.without(ctx, a, parents[0], w.tree)
	if err != nil {
		return err
	}
	tip, err := t.tip(ctx, a, tree, at, parents)
	if err != nil {
		return err
	}
	if err := t.moveFrom(ctx, at, tip, "loop: "+phrase(a.Story, 60)); err != nil {
		return err
	}
	if err := t.followIndex(ctx, a, tip); err != nil {
		return err
	}
	t.forget(ctx, a)
	return t.countCommits(ctx, a, tip, parents)
}

// joined are the parents of the commit that closes an attempt: where its work
// stands, and the session's branch, when the agent went off that.
func (t *checkout) joined(ctx context.Context, a *queue.Attempt, at position) ([]string, error) {
	head, own := at.head, at.own
	if own == "" {
		own = a.Before.Head
	}
	if head == "" {
		head = own
	}
	if at.ref != t.branch {
		text := fmt.Sprintf("the agent left the branch %s for %s; what it committed there is on the branch too", short(t.branch), atName(at.ref))
		if err := addFinding(ctx, t.o, a, "git", text); err != nil {
			return nil, err
		}
	}
	switch {
	case head == own || t.within(ctx, own, head):
		return []string{head}, nil
	case t.within(ctx, head, own):
		return []string{own}, nil
	}
	return []string{own, head}, nil
}

func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

func atName(ref string) string {
	if ref == "" {
		return "a commit without a branch"
	}
	return strconv.Quote(short(ref))
}

// without is a tree of an attempt without the person's own uncommitted work,
// which stays uncommitted.
func (t *checkout) without(ctx context.Context, a *queue.Attempt, parent, tree string) (string, error) {
	if len(t.mine) == 0 {
		return tree, nil
	}
	list, err := t.changes(ctx, parent, tree)
	if err != nil {
		return "", err
	}
	list = slices.DeleteFunc(list, func(c change) bool { return slices.Contains(t.mine, c.path) })
	if err := t.tellMine(ctx, a, parent, tree); err != nil {
		return "", err
	}
	return t.overlay(ctx, parent, list)
}

// tellMine says where an attempt met the person's own uncommitted work.
func (t *checkout) tellMine(ctx context.Context, a *queue.Attempt, parent, tree string) error {
	for _, q := range []struct{ from, to, text string }{
		{a.Before.Tree, tree, "%q had uncommitted changes of yours and was changed by the attempt: it is in no commit of loop's"},
		{a.Before.Head, parent, "%q had uncommitted changes of yours, and the agent's own commits have taken them in"},
	} {
		list, err := t.changes(ctx, q.from, q.to)
		if err != nil {
			return err
		}
		for _, c := range list {
			if !slices.Contains(t.mine, c.path) || t.told(c.path) {
				continue
			}
			if err := addFinding(ctx, t.o, a, "git", fmt.Sprintf(q.text, c.path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tip is the commit at which the branch stands after an attempt. Where nothing
// was left uncommitted, loop makes no commit.
func (t *checkout) tip(ctx context.Context, a *queue.Attempt, tree string, at position, parents []string) (clean string, err error) {
	if clean = at.tree; parents[0] != at.head {
		if clean, err = t.treeOf(ctx, parents[0]); err != nil {
			return "", err
		}
	}
	if clean == tree && len(parents) == 1 {
		return parents[0], nil
	}
	a.Commit, err = t.commit(ctx, tree, commitMessage(a), parents...)
	return a.Commit, err
}

// subjectLength is how much of a story's title fits into the subject of its
// commit.
const subjectLength = 72

func commitMessage(a *queue.Attempt) string {
	subject := phrase(a.Story, 40)
	if a.StoryTitle != "" {
		subject = phrase(subject+": "+a.StoryTitle, subjectLength)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nLoop-Session: %s\nLoop-Story: %s\n", subject, a.Session, phrase(a.Story, 200))
	if a.AuditRoot != "" {
		fmt.Fprintf(&b, "Loop-Receipts: %s\n", a.AuditRoot)
	}
	return b.String()
}

// followIndex makes the index agree with the commit, and leaves what the
// person had in it.
func (t *checkout) followIndex(ctx context.Context, a *queue.Attempt, tip string) error {
	if len(t.mine) == 0 {
		return t.quit(ctx)
	}
	list, err := t.changes(ctx, a.Before.Head, tip)
	if err != nil || len(list) == 0 {
		return err
	}
	var paths []string
	for _, c := range list {
		paths = append(paths, c.path)
	}
	return t.resetPaths(ctx, paths)
}

// countCommits says how many commits an attempt brought. A history that the
// agent rewrote is kept as it was before.
func (t *checkout) countCommits(ctx context.Context, a *queue.Attempt, tip string, parents []string) (err error) {
	if before := a.Before.Head; len(parents) == 1 && parents[0] == before {
		a.Commits = 0
		if tip != before {
			a.Commits = 1
		}
		return nil
	}
	if a.Commits, err = t.count(ctx, a.Before.Head, tip); err != nil || t.within(ctx, a.Before.Head, tip) {
		return err
	}
	ref, err := t.setRef(ctx, parkRef(a)+"-before", a.Before.Head, "loop: the branch before its history was rewritten")
	if err != nil {
		return err
	}
	return addFinding(ctx, t.o, a, "git", fmt.Sprintf("the agent rewrote the history of %s; as it was before, it is kept in %s", short(t.branch), ref))
}

func (t *checkout) count(ctx context.Context, from, to string) (int, error) {
	out, err := t.git(ctx, nil, "rev-list", "--count", to, "^"+from)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// phrase is a text without line breaks and control characters, cut to n runes.
func phrase(s string, n int) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
	return clip(strings.Join(strings.Fields(s), " "), n)
}
