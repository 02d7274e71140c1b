package review

import (
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// listLines are the rows round the cursor, as many as fit, padded to the width.
// Only these are laid out: the list may have thousands.
func (m *model) listLines(width, rows int) []string {
	from := max(0, min(m.cursor-rows/2, len(m.shown)-rows))
	wide := 2
	for i := from; i < min(len(m.shown), from+rows); i++ {
		wide = max(wide, len(number(m.all[m.shown[i]])))
	}
	out := make([]string, rows)
	for i := range out {
		at := from + i
		if at >= len(m.shown) {
			out[i] = term.Spaces(width)
			continue
		}
		out[i] = m.listRow(&m.all[m.shown[at]], at == m.cursor, wide, width)
	}
	return out
}

const (
	stateCells = 9
	storyCells = 8
)

func (m *model) listRow(a *queue.Action, on bool, wide, width int) string {
	mark := " "
	if on {
		mark = ">"
	}
	if m.marks[a.ID] {
		mark += "*"
	} else {
		mark += " "
	}
	word, style := m.state(a)
	left := mark + term.Pad(number(*a), wide) + " "
	used := term.Cells(left)
	state := term.Pad(term.Truncate(word, stateCells), stateCells) + " "
	used += term.Cells(state)
	story := ""
	if width >= 60 {
		story = term.Pad(term.Truncate(term.Line(a.Story), storyCells), storyCells) + " "
		used += term.Cells(story)
	}
	run := a.AsRun()
	count := m.count(a)
	used += term.Cells(count)
	text := count + term.TruncateMiddle(term.Command(clip(run.Command)), width-used)
	used -= term.Cells(count)
	fill := term.Spaces(width - used - term.Cells(text))
	if on {
		return m.styles.Bold.Render(left) + style.Render(state) + m.styles.Faint.Render(story) + m.styles.Bold.Render(text) + fill
	}
	return left + style.Render(state) + m.styles.Faint.Render(story) + text + fill
}

// clip bounds what is quoted for a row: beginning and end are all that it shows.
func clip(s string) string {
	const most = 2000
	if len(s) <= 2*most {
		return s
	}
	return s[:most] + term.Ellipsis + s[len(s)-most:]
}

// state is the word for how an action stands.
func (m *model) state(a *queue.Action) (string, term.Style) {
	switch a.Status {
	case queue.Pending:
	case queue.Failed, queue.Unknown:
		return string(a.Status), m.styles.Danger
	case queue.Replayed:
		return "done", m.styles.Ok
	case queue.Replaying, queue.Approved:
		return string(a.Status), m.styles.Warn
	case queue.Rejected, queue.Superseded, queue.Answered:
		return term.Truncate(string(a.Status), stateCells), m.styles.Faint
	default:
		return term.Line(string(a.Status)), m.styles.Warn
	}
	switch {
	case a.Evidence == policy.Executed:
		return "GOT OUT", m.styles.Danger
	case a.IsQuestion() && a.Checkpoint != "":
		return "stop", m.styles.Warn
	case a.IsQuestion():
		return "asks", m.styles.Warn
	case a.Tampering:
		return "tampering", m.styles.Danger
	case a.Edited != nil:
		return "edited", m.styles.Warn
	case a.Evidence == policy.Written:
		return "written", term.Style{}
	case a.Evidence == policy.Mentioned:
		return "words", m.styles.Faint
	case a.Asked:
		return "asked", m.styles.Warn
	}
	return term.Line(string(a.Evidence)), term.Style{}
}
