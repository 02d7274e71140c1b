package watch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/report"
)

// What is drawn when the terminal does not say how large it is, or is smaller.
const (
	minWidth  = 40
	minHeight = 10
)

// view is what is drawn, and nothing else: rendering asks nobody.
type view struct {
	s       Snapshot
	known   bool // s was read
	width   int
	height  int
	chosen  string // the story that the person went to; "" = the one under way
	help    bool
	lines   []string
	linesOf string
	trouble string
	styles  term.Styles
	loc     *time.Location
}

func newView(o Options) view {
	loc := o.Location
	if loc == nil {
		loc = time.UTC
	}
	return view{width: 80, height: 24, styles: term.NewStyles(o.Color), loc: loc}
}

func (v *view) take(s Snapshot) {
	v.s, v.known = s, true
	if !slices.ContainsFunc(s.Stories, func(st Story) bool { return st.ID == v.chosen }) {
		v.chosen = "" // it was of a run before
	}
}

// shown is the story whose lines are shown.
func (v *view) shown() string {
	if v.chosen != "" {
		return v.chosen
	}
	if v.s.Story != "" {
		return v.s.Story
	}
	if n := len(v.s.Stories); n > 0 {
		return v.s.Stories[0].ID
	}
	return ""
}

func (v *view) index() int {
	for i, s := range v.s.Stories {
		if s.ID == v.shown() {
			return i
		}
	}
	return 0
}

func (v *view) move(by int) {
	if n := len(v.s.Stories); n > 0 {
		v.chosen = v.s.Stories[min(max(v.index()+by, 0), n-1)].ID
	}
	if v.chosen == v.s.Story {
		v.chosen = "" // back at the one under way, which is followed
	}
}

// render is the whole screen: height lines, none wider than width.
func (v *view) render() string {
	width, height := max(v.width, minWidth), max(v.height, minHeight)
	var out []string
	switch {
	case v.help:
		out = v.helpLines(width)
	default:
		out = v.head(width)
		out = append(out, v.stories(width, max(3, (height-len(out)-3)/2))...)
		out = append(out, v.last(width, height-len(out)-1)...)
	}
	for len(out) < height-1 {
		out = append(out, "")
	}
	out = append(out[:height-1], v.styles.Faint.Render(term.Truncate("q quit   j/k another story   f the one under way   ? help", width)))
	return strings.Join(out, "\n")
}

// head says how the run stands.
func (v *view) head(width int) []string {
	s := &v.s
	style, text := v.styles.Bold, "Looking."
	if v.known {
		style, text = v.state()
	}
	right := fmt.Sprintf("$%.2f  %s", s.CostUSD, waits(s.Waiting))
	if !v.known || s.State == report.StateNone {
		right = ""
	}
	room := width - term.Cells(right) - 2
	out := []string{style.Render(term.Pad(term.Truncate(text, room), room)) + "  " + right}
	line := func(st term.Style, text string) { out = append(out, st.Render(term.Truncate(text, width))) }
	switch {
	case v.trouble != "":
		line(v.styles.Danger, "cannot look: "+term.Line(v.trouble))
	case s.State == report.StateRunning && s.Phase == "waiting":
		line(v.styles.Warn, fmt.Sprintf("waits until %s, %s more: %s", s.Until.In(v.loc).Format("2 Jan 15:04"), span(s.WaitSeconds), term.Line(s.Why)))
	case s.State == report.StateRunning && s.Phase == "checking":
		line(term.Style{}, "the client has ended; what it did is read, and gates run")
	case s.State == report.StateRunning && s.Doing != "":
		line(term.Style{}, "now  "+term.Command(s.Doing))
	case s.State == report.StateRunning && s.Number > 0:
		line(v.styles.Faint, "last sign of life "+span(s.QuietSeconds)+" ago")
	case s.Why != "":
		line(v.styles.Warn, "stopped early: "+term.Line(s.Why))
	default:
		line(term.Style{}, term.Line(s.Notice))
	}
	return append(out, "")
}

