package stories

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// listKeys are the names under which a prd.json keeps its stories.
func listKeys() []string { return []string{"userStories", "stories", "tasks", "items"} }

// parsePRD reads a document of the prd.json family.
func parsePRD(src *source, from int, comments bool) (*File, error) {
	root, err := parseText(src, from, comments)
	if err != nil {
		return nil, err
	}
	list, err := storyList(src, &root)
	if err != nil {
		return nil, err
	}
	f := &File{}
	readHead(f, &root)
	key := flagKey(list, "passes")
	if err := f.readList(src, list, func(item *node) slot { return jsonSlot(src.data, item, key) }); err != nil {
		return nil, err
	}
	if comments {
		f.holdDrafts(list)
	}
	return f, nil
}

// holdDrafts holds what a queue in JSONC calls a draft: nobody has said yet
// that it is to be done.
func (f *File) holdDrafts(list *node) {
	for i := range f.Stories {
		if status := textAt(&list.items[i], statusKey); statusWord(status) == "draft" {
			f.Stories[i].Held = fmt.Sprintf("its status is %q", status)
		}
	}
}

// readList reads every story of a list. insert is where the mark of one goes
// that has none.
func (f *File) readList(src *source, list *node, insert func(*node) slot) error {
	if n := len(list.items); n > maxStories {
		return src.at(list.start, fmt.Sprintf("%d stories are too many", n))
	}
	f.impl.words = fileWords(list)
	f.Unread = unreadKeys(list)
	for i := range list.items {
		item := &list.items[i]
		if item.kind != '{' {
			return src.at(item.start, fmt.Sprintf("story %d is %s, not an object", i+1, item.what()))
		}
		s, pl, warnings, err := readStory(src, item, i+1)
		if err != nil {
			return err
		}
		pl.insert = insert(item)
		f.Stories = append(f.Stories, s)
		f.impl.places = append(f.impl.places, pl)
		f.Warnings = append(f.Warnings, warnings...)
	}
	return nil
}

// storyList finds the one list of stories in a document.
func storyList(src *source, root *node) (*node, error) {
	switch root.kind {
	case '[':
		if len(root.items) == 0 {
			return nil, fmt.Errorf("%q: %w: the list is empty", src.path, ErrNoStories)
		}
		return root, nil
	case '{':
		return storyListIn(src, root)
	}
	return nil, fmt.Errorf("%q: %w: the document is %s", src.path, ErrNoStories, root.what())
}

func storyListIn(src *source, root *node) (*node, error) {
	var found, other []*member // lists that hold objects; other values under a list's name
	for i := range root.members {
		m := &root.members[i]
		if !slices.Contains(listKeys(), m.key) {
			continue
		}
		if holdsObject(&m.value) {
			found = append(found, m)
		} else {
			other = append(other, m)
		}
	}
	switch {
	case len(found) == 1:
		return &found[0].value, nil
	case len(found) > 1:
		return nil, src.at(found[1].keyStart, fmt.Sprintf(
			"two lists of stories: %q on line %d and %q on line %d; loop does not guess which one is meant",
			found[0].key, src.line(found[0].keyStart), found[1].key, src.line(found[1].keyStart)))
	case len(other) == 0:
		return nil, noList(src, root)
	}
	m := other[0]
	switch {
	case m.value.kind != '[':
		return nil, src.at(m.keyStart, fmt.Sprintf("%q is %s, not a list of stories", m.key, m.value.what()))
	case len(m.value.items) == 0:
		return nil, fmt.Errorf("%q: %w: the list %q on line %d is empty",
			src.path, ErrNoStories, m.key, src.line(m.keyStart))
	}
	return &m.value, nil // the loop over it says which story is not an object
}

func holdsObject(n *node) bool {
	for i := range n.items {
		if n.items[i].kind == '{' {
			return true
		}
	}
	return false
}

// noList is the error for an object without a list of stories. A product
// document (what to build, not in which steps) is the common case.
func noList(src *source, root *node) error {
	why := "none of " + quotedList(listKeys()) + " is in it"
	for _, key := range []string{"prd", "product", "requirements"} {
		if n := root.get(key); n != nil && n.kind == '{' {
			why = fmt.Sprintf("it is a product document (%q on line %d), not a list of stories", key, src.line(n.start))
			break
		}
	}
	return fmt.Errorf("%q: %w: %s", src.path, ErrNoStories, why)
}

