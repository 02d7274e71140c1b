package report

import (
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// questionLines is how many lines of one question are shown at first.
const questionLines = 12

// questions is the block of what agents asked: the work of a whole story waits
// for a word.
func (p *printer) questions(v *view) {
	if len(v.questions) == 0 {
		return
	}
	p.line()
	p.line(p.Danger.Render(plural(len(v.questions), "QUESTION WAITS", "QUESTIONS WAIT") + " FOR YOUR ANSWER"))
	for _, a := range v.questions {
		p.line()
		n := strconv.FormatUint(a.Number, 10)
		head := "#" + n + " story " + p.o.fit(p.Line(a.Story), 24)
		if a.StoryTitle != "" {
			head += ": " + p.Line(a.StoryTitle)
		}
		p.line(p.Bold.Render(p.o.fit(head, p.width)))
		limit := questionLines
		if p.o.All {
			limit = 0
		}
		p.block(always(term.Style{}), 2, p.questionText(a, p.width-2), limit)
		if a.Checkpoint != "" {
			p.line("  ", p.Faint.Render("loop approve "+n), dot, p.Faint.Render("loop answer "+n+` "..."`))
			continue
		}
		p.line("  ", p.Faint.Render("loop answer "+n+` "..."`))
	}
}

// questionText is what was asked, in lines of at most n cells.
func (p *printer) questionText(a *queue.Action, n int) []string {
	var out []string
	for l := range strings.SplitSeq(strings.Trim(p.Lines(a.Command), "\n"), "\n") {
		out = append(out, term.Wrap(l, min(n, proseWidth))...)
	}
	return out
}

// oneQuestion is a question as `loop show` has it: nothing was called, so
// most of what is said of a call is not there.
func (p *printer) oneQuestion(a *queue.Action) {
	p.line(p.Bold.Render("#"+strconv.FormatUint(a.Number, 10)), " ", p.statusText(a), dot, "question")
	p.line()
	p.block(always(p.Bold), 2, p.questionText(a, p.width-2), 0)
	p.line()
	p.origin(a)
	p.field("why", p.Line(a.Why))
	p.history(a)
	if a.Status == queue.Pending {
		n := strconv.FormatUint(a.Number, 10)
		p.line()
		hints := [][]span{{{"loop answer " + n + ` "..."`, term.Style{}}}, {{"loop reject " + n, term.Style{}}}}
		if a.Checkpoint != "" {
			hints = append([][]span{{{"loop approve " + n, term.Style{}}}}, hints...)
		}
		p.flow(0, hints...)
	}
}
