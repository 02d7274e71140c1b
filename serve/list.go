package serve

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// onePage is how many actions a page of the list has.
const onePage = 40

// The sections of the list, in their order.
const (
	escaped = iota
	waiting
	questions
	begun
	mentions
	decided
)

var sectionTitles = [...]struct{ id, title string }{
	escaped: {"escaped", "Got past the firewall"}, waiting: {"waiting", "Kept back"}, questions: {"questions", "Questions"},
	begun: {"begun", "Approved, and not ended well"}, mentions: {"mentions", "Only words"}, decided: {"decided", "Decided"},
}

func sectionOf(a *queue.Action) int {
	switch a.Status {
	case queue.Pending:
	case queue.Approved, queue.Replaying, queue.Failed, queue.Unknown:
		return begun
	case queue.Replayed, queue.Rejected, queue.Superseded, queue.Answered:
		return decided
	}
	switch {
	case a.IsQuestion():
		return questions
	case a.Evidence == policy.Executed:
		return escaped
	case a.Evidence == policy.Mentioned:
		return mentions
	}
	return waiting
}

// order is what matters first: within a section what touched the guard, then
// as they came; of the decided ones the last first.
func order(a, b queue.Action) int {
	in := sectionOf(&a)
	if c := cmp.Compare(in, sectionOf(&b)); c != 0 {
		return c
	}
	switch {
	case in == decided:
		return cmp.Compare(b.Number, a.Number)
	case a.Tampering != b.Tampering && a.Tampering:
		return -1
	case a.Tampering != b.Tampering:
		return 1
	}
	return cmp.Compare(a.Number, b.Number)
}

func (s *server) list(w http.ResponseWriter, r *http.Request) error {
	all, err := s.d.Actions(r.Context())
	if err != nil {
		return err
	}
	slices.SortFunc(all, order)
	count := [len(sectionTitles)]int{}
	for i := range all {
		count[sectionOf(&all[i])]++
	}
	v := page{Title: fmt.Sprintf("%d waiting", count[escaped]+count[waiting]+count[questions]), List: &listPage{}}
	switch {
	case count[escaped] > 0:
		v.Text, v.Tone = fmt.Sprintf("%d got past the firewall", count[escaped]), "danger"
	case len(all) == 0:
		v.Text = "There are no actions."
	}
	from, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("from"), "0"))
	if err != nil || from < 0 || from > len(all) {
		from = 0
	}
	to := min(len(all), from+onePage)
	if from > 0 {
		v.List.Newer = "?from=" + strconv.Itoa(max(0, from-onePage))
	}
	if to < len(all) {
		v.List.More = "?from=" + strconv.Itoa(to)
	}
	if v.List.Sections, err = s.sections(r, all[from:to]); err != nil {
		return err
	}
	s.page.write(w, http.StatusOK, v)
	return nil
}

// sections are actions in their order, those that wait as the report shows
// them and the others in a line each.
func (s *server) sections(r *http.Request, list []queue.Action) (out []section, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	o, err := s.d.Options(r.Context(), queue.Action{})
	if err != nil {
		return nil, err
	}
	pieces, err := report.NewPieces(o)
	if err != nil {
		return nil, err
	}
	last := -1
	for _, a := range list {
		in := sectionOf(&a)
		if in != last {
			out, last = append(out, section{ID: sectionTitles[in].id, Title: sectionTitles[in].title}), in
		}
		at := &out[len(out)-1]
		if in >= begun {
			what := term.Truncate(term.Command(cmp.Or(a.Command, a.Excerpt, a.Tool)), 160)
			at.Rows = append(at.Rows, row{a.Number, term.Line(string(a.Status)), what})
			continue
		}
		e := entry{Number: a.Number, Read: fmt.Sprintf("Read all of #%d, or reject it", a.Number)}
		switch {
		case a.Checkpoint != "":
			e.Read = fmt.Sprintf("Look at #%d and let its stories go on, or hold them", a.Number)
		case a.IsQuestion():
			e.Read = fmt.Sprintf("Answer #%d, or reject it", a.Number)
		}
		if e.Piece, err = pieces.Action(a, s.o.Dir); err != nil {
			return nil, err
		}
		if queue.MayReplay(a, false) == nil {
			e.Run = fmt.Sprintf("See what running #%d would do", a.Number)
		}
		at.Entries = append(at.Entries, e)
	}
	return out, nil
}
