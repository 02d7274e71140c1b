package stories

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var fieldLine = pattern(`^[ \t]*(?:[-*+][ \t]+)?\*\*([A-Za-z][A-Za-z ]{0,30})(?::\*\*|\*\*:)([ \t]*.*?)[ \t]*$`)

// block is one heading that is a story, with the lines under it.
type block struct {
	line  int // 1-based, of the heading
	id    string
	title string
	group string
	lines []int // 1-based
}

// parseHeadings reads a document in which headings are the stories: the task
// plans of ralphex, where all boxes of a task are its mark, and the prd.md of
// chief, where the status line is and the boxes are criteria.
func parseHeadings(src *source, form string) (*File, error) {
	f := &File{}
	blocks, outside := blocksOf(src, form)
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%q: %w: it has no heading like %q", src.path, ErrNoStories, exampleHeading(form))
	}
	if len(blocks) > maxStories {
		return nil, src.at(0, fmt.Sprintf("%d stories are too many", len(blocks)))
	}
	f.Project, f.Gates = planHead(src)
	if len(outside) > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s: a checkbox outside of the stories is none", lineList(outside)))
	}
	for i := range blocks {
		b := &blocks[i]
		s, pl, warning, err := b.story(src, form)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			f.Warnings = append(f.Warnings, warning)
		}
		s.Hash = hashOf(&s, false)
		f.Stories = append(f.Stories, s)
		f.impl.places = append(f.impl.places, pl)
	}
	if form == FormTasks {
		f.impl.words = words{done: "x", open: " "}
		return f, f.someBoxes(src)
	}
	f.impl.words = words{done: "done", open: "todo"}
	f.countOn()
	return f, nil
}

// someBoxes refuses a plan in which no task has a checkbox: it is read by
// people and keeps its state elsewhere.
func (f *File) someBoxes(src *source) error {
	for i := range f.impl.places {
		if len(f.impl.places[i].marks) > 0 {
			return nil
		}
	}
	return fmt.Errorf("%q: %w: none of its %d tasks has a checkbox (\"- [ ] text\"), so nothing could say that it is done",
		src.path, ErrNoStories, len(f.Stories))
}

// countOn gives a story without a priority the next one after the greatest
// before it, as chief does.
func (f *File) countOn() {
	if !slices.ContainsFunc(f.Stories, func(s Story) bool { return s.HasPriority }) {
		return
	}
	last := 0.0
	for i := range f.Stories {
		s := &f.Stories[i]
		if !s.HasPriority {
			s.Priority, s.HasPriority = last+1, true
		}
		last = max(last, s.Priority)
	}
}

// lineList names lines for a message, the first of them one by one.
func lineList(lines []int) string {
	const named = 5
	texts := make([]string, 0, named)
	for _, n := range lines[:min(len(lines), named)] {
		texts = append(texts, strconv.Itoa(n))
	}
	list := strings.Join(texts, ", ")
	switch {
	case len(lines) == 1:
		return "line " + list
	case len(lines) > named:
		list += fmt.Sprintf(" and %d more", len(lines)-named)
	}
	return "lines " + list
}

func exampleHeading(form string) string {
	if form == FormChief {
		return "### US-001: title"
	}
	return "### Task 1: title"
}

// blocksOf cuts a document at its headings. outside is the lines of open
// checkboxes that are in no story.
func blocksOf(src *source, form string) (blocks []block, outside []int) {
	var skip shield
	level, group := 0, ""
	for i := range src.lines {
		line := string(src.lineText(i + 1))
		hidden := skip.hides(line)
		if m := heading().FindStringSubmatch(line); m != nil && !hidden {
			if b := blockAt(line, form); b != nil {
				level = len(m[1])
				b.line, b.group = i+1, group
				blocks = append(blocks, *b)
				continue
			}
			if level == 0 || endsStory(len(m[1]), level, form) {
				level = 0
				if group = ""; len(m[1]) > 1 && sectionOf(m[2]).kind != aside {
					group = oneLine(m[2])
				}
			}
		}
		switch {
		case level > 0:
			b := &blocks[len(blocks)-1]
			b.lines = append(b.lines, i+1)
		case !hidden:
			if m := planBox().FindStringSubmatch(line); m != nil && isOpenBox(m[2]) {
				outside = append(outside, i+1)
			}
		}
	}
	return blocks, outside
}

// endsStory says whether a heading ends the story under one of another level.
// Within a task, ### is a part of it; within a story of chief's it is not.
func endsStory(level, story int, form string) bool {
	if form == FormChief {
		return level <= story
	}
	return level <= 2 || level < story
}

func blockAt(line, form string) *block {
	if form == FormChief {
		if m := chiefHeading().FindStringSubmatch(line); m != nil {
			return &block{id: m[1], title: oneLine(m[2])}
		}
		return nil
	}
	if m := taskHeading().FindStringSubmatch(line); m != nil {
		return &block{id: m[1], title: oneLine(m[2])}
	}
	return nil
}

