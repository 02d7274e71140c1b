package report

import (
	"strconv"

	"github.com/seed-b23e517c/loop/queue"
)

// workLine is a sentence about where work is, or a command to type.
type workLine struct {
	text    string
	command bool
	tone    tone
}

// work says where the work is, and how to take it or look at it.
func (p *printer) work(v *view) {
	lines := p.workLines(v)
	if len(lines) == 0 {
		return
	}
	p.heading("Where the work is")
	for _, l := range lines {
		if l.command {
			p.line("  ", l.text)
			continue
		}
		p.prose(p.toneStyle(l.tone), 0, l.text)
	}
}

func (t *teller) workLines(v *view) []workLine {
	var out []workLine
	for i := range v.sessions {
		if w := v.sessions[i].Work; w != nil {
			out = append(out, t.branch(w)...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	for i := range v.Attempts {
		if k := v.Attempts[i].Parked; k != nil {
			out = append(out, t.parked(&v.Attempts[i], k)...)
		}
	}
	for i := range v.sessions {
		w := v.sessions[i].Work
		if w == nil || v.sessions[i].Ended.IsZero() {
			continue
		}
		for _, l := range w.Lanes {
			out = append(out, workLine{text: "Kept, because something waits that would run there: the work tree of story " + t.Line(l.Story) +
				" on branch " + t.Line(l.Branch) + ", " + t.Command(l.Dir)})
		}
	}
	for i := range v.sessions {
		if w := v.sessions[i].Work; w != nil && w.Stash != nil && !w.Stash.Returned {
			out = append(out,
				workLine{text: "Your uncommitted changes are in " + t.Line(w.Stash.Ref) + ": " + t.Line(w.Stash.Why), tone: warn},
				workLine{text: "git stash apply --index " + t.Line(w.Stash.Ref), command: true})
		}
	}
	return out
}

// branch says where the work of one session is.
func (t *teller) branch(w *queue.Work) []workLine {
	where := "in your checkout"
	if w.Mode == queue.WorkWorktree {
		where = "in " + t.Command(w.Dir)
	}
	from := t.Line(w.From)
	if from == "" {
		from = cut(w.Base)
	}
	if w.Into != "" {
		from += " (an earlier session's, for " + t.Line(w.Into) + ")"
	}
	made := "Branch " + t.Line(w.Branch) + ", made from " + from + ", " + where + ": "
	switch {
	case w.Gone:
		return []workLine{{text: "Nothing was committed; git is as it was."}}
	case w.Commits == 0:
		return []workLine{{text: made + "no commits."}}
	}
	out := []workLine{
		{text: made + plural(w.Commits, "commit.", "commits.")},
		{text: "git log -p " + cut(w.Base) + ".." + t.Line(w.Branch), command: true},
	}
	if to := w.Target(); to != "" && to != w.Branch {
		out = append(out, workLine{text: "git switch " + t.Command(to) + " && git merge " + t.Line(w.Branch), command: true})
	}
	return out
}

// parked says where what an attempt did is kept.
func (t *teller) parked(a *queue.Attempt, k *queue.Parked) []workLine {
	text := "Put aside: story " + t.Line(a.Story) + ", attempt " + strconv.Itoa(max(1, a.Number)) +
		" (" + outcomeWord(a.Outcome) + "), " + plural(k.Files, "file", "files")
	diff := cut(k.Base) + " " + t.Line(k.Ref)
	return []workLine{
		{text: text, tone: warn},
		{text: "git diff " + diff, command: true},
		{text: "git diff --binary " + diff + " | git apply --3way", command: true},
	}
}

// cut is the short form of a commit's name.
func cut(id string) string { return id[:min(12, len(id))] }
