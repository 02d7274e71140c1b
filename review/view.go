package review

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/internal/term"
)

// What is drawn when the terminal does not say how large it is, or is smaller.
const (
	minWidth  = 40
	minHeight = 10
)

// sideBySide is the width from which the list stands beside what is told.
const sideBySide = 100

func (m *model) size() (width, height int) { return max(m.width, minWidth), max(m.height, minHeight) }

func (m *model) wide() bool { return m.width >= sideBySide }

// listRoom is the room for the list.
func (m *model) listRoom() (width, rows int) {
	width, height := m.size()
	if m.wide() {
		return min(max(width*2/5, 44), 76), height - 2
	}
	return width, max(3, min((height-3)/3, max(len(m.shown), 3)))
}

// detailRoom is the room for what is told about one action.
func (m *model) detailRoom() (width, rows int) {
	width, height := m.size()
	if m.mode == zoomed {
		return width, height - 2
	}
	lw, rows := m.listRoom()
	if m.wide() {
		return width - lw - 3, rows
	}
	return width, height - 3 - rows
}

func (m *model) detailWidth() int { w, _ := m.detailRoom(); return w }

// pageRoom is the room of what stands in front: a title above it, two lines below.
func (m *model) pageRoom() (width, rows int) {
	width, height := m.size()
	return width, height - 4
}

// View draws.
func (m *model) View() tea.View {
	text, cursor := m.render()
	v := tea.NewView(text)
	v.AltScreen = true
	v.Cursor = cursor
	return v
}

// render is the whole screen: height lines, none wider than width.
func (m *model) render() (string, *tea.Cursor) {
	width, height := m.size()
	var out []string
	var cursor *tea.Cursor
	switch m.mode {
	case helping:
		out = m.helpLines()
	case asking, running, reading:
		out = m.pageLines(width)
	case typing:
		out, cursor = m.formLines(width, height)
	case zoomed:
		out = append([]string{m.titleLine(width)}, m.detailLines(height-2)...)
	case listing, deciding:
		out = append([]string{m.titleLine(width)}, m.body(width)...)
	}
	for len(out) < height-1 {
		out = append(out, "")
	}
	out = append(out[:height-1], m.lastLine(width))
	return strings.Join(out, "\n"), cursor
}

// titleLine says how many wait, and what is shown.
func (m *model) titleLine(width int) string {
	waits := fmt.Sprintf("%d wait", m.waiting())
	switch {
	case !m.known:
		waits = "reading"
	case m.waiting() == 0:
		waits = "nothing waits"
	case m.waiting() == 1:
		waits = "1 waits"
	}
	left := "loop review  " + waits
	right := fmt.Sprintf("%s, %d of %d", filters[m.filter].name, min(m.cursor+1, len(m.shown)), len(m.shown))
	if m.search != "" {
		right += "  /" + term.Truncate(term.Line(m.search), 20)
	}
	if n := len(m.marks); n > 0 {
		right += fmt.Sprintf("  %d marked", n)
	}
	if m.o.ReadOnly != "" {
		left += "  (only to read)"
	}
	left = term.Truncate(left, width-term.Cells(right)-2)
	return m.styles.Bold.Render(left) + term.Spaces(width-term.Cells(left)-term.Cells(right)) + right
}

// body is the list, and beside it or below it what is told.
func (m *model) body(width int) []string {
	lw, rows := m.listRoom()
	list := m.listLines(lw, rows)
	_, height := m.detailRoom()
	told := m.detailLines(height)
	if !m.wide() {
		rule := m.styles.Faint.Render(strings.Repeat("─", width))
		return append(append(list, rule), told...)
	}
	bar := " " + m.styles.Faint.Render("│") + " "
	out := make([]string, rows)
	for i := range out {
		right := ""
		if i < len(told) {
			right = told[i]
		}
		out[i] = list[i] + bar + right
	}
	return out
}

// detailLines are the lines of what is told that fit.
func (m *model) detailLines(height int) []string {
	d := &m.detail
	if d.id == "" {
		return m.nothing()
	}
	top := max(0, min(d.top, len(d.rows)-height))
	var out []string
	for _, r := range d.rows[top:min(len(d.rows), top+height)] {
		out = append(out, m.styleOf(r.kind).Render(r.text))
	}
	return out
}

func (m *model) nothing() []string {
	switch {
	case !m.known:
		return nil
	case m.search != "":
		return []string{"Nothing here has that in it.", "", "esc ends the search, tab looks among others."}
	case m.filter == 0:
		return []string{"Nothing waits for you.", "", "tab shows what was decided, q closes."}
	}
	return []string{"None of these. tab goes on."}
}

