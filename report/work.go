package report

import (
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// work says where the session's work is, and how to take it or look at it.
func (p *printer) work(v *view) {
	w := v.Session.Work
	if w == nil {
		return
	}
	p.heading("Where the work is")
	where := "in your checkout"
	if w.Mode == queue.WorkWorktree {
		where = "in " + p.Command(w.Dir)
	}
	from := p.Line(w.From)
	if from == "" {
		from = cut(w.Base)
	}
	if w.Into != "" {
		from += " (an earlier session's, for " + p.Line(w.Into) + ")"
	}
	switch {
	case w.Gone:
		p.prose(term.Style{}, 0, "Nothing was committed; git is as it was.")
	case w.Commits == 0:
		p.prose(term.Style{}, 0, "Branch "+p.Line(w.Branch)+", made from "+from+", "+where+": no commits.")
	default:
		p.prose(term.Style{}, 0, "Branch "+p.Line(w.Branch)+", made from "+from+", "+where+": "+plural(w.Commits, "commit.", "commits."))
		p.line("  git log -p ", cut(w.Base), "..", p.Line(w.Branch))
		if to := w.Target(); to != "" && to != w.Branch {
			p.line("  git switch ", p.Command(to), " && git merge ", p.Line(w.Branch))
		}
	}
	for i := range v.Attempts {
		p.parked(&v.Attempts[i])
	}
	if !v.Session.Ended.IsZero() {
		for _, l := range w.Lanes {
			p.prose(term.Style{}, 0, "Kept, because something waits that would run there: the work tree of story "+p.Line(l.Story)+" on branch "+p.Line(l.Branch)+", "+p.Command(l.Dir))
		}
	}
	if s := w.Stash; s != nil && !s.Returned {
		p.prose(p.Warn, 0, "Your uncommitted changes are in "+p.Line(s.Ref)+": "+p.Line(s.Why))
		p.line("  git stash apply --index ", p.Line(s.Ref))
	}
}

// parked says where what an attempt did is kept.
func (p *printer) parked(a *queue.Attempt) {
	k := a.Parked
	if k == nil {
		return
	}
	p.prose(p.Warn, 0, "Put aside: story "+p.Line(a.Story)+", attempt "+strconv.Itoa(max(1, a.Number))+" ("+strings.ReplaceAll(p.Line(string(a.Outcome)), "-", " ")+"), "+plural(k.Files, "file", "files"))
	p.line("  git diff ", cut(k.Base), " ", p.Line(k.Ref))
	p.line("  git diff --binary ", cut(k.Base), " ", p.Line(k.Ref), " | git apply --3way")
}

// cut is the short form of a commit's name.
func cut(id string) string { return id[:min(12, len(id))] }