func (v *view) state() (term.Style, string) {
	s := &v.s
	switch s.State {
	case report.StateNone:
		return v.styles.Bold, "No run has worked in this repository yet."
	case report.StateStarting:
		return v.styles.Bold, fmt.Sprintf("A run is starting (pid %d).", s.Pid)
	case report.StateDied:
		return v.styles.Danger, fmt.Sprintf("LOOP DIED: pid %d is gone and wrote no end.", s.Pid)
	case report.StateEnded:
		return v.styles.Bold, "The run has ended after " + span(s.Seconds) + "."
	}
	text := fmt.Sprintf("Running for %s (pid %d), story %d of %d", span(s.Seconds), s.Pid, s.Number, s.Total)
	if n := len(s.InFlight); n > 1 {
		text = fmt.Sprintf("Running for %s (pid %d), %d stories at once of %d", span(s.Seconds), s.Pid, n, s.Total)
	} else if s.Story != "" {
		text += ": " + term.Line(s.Story)
	}
	switch s.StopAsked {
	case "now":
		return v.styles.Warn, text + ", stopping"
	case "":
		return v.styles.Bold, text
	}
	return v.styles.Warn, text + ", stops after it"
}

// stories are the rows round the one that is shown.
func (v *view) stories(width, rows int) []string {
	list := v.s.Stories
	at := v.index()
	from := max(0, min(at-rows/2, len(list)-rows))
	to := min(len(list), from+rows)
	var out []string
	for i, s := range list[from:to] {
		mark := "  "
		if from+i == at {
			mark = "> "
		}
		out = append(out, v.row(mark, s, width))
	}
	if hidden := len(list) - (to - from); hidden > 0 {
		out = append(out, v.styles.Faint.Render(fmt.Sprintf("  %d more (j/k)", hidden)))
	}
	return out
}

func (v *view) row(mark string, s Story, width int) string {
	const states, ids = 11, 14
	style := v.styles.Faint
	right := ""
	switch {
	case s.Ended && s.Passed:
		style = v.styles.Ok
	case s.Ended:
		style = v.styles.Danger
	case s.State == "running":
		style = v.styles.Bold
	}
	if s.Seconds > 0 || s.Ended {
		right = span(s.Seconds)
		if s.Ended {
			right += fmt.Sprintf("  $%.2f", s.CostUSD)
		}
		if s.Refused > 0 {
			right += "  " + strconv.Itoa(s.Refused) + " refused"
		}
	}
	room := width - 2 - states - 1 - 2 - term.Cells(right)
	text := term.Pad(term.Truncate(term.Line(s.ID), ids), min(ids, 8)) + "  " + term.Line(s.Title)
	if right == "" {
		return strings.TrimRight(mark+style.Render(term.Pad(term.Truncate(s.State, states), states))+" "+term.Truncate(text, room), " ")
	}
	return mark + style.Render(term.Pad(term.Truncate(s.State, states), states)) + " " + term.Pad(term.Truncate(text, room), room) + "  " + v.styles.Faint.Render(right)
}

// last are the last lines of the story that is shown.
func (v *view) last(width, rows int) []string {
	story := v.shown()
	if story == "" || rows < 2 {
		return nil
	}
	title := "-- " + term.Truncate(term.Line(story), width/2) + " "
	if v.chosen != "" && v.s.State == report.StateRunning && v.s.Story != "" {
		title += term.Truncate("(f goes back to "+term.Line(v.s.Story)+") ", max(0, width-term.Cells(title)))
	}
	out := []string{v.styles.Faint.Render(title + strings.Repeat("-", max(0, width-term.Cells(title))))}
	if v.linesOf != story || len(v.lines) == 0 {
		return append(out, v.styles.Faint.Render("  nothing yet"))
	}
	return append(out, v.lines[max(0, len(v.lines)-rows+1):]...)
}

func (v *view) helpLines(width int) []string {
	lines := []string{
		"loop watch", "",
		"  j, k       go to the next or the last story, and see its last lines",
		"  f          follow the story under way again",
		"  ?          this page, and back",
		"  q          close the view; the run goes on", "",
		"  loop logs STORY -f   the whole of a story, as it comes",
		"  loop list            what waits for a decision",
		"  loop stop            end the run after this story; --now at once",
	}
	for i, l := range lines {
		lines[i] = term.Truncate(l, width)
	}
	lines[0] = v.styles.Bold.Render(lines[0])
	return lines
}

// span has at most two units: 42s, 4m12s, 1h04m.
func span(seconds int64) string {
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}

func waits(n int) string {
	switch n {
	case 0:
		return "nothing waits"
	case 1:
		return "1 action waits"
	}
	return strconv.Itoa(n) + " actions wait"
}
