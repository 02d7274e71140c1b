package stories

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// boxKey is the name of the mark of a story that is a checkbox.
const boxKey = "[ ]"

var (
	planBox    = pattern(`^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\[\]]?)\](?:[ \t]+(.*))?$`)
	ignoredBox = pattern(`^[ \t]*>[> \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]`)
)

// plan reads a list of checkboxes, line by line. A checkbox is a story, unless
// it is indented under one that is: then it is a criterion of that story.
type plan struct {
	src   *source
	f     *File
	path  []section // the headings above this line, by level
	parts int       // numbered headings so far
	stack []entry   // the list items that this line may belong to
	items []*planItem
	skip  shield
	// titled says that the first heading of level 1 was seen: the title
	titled bool
	blank  bool // the line before was
	prose  int  // lines of text that belong to no story
	// asides are the lines of checkboxes that are no stories, by heading
	asides map[string][]int
}

// entry is a list item that is still open.
type entry struct {
	indent int
	item   *planItem // the story it is or lies in; nil = none
	kind   entryKind
}

type entryKind int

const (
	isStory entryKind = iota
	isCriterion
	isNote
)

// planItem is one story while its lines are being collected.
type planItem struct {
	line     int
	at       int // offset of what is in the box
	state    string
	para     []string // the text of the item itself
	more     []string // paragraphs that are indented under it
	criteria []*item
	notes    []string
	section  section
	rank     int
	below    bool   // something indented came: the paragraph is over
	open     int    // criteria that are not ticked
	text     string // of the item, without id and priority
}

// parsePlan reads a file in which the stories are checkboxes.
func parsePlan(src *source) (*File, error) {
	p := &plan{src: src, f: &File{}, asides: map[string][]int{}}
	for i := range src.lines {
		p.read(i, string(src.lineText(i+1)))
	}
	if len(p.items) == 0 {
		return nil, fmt.Errorf("%q: %w: the plan has no checkbox (\"- [ ] text\"); prose is not a list of stories", src.path, ErrNoStories)
	}
	if len(p.items) > maxStories {
		return nil, src.at(0, fmt.Sprintf("%d stories are too many", len(p.items)))
	}
	p.f.Project, p.f.Gates = planHead(src)
	if err := p.finish(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(p.asides)) {
		p.f.Warnings = append(p.f.Warnings, fmt.Sprintf("%s: a checkbox under %q is no story", lineList(p.asides[name]), visible(name)))
	}
	if p.prose > 0 {
		p.f.Unread = append(p.f.Unread, fmt.Sprintf("%d line(s) of text that belong to no story", p.prose))
	}
	return p.f, nil
}

func (p *plan) read(i int, line string) {
	blank := p.blank
	p.blank = strings.TrimSpace(line) == ""
	if p.skip.hides(line) {
		p.text(line, blank, true)
		return
	}
	if p.blank {
		p.text(line, blank, false)
		return
	}
	if m := heading().FindStringSubmatch(line); m != nil {
		p.heading(len(m[1]), m[2])
		return
	}
	if m := planBox().FindStringSubmatchIndex(line); m != nil {
		if state := line[m[4]:m[5]]; isBoxState(state) {
			at := p.src.textStart(i+1) + m[4]
			rest := ""
			if m[6] >= 0 {
				rest = line[m[6]:m[7]]
			}
			p.box(i, width(line), at, state, rest)
			return
		}
	}
	if m := bullet().FindStringSubmatch(line); m != nil {
		p.bullet(width(m[1]), line)
		return
	}
	if ignoredBox().MatchString(line) {
		p.warn(i, "this checkbox stands in a quotation and is no story")
	}
	p.text(line, blank, false)
	return
}

func (p *plan) warn(i int, text string) {
	p.f.Warnings = append(p.f.Warnings, fmt.Sprintf("line %d: %s", i+1, text))
}

func (p *plan) heading(level int, text string) {
	p.stack = nil
	for len(p.path) > 0 && p.path[len(p.path)-1].level >= level {
		p.path = p.path[:len(p.path)-1]
	}
	s := sectionOf(oneLine(text))
	s.level = level
	s.title = level == 1 && !p.titled
	p.titled = p.titled || s.title
	if s.numbered {
		p.parts++
	}
	p.path = append(p.path, s)
}

// section is what the headings above a line say about it.
func (p *plan) section() section {
	var all section
	var names []string
	for _, s := range p.path {
		if s.name != "" && !s.title {
			names = append(names, s.name)
		}
		all.kind = max(all.kind, s.kind)
		if s.priority != "" {
			all.priority = s.priority
		}
	}
	all.name = strings.Join(names, " > ")
	return all
}

// popTo closes the list items that a line with this indent is not part of.
func (p *plan) popTo(indent int) (parent *entry) {
	for len(p.stack) > 0 && p.stack[len(p.stack)-1].indent+1 >= indent {
		p.stack = p.stack[:len(p.stack)-1]
	}
	if len(p.stack) == 0 {
		return nil
	}
	return &p.stack[len(p.stack)-1]
}