// story is the block as a story.
func (b *block) story(src *source, form string) (Story, place, string, error) {
	s := Story{ID: b.id, Title: b.title, Group: b.group, Line: b.line}
	pl := place{}
	var text []string
	var states []mark
	names := map[string]int{}
	var skip shield
	for _, n := range b.lines {
		line := string(src.lineText(n))
		if skip.hides(line) {
			text = append(text, line)
			continue
		}
		if m := planBox().FindStringSubmatchIndex(line); m != nil && isBoxState(line[m[4]:m[5]]) {
			state, at := line[m[4]:m[5]], src.textStart(n)+m[4]
			states = append(states, mark{
				key: boxName(names, line[m[5]+1:]), start: at, end: at + len(state), raw: state,
				known: true, done: isDoneBox(state),
			})
			line = line[:m[4]] + " " + line[m[5]:] // ticking it is no edit of the text
		} else if isRule(line) {
			continue
		} else if form == FormChief {
			rest, err := b.field(src, n, line, &s, &pl)
			if err != nil {
				return s, pl, "", err
			}
			if rest == "" && line != "" {
				continue
			}
			line = rest
		}
		text = append(text, line)
		s.Depends = append(s.Depends, dependsInText(line)...)
	}
	body := Story{Title: s.Title}
	readBody(&body, text)
	s.Description, s.Criteria, s.Notes = body.Description, body.Criteria, body.Notes
	if form == FormChief {
		pl.insert = b.slot(src)
		warning := b.judge(&s, &pl, states)
		return s, pl, warning, nil
	}
	return s, pl, b.boxes(&s, &pl, states), nil
}

// boxName names a box by its text, so that it is known again when another was
// put before it.
func boxName(seen map[string]int, text string) string {
	name := boxKey + " " + firstWords(text)
	if seen[name]++; seen[name] > 1 {
		name += fmt.Sprintf(" (%d)", seen[name])
	}
	return name
}

// boxes makes all boxes of a task its marks: it is done when all are ticked.
func (b *block) boxes(s *Story, pl *place, states []mark) (warning string) {
	if len(states) == 0 {
		s.Held = "it has no checkbox, so nothing in it could say that it is done"
		return ""
	}
	ticked, dropped := 0, 0
	for _, m := range states {
		if m.done {
			ticked++
		}
		if !m.done && !isOpenBox(m.raw) {
			dropped++
			continue // a box that says neither is left alone
		}
		pl.marks = append(pl.marks, m)
	}
	if len(pl.marks) == 0 {
		pl.marks = states
		s.Held = fmt.Sprintf("its boxes are all %q", "["+states[0].raw+"]")
		return ""
	}
	s.Done = ticked == len(pl.marks)
	s.InProgress = ticked > 0 && !s.Done
	pl.done = s.Done
	if dropped > 0 {
		return fmt.Sprintf("line %d: task %q has %d box(es) that are neither open nor ticked; they are left alone", b.line, s.ID, dropped)
	}
	return ""
}

// field takes over a line "**Name:** value" of chief's form and returns what
// of it is text of the story.
func (b *block) field(src *source, n int, line string, s *Story, pl *place) (rest string, err error) {
	m := fieldLine().FindStringSubmatchIndex(line)
	if m == nil {
		return line, nil
	}
	value := strings.TrimSpace(line[m[4]:m[5]])
	switch name := strings.ToLower(line[m[2]:m[3]]); name {
	case "status":
		if len(pl.marks) > 0 {
			return "", src.at(src.lines[n-1], fmt.Sprintf("story %q has two status lines, on line %d and on line %d",
				s.ID, src.line(pl.marks[0].start), n))
		}
		at := src.textStart(n)
		pl.marks = []mark{{key: statusKey, start: at + m[4], end: at + m[5], raw: line[m[4]:m[5]], known: true, done: isDoneWord(value)}}
	case "priority":
		s.Priority, s.HasPriority = priority(value)
	case "level":
		s.Level = strings.ToLower(value)
	case "type":
		s.Check = isCheckType(value)
		return line, nil
	case "depends on", "depends", "dependencies", "blocked by":
		for _, id := range splitIDs(value) {
			if id = strings.Trim(id, "`#."); id != "" && !strings.EqualFold(id, "none") && id != "-" {
				s.Depends = append(s.Depends, id)
			}
		}
	case "description":
		return value, nil
	default:
		if value != "" || !criteriaHeading().MatchString(name) {
			return line, nil
		}
	}
	return "", nil
}

// judge decides the state of a story of chief's form.
func (b *block) judge(s *Story, pl *place, boxes []mark) (warning string) {
	if len(pl.marks) == 0 {
		ticked := 0
		for _, m := range boxes {
			if m.done {
				ticked++
			}
		}
		if ticked > 0 && ticked == len(boxes) {
			return fmt.Sprintf("line %d: all criteria of story %q are ticked, but it has no line \"**Status:** done\"; it is open", b.line, s.ID)
		}
		return ""
	}
	status := strings.TrimSpace(pl.marks[0].raw)
	s.Done = pl.marks[0].done
	pl.done = s.Done
	s.InProgress = isStartedWord(status)
	if isHeldWord(status) {
		s.Held = fmt.Sprintf("its status is %q", firstWords(status))
	}
	return ""
}

// slot is where a missing status line goes: under the heading.
func (b *block) slot(src *source) slot {
	eol := "\n"
	if bytes.Contains(src.data, []byte("\r\n")) {
		eol = "\r\n"
	}
	at := src.textStart(b.line) + len(src.lineText(b.line))
	return slot{key: statusKey, at: at, before: eol + "**Status:**"}
}
