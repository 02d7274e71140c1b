package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/queue"
)

// DirtyError says that a session would mix its work with that of the person.
type DirtyError struct{ Paths []string }

func (e *DirtyError) Error() string {
	const shown = 5
	var names []string
	for _, p := range e.Paths[:min(shown, len(e.Paths))] {
		names = append(names, fmt.Sprintf("%q", p))
	}
	text := "the work tree has uncommitted changes: " + strings.Join(names, ", ")
	if more := len(e.Paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Hint is what to type instead.
func (e *DirtyError) Hint() string {
	return "commit them, or loop run --stash (put aside until the end), --allow-dirty (they stay, and loop does not commit them), --worktree (work elsewhere)"
}

// PlaceError says that the session cannot have its place in git.
type PlaceError struct{ Text, Next string }

func (e *PlaceError) Error() string { return e.Text }

// Hint is what to type instead.
func (e *PlaceError) Hint() string { return e.Next }

// ground is what a session is to be built on, looked at before anything is
// changed.
type ground struct {
	t     *checkout
	from  string // the ref that is checked out, "" = none
	base  string
	dirty []entry
}

// survey looks at the repository and refuses what a session should not begin
// with. nil says that git is left alone.
func survey(ctx context.Context, o *Options) (*ground, error) {
	if o.Git.Work == "" && o.Parallel > 1 {
		return nil, &PlaceError{Text: "stories can only be worked on at the same time where their work goes to a branch", Next: "leave --no-branch out, or --parallel"}
	}
	if o.Git.Work == "" {
		return nil, nil
	}
	t, err := openCheckout(ctx, o, o.Root, "")
	if err != nil {
		return nil, err
	}
	g := &ground{t: t, base: t.commitOf(ctx, "HEAD"), from: t.head(ctx)}
	if g.base == "" && o.Parallel > 1 {
		return nil, &PlaceError{Text: "there is no commit yet that stories could begin from at the same time", Next: "git commit first, or leave --parallel out"}
	}
	if g.base == "" {
		if gitDir(ctx, o) != "" {
			o.Progress.Notice("the repository has no commit yet, so the session gets no branch: git commit first if it should")
		}
		return nil, nil
	}
	if _, command := t.halfway(ctx); command != "" && o.Git.Work == queue.WorkBranch {
		return nil, &PlaceError{Text: "a " + command + " is under way in the work tree", Next: "finish it, or give it up (git " + command + " --abort)"}
	}
	list, err := t.status(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if e.untracked && t.isOutput(e.path) {
			t.output = append(t.output, e.path)
			continue
		}
		// A repository of its own is nothing that loop touches.
		if !e.nested && (!e.same || e.staged) {
			g.dirty = append(g.dirty, e)
		}
	}
	return g, g.refuse(ctx, o)
}

// isOutput: loop itself writes to the file.
func (t *checkout) isOutput(path string) bool {
	info, err := os.Stat(filepath.Join(t.dir, filepath.FromSlash(path)))
	return err == nil && slices.ContainsFunc(t.o.Git.Output, func(o os.FileInfo) bool { return os.SameFile(o, info) })
}

func (g *ground) refuse(ctx context.Context, o *Options) error {
	if o.Git.Work == queue.WorkWorktree {
		return g.refuseWorktree(ctx, o)
	}
	e := &DirtyError{}
	for _, d := range g.dirty {
		if o.Git.Dirty == DirtyRefused && !g.t.told(d.path) {
			e.Paths = append(e.Paths, d.path)
		}
		if d.unmerged {
			return &PlaceError{Text: fmt.Sprintf("%q has conflicts that are not resolved", d.path), Next: "resolve and commit them first"}
		}
	}
	if len(e.Paths) > 0 {
		return e
	}
	return nil
}

// refuseWorktree: a work tree of its own has the stories that are committed.
func (g *ground) refuseWorktree(ctx context.Context, o *Options) error {
	if o.Parallel > 1 {
		if err := g.refuseParallel(ctx, o); err != nil {
			return err
		}
	}
	others := 0
	for _, d := range g.dirty {
		if !g.t.isStory(d.path) {
			others++
			continue
		}
		if g.tracked(ctx, o) {
			return &PlaceError{Text: fmt.Sprintf("%q has changes that are not committed, so a work tree of its own would not have them", d.path), Next: "git commit it first"}
		}
	}
	if others > 0 {
		o.Progress.Notice(fmt.Sprintf("%d uncommitted change(s) in your checkout are not part of this session", others))
	}
	return nil
}

// tracked: git knows the story file, or one in the folder of stories.
func (g *ground) tracked(ctx context.Context, o *Options) bool {
	rel := relativeTo(o.Root, realOr(o.Stories))
	if filepath.IsAbs(rel) {
		return false
	}
	out, err := g.t.git(ctx, nil, "ls-files", "-z", "--", filepath.ToSlash(rel))
	return err == nil && out != ""
}

func realOr(name string) string {
	if real := firewall.RealPlace(name); real != "" {
		return real
	}
	return name
}

// told: the path is one of those that tell a run what to do. `loop init` makes
// them, and a person changes them in the evening, so they may be uncommitted.
// loop leaves them so.
func (t *checkout) told(path string) bool {
	if t.isStory(path) {
		return true
	}
	full := filepath.Join(t.dir, filepath.FromSlash(path))
	return slices.ContainsFunc(t.o.Watched, func(w string) bool { return w == full || realOr(w) == realOr(full) })
}

// isStory: the path is the story file, or one in the folder of stories.
func (t *checkout) isStory(path string) bool {
	full := realOr(filepath.Join(t.dir, filepath.FromSlash(path)))
	file := realOr(t.o.Stories)
	return full == file || strings.HasPrefix(full, file+string(filepath.Separator))
}
