package stories

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var dependsLine = pattern(`(?im)^[ \t]*(?:[-*][ \t]+)?depends on:?((?:[ \t]*,?[ \t]*#[\w.-]*\w)+)`)

// dependsKeys are the names of a list of what a story waits for.
func dependsKeys() []string {
	return []string{"dependsOn", "dependencies", "deps", "blockedBy", "blocked_by", "depends_on"}
}

// dependsOf collects the ids that a story waits for. What stands only in the
// text ("depends on #3", as issues have it) is kept with its mark: it counts
// when such a story is in the file, see resolve.
func dependsOf(n *node, description string) []string {
	var ids []string
	add := func(id string) {
		if id != "" && !strings.EqualFold(id, "none") && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, key := range dependsKeys() {
		v := n.get(key)
		if v == nil {
			continue
		}
		if v.kind != '[' {
			for _, id := range splitIDs(text(v)) {
				add(id)
			}
			continue
		}
		for i := range v.items {
			add(dependency(&v.items[i]))
		}
	}
	if !strings.Contains(description, "#") {
		return ids // the expression below is slow, and most texts have none
	}
	for _, m := range dependsLine().FindAllStringSubmatch(description, -1) {
		for _, id := range splitIDs(m[1]) {
			add(textMark + id)
		}
	}
	return ids
}

// textMark marks a dependency that was found in prose.
const textMark = "\x00"

func splitIDs(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// dependency is one entry of a list of dependencies. Of the typed ones only
// those that block count; a parent is no reason to wait.
func dependency(n *node) string {
	if n.kind != '{' {
		return text(n)
	}
	if kind := text(n.get("type")); kind != "" && kind != "blocks" {
		return ""
	}
	return firstOf(n, "depends_on_id", "id")
}

// ambiguous stands for a name that several stories have.
const ambiguous = -1

// names finds stories by what a dependency may call them.
type names struct {
	ids   map[string]int
	other map[string]int // titles and, in a folder, file names and their numbers
}

func (f *File) names() names {
	n := names{ids: make(map[string]int, len(f.Stories)), other: make(map[string]int, len(f.Stories))}
	add := func(name string, i int) {
		if j, taken := n.other[name]; taken && j != i {
			i = ambiguous
		}
		if name != "" {
			n.other[name] = i
		}
	}
	for i := range f.Stories {
		s := &f.Stories[i]
		n.ids[s.ID] = i
		add(fold(s.Title), i)
		if s.File != "" {
			base := strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File))
			add(fold(base), i)
			add(leadingDigits(base), i)
		}
	}
	return n
}

// fold keeps the letters and digits of a title: people type dashes, quotes and
// spaces of many kinds.
func fold(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

var (
	idBehind = pattern(`\(([^()]+)\)$`)
	idBefore = pattern(`^(\S+?)(?::| [-–—]) `)
)

// find is the story that a dependency means: by its id, by "#" and its id, by
// its title, or by an id that stands with the title ("US-4: x", "x (US-4)").
func (n names) find(name string) (int, bool) {
	if i, ok := n.ids[name]; ok {
		return i, true
	}
	if i, ok := n.ids[strings.TrimPrefix(name, "#")]; ok {
		return i, true
	}
	if i, ok := n.other[fold(name)]; ok && i != ambiguous {
		return i, true
	}
	for _, with := range []*regexp.Regexp{idBehind(), idBefore()} {
		if m := with.FindStringSubmatch(name); m != nil {
			if i, ok := n.ids[m[1]]; ok {
				return i, true
			}
		}
	}
	return 0, false
}

// resolve puts ids in the place of other names. What only prose named counts
// if there is such a story; any other name that is not known stays, to be
// refused by unknown if the story is open.
func (f *File) resolve() {
	n := f.names()
	for i := range f.Stories {
		s := &f.Stories[i]
		var ids []string
		for _, name := range s.Depends {
			id, prose := strings.CutPrefix(name, textMark)
			j, ok := n.find(id)
			if ok {
				id = f.Stories[j].ID
			}
			if prose && (!ok || j == i) || slices.Contains(ids, id) {
				continue
			}
			ids = append(ids, id)
		}
		s.Depends = ids
	}
}

// unknown is the error for open stories that depend on what is not there. It
// names all of them, so that a person mends the file once.
func (f *File) unknown(open []int) error {
	var e *FormatError
	n := 0
	for _, i := range open {
		s := &f.Stories[i]
		for _, id := range s.Depends {
			if f.index(id) >= 0 {
				continue
			}
			if e == nil {
				e = &FormatError{Path: f.Path, Line: f.lineIn(s)}
			}
			if n++; n <= maxListed {
				e.Problem += fmt.Sprintf("; story %q (%s) depends on %q", s.ID, where(s), id)
			}
		}
	}
	if e == nil {
		return nil
	}
	if n > maxListed {
		e.Problem += fmt.Sprintf("; and %d more", n-maxListed)
	}
	why := "there is no such story, or more than one"
	if f.folder() && len(f.impl.parts) == 1 && f.impl.parts[0].path == f.Path {
		why = "it is not in this one file; name the folder to work on all of its stories"
	}
	e.Problem = strings.TrimPrefix(e.Problem, "; ") + ": " + why
	return e
}

// maxListed is how many faults of one kind a message names.
const maxListed = 10
