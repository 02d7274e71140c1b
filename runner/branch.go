package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// Dirty says what becomes of uncommitted work that is there before a session.
type Dirty int

const (
	DirtyRefused Dirty = iota // the session does not begin
	DirtyStashed              // it is put aside and given back at the end
	DirtyAllowed              // it stays, and loop does not commit it
)

// GitOptions say where in git a session works.
type GitOptions struct {
	Work   string // queue.WorkBranch or WorkWorktree; "" = where the person is, and git is left alone
	Branch string // the branch's name; "" = loop/DATE-SESSION
	Dirty  Dirty
	Setup  []string      // commands that make a new work tree ready; they run like gates
	Output []os.FileInfo // the files that loop itself writes to, as nohup.out: they may lie in the work tree
}

// place decides where the session works. It is the last that can refuse.
func (r *run) place(ctx context.Context, g *ground) error {
	if g == nil {
		return nil
	}
	w := &queue.Work{Mode: r.o.Git.Work, Dir: r.o.Root, From: short(g.from), Base: g.base}
	if r.o.Parallel > 1 {
		w.Parallel = r.o.Parallel
	}
	if err := r.takeBranch(ctx, g, w); err != nil {
		return err
	}
	var err error
	if w.Into, err = workFor(ctx, r.o, w); err != nil {
		return err
	}
	for _, d := range g.dirty {
		if r.o.Git.Dirty != DirtyStashed || g.t.told(d.path) {
			w.Mine = append(w.Mine, d.path)
		}
	}
	g.t.branch, g.t.mine = "refs/heads/"+w.Branch, w.Mine
	r.checkout, r.session.Work = g.t, w
	return nil
}

// workFor is the branch that an earlier session's work was for, when this one
// begins on that work: on a night in which loop died there are several.
func workFor(ctx context.Context, o *Options, w *queue.Work) (string, error) {
	sessions, err := o.Store.Sessions(ctx)
	if err != nil || w.From == "" {
		return "", err
	}
	for _, s := range slices.Backward(sessions) {
		if s.Work != nil && s.Work.Made && s.Work.Branch == w.From {
			return s.Work.Target(), nil
		}
	}
	return "", nil
}

// begin goes to the session's branch, and into its work tree where it has one
// of its own.
func (r *run) begin(ctx context.Context, g *ground, plan []stories.Story) ([]stories.Story, error) {
	if g == nil {
		return plan, nil
	}
	w := r.session.Work
	if err := g.t.makeBranch(ctx, w); err != nil {
		return nil, err
	}
	if g.t.unknownPerson() {
		r.o.Progress.Notice("git does not know who you are, so commits are by " + noIdentity + ": git config user.name and user.email")
	}
	from := w.From
	if from == "" {
		from = clipBytes(w.Base, 12)
	}
	if w.Mode == queue.WorkWorktree && w.Dir != r.o.Root {
		r.o.Progress.Notice(fmt.Sprintf("going on on branch %s, in %q", w.Branch, w.Dir))
	} else {
		r.o.Progress.Notice(fmt.Sprintf("working on branch %s, made from %s", w.Branch, from))
	}
	if w.Mode == queue.WorkWorktree {
		if err := r.beginWorktree(ctx, g, w); err != nil {
			return nil, err
		}
		return r.planThere(ctx)
	}
	if r.o.Git.Dirty == DirtyStashed {
		if err := r.stash(ctx, g, w); err != nil {
			return nil, err
		}
	}
	return plan, g.t.moveHead(ctx, g.base, "loop: session "+r.session.ID)
}

