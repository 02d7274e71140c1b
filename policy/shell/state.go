package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxAlternatives is how many values of one variable are followed after
// branches that set it differently; maxNames is how many variables, functions,
// aliases and files are followed, since every fork copies them.
const (
	maxAlternatives = 8
	maxNames        = 128
)

// variable is what is known of a shell variable.
type variable struct {
	vals     []Word // the possible values of a scalar
	list     []Word // the elements of an array
	isList   bool
	exported bool
}

// function is a shell function of the line.
type function struct {
	name   string
	body   *syntax.Stmt
	f      frame
	called bool
}

// alias is a shell alias of the line.
type alias struct {
	text   string
	f      frame
	called bool
}

// state is what the shell knows at one point of the line. Forks (subshells,
// branches) work on clones.
type state struct {
	vars      map[string]variable
	funcs     map[string][]*function
	aliases   map[string]*alias
	gitAlias  map[string]Word
	files     map[string]string // text of files the line wrote, by joined name
	params    []Word
	hasParams bool
	allexport bool
	dir       string
	name      Word     // $0
	locals    *locals  // of the function that is being walked
	exports   []Assign // what env gives, until something is set
}

// empty says whether nothing but the directory is known.
func (s *state) empty() bool {
	return len(s.vars) == 0 && len(s.funcs) == 0 && len(s.aliases) == 0 && len(s.files) == 0 && !s.hasParams
}

func (s *state) clone() *state {
	c := *s
	c.vars = maps.Clone(s.vars)
	c.funcs = maps.Clone(s.funcs)
	c.aliases = maps.Clone(s.aliases)
	c.gitAlias = maps.Clone(s.gitAlias)
	c.files = maps.Clone(s.files)
	return &c
}

// child is the state of a new shell process: it sees what was exported, the
// functions (export -f is rare, and this errs on the safe side) and the files.
func (s *state) child() *state {
	c := s.clone()
	c.aliases = nil
	c.params, c.hasParams, c.allexport, c.exports = nil, false, false, nil
	maps.DeleteFunc(c.vars, func(_ string, v variable) bool { return !v.exported })
	return c
}

func (s *state) set(name string, val Word) {
	if s.vars == nil {
		s.vars = map[string]variable{}
	}
	if len(val.Text) > maxValue {
		val = unknown("$" + name)
	}
	old, ok := s.vars[name]
	if !ok && len(s.vars) >= maxNames {
		return // not followed: its value is not known
	}
	s.exports = nil
	s.vars[name] = variable{vals: []Word{val}, exported: old.exported || s.allexport}
}

func (s *state) setList(name string, list []Word) {
	if s.vars == nil {
		s.vars = map[string]variable{}
	}
	if _, ok := s.vars[name]; !ok && len(s.vars) >= maxNames {
		return
	}
	s.exports = nil
	s.vars[name] = variable{list: list, isList: true}
}

func (s *state) unset(name string) {
	delete(s.vars, name)
	s.exports = nil
}

func (s *state) export(name string, on bool) {
	if v, ok := s.vars[name]; ok {
		v.exported = on
		s.vars[name], s.exports = v, nil
	}
}

// doubt says that code nobody has seen has run in this shell: every variable
// may hold something else now.
func (s *state) doubt() {
	s.exports = nil
	for name, v := range s.vars {
		if u := unknown("$" + name); !v.isList && !slices.Contains(v.vals, u) {
			v.vals = append(slices.Clone(v.vals[:min(len(v.vals), maxAlternatives-1)]), u)
			s.vars[name] = v
		}
	}
}

// env lists the exported variables in a fixed order.
func (s *state) env() []Assign {
	if s.exports != nil || len(s.vars) == 0 {
		return s.exports
	}
	out := []Assign{}
	for _, name := range slices.Sorted(maps.Keys(s.vars)) {
		v := s.vars[name]
		switch {
		case !v.exported || len(v.vals) == 0:
		case len(v.vals) == 1:
			out = append(out, Assign{Name: name, Value: v.vals[0]})
		default: // set in one branch and not in another
			out = append(out, Assign{Name: name, Value: unknown("$" + name)})
		}
	}
	s.exports = slices.Clip(out)
	return s.exports
}

