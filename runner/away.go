package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// awayMark begins what is said of a story that is done on another branch.
const awayMark = "done on the branch "

// doneAway takes as done, in the file as it was read, the stories that an
// earlier session has done on a branch of its own which is not merged here: the
// mark is there, and so is the work. What depends on them is held, because the
// work is not here to build on.
func doneAway(ctx context.Context, o *Options, f *stories.File) error {
	if o.Store == nil || o.gitDir == "" && gitDir(ctx, o) == "" {
		return nil
	}
	branches := map[string]string{} // by session and commit
	var away []string
	for i := range f.Stories {
		s := &f.Stories[i]
		if s.Done {
			continue
		}
		state, err := o.Store.Story(ctx, o.storiesName(), s.ID)
		if errors.Is(err, queue.ErrNotFound) || err == nil && (!state.Outcome.Passed() || state.Hash != s.Hash) {
			continue
		}
		if err != nil {
			return err
		}
		branch, err := awayBranch(ctx, o, state, branches)
		if err != nil {
			return err
		}
		if branch != "" {
			s.Done, s.Conflict = true, awayMark+branch+", which is not merged here"
			away = append(away, s.ID)
		}
	}
	holdAway(f, away)
	return nil
}

// holdAway holds what depends on stories that are done elsewhere, directly or
// not.
func holdAway(f *stories.File, away []string) {
	for n := 0; n < len(away); n++ {
		for i := range f.Stories {
			if s := &f.Stories[i]; !s.Done && s.Held == "" && slices.Contains(s.Depends, away[n]) {
				s.Held = fmt.Sprintf("it depends on %q, whose work is on a branch that is not merged here", away[n])
				away = append(away, s.ID)
			}
		}
	}
}

// awayBranch is the branch on which a story that passed is done when the work
// tree does not have it; "" when it has, or had: then it is a person who took
// the mark away.
func awayBranch(ctx context.Context, o *Options, state queue.StoryState, known map[string]string) (string, error) {
	s, err := o.Store.Session(ctx, state.Session)
	if errors.Is(err, queue.ErrNotFound) || err == nil && (s.Work == nil || s.Work.Gone) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	commit := s.Work.Head
	if commit == "" { // its loop died
		commit = gitLine(ctx, o, o.Root, "rev-parse", "--verify", "--quiet", "refs/heads/"+s.Work.Branch+"^{commit}")
	}
	attempts, err := o.Store.Attempts(ctx, s.ID)
	if err != nil {
		return "", err
	}
	for _, a := range attempts {
		if a.Story == state.Story && a.StoryHash == state.Hash && a.Outcome.Passed() && a.Commit != "" {
			commit = a.Commit
		}
	}
	key := s.ID + " " + commit
	branch, ok := known[key]
	if !ok {
		branch = awayCommit(ctx, o, &s, commit)
		known[key] = branch
	}
	return branch, nil
}

// awayCommit is a branch that has a commit of a session, when HEAD does not and
// the done marks of the session are in its commits.
func awayCommit(ctx context.Context, o *Options, s *queue.Session, commit string) string {
	file := relativeTo(s.Dir, realOr(o.storiesName()))
	if commit == "" || filepath.IsAbs(file) {
		return ""
	}
	git := func(args ...string) string { return gitLine(ctx, o, o.Root, args...) }
	if git("rev-list", "--max-count=1", commit, "--not", "HEAD") == "" {
		return "" // merged, or the commit is gone
	}
	if git("--literal-pathspecs", "rev-list", "--max-count=1", commit, "--not", s.Work.Base, "--", filepath.ToSlash(file)) == "" {
		return "" // the file is not committed: it had the mark itself
	}
	// Another than the session's own may have it by now.
	refs := strings.Fields(git("for-each-ref", "--format=%(refname:short)", "--contains", commit, "refs/heads", "refs/remotes"))
	if slices.Contains(refs, s.Work.Branch) {
		return s.Work.Branch
	}
	if len(refs) > 0 {
		return refs[0]
	}
	return "" // given up
}

// awayText says which stories are left alone because of that; "" = none.
func awayText(f *stories.File) string {
	var order []string
	ids := map[string][]string{}
	for _, s := range f.Stories {
		if s.Done && strings.HasPrefix(s.Conflict, awayMark) {
			if ids[s.Conflict] == nil {
				order = append(order, s.Conflict)
			}
			ids[s.Conflict] = append(ids[s.Conflict], s.ID)
		}
	}
	for i, why := range order {
		order[i] = strings.Join(ids[why], ", ") + ": " + why
	}
	return strings.Join(order, "; ")
}

// tellAway says it, at once and in the report.
func (r *run) tellAway(f *stories.File) {
	if away := awayText(f); away != "" {
		text := "not worked on again: " + away
		r.o.Progress.Notice(text)
		r.notes = append(r.notes, Note{"away", text})
	}
}
