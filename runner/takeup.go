package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// refuseParallel: each story is worked on in a work tree of its own, with the
// story file in it, and git has to merge without one.
func (g *ground) refuseParallel(ctx context.Context, o *Options) error {
	if !g.tracked(ctx, o) {
		return &PlaceError{
			Text: fmt.Sprintf("%q is not committed: stories that are worked on at the same time need a copy each", o.Stories),
			Next: "git add and git commit it, or leave --parallel out",
		}
	}
	if _, _, err := g.t.mergeTrees(ctx, g.base, g.base); err != nil {
		version := gitLine(ctx, o, o.Root, "--version")
		return &PlaceError{
			Text: fmt.Sprintf("%q cannot merge without a work tree, which --parallel needs (git 2.38 and newer can): %v", version, err),
			Next: "install a newer git, or leave --parallel out",
		}
	}
	return nil
}

// planThere is the plan by the story file in the session's own work tree. On a
// branch that was taken up more of it may be done than where the person is.
func (r *run) planThere(ctx context.Context) ([]stories.Story, error) {
	plan, _, err := Plan(ctx, r.o)
	if err != nil && !errors.Is(err, ErrNoOpen) {
		return nil, err
	}
	if err != nil {
		r.o.Progress.Notice(fmt.Sprintf("every story is done already on %s: git merge it; --branch NAME begins anew", r.session.Work.Branch))
	}
	r.session.StoryOrder = []string{}
	for _, s := range plan {
		r.session.StoryOrder = append(r.session.StoryOrder, s.ID)
	}
	return plan, r.o.Store.PutSession(ctx, r.session)
}

// died is why a session ended whose loop was killed.
const died = "loop itself died (killed, or the machine stopped)"

// takeUp goes on on the branch of an earlier session that worked in a work tree
// of its own, where that is still there: name says which, or it is that of the
// last session, when not all of it is in what is checked out. What was done there
// is not done again.
func (r *run) takeUp(ctx context.Context, g *ground, w *queue.Work, name string) (taken bool, err error) {
	if w.Mode != queue.WorkWorktree {
		return false, nil
	}
	sessions, err := r.o.Store.Sessions(ctx)
	if err != nil {
		return false, err
	}
	for _, s := range slices.Backward(sessions) {
		if s.Scan {
			continue
		}
		old := s.Work
		if old == nil || old.Mode != w.Mode || old.Gone || name != "" && old.Branch != name {
			if name == "" {
				return false, nil
			}
			continue
		}
		tip := g.t.commitOf(ctx, "refs/heads/"+old.Branch)
		switch within := g.t.within(ctx, g.base, tip); {
		case tip == "", name == "" && g.t.within(ctx, tip, g.base) && s.Stopped != died:
			return false, nil // all of it is in what is checked out
		case !within && name != "":
			return false, &PlaceError{
				Text: fmt.Sprintf("the branch %q has not all that you have checked out", name),
				Next: fmt.Sprintf("git -C %s merge %s, or give another name with --branch", old.Dir, cmp.Or(short(g.from), g.base)),
			}
		case !within && s.Stopped != died:
			return false, nil
		case !within:
			r.o.Progress.Notice(fmt.Sprintf("what the session that died has done is on %s, which has not all that you have checked out: its stories are worked on again, unless you merge it first", old.Branch))
			return false, nil
		}
		w.Branch, w.Base, w.From = old.Branch, tip, old.From
		there := *g.t
		there.dir = old.Dir
		if _, err := os.Stat(old.Dir); err == nil && there.head(ctx) == "refs/heads/"+old.Branch {
			w.Dir = old.Dir
		}
		return true, nil
	}
	return false, nil
}
