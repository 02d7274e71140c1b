package stories

import (
	"strings"
)

var (
	checkbox        = pattern(`^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX/~-]\](?:[ \t]+(.*))?$`)
	bullet          = pattern(`^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$`)
	heading         = pattern(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	criteriaHeading = pattern(`(?i)^(?:acceptance(?: criteria)?|criteria|done when|definition of done|checklist)\W*$`)
	fence           = pattern("^[ \t]*(`{3,}|~{3,})(.*)$")
)

// readBody reads the text of a story: the title from the first heading when
// the front matter has none, the criteria from the checkboxes, what stands
// before them as description and what comes after as notes.
func readBody(s *Story, lines []string) {
	lines = takeTitle(s, lines)
	var before, after []string
	var items []*item
	var open *item // the criterion that a line may still belong to
	var skip shield
	for _, line := range lines {
		hidden := skip.hides(line)
		if m := checkbox().FindStringSubmatch(line); m != nil && !hidden && (open == nil || !open.inside(line)) {
			open = &item{indent: width(m[1]), lines: []string{m[2]}}
			items = append(items, open)
			continue
		}
		switch {
		case open != nil && (open.inside(line) || !hidden && open.holds(line)):
			open.lines = append(open.lines, unticked(line))
			continue
		case len(items) > 0:
			after = append(after, line)
		default:
			before = append(before, line)
		}
		open = nil
	}
	s.Criteria = texts(items)
	if len(items) > 0 {
		before = dropLastHeading(before)
	}
	s.Description = strings.TrimSpace(strings.Join(before, "\n"))
	s.Notes = strings.TrimSpace(strings.Join(after, "\n"))
}

// unticked is a line without the state of its checkbox: ticking a step of a
// criterion is progress and no edit of its text.
func unticked(line string) string {
	if m := planBox().FindStringSubmatchIndex(line); m != nil && isBoxState(line[m[4]:m[5]]) {
		return line[:m[4]] + " " + line[m[5]:]
	}
	return line
}

// takeTitle takes the title out of the lines: the first heading that is not
// merely the one over the criteria. A title in the front matter wins; then
// only a heading that repeats it is taken out.
func takeTitle(s *Story, lines []string) []string {
	var skip shield
	for i, line := range lines {
		if skip.hides(line) {
			continue
		}
		m := heading().FindStringSubmatch(line)
		if m == nil || m[2] == "" || criteriaHeading().MatchString(m[2]) {
			continue
		}
		title := oneLine(m[2])
		if s.Title != "" && s.Title != title {
			return lines
		}
		s.Title = title
		return append(append([]string{}, lines[:i]...), lines[i+1:]...)
	}
	return lines
}

// dropLastHeading drops the heading of the list of criteria.
func dropLastHeading(lines []string) []string {
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if heading().MatchString(lines[i]) {
			return lines[:i]
		}
		break
	}
	return lines
}

// shield knows which lines lie in a fenced block or a comment, where a
// checkbox is an example and not a criterion.
type shield struct {
	fence   string // the opening fence, "" outside
	comment bool
}

func (s *shield) hides(line string) bool {
	if s.fence != "" {
		m := fence().FindStringSubmatch(line)
		if m != nil && m[1][0] == s.fence[0] && len(m[1]) >= len(s.fence) && strings.TrimSpace(m[2]) == "" {
			s.fence = ""
		}
		return true
	}
	if s.comment {
		s.comment = !strings.Contains(line, "-->")
		return true
	}
	if m := fence().FindStringSubmatch(line); m != nil && (m[1][0] == '~' || !strings.Contains(m[2], "`")) {
		s.fence = m[1]
		return true
	}
	if i := strings.LastIndex(line, "<!--"); i >= 0 && !strings.Contains(line[i:], "-->") {
		s.comment = true
		return strings.TrimSpace(line[:i]) == ""
	}
	return false
}

// item is one list item while its lines are being collected.
type item struct {
	indent int
	lines  []string
}

// holds says whether a line belongs to the item: it is indented deeper, or it
// goes on with the paragraph.
func (it *item) holds(line string) bool {
	if it == nil {
		return false
	}
	if strings.TrimSpace(line) == "" || it.inside(line) {
		return true
	}
	last := it.lines[len(it.lines)-1]
	return strings.TrimSpace(last) != "" && !bullet().MatchString(line) && !heading().MatchString(line) && !isRule(line)
}

func (it *item) inside(line string) bool {
	return strings.TrimSpace(line) == "" || width(line) > it.indent
}

// text is the item without the indent that its lines have in common.
func (it *item) text() string {
	common := -1
	for _, line := range it.lines[1:] {
		if w := width(line); strings.TrimSpace(line) != "" && (common < 0 || w < common) {
			common = w
		}
	}
	out := []string{strings.TrimSpace(it.lines[0])}
	for _, line := range it.lines[1:] {
		trimmed := strings.TrimLeft(line, " \t")
		pad := max(0, width(line)-max(common, 0))
		out = append(out, strings.TrimRight(strings.Repeat(" ", pad)+trimmed, " \t"))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// width is the indent of a line in columns.
func width(line string) int {
	w := 0
	for _, c := range line {
		switch c {
		case ' ':
			w++
		case '\t':
			w += 4 - w%4
		default:
			return w
		}
	}
	return w
}

// texts is the text of each item that has any.
func texts(items []*item) []string {
	var all []string
	for _, it := range items {
		if t := it.text(); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// bullets reads a list that stands as Markdown in one string. Text outside
// the bullets is an entry of its own.
func bullets(text string) []string {
	var items []*item
	var open *item
	var skip shield
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		hidden := skip.hides(line)
		m := bullet().FindStringSubmatch(line)
		switch {
		case m != nil && !hidden && (open == nil || !open.inside(line)):
			rest := m[2]
			if c := checkbox().FindStringSubmatch(line); c != nil {
				rest = c[2]
			}
			open = &item{indent: width(m[1]), lines: []string{rest}}
			items = append(items, open)
		case open != nil && (hidden || open.holds(line)):
			open.lines = append(open.lines, line)
		case strings.TrimSpace(line) == "":
			open = nil
		default:
			open = &item{indent: width(line), lines: []string{line}}
			items = append(items, open)
		}
	}
	return texts(items)
}