func (p *plan) box(i, indent, at int, state, text string) {
	parent := p.popTo(indent)
	if parent != nil && parent.item != nil {
		it := parent.item
		it.below = true
		if isOpenBox(state) {
			it.open++
		}
		it.criteria = append(it.criteria, &item{indent: indent, lines: []string{text}})
		p.stack = append(p.stack, entry{indent, it, isCriterion})
		return
	}
	sec := p.section()
	switch {
	case parent == nil && indent >= 4:
		p.warn(i, "this checkbox is indented like code and is no story")
		return
	case strings.TrimSpace(text) == "":
		p.warn(i, "this checkbox has no text and is no story")
		return
	case sec.kind == aside:
		p.asides[sec.name] = append(p.asides[sec.name], i+1)
		p.stack = append(p.stack, entry{indent, nil, isNote})
		return
	}
	it := &planItem{line: i + 1, at: at, state: state, para: []string{text}, section: sec, rank: p.parts}
	if sec.kind == optional {
		it.rank = maxStories + 1
	}
	if sec.kind == finished && isOpenBox(state) {
		p.warn(i, fmt.Sprintf("this open checkbox stands under %q; its box decides: it is open", visible(sec.name)))
	}
	p.items = append(p.items, it)
	p.stack = append(p.stack, entry{indent, it, isStory})
}

func (p *plan) bullet(indent int, line string) {
	parent := p.popTo(indent)
	e := entry{indent: indent, kind: isNote}
	if parent != nil && parent.item != nil {
		e.item = parent.item
		e.item.below = true
		e.item.notes = append(e.item.notes, line)
	} else {
		p.prose++
	}
	p.stack = append(p.stack, e)
}

// text is any other line: it goes on with a list item, or ends the list.
func (p *plan) text(line string, afterBlank, hidden bool) {
	blank := strings.TrimSpace(line) == ""
	for len(p.stack) > 0 && !blank {
		top := p.stack[len(p.stack)-1]
		if width(line) > top.indent || !afterBlank && !hidden && !isRule(line) {
			break
		}
		p.stack = p.stack[:len(p.stack)-1]
	}
	if len(p.stack) == 0 {
		if !blank && !hidden && !isRule(line) {
			p.prose++
		}
		return
	}
	top := p.stack[len(p.stack)-1]
	it := top.item
	switch {
	case it == nil:
	case top.kind == isCriterion:
		c := it.criteria[len(it.criteria)-1]
		c.lines = append(c.lines, line)
	case top.kind == isNote:
		it.notes = append(it.notes, line)
	case blank || it.below || hidden:
		it.below = true
		it.more = append(it.more, line)
	default:
		it.para = append(it.para, line)
	}
}

// finish makes stories of what was collected.
func (p *plan) finish() error {
	same := map[string][]*planItem{} // by text, to tell equal ones apart
	for _, it := range p.items {
		s, pl := it.story()
		if s.ID == "" {
			same[it.text] = append(same[it.text], it)
		}
		p.f.Stories = append(p.f.Stories, s)
		p.f.impl.places = append(p.f.impl.places, pl)
	}
	done := ""
	for i, it := range p.items {
		s := &p.f.Stories[i]
		if s.ID == "" {
			twins := same[it.text]
			if it == twins[0] {
				if err := p.twice(twins); err != nil {
					return err
				}
			}
			s.ID = textID(s.Title, it.text, twins, it.section.name)
		}
		if s.Done {
			done = cmp.Or(done, it.state) // in the manner of the first one
		}
		if s.Done && it.open > 0 {
			p.warn(it.line-1, fmt.Sprintf("story %q is ticked, and %d box(es) under it are not; its own box decides", s.ID, it.open))
		}
		s.Hash = hashOf(s, false)
	}
	p.f.impl.words = words{done: cmp.Or(done, "x"), open: " "}
	return nil
}

// twice refuses the same text twice under one heading: the two could not be
// told apart when the file is read again.
func (p *plan) twice(twins []*planItem) error {
	first := map[string]int{}
	for _, it := range twins {
		if line, again := first[it.section.name]; again {
			return p.src.at(p.src.lines[it.line-1], fmt.Sprintf(
				"the same checkbox stands twice under one heading, on line %d and on line %d; give each a text or an id of its own (\"- [ ] A-1: text\")",
				line, it.line))
		}
		first[it.section.name] = it.line
	}
	return nil
}

// isBoxState says whether what stands in brackets is the state of a checkbox:
// nothing, an x, or a sign. A letter or digit is something else.
func isBoxState(s string) bool {
	if s == "" || s == " " || strings.EqualFold(s, "x") {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && unicode.IsPrint(r) && r != '^'
}

func isDoneBox(s string) bool {
	return strings.EqualFold(s, "x") || s == "✓" || s == "✔" || s == "✅"
}

func isOpenBox(s string) bool { return s == "" || s == " " || s == "/" || s == "~" }