// takeBranch decides on the session's branch.
func (r *run) takeBranch(ctx context.Context, g *ground, w *queue.Work) error {
	t := g.t
	name := r.o.Git.Branch
	if taken, err := r.takeUp(ctx, g, w, name); err != nil || taken {
		return err
	}
	if name == "" {
		name = branchName(r.session.ID, r.o.Now())
		// A branch "loop" leaves no room for branches below it.
		if t.commitOf(ctx, "refs/heads/loop") != "" {
			name = strings.Replace(name, "/", "-", 1)
		}
	}
	if !t.ok(ctx, "check-ref-format", "--branch", name) || strings.HasPrefix(name, "@{") {
		return &PlaceError{Text: fmt.Sprintf("%q cannot be the name of a branch", name), Next: "--branch NAME"}
	}
	w.Branch = name
	ref := "refs/heads/" + name
	if t.commitOf(ctx, ref) != "" {
		if ref == g.from && w.Mode == queue.WorkBranch {
			return nil
		}
		return &PlaceError{Text: fmt.Sprintf("the branch %q exists already", name), Next: "git switch to it first, or give another name with --branch"}
	}
	w.Made = true
	return nil
}

// makeBranch makes the session's branch, which stands in its record by now: a
// loop that dies in between leaves none that nobody knows.
func (t *checkout) makeBranch(ctx context.Context, w *queue.Work) error {
	if !w.Made {
		return nil
	}
	_, err := t.git(ctx, nil, "update-ref", "-m", "loop: session", t.branch, w.Base, strings.Repeat("0", len(w.Base)))
	return err
}

func branchName(session string, now time.Time) string {
	return "loop/" + now.Format(time.DateOnly) + "-" + shortID(session)
}

