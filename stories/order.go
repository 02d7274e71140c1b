package stories

import (
	"fmt"
	"slices"
	"strings"
)

// finish does what needs all stories of a file: unique ids, the order of a
// folder, dependencies.
func (f *File) finish() error {
	if err := f.uniqueIDs(); err != nil {
		return err
	}
	f.resolve()
	order, err := f.sorted()
	if err != nil {
		return err
	}
	f.hold(order)
	return nil
}

// hold marks what cannot be worked on because it waits for a held story.
func (f *File) hold(order []int) {
	for _, i := range order {
		s := &f.Stories[i]
		for _, id := range s.Depends {
			if dep := &f.Stories[f.index(id)]; s.Held == "" && dep.Held != "" && !dep.Done {
				s.Held = fmt.Sprintf("it depends on %q, which is held", id)
			}
		}
	}
}

func (f *File) uniqueIDs() error {
	first := make(map[string]int, len(f.Stories))
	for i := range f.Stories {
		s := &f.Stories[i]
		if j, twice := first[s.ID]; twice {
			return &FormatError{Path: f.Path, Line: f.lineIn(s), Problem: fmt.Sprintf(
				"the id %q is used twice, %s and %s", s.ID, where(&f.Stories[j]), where(s))}
		}
		first[s.ID] = i
	}
	return nil
}

// where names the place of a story for a message.
func where(s *Story) string {
	if s.File != "" {
		return fmt.Sprintf("in %q", s.File)
	}
	return fmt.Sprintf("on line %d", s.Line)
}

// lineIn is the line of a story for a FormatError about the whole form; a
// folder has none.
func (f *File) lineIn(s *Story) int {
	if s.File != "" {
		return 0
	}
	return s.Line
}

// Held returns the stories that are not done and not to be worked on, in file
// order. When nothing is open and something is held, not all is done.
func (f *File) Held() []Story {
	var held []Story
	for _, s := range f.Stories {
		if !s.Done && s.Held != "" {
			held = append(held, s)
		}
	}
	return held
}

// Order returns the stories to work on, neither done nor held, in the order in
// which to do so: by priority, then as in the file, but what a story depends
// on comes before it, however low its own priority. A dependency that is done
// is satisfied; one that is unknown or leads back to its story is an error.
func (f *File) Order() ([]Story, error) {
	order, err := f.sorted()
	if err != nil {
		return nil, err
	}
	var out []Story
	for _, i := range order {
		if f.Stories[i].Held == "" {
			out = append(out, f.Stories[i])
		}
	}
	return out, nil
}

// After returns the stories that are not done and come after a story: those
// that depend on it, directly or not, or, in a file that says of no story what
// it depends on, those that its order puts behind it.
func (f *File) After(id string) []Story {
	first := f.index(id)
	if first < 0 {
		return nil
	}
	order := orderer{f: f}
	all := make([]int, len(f.Stories))
	for i := range all {
		all[i] = i
	}
	order.sort(all)
	behind := map[int]bool{first: true}
	if slices.ContainsFunc(f.Stories, func(s Story) bool { return len(s.Depends) > 0 }) {
		f.spread(behind)
	} else {
		for _, i := range all[slices.Index(all, first):] {
			behind[i] = true
		}
	}
	var out []Story
	for _, i := range all {
		if behind[i] && i != first && !f.Stories[i].Done {
			out = append(out, f.Stories[i])
		}
	}
	return out
}

// spread adds to a set of stories those that depend on one of it.
func (f *File) spread(set map[int]bool) {
	for grown := true; grown; {
		grown = false
		for i := range f.Stories {
			for _, id := range f.Stories[i].Depends {
				if j := f.index(id); j >= 0 && set[j] && !set[i] {
					set[i], grown = true, true
				}
			}
		}
	}
}

// sorted is the order of all stories that are not done, by index.
func (f *File) sorted() ([]int, error) {
	o := orderer{f: f, state: make([]int, len(f.Stories))}
	todo := make([]int, 0, len(f.Stories))
	for i := range f.Stories {
		if !f.Stories[i].Done {
			todo = append(todo, i)
		}
	}
	if err := f.unknown(todo); err != nil {
		return nil, err
	}
	o.sort(todo)
	for _, i := range todo {
		if err := o.visit(i); err != nil {
			return nil, err
		}
	}
	return o.out, nil
}

// orderer walks from each story to what it depends on.
type orderer struct {
	f     *File
	state []int // 0 new, 1 on the path, 2 placed
	path  []int
	out   []int
}

func (o *orderer) sort(list []int) {
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := &o.f.Stories[a], &o.f.Stories[b]
		if v, w := o.f.impl.places[a].rank, o.f.impl.places[b].rank; v != w {
			return v - w
		}
		switch {
		case x.HasPriority != y.HasPriority:
			if x.HasPriority {
				return -1
			}
			return 1
		case x.HasPriority && x.Priority < y.Priority:
			return -1
		case x.HasPriority && x.Priority > y.Priority:
			return 1
		}
		return a - b
	})
}

func (o *orderer) visit(i int) error {
	switch o.state[i] {
	case 1:
		return o.circle(i)
	case 2:
		return nil
	}
	o.state[i] = 1
	o.path = append(o.path, i)
	s := &o.f.Stories[i]
	var deps []int
	for _, id := range s.Depends {
		if j := o.f.index(id); !o.f.Stories[j].Done {
			deps = append(deps, j)
		}
	}
	o.sort(deps)
	for _, j := range deps {
		if err := o.visit(j); err != nil {
			return err
		}
	}
	o.path = o.path[:len(o.path)-1]
	o.state[i] = 2
	o.out = append(o.out, i)
	return nil
}

// circle is the error for a story that waits for itself.
func (o *orderer) circle(i int) error {
	s := &o.f.Stories[i]
	var steps []string
	for _, j := range o.path[slices.Index(o.path, i):] {
		step := &o.f.Stories[j]
		steps = append(steps, fmt.Sprintf("%q (%s)", step.ID, where(step)))
	}
	steps = append(steps, fmt.Sprintf("%q", s.ID))
	return &FormatError{Path: o.f.Path, Line: o.f.lineIn(s),
		Problem: "stories wait for each other: " + strings.Join(steps, " depends on ")}
}
