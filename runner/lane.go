package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// lane is one story under way while others are too: it has a work tree and a
// branch of its own, which begin where the session's branch stands.
type lane struct {
	s      stories.Story
	number int // of the story in the plan, from 1
	where  queue.Lane
	r      *run // as it is seen from here

	setUp    bool // it is ready for work
	tally    tally
	spent    spending
	reserved spending // most that the attempt under way may use; 0 = none is, or nobody knows

	a    *queue.Attempt // the last one
	was  earlier        // how things stood before it, when it has passed its gates
	work string         // the commit of what it did then
	made string         // the same, when it is loop's own commit; "" = the agent's
}

// open makes the lane of a story.
func (f *fleet) open(ctx context.Context, number int, s stories.Story) (*lane, error) {
	r, t := f.r, f.admin
	w := r.session.Work
	name, err := f.freeName(ctx, refPart(s.ID, s.Hash))
	if err != nil {
		return nil, err
	}
	l := &lane{s: s, number: number, where: queue.Lane{Story: s.ID, Dir: f.dirOf(name), Branch: w.Branch + "-" + name}}
	if l.tally.last, err = lastTry(ctx, r.o, s); err != nil {
		return nil, err
	}
	// It is in the record before it is there: whoever comes after a crash
	// knows what to look for.
	w.Lanes = append(w.Lanes, l.where)
	if err := r.o.Store.PutSession(ctx, r.session); err != nil {
		return nil, err
	}
	ref := "refs/heads/" + l.where.Branch
	if _, err := t.git(ctx, nil, "update-ref", "-m", "loop: story", ref, f.tip, strings.Repeat("0", len(f.tip))); err != nil {
		return nil, err
	}
	if _, err := t.git(ctx, nil, "worktree", "add", "--quiet", l.where.Dir, l.where.Branch); err != nil {
		return nil, err
	}
	l.where.Ready = true
	w.Lanes[len(w.Lanes)-1] = l.where
	if err := r.o.Store.PutSession(ctx, r.session); err != nil {
		return nil, err
	}
	l.r = f.seenFrom(l, name)
	if l.r.trees, err = newTrees(ctx, l.r.o, r.session.ID); err != nil {
		return nil, err
	}
	l.r.trees.branch, l.r.trees.filters = ref, r.trees.filters
	return l, nil
}

func (f *fleet) dirOf(name string) string {
	return filepath.Join(filepath.Dir(f.r.session.Work.Dir), shortID(f.r.session.ID)+"-"+name)
}