// beginWorktree makes the session's own work tree and moves the run there.
func (r *run) beginWorktree(ctx context.Context, g *ground, w *queue.Work) error {
	o := r.o
	committed := g.tracked(ctx, o)
	if err := r.makeWorktree(ctx, g, w); err != nil {
		return err
	}
	o.storyKey = o.Stories
	move := func(name string) string {
		if rel := relativeTo(o.Root, realOr(name)); !filepath.IsAbs(rel) {
			return filepath.Join(w.Dir, rel)
		}
		return name
	}
	if committed {
		o.Stories = move(o.Stories)
	}
	for _, name := range slices.Clone(o.Watched) {
		if moved := move(name); moved != name {
			o.Watched = append(o.Watched, moved)
		}
	}
	o.Env = override(o.Env, []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"}, nil)
	o.gateEnv = nil
	o.gateEnv = override(gateEnv(o), nil, []string{envCheckout + "=" + o.Root})
	o.Root = w.Dir
	r.checkout.dir, r.checkout.mine, r.checkout.paths = w.Dir, w.Mine, nil
	r.session.StoryFile = o.Stories
	return r.o.Store.PutSession(ctx, r.session)
}

// makeWorktree makes the session's work tree, or goes into the one that it takes
// up. What lies there uncommitted stays so.
func (r *run) makeWorktree(ctx context.Context, g *ground, w *queue.Work) error {
	w.Mine = nil
	if w.Dir != r.o.Root {
		t := *g.t
		t.dir, t.paths = w.Dir, nil
		list, err := t.status(ctx, "")
		for _, e := range list {
			if !e.nested {
				w.Mine = append(w.Mine, e.path)
			}
		}
		return err
	}
	w.Dir, w.Making = filepath.Join(realOr(r.o.State), "worktrees", shortID(r.session.ID)), true
	if err := errors.Join(os.MkdirAll(filepath.Dir(w.Dir), 0o700), r.o.Store.PutSession(ctx, r.session)); err != nil {
		return err
	}
	if _, err := g.t.git(ctx, nil, "worktree", "add", "--quiet", w.Dir, w.Branch); err != nil {
		return errors.Join(err, g.t.dropBranch(ctx, w))
	}
	w.Making = false
	return nil
}

// dropBranch takes a branch away that nothing was put on.
func (t *checkout) dropBranch(ctx context.Context, w *queue.Work) error {
	if !w.Made {
		return nil
	}
	_, err := t.git(ctx, nil, "update-ref", "-d", "refs/heads/"+w.Branch, w.Base)
	return err
}

// end closes the session's place in git: it says what is on the branch, and
// takes away what nothing came of. broken says that loop itself failed, and
// then nothing is moved.
func (r *run) end(ctx context.Context, broken bool) error {
	w := r.session.Work
	if r.checkout == nil || w == nil {
		return nil
	}
	if !broken {
		if err := r.settleOpen(ctx, nil); err != nil {
			return err
		}
	}
	t := r.checkout
	w.Head = t.commitOf(ctx, t.branch)
	if w.Head == "" {
		return addFinding(ctx, r.o, &queue.Attempt{Session: r.session.ID}, "git", fmt.Sprintf("the branch %s is gone", w.Branch))
	}
	var err error
	if w.Commits, err = t.count(ctx, w.Base, w.Head); err != nil || broken {
		return err
	}
	if w.Head == w.Base && w.Made {
		if err := r.leave(ctx, w); err != nil {
			return err
		}
	}
	return r.unstash(ctx, w)
}

// leave goes back to where the session began, when it brought nothing.
func (r *run) leave(ctx context.Context, w *queue.Work) error {
	t := r.checkout
	if w.Mode == queue.WorkWorktree {
		return r.leaveWorktree(ctx, w)
	}
	if t.head(ctx) != t.branch {
		return nil
	}
	var err error
	if w.From != "" {
		_, err = t.git(ctx, nil, "symbolic-ref", "-m", "loop: nothing came of the session", "HEAD", "refs/heads/"+w.From)
	} else {
		_, err = t.git(ctx, nil, "update-ref", "--no-deref", "-m", "loop: nothing came of the session", "HEAD", w.Base)
	}
	if err == nil {
		err = t.dropBranch(ctx, w)
	}
	w.Gone = err == nil
	return err
}

// leaveWorktree removes a work tree in which nothing is, and in which no
// action waits that would have to run there.
func (r *run) leaveWorktree(ctx context.Context, w *queue.Work) error {
	waiting, err := r.o.Store.Actions(ctx, queue.Filter{Session: r.session.ID, Status: []queue.Status{queue.Pending, queue.Approved}})
	if err != nil || len(waiting) > 0 {
		return err
	}
	t := r.checkout
	t.dir = r.session.Dir
	// git refuses where something is uncommitted; then it stays.
	if !t.ok(ctx, "worktree", "remove", w.Dir) {
		t.dir = w.Dir
		return nil
	}
	w.Gone = true
	return t.dropBranch(ctx, w)
}

// settleOpen puts the work tree back after an attempt that did not pass, unless
// the next one is at the same story: that goes on with what is there.
func (r *run) settleOpen(ctx context.Context, next *queue.Attempt) error {
	t := r.checkout
	a := t.unsettled
	if a == nil {
		return nil
	}
	t.unsettled = nil
	if next == nil || next.Story != a.Story || next.StoryHash != a.StoryHash {
		return t.settle(ctx, a)
	}
	next.Before = a.Before
	err := copyFile(filepath.Join(a.Dir, indexName), filepath.Join(next.Dir, indexName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := t.hold(ctx, next); err != nil {
		return err
	}
	t.forget(ctx, a)
	return nil
}

// rememberTree keeps the work tree as it is before an attempt, and makes the
// attempt's record.
func (r *run) rememberTree(ctx context.Context, a *queue.Attempt) error {
	if r.checkout == nil {
		return r.o.Store.PutAttempt(ctx, *a)
	}
	if err := r.settleOpen(ctx, a); err != nil {
		return err
	}
	if r.checkout.carried = a.Before != nil; !r.checkout.carried {
		if err := r.checkout.remember(ctx, a); err != nil {
			return err
		}
	}
	return r.o.Store.PutAttempt(ctx, *a)
}

// workLies reports whether what earlier attempts at the story did lies in the
// work tree: where it was put aside, only as long as the next one goes on with it.
func (r *run) workLies(ctx context.Context, s stories.Story) (bool, error) {
	if r.checkout != nil {
		return r.checkout.carried && r.checkout.worked, nil
	}
	return workedBefore(ctx, r.o, s)
}

// storiesName is the story file's name in the queue: a session in a work tree
// of its own reads a copy of it.
func (o *Options) storiesName() string {
	if o.storyKey != "" {
		return o.storyKey
	}
	return o.Stories
}
