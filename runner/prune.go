package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// The values of Prune.Parked.
const (
	ParkedSafe = ""     // what is elsewhere as well
	ParkedDone = "done" // and what attempts left at stories that have passed since
	ParkedAll  = "all"  // and the rest
)

// Prune says what is taken away of the work of old sessions.
type Prune struct {
	Parked string
	DryRun bool
}

// Pruned is what became of one thing that an old session had left in git.
type Pruned struct {
	Name string // a ref, or the folder of a work tree: hostile text
	Kept string // why it stays; "" = it is gone, or would be
}

// PruneWork takes away what sessions that ended have left in git: parked
// attempts, and their work trees. What is nowhere else stays, unless the person
// has said otherwise; branches and the person's own put-aside work always do.
// Of o it needs Root, State, Env, Store and Now.
func PruneWork(ctx context.Context, o *Options, sessions []queue.Session, p Prune) ([]Pruned, error) {
	if len(sessions) == 0 || gitDir(ctx, o) == "" {
		return nil, nil
	}
	t, err := openCheckout(ctx, o, o.Root, "")
	if err != nil {
		return nil, err
	}
	pr := &pruner{checkout: t, how: p}
	for _, s := range sessions {
		if err := pr.session(ctx, s); err != nil {
			return pr.out, fmt.Errorf("session %s: %w", s.ID, err)
		}
	}
	return pr.out, nil
}

// pruner is a prune at work.
type pruner struct {
	*checkout
	how   Prune
	out   []Pruned
	known map[string]bool // ids of all that is reachable but by refs of loop's own; nil = not asked yet
}

func (t *pruner) add(name, kept string) { t.out = append(t.out, Pruned{name, kept}) }