// freeName is a name of which there is neither a branch nor a work tree yet.
func (f *fleet) freeName(ctx context.Context, want string) (string, error) {
	name := want
	for n := 2; ; n++ {
		_, err := os.Lstat(f.dirOf(name))
		if errors.Is(err, os.ErrNotExist) && f.admin.commitOf(ctx, "refs/heads/"+f.r.session.Work.Branch+"-"+name) == "" {
			return name, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		name = fmt.Sprintf("%s-%d", want, n)
	}
}

// seenFrom is the run as an attempt in the lane sees it.
func (f *fleet) seenFrom(l *lane, name string) *run {
	own, o := *f.r, *f.r.o
	from := f.r.session.Work.Dir
	move := func(name string) string {
		if rel := relativeTo(from, realOr(name)); !filepath.IsAbs(rel) {
			return filepath.Join(l.where.Dir, rel)
		}
		return name
	}
	o.Root, o.Stories, o.lane = l.where.Dir, move(o.Stories), "-lane-"+name
	o.Watched = slices.Clone(o.Watched)
	for i, name := range o.Watched {
		o.Watched[i] = move(name)
	}
	o.Progress = &laneProgress{Progress: f.r.o.Progress, story: l.s.ID, cost: f.cost}
	own.o, own.lane, own.beside, own.book = &o, l, f.beside, nil
	t := f.r.checkout
	own.checkout = &checkout{o: &o, dir: o.Root, state: t.state, branch: "refs/heads/" + l.where.Branch, who: t.who, filters: t.filters, beside: true}
	return &own
}

// laneProgress says of which story it speaks.
type laneProgress struct {
	Progress

	story string
	cost  func() float64
}

func (p *laneProgress) Live(l Live) {
	l.Cost = p.cost()
	p.Progress.Live(l)
}

func (p *laneProgress) Notice(text string) { p.Progress.Notice(fmt.Sprintf("%q: %s", p.story, text)) }

// close takes a lane away that is done with. What did not pass is put aside.
func (f *fleet) close(ctx context.Context, l *lane) error {
	if err := errors.Join(l.r.settleOpen(ctx, nil), l.r.trees.close()); err != nil {
		return err
	}
	gone, err := removeLane(ctx, f.admin, l.r.checkout, &f.r.session, l.where)
	if err != nil || !gone {
		return err
	}
	return f.r.o.Store.PutSession(ctx, f.r.session)
}

// removeLane takes the work tree and the branch of a lane away, unless an
// action waits that would have to run there, or something is in it that git
// cannot keep. t is the lane's, admin is another one of the repository.
func removeLane(ctx context.Context, admin, t *checkout, s *queue.Session, where queue.Lane) (gone bool, err error) {
	if waits, err := waitsIn(ctx, t.o, s.ID, where); err != nil || waits {
		return false, err
	}
	if where.Ready {
		if kept, err := t.emptied(ctx, s, where); err != nil || !kept {
			return false, err
		}
		at := slices.IndexFunc(s.Work.Lanes, func(l queue.Lane) bool { return l.Dir == where.Dir })
		s.Work.Lanes[at].Ready = false
		if err := t.o.Store.PutSession(ctx, *s); err != nil {
			return false, err
		}
	}
	// git takes away what it can; a work tree that is only half there it does
	// not know.
	_, _ = admin.git(ctx, nil, "worktree", "remove", "--force", where.Dir)
	if err := wipeTree(ctx, t.o, where.Dir); err != nil {
		t.o.Log.Warn("a work tree stays", "dir", where.Dir, "error", err)
		return false, nil
	}
	if err := admin.dropLaneBranch(ctx, where); err != nil {
		return false, err
	}
	s.Work.Lanes = slices.DeleteFunc(s.Work.Lanes, func(l queue.Lane) bool { return l.Dir == where.Dir })
	return true, nil
}

// emptied makes sure that nothing is in a lane that is nowhere else; ok is false
// when something is that git cannot keep.
func (t *checkout) emptied(ctx context.Context, s *queue.Session, where queue.Lane) (ok bool, err error) {
	// Without that file git would speak of a repository around it.
	if _, err := os.Lstat(filepath.Join(where.Dir, ".git")); err != nil {
		_, err := os.Stat(where.Dir)
		return errors.Is(err, os.ErrNotExist), nil
	}
	w, err := t.snapshot(ctx)
	if err != nil || len(w.nested)+len(w.large) > 0 {
		t.o.Log.Warn("a work tree stays", "dir", where.Dir, "nested", w.nested, "large", w.large, "error", err)
		return false, nil
	}
	// What gates wrote when all was committed is worth nothing, but is not
	// thrown away without a copy either.
	if clean, err := t.treeOf(ctx, "HEAD"); err != nil || clean != w.tree {
		return true, t.keepRest(ctx, s, where, w)
	}
	return true, nil
}

// wipeTree takes away a work tree of loop's own that is only half there: one
// that was being made or removed when loop died.
func wipeTree(ctx context.Context, o *Options, dir string) error {
	if filepath.Dir(dir) != filepath.Join(realOr(o.State), "worktrees") {
		return fmt.Errorf("%q is no work tree of loop's", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	common := gitDir(ctx, o)
	if common == "" {
		return nil
	}
	all := filepath.Join(common, "worktrees")
	own := filepath.Join(all, filepath.Base(dir))
	if at, err := regular.Read(filepath.Join(own, "gitdir"), maxWatched); err == nil && len(at) > 0 && strings.TrimSpace(string(at)) != filepath.Join(dir, ".git") {
		return nil // another's, by the same name
	}
	if err := os.RemoveAll(own); err != nil {
		return err
	}
	_ = os.Remove(all) // git leaves no empty one either
	return nil
}

// waitsIn reports whether an action waits for a person that was to run in the
// lane.
func waitsIn(ctx context.Context, o *Options, session string, where queue.Lane) (bool, error) {
	list, err := o.Store.Actions(ctx, queue.Filter{Session: session, Story: where.Story, Status: []queue.Status{queue.Pending, queue.Approved, queue.Replaying, queue.Failed, queue.Unknown}})
	return slices.ContainsFunc(list, func(x queue.Action) bool {
		return !x.IsQuestion() && x.Evidence != policy.Mentioned && !filepath.IsAbs(relativeTo(where.Dir, x.Cwd))
	}), err
}

// keepRest keeps what is in a lane and not in its last commit.
func (t *checkout) keepRest(ctx context.Context, s *queue.Session, where queue.Lane, w whole) error {
	var parents []string
	if head := t.commitOf(ctx, "HEAD"); head != "" {
		parents = []string{head}
	}
	commit, err := t.commit(ctx, w.tree, "parked by loop: left in the work tree of "+phrase(where.Story, 60)+"\n", parents...)
	if err != nil {
		return err
	}
	_, err = t.setRef(ctx, "refs/loop/parked/"+shortID(s.ID)+"/left/"+filepath.Base(where.Dir), commit, "loop: left")
	return err
}

// dropLaneBranch takes away the branch of a lane when its commits are reachable
// otherwise.
func (t *checkout) dropLaneBranch(ctx context.Context, where queue.Lane) error {
	own := "refs/heads/" + where.Branch
	at := t.commitOf(ctx, own)
	if at == "" {
		return nil
	}
	lock, err := t.path(ctx, own+".lock")
	if err != nil {
		return err
	}
	if err := release([]string{lock}); err != nil {
		return err
	}
	held, err := t.git(ctx, nil, "for-each-ref", "--format=%(refname)", "--contains", at)
	if err != nil || !slices.ContainsFunc(strings.Fields(held), func(ref string) bool { return ref != own }) {
		return err
	}
	_, err = t.git(ctx, nil, "update-ref", "-d", own, at)
	return err
}
