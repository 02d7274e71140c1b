package stories

import (
	"fmt"
	"path/filepath"
	"strings"
)

// parseMarkdown reads one Markdown story.
func parseMarkdown(p part, src *source, from int) (*File, error) {
	fm, err := readFront(src, from)
	if err != nil {
		return nil, err
	}
	code := p.form == FormCodeTask
	s := Story{File: p.path, Line: 1}
	pl := place{insert: frontSlot(src, from, fm, code)}
	f := &File{}
	for _, x := range fm.fields {
		warning, err := setField(src, &s, &pl, x, code)
		if err != nil {
			return nil, err
		}
		if !code && !readsFront(x.key) {
			f.Unread = append(f.Unread, fmt.Sprintf("%q: the key %q on line %d", p.path, x.key, src.line(x.offset)))
		}
		if warning != "" && !code {
			f.Warnings = append(f.Warnings, warning)
		}
	}
	pl.done = s.Done
	readBody(&s, bodyLines(src, fm.body))
	if code {
		finishCodeTask(f, &s, p.path)
	}
	if s.Title == "" && s.Description == "" && len(s.Criteria) == 0 {
		return nil, src.at(from, "the story has neither a title nor a description nor criteria")
	}
	if s.ID == "" {
		s.ID = strings.TrimSuffix(filepath.Base(p.path), filepath.Ext(p.path))
	}
	s.Title = titleOf(&s, "")
	s.Hash = hashOf(&s, false)
	f.Stories = []Story{s}
	f.impl.places = []place{pl}
	return f, nil
}

// readsFront says whether a key of the front matter means something here or is
// warned of.
func readsFront(key string) bool {
	switch key {
	case "id", "title", "priority", "level", "checkpoint", "done", "status", "verify", "check", "type", "depends", "depends_on", "dependsOn",
		"passes", "passed", "complete", "completed", "dependencies", "deps", "blockedBy", "blocked_by":
		return true
	}
	return false
}

// setField takes over one field of the front matter. Unknown ones stay in the
// file and mean nothing here.
func setField(src *source, s *Story, pl *place, x field, code bool) (warning string, err error) {
	switch x.key {
	case "depends", "depends_on", "dependsOn":
		for _, v := range x.values {
			ids := []string{v}
			if !x.list {
				ids = splitIDs(v)
			}
			for _, id := range ids {
				if !strings.EqualFold(id, "none") {
					s.Depends = append(s.Depends, id)
				}
			}
		}
		return "", nil
	case "verify":
		s.Verify = x.values
		return "", nil
	case "check":
		s.Check = s.Check || !x.list && strings.EqualFold(strings.Join(x.values, ""), "true")
		return "", nil
	case "type":
		s.Check = s.Check || !x.list && isCheckType(strings.Join(x.values, ""))
		return "", nil
	case "id", "title", "priority", "level", "checkpoint":
	case "done":
		if code {
			return "", nil
		}
	case "status":
		if code {
			return "", setStatus(src, s, pl, x)
		}
		fallthrough
	case "passes", "passed", "complete", "completed", "dependencies", "deps", "blockedBy", "blocked_by":
		return fmt.Sprintf("%q: the key %q on line %d means nothing here; the keys are done and depends",
			s.File, x.key, src.line(x.offset)), nil
	default:
		return "", nil
	}
	if x.list {
		return "", src.at(x.offset, fmt.Sprintf("%q must be one value, not a list", x.key))
	}
	value := strings.Join(x.values, "")
	switch x.key {
	case "id":
		s.ID = value
	case "title":
		s.Title = oneLine(value)
	case "level":
		s.Level = value
	case "checkpoint":
		s.Checkpoint, err = yesNo(src, x, value)
	case "done":
		s.Done, err = yesNo(src, x, value)
		pl.marks = []mark{{
			key: x.key, start: x.start, end: x.end,
			raw: string(src.data[x.start:x.end]), done: s.Done, known: true,
		}}
	case "priority":
		if s.Priority, s.HasPriority = priority(value); value != "" && !s.HasPriority {
			warning = fmt.Sprintf("%q: the priority %q is not understood; it comes after those with one",
				s.File, firstWords(value))
		}
	}
	return warning, err
}

func yesNo(src *source, x field, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	return false, src.at(x.offset, fmt.Sprintf("%q must be true or false, not %q", x.key, firstWords(value)))
}

// frontSlot is where a missing done mark goes: the last line of the front
// matter, or a front matter of its own. It breaks lines as the file does.
func frontSlot(src *source, from int, fm front, code bool) slot {
	eol := "\n"
	if len(src.lines) > 1 && strings.HasSuffix(string(src.data[:src.lines[1]]), "\r\n") {
		eol = "\r\n"
	}
	key := "done"
	if code {
		key = statusKey
	}
	if fm.end > 0 {
		return slot{key: key, at: fm.end, before: key + ":", after: eol}
	}
	return slot{key: key, at: from, before: "---" + eol + key + ":", after: eol + "---" + eol}
}

func bodyLines(src *source, from int) []string {
	lines := make([]string, 0, len(src.lines)-from)
	for i := from; i < len(src.lines); i++ {
		lines = append(lines, string(src.lineText(i+1)))
	}
	return lines
}
