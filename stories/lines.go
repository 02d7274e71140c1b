package stories

import (
	"bytes"
	"fmt"
	"strings"
)

// parseLines reads a file with one JSON object a line: issues.jsonl as bd and
// br export it, and the tasks.jsonl of loops.
func parseLines(src *source, from int) (*File, error) {
	list := node{kind: '['}
	gone := map[string]bool{} // deleted issues: nothing waits for them
	f := &File{}
	for i := range src.lines {
		start := src.textStart(i + 1)
		if i == 0 {
			start = from
		}
		text := src.lineText(i + 1)
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		p := &parser{src: src, data: src.data[:start+len(text)], pos: start}
		n, err := p.document()
		if err != nil {
			return nil, err
		}
		switch kind, status := textAt(&n, "_type"), statusWord(textAt(&n, statusKey)); {
		case kind != "" && kind != "issue":
			f.Warnings = append(f.Warnings, fmt.Sprintf("line %d: a record of the kind %q is no story", i+1, firstWords(kind)))
		case status == "tombstone":
			gone[firstOf(&n, "id")] = true
		default:
			list.items = append(list.items, n)
		}
	}
	if len(list.items) == 0 {
		return nil, fmt.Errorf("%q: %w: no line holds an issue", src.path, ErrNoStories)
	}
	key := flagKey(&list, statusKey)
	if err := f.readList(src, &list, func(item *node) slot { return jsonSlot(src.data, item, key) }); err != nil {
		return nil, err
	}
	if isTracker(&list) {
		f.asTracker(&list, gone)
	}
	return f, nil
}

// textAt is the text of a key that an object may not have.
func textAt(n *node, key string) string {
	if n.kind != '{' {
		return ""
	}
	return text(n.get(key))
}

// isTracker says whether the lines are issues of beads, not tasks of a loop.
func isTracker(list *node) bool {
	for i := range list.items {
		if list.items[i].get("issue_type") != nil {
			return true
		}
	}
	return false
}

// asTracker applies the rules of the tracker: only an open issue that nothing
// blocks is ready.
func (f *File) asTracker(list *node, gone map[string]bool) {
	f.impl.words = words{done: "closed", open: "open"}
	ids := make(map[string]bool, len(f.Stories))
	for i := range f.Stories {
		ids[f.Stories[i].ID] = true
	}
	for i := range f.Stories {
		s, n := &f.Stories[i], &list.items[i]
		var waits []string
		for _, id := range s.Depends {
			switch {
			case strings.HasPrefix(id, textMark), ids[id]:
				waits = append(waits, id)
			case !gone[id] && s.Held == "" && !s.Done:
				s.Held = fmt.Sprintf("it waits for %q, which is not in this file", id)
			}
		}
		s.Depends = waits
		if why := notReady(n); why != "" && !s.Done {
			s.Held = why
		}
	}
	f.Warnings = append(f.Warnings,
		"this file is an export of the tracker: loop sets the status alone, not closed_at; close the done ones with `bd close ID` (or `br close ID`), or its next export takes them back")
}

// notReady is why the tracker would not call an open issue ready.
func notReady(n *node) string {
	switch kind := statusWord(textAt(n, "issue_type")); kind {
	case "epic":
		return "it is an epic: its parts are the stories"
	case "agent", "merge_request", "molecule", "message", "role", "rig", "gate", "convoy", "event", "slot":
		return fmt.Sprintf("it is a record of the kind %q, not work", textAt(n, "issue_type"))
	}
	status := textAt(n, statusKey)
	switch statusWord(status) {
	case "", "open", "closed":
		return ""
	case "in_progress", "hooked":
		return fmt.Sprintf("its status is %q: somebody has it", firstWords(status))
	}
	return fmt.Sprintf("its status is %q", firstWords(status))
}