func (m *model) styleOf(k kind) term.Style {
	switch k {
	case heading:
		return m.styles.Heading
	case warning:
		return m.styles.Warn
	case faint:
		return m.styles.Faint
	case plain:
	}
	return term.Style{}
}

// pageLines are a text in front, with its title and what is asked.
func (m *model) pageLines(width int) []string {
	_, rows := m.pageRoom()
	out := []string{m.styles.Heading.Render(term.Truncate(m.title, width))}
	for _, r := range m.page.view() {
		out = append(out, m.styleOf(r.kind).Render(r.text))
	}
	for len(out) < rows+1 {
		out = append(out, "")
	}
	p := &m.page
	at := fmt.Sprintf("lines to %d of %d", 0, p.lines)
	if v := p.view(); len(v) > 0 {
		at = fmt.Sprintf("lines %d to %d of %d", v[0].from+1, v[len(v)-1].from+1, p.lines)
	}
	if m.mode == asking && p.unseen() > 0 {
		at += fmt.Sprintf(", %d not seen yet", p.unseen())
	}
	out = append(out, m.styles.Faint.Render(term.Truncate("── "+at+" ", width)+strings.Repeat("─", max(0, width-term.Cells(at)-4))))
	return out
}

// formLines are a text that the person writes.
func (m *model) formLines(width, height int) ([]string, *tea.Cursor) {
	f := &m.form
	var out []string
	for _, l := range term.Wrap(f.label, width) {
		out = append(out, m.styles.Bold.Render(l))
	}
	if f.about != "" {
		about := wrapped(f.about, width-2, 0)
		if most := height / 2; len(about) > most {
			about = append(about[:most-1], row{text: term.Ellipsis})
		}
		out = append(out, "")
		for _, r := range about {
			out = append(out, "  "+r.text)
		}
	}
	for line := range strings.SplitSeq(f.note, "\n") {
		if line != "" {
			out = append(out, m.styles.Danger.Render(term.Truncate(line, width)))
		}
	}
	out = append(out, "")
	room := height - len(out) - 2
	if f.live != nil {
		room = 1
	}
	rows, x, y := f.draw(width-2, max(1, room))
	at := len(out) + y
	for _, r := range rows {
		out = append(out, "  "+r)
	}
	if f.live != nil {
		out = append(out, "")
		_, n := m.listRoom()
		out = append(out, m.listLines(width, min(n, height-len(out)-1))...)
	}
	return out, tea.NewCursor(2+x, at)
}

// lastLine is what there is to say, else what the keys do.
func (m *model) lastLine(width int) string {
	if m.note != "" {
		style := m.styles.Ok
		if m.bad {
			style = m.styles.Danger
		}
		return style.Render(term.Truncate(m.note, width))
	}
	return m.styles.Faint.Render(term.Truncate(m.hints(width), width))
}

// askHint is what is asked, and the keys that answer it.
func (m *model) askHint() string {
	q := m.ask
	if m.page.unseen() > 0 {
		return q.line() + "  space shows the rest, then y; or n"
	}
	with := ""
	if q.with != nil && q.with.in {
		with = "   i without " + q.with.what
	} else if q.with != nil {
		with = "   i with " + q.with.what
	}
	return q.line() + "  y yes   n no" + with
}

func (m *model) hints(width int) string {
	switch m.mode {
	case helping:
		return "any key goes back"
	case typing:
		return m.form.hint
	case asking:
		return m.askHint()
	case running:
		return "ctrl+c ends it"
	case reading:
		return "enter goes on   j/k pgdn/pgup scroll"
	case deciding:
		return "..."
	case zoomed:
		return "z back   j/k pgdn/pgup scroll   a approve   r reject   e edit   ? help"
	case listing:
	}
	a := m.current()
	if a == nil {
		return "tab what is listed   / search   u undo   ? help   q close"
	}
	if len(m.behind[a.ID]) > 0 && !m.laidOut[a.ID] && width < sideBySide {
		return "a approve   r reject all   + unfold   e edit   s skip   m mark   ? help   q"
	}
	if a.IsQuestion() {
		return "enter answer   r reject   s skip   u undo   z more   tab filter   / search   ? help   q"
	}
	hint := "a approve   r reject   e edit   s skip   m mark   z more   / search   ? help   q"
	if width >= sideBySide {
		hint = "a approve   r reject   e edit   A always   N never   s skip   m mark   u undo   z more   tab filter   / search   ? help   q"
	}
	return hint
}
