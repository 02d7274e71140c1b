package stories

import (
	"fmt"
	"path/filepath"
	"strings"
)

const codeTaskExt = ".code-task.md"

// codeTaskWords are what the status of a code task is called.
func codeTaskWords() words { return words{done: "completed", open: "pending"} }

// setStatus takes over the status of a code task; it is its done mark.
func setStatus(src *source, s *Story, pl *place, x field) error {
	if x.list {
		return src.at(x.offset, fmt.Sprintf("%q must be one value, not a list", x.key))
	}
	status := strings.Join(x.values, "")
	s.Done = isDoneWord(status)
	s.InProgress = isStartedWord(status)
	if isHeldWord(status) {
		s.Held = fmt.Sprintf("its status is %q", firstWords(status))
	}
	pl.marks = []mark{{
		key: x.key, start: x.start, end: x.end,
		raw: string(src.data[x.start:x.end]), done: s.Done, known: true,
	}}
	return nil
}

var taskTitle = pattern(`(?i)^task(?:[ \t]+\d+)?:[ \t]*`)

// finishCodeTask does what is of this form alone: the id is the file's name,
// and what stands in backticks under Dependencies are other tasks.
func finishCodeTask(f *File, s *Story, path string) {
	f.impl.words = codeTaskWords()
	s.Title = taskTitle().ReplaceAllString(s.Title, "")
	if s.ID == "" {
		base := filepath.Base(path)
		if len(base) > len(codeTaskExt) {
			base = base[:len(base)-len(codeTaskExt)]
		}
		s.ID = base
	}
	inside := false
	for line := range strings.SplitSeq(s.Description, "\n") {
		if m := heading().FindStringSubmatch(line); m != nil {
			inside = strings.EqualFold(strings.TrimSpace(m[2]), "dependencies")
			continue
		}
		if !inside {
			continue
		}
		for _, m := range inlineCode().FindAllStringSubmatch(line, -1) {
			id := strings.TrimSuffix(filepath.Base(m[1]), codeTaskExt)
			s.Depends = append(s.Depends, textMark+id)
		}
	}
}
