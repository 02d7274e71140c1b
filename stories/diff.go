package stories

import "slices"

// ChangeKind is what happened to a story between two readings.
type ChangeKind string

// The kinds of changes. A story can have a flag changed and be edited too;
// these are two changes.
const (
	Added     ChangeKind = "added"
	Removed   ChangeKind = "removed"
	Edited    ChangeKind = "edited"
	MarkedOn  ChangeKind = "marked done"
	MarkedOff ChangeKind = "marked not done"
)

// Change is one difference between two readings of a story file.
type Change struct {
	Kind   ChangeKind
	ID     string
	Title  string
	Line   int      // in the later reading; in the earlier one if removed
	File   string   // for a folder of stories
	Done   bool     // whether the story is (was, if removed) done
	Fields []string // of an edited story: which fields differ
}

// Diff lists what changed from one reading to the next: stories added, removed
// or edited, and done marks. It follows the order of after; removed stories
// come last. Notes and reordering are progress and not listed.
func Diff(before, after *File) []Change {
	var changes []Change
	seen := make(map[int]bool, len(before.Stories))
	for i := range after.Stories {
		now := &after.Stories[i]
		j := before.match(after, i)
		if j < 0 {
			changes = append(changes, change(Added, now, nil))
			continue
		}
		seen[j] = true
		was := &before.Stories[j]
		if fields := editedFields(was, now); len(fields) > 0 {
			changes = append(changes, change(Edited, now, fields))
		}
		switch {
		case now.Done && !was.Done:
			changes = append(changes, change(MarkedOn, now, nil))
		case was.Done && !now.Done:
			changes = append(changes, change(MarkedOff, now, nil))
		}
	}
	for j := range before.Stories {
		if !seen[j] {
			changes = append(changes, change(Removed, &before.Stories[j], nil))
		}
	}
	return changes
}

func change(kind ChangeKind, s *Story, fields []string) Change {
	return Change{Kind: kind, ID: s.ID, Title: s.Title, Line: s.Line, File: s.File, Done: s.Done, Fields: fields}
}

func editedFields(was, now *Story) []string {
	var fields []string
	add := func(name string, same bool) {
		if !same {
			fields = append(fields, name)
		}
	}
	add("title", was.Title == now.Title)
	add("description", was.Description == now.Description)
	add("criteria", slices.Equal(was.Criteria, now.Criteria))
	add("verify", slices.Equal(was.Verify, now.Verify))
	add("priority", was.Priority == now.Priority && was.HasPriority == now.HasPriority)
	add("depends", slices.Equal(was.Depends, now.Depends))
	add("checkpoint", was.Checkpoint == now.Checkpoint)
	add("approval", was.Approval == now.Approval)
	add("check", was.Check == now.Check)
	add("level", was.Level == now.Level)
	add("held", was.Held == now.Held)
	return fields
}
