package report

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

// How much of what can be long is in the Markdown, where not all is asked for.
const (
	mdCommandLines = 12
	mdLineCells    = 400
)

// Markdown prints the report for an issue or a chat. Whatever an agent, a
// command or a file wrote stands in code spans and code blocks only, where no
// renderer makes a link, a mention, a reference, an image or markup of it.
func Markdown(w io.Writer, d queue.Snapshot, o Options) error {
	o.Width, o.Color = 0, false
	m := &markdown{printer: newPrinter(w, o)}
	m.mark = codeSpan
	v := newView(d, o)
	m.head(v)
	m.needs(v)
	m.stories(v)
	m.rest(v)
	return m.flush()
}

// markdown writes lines; tables are left out, because chats do not know them.
type markdown struct{ *printer }

func (m *markdown) title(s string) { m.line(); m.line("## ", s); m.line() }

// item is a line of a list.
func (m *markdown) item(parts ...string) { m.line("- " + strings.Join(parts, " · ")) }

// fence writes lines as a code block within an item, when depth is 2, or alone.
func (m *markdown) fence(depth int, lines []string, limit int) {
	if len(lines) == 0 {
		return
	}
	cut := 0
	if limit > 0 && len(lines) > limit && !m.o.All {
		cut, lines = len(lines)-limit, lines[:limit]
	}
	longest := 0
	for _, l := range lines {
		longest = max(longest, longestRun(l, '`'))
	}
	indent, ticks := strings.Repeat(" ", depth), strings.Repeat("`", max(3, longest+1))
	m.line(indent, ticks, "text")
	for _, l := range lines {
		if !m.o.All {
			l = truncateRunes(l, mdLineCells)
		}
		m.line(indent, chatMark.Replace(l))
	}
	m.line(indent, ticks)
	if cut > 0 {
		m.line(indent, plural(cut, "more line", "more lines"))
	}
}

func (m *markdown) head(v *view) {
	verdict := v.verdict(m.o)
	m.line("# ", verdict.Text)
	m.line()
	m.line(joinToned(m.when(v), " · "))
	for _, a := range m.alarms(v) {
		m.line()
		m.line("**", a.text, "**")
		if a.detail != "" {
			m.line()
			m.line(a.detail)
		}
	}
	if len(v.stories)+len(v.Actions) > 0 {
		m.line()
		m.line("**", joinToned(m.printer.needs(v), ", "), "**")
	}
}

func joinToned(list []toned, sep string) string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.text
	}
	return strings.Join(out, sep)
}

func (m *markdown) needs(v *view) {
	ran, kept, guard := v.listings(!m.o.All)
	if len(v.waiting) > 0 {
		m.title("DEFERRED ACTIONS REQUIRE REVIEW")
		m.line(strconv.Itoa(len(v.waiting)), " external command(s) detected.")
		if text := m.hiddenWords(len(v.waiting), ran, kept, guard); text != "" {
			m.line(text)
		}
		m.entries(v, ran)
		m.entries(v, kept)
	}
	if len(v.questions) > 0 {
		m.title(plural(len(v.questions), "question waits", "questions wait") + " for your answer")
		for _, a := range v.questions {
			m.item("**"+codeSpan(number(a))+"**", "story "+m.Line(a.Story))
			m.fence(2, strings.Split(strings.Trim(m.Lines(a.Command), "\n"), "\n"), questionLines)
		}
	}
	if grave := v.graveDoubts(); len(grave)+len(v.tampering) > 0 {
		m.title("What touched the guard")
		m.doubts(grave)
		m.entries(v, guard)
	}
	if len(v.open) > 0 {
		m.title("Approved, but not finished")
		first, more := firstOf(v.open, !m.o.All)
		for _, a := range first {
			m.item(codeSpan(number(a)), m.oneLine(what(a)), codeSpan(openWord(a)))
		}
		if more != "" {
			m.item(more)
		}
	}
	var more []string
	if n := len(v.mentions); n > 0 {
		more = append(more, plural(n, "mention", "mentions")+", words only")
	}
	if n := m.o.Earlier; n > 0 {
		more = append(more, strconv.Itoa(n)+" more of other sessions still wait")
	}
	if text := v.decidedWords(); text != "" {
		more = append(more, "decided before: "+text)
	}
	if len(more) > 0 {
		m.line()
		m.line(strings.Join(more, " · "))
	}
}

func (m *markdown) entries(v *view, b listing) {
	for i := range b.items {
		m.line()
		m.entry(v, &b.items[i])
	}
	if len(b.rest) > 0 {
		m.line()
		m.item(m.byFamily(b.rest))
	}
}