func (t *pruner) session(ctx context.Context, s queue.Session) error {
	refs, err := t.git(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/loop/parked/"+shortID(s.ID)+"/")
	if err != nil {
		return err
	}
	attempts, err := t.o.Store.Attempts(ctx, s.ID)
	if err != nil {
		return err
	}
	for ref := range strings.FieldsSeq(refs) {
		why, err := t.whyParked(ctx, ref, attempts)
		if err != nil {
			return err
		}
		if why == "" && !t.how.DryRun {
			if _, err := t.git(ctx, nil, "update-ref", "-d", ref); err != nil {
				return err
			}
		}
		t.add(ref, why)
	}
	w := s.Work
	if w == nil {
		return nil
	}
	if st := w.Stash; st != nil && !st.Returned && t.commitOf(ctx, st.Ref) != "" {
		t.add(st.Ref, "your own uncommitted work, which was not given back")
	}
	if w.Mode == queue.WorkWorktree {
		return t.tree(ctx, w)
	}
	return nil
}

// whyParked says why a parked ref stays; "" = it need not.
func (t *pruner) whyParked(ctx context.Context, ref string, attempts []queue.Attempt) (string, error) {
	if t.how.Parked == ParkedAll {
		return "", nil
	}
	alone, err := t.nowhereElse(ctx, ref)
	if err != nil || !alone {
		return "", err
	}
	story, passed, err := t.parkedStory(ctx, ref, attempts)
	switch {
	case err != nil:
		return "", err
	case !passed:
		return fmt.Sprintf("what is in it is nowhere else, and story %q has not passed since (--parked all deletes it)", story), nil
	case t.how.Parked == ParkedDone:
		return "", nil
	}
	return fmt.Sprintf("what is in it is nowhere else; story %q has passed since (--parked done deletes it)", story), nil
}

// parkedStory is the story that a ref is about, and whether it has passed
// after the attempt that left it.
func (t *pruner) parkedStory(ctx context.Context, ref string, attempts []queue.Attempt) (story string, passed bool, err error) {
	var of *queue.Attempt
	for i := range attempts {
		a := &attempts[i]
		if name := parkRef(a); ref == name || strings.HasPrefix(ref, name+"-") && (of == nil || len(name) > len(parkRef(of))) {
			of = a
		}
	}
	if of == nil {
		return "", false, nil
	}
	sessions, err := t.o.Store.Sessions(ctx)
	if err != nil {
		return "", false, err
	}
	for _, s := range sessions {
		list, err := t.o.Store.Attempts(ctx, s.ID)
		if err != nil {
			return "", false, err
		}
		for _, a := range list {
			if a.Story == of.Story && a.StoryHash == of.StoryHash && a.Outcome.Passed() && !a.Started.Before(of.Started) {
				return of.Story, true, nil
			}
		}
	}
	return of.Story, false, nil
}

// elsewhere are the options by which git speaks of all that is reachable
// without refs of loop's own.
var elsewhere = []string{"--exclude=refs/loop/*", "--all"}

// nowhereElse reports whether a ref of loop's own holds the only copy of
// something: a file's content, or a commit that is not loop's own wrapping.
func (t *pruner) nowhereElse(ctx context.Context, ref string) (bool, error) {
	blobs, err := t.blobsOf(ctx, ref)
	if err != nil {
		return false, err
	}
	// These may all the same stand somewhere further back.
	if len(blobs) > 0 && t.known == nil {
		all, err := t.objects(ctx, elsewhere...)
		if err != nil {
			return false, err
		}
		t.known = map[string]bool{}
		for _, id := range all {
			t.known[id] = true
		}
	}
	if slices.ContainsFunc(blobs, func(id string) bool { return !t.known[id] }) {
		return true, nil
	}
	subjects, err := t.git(ctx, nil, append([]string{"log", "--format=%s", ref, "--not"}, elsewhere...)...)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(subjects) {
		if !strings.HasPrefix(line, "parked by loop: ") && !strings.HasPrefix(line, "loop: the work tree before attempt ") {
			return true, nil
		}
	}
	return false, nil
}

// blobsOf are the contents of files that git reaches from a ref and not at
// once from elsewhere.
func (t *pruner) blobsOf(ctx context.Context, ref string) ([]string, error) {
	ids, err := t.objects(ctx, append([]string{ref, "--not"}, elsewhere...)...)
	if err != nil {
		return nil, err
	}
	kinds, err := t.git(ctx, &call{stdin: []byte(strings.Join(ids, "\n") + "\n")}, "cat-file", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(kinds) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "blob "); ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// objects are the ids that a walk of git's reaches.
func (t *pruner) objects(ctx context.Context, walk ...string) ([]string, error) {
	list, err := t.git(ctx, nil, append([]string{"rev-list", "--objects"}, walk...)...)
	if err != nil {
		return nil, err
	}
	var ids []string
	for line := range strings.Lines(list) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		ids = append(ids, id)
	}
	return ids, nil
}

// tree takes a session's work tree away when all that is in it is on a
// branch that was merged.
func (t *pruner) tree(ctx context.Context, w *queue.Work) error {
	if _, err := os.Stat(w.Dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	why := t.whyTree(ctx, w)
	if why == "" && !t.how.DryRun {
		// git itself refuses where something is uncommitted.
		if _, err := t.git(ctx, nil, "worktree", "remove", w.Dir); err != nil {
			why = err.Error()
		}
	}
	t.add(w.Dir, why)
	return nil
}

func (t *pruner) whyTree(ctx context.Context, w *queue.Work) string {
	if realOr(w.Dir) == realOr(t.dir) {
		return "you are in it"
	}
	in := *t.checkout
	in.dir, in.paths = w.Dir, nil
	changed, err := in.git(ctx, nil, "status", "--porcelain", "--untracked-files=all")
	switch {
	case err != nil:
		return err.Error()
	case changed != "":
		return "it has uncommitted changes"
	}
	head := in.commitOf(ctx, "HEAD")
	refs, err := t.git(ctx, nil, "for-each-ref", "--format=%(refname)", "--contains", head)
	if err != nil {
		return err.Error()
	}
	for ref := range strings.FieldsSeq(refs) {
		if ref != "refs/heads/"+w.Branch && !strings.HasPrefix(ref, "refs/loop/") {
			return ""
		}
	}
	return fmt.Sprintf("its branch %s is not merged anywhere (git worktree remove takes the folder away and leaves the branch)", w.Branch)
}