// readHead reads what the document says about itself.
func readHead(f *File, root *node) {
	for _, key := range []string{"project", "name", "productName", "projectName", "title"} {
		if f.Project = nameOf(root.get(key)); f.Project != "" {
			break
		}
	}
	if feature := root.get("feature"); f.Project == "" && feature != nil {
		f.Project = nameOf(feature)
	}
	f.Branch = text(root.get("branchName"))
	f.Gates = verifyOf(root)
}

// nameOf is a string, or the name of an object.
func nameOf(n *node) string {
	if n != nil && n.kind == '{' {
		n = n.get("name")
	}
	if n == nil || n.kind != '"' {
		return ""
	}
	return oneLine(n.text)
}

func criteriaKeys() []string {
	return []string{
		"acceptanceCriteria", "acceptance_criteria", "acceptance", "steps",
		"stepsToVerify", "actionItems", "subtasks", "tests",
	}
}

// readStory reads one object by all the names its fields are known to have.
func readStory(src *source, n *node, position int) (Story, place, []string, error) {
	s := Story{
		Line:        src.line(n.start),
		Title:       oneLine(firstOf(n, "title", "name")),
		Description: joined(n, "\n\n", "description", "details", "oneLiner"),
		Notes:       joined(n, "\n", "notes", "completionNotes", "technicalNotes", "note"),
		Criteria:    lists(n, criteriaKeys()...),
		Verify:      verifyOf(n),
		Checkpoint:  isTrue(n.get("checkpoint")),
		Level:       text(n.get("level")),
		Check:       isTrue(n.get("check")) || isCheckType(firstOf(n, "type", "issue_type")),
	}
	if s.Title == "" && s.Description == "" && len(s.Criteria) == 0 {
		return s, place{}, nil, src.at(n.start, fmt.Sprintf(
			"story %d has neither a title nor a description nor criteria", position))
	}
	var pl place
	var err error
	if s.ID, pl.derived, err = readID(src, n, &s, position); err != nil {
		return s, pl, nil, err
	}
	s.Title = titleOf(&s, oneLine(text(n.get("category"))))
	s.Hash = hashOf(&s, pl.derived)
	s.Depends = dependsOf(n, s.Description)
	var warnings []string
	if p := n.get("priority"); p != nil && p.kind != 'n' {
		if s.Priority, s.HasPriority = priority(text(p)); !s.HasPriority {
			warnings = append(warnings, fmt.Sprintf("story %q (line %d): the priority %q is not understood; it comes after those with one",
				s.ID, s.Line, firstWords(text(p))))
		}
	}
	pl.marks = readMarks(src, n)
	judge(&s, n, pl.marks)
	pl.done, pl.conflict = s.Done, s.Conflict
	return s, pl, warnings, nil
}

// readID reads the id, or derives one from the position and the text.
func readID(src *source, n *node, s *Story, position int) (id string, derived bool, err error) {
	v := n.get("id")
	switch {
	case v == nil || v.kind == 'n' || v.kind == '"' && strings.TrimSpace(v.text) == "":
		seed := s.Description
		if seed == "" {
			seed = s.Title + "\n" + strings.Join(s.Criteria, "\n")
		}
		sum := sha256.Sum256([]byte(seed))
		return fmt.Sprintf("%d-%s", position, hex.EncodeToString(sum[:4])), true, nil
	case v.kind == '"' || v.kind == '0':
		return strings.TrimSpace(v.text), false, nil
	}
	return "", false, src.at(v.start, fmt.Sprintf("the id of story %d is %s, not a string or a number", position, v.what()))
}

// titleOf is the title, or what can stand for it.
func titleOf(s *Story, category string) string {
	if s.Title != "" {
		return s.Title
	}
	begin := s.Description
	if begin == "" && len(s.Criteria) > 0 {
		begin = s.Criteria[0]
	}
	begin = firstWords(begin)
	if category != "" && begin != "" {
		return category + ": " + begin
	}
	return category + begin
}

// hashOf is the hash of what a story asks for. Progress (done marks, notes,
// order) is not part of it, nor is an id that was derived from the position.
func hashOf(s *Story, derived bool) string {
	key := struct {
		ID          string   `json:"id"`
		Title       string   `json:"title"`
		Description string   `json:"description"`
		Criteria    []string `json:"criteria"`
		Verify      []string `json:"verify"`
	}{s.ID, s.Title, s.Description, s.Criteria, s.Verify}
	if derived {
		key.ID = ""
	}
	data, err := json.Marshal(key)
	if err != nil {
		return "" // cannot be: strings only
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