// entry is an action: what, then where and how far it can be undone, then why.
func (m *markdown) entry(v *view, it *item) {
	a := it.Action
	head := "**" + codeSpan(how(a)) + "**"
	if len(v.ranAlready) > 0 && slices.Contains(v.ranAlready, a) {
		head += " **" + escapedWords + "**"
	}
	m.item(head, "story "+m.Line(a.Story), stamp(a.DetectedAt))
	m.line()
	m.fence(2, m.commandLines(what(a)), mdCommandLines)
	m.line()
	m.line("  ", strings.Join(m.facts(v, a), " · "))
	if q := m.ownWords(a); q.label != "" {
		m.line()
		m.line("  ", strings.TrimSuffix(q.label+": "+q.text, ": "))
	}
	if text := m.unshown(a); text != "" {
		m.line()
		m.line("  ", text)
	}
	if len(it.spellings) > 0 {
		m.line()
		m.line("  tried again as ", codeSpan(numbersOf(it.spellings)))
	}
	if n := len(it.like); n > 0 {
		m.line()
		m.line("- ", strconv.Itoa(n), " more of this kind: ", codeSpan(truncateRunes(numbersOf(it.like), mdLineCells)))
	}
}

// oneLine is a command on one line, cut.
func (m *markdown) oneLine(command string) string {
	s := m.Masker.Command(command)
	if !m.o.All {
		s = truncateRunes(s, mdLineCells)
	}
	return codeSpan(s)
}

func (m *markdown) doubts(list []doubt) {
	for _, d := range list {
		m.item("**"+m.Line(d.Kind)+"**", m.doubtText(d))
	}
}

func (m *markdown) stories(v *view) {
	for _, s := range v.sections() {
		if s.title == claimedTitle {
			m.claimed(v, s.list)
			continue
		}
		if len(s.list) > 0 {
			m.title(s.title + " (" + strconv.Itoa(len(s.list)) + ")")
			m.storyItems(v, s.list)
		}
	}
}

// claimed is what nothing proves: stories, the agent's claims, what it left in
// memory files, and what loop could not vouch for.
func (m *markdown) claimed(v *view, list []*story) {
	claims, rest := v.otherDoubts()
	if len(list)+len(claims) > 0 || v.hasMemory() {
		m.title(claimedTitle)
		m.storyItems(v, list)
		m.doubts(claims)
		for i := range v.Attempts {
			for _, c := range v.Attempts[i].Memory {
				m.item(m.Command(c.File), "story "+m.Line(v.Attempts[i].Story), "what the next attempt will read as fact")
				m.fence(2, m.diffBody(c.Diff), diffLines)
			}
		}
	}
	if len(rest) > 0 {
		m.title("What loop could not vouch for")
		m.doubts(rest)
	}
}

func (m *markdown) storyItems(v *view, list []*story) {
	for _, s := range list {
		r := newRow(s)
		parts := []string{codeSpan(r.word), m.Line(s.id) + " " + m.Line(s.title)}
		if len(s.attempts) > 0 {
			parts = append(parts, plural(len(s.attempts), "attempt", "attempts"), r.time, r.cost, "gates "+r.gates)
		}
		m.item(parts...)
		for _, t := range m.remarks(s, v) {
			m.line("  - ", t.text)
		}
		for _, g := range s.failedGates() {
			m.line("  - gate ", m.Command(g.Command), " (", m.gateEnd(g, mdLineCells), ")")
			for _, n := range m.gateNotes(g) {
				m.line("    - ", n.text)
			}
			m.fence(4, m.gateOutput(g), 0)
		}
	}
}

func (m *markdown) rest(v *view) {
	if list, followed := m.eventsOf(v); followed {
		m.title("What went wrong, and when")
		for _, e := range list {
			m.item(e.at.In(m.o.location()).Format(time.TimeOnly), "story "+e.story, e.text)
		}
	}
	if len(v.Attempts) > 0 {
		m.title("Cost and time")
		for _, s := range m.costLines(v) {
			m.item(s)
		}
	}
	if lines := m.workLines(v); len(lines) > 0 {
		m.title("Where the work is")
		whole := *m.teller // a command is one code span, not one with spans in it
		whole.mark = nil
		unmarked := whole.workLines(v)
		for i, l := range lines {
			if l.command {
				l.text = codeSpan(unmarked[i].text)
			}
			m.item(l.text)
		}
	}
	if v.Session.ID == "" {
		return
	}
	m.line()
	for i := range v.sessions {
		m.item(m.sessionParts(&v.sessions[i])...)
	}
}

// chatMark begins what a chat takes for a mention or a link even within code.
var chatMark = strings.NewReplacer("<!", `\x3c!`, "<@", `\x3c@`, "<#", `\x3c#`, "<http", `\x3chttp`, "<mailto", `\x3cmailto`)

// codeSpan is a text as a Markdown code span, with a fence that is longer than
// what is in it.
func codeSpan(s string) string {
	if strings.TrimSpace(s) == "" {
		return "–"
	}
	s = chatMark.Replace(s)
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' || s[len(s)-1] == ' ' {
		pad = " "
	}
	return ticks + pad + s + pad + ticks
}

// longestRun is the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// truncateRunes cuts a quoted text to n characters.
func truncateRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