// join makes s hold what may be known after either of two branches: s and b.
func (s *state) join(b *state) {
	s.exports = nil
	for name, vb := range b.vars {
		va, ok := s.vars[name]
		if !ok {
			va = variable{vals: []Word{unknown("$" + name)}}
		}
		if s.vars == nil {
			s.vars = map[string]variable{}
		}
		s.vars[name] = joinVar(va, vb)
	}
	for name, va := range s.vars {
		if _, ok := b.vars[name]; !ok {
			s.vars[name] = joinVar(va, variable{vals: []Word{unknown("$" + name)}})
		}
	}
	s.joinFuncs(b)
	s.aliases = union(s.aliases, b.aliases)
	s.gitAlias = union(s.gitAlias, b.gitAlias)
	s.files = union(s.files, b.files)
	if b.dir != s.dir && b.dir != "" {
		s.dir = b.dir
	}
	if s.hasParams != b.hasParams || !slices.Equal(s.params, b.params) {
		s.params, s.hasParams = nil, false
	}
}

// joinFuncs joins the functions; nil among those of a name says that it may
// not be a function at all.
func (s *state) joinFuncs(b *state) {
	if s.funcs == nil && len(b.funcs) > 0 {
		s.funcs = map[string][]*function{}
	}
	for name, fns := range b.funcs {
		have := slices.Clone(s.funcs[name])
		if len(have) == 0 {
			have = append(have, nil)
		}
		for _, fn := range fns {
			if !slices.Contains(have, fn) {
				have = append(have, fn)
			}
		}
		s.funcs[name] = have
	}
	for name, fns := range s.funcs {
		if len(b.funcs[name]) == 0 && !slices.Contains(fns, nil) {
			s.funcs[name] = append(slices.Clone(fns), nil)
		}
	}
}

func union[V any](a, b map[string]V) map[string]V {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}

func joinVar(a, b variable) variable {
	if a.isList || b.isList {
		return joinList(a, b)
	}
	vals := slices.Clone(a.vals)
	for _, v := range b.vals {
		if slices.Contains(vals, v) {
			continue
		}
		if len(vals) == maxAlternatives {
			vals[maxAlternatives-1] = unknown("${...}")
			break
		}
		vals = append(vals, v)
	}
	return variable{vals: vals, exported: a.exported || b.exported}
}

// joinList joins two arrays: elements that differ are not known; where even
// their number differs nothing is.
func joinList(a, b variable) variable {
	if !a.isList || !b.isList || len(a.list) != len(b.list) {
		return variable{vals: []Word{unknown("${...}")}, exported: a.exported || b.exported}
	}
	list := slices.Clone(a.list)
	for i, v := range b.list {
		if list[i] != v {
			list[i] = unknown("${...}")
		}
	}
	return variable{list: list, isList: true}
}

func (s *state) file(name string) (string, bool) {
	text, ok := s.files[s.join2(name)]
	return text, ok
}

func (s *state) setFile(name, text string, add bool) {
	if s.files == nil {
		s.files = map[string]string{}
	}
	key := s.join2(name)
	if _, ok := s.files[key]; !ok && len(s.files) >= maxNames {
		return
	}
	if add {
		text = s.files[key] + text
	}
	if len(text) <= maxPayload/4 {
		s.files[key] = text
	}
}

// join2 is the name of a file as seen from where the line started.
func (s *state) join2(name string) string {
	if s.dir != "" && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, Toplevel) {
		name = s.dir + "/" + name
	}
	return path.Clean(name)
}

// unknown is a word of which nothing is known but its source text.
func unknown(src string) Word { return Word{Text: src, Dynamic: true} }
