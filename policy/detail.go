package policy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Detail is the whole definition of one rule, as its pack says it.
type Detail struct {
	RuleInfo
	Builtin    bool        `json:"builtin"`
	File       string      `json:"file,omitempty"` // the pack's file; "" when the rule stands in none
	Line       int         `json:"line,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	Match      []string    `json:"match,omitempty"`
	NotMatch   []string    `json:"not_match,omitempty"`
}

// Condition is one key of a rule's definition and what it is set to.
type Condition struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Values returns what the rule sets a key to, nil when it does not.
func (d *Detail) Values(key string) []string {
	for _, c := range d.Conditions {
		if c.Key == key {
			return c.Values
		}
	}
	return nil
}

// Details lists the definitions of all rules, in the order of Rules. Unlike
// Rules it decodes the embedded packs whole.
func (s *Set) Details() ([]Detail, error) {
	var out []Detail
	for n, p := range s.packs {
		def, builtin := &p.def, n < len(builtinDefs) // they stand first
		if builtin {
			var err error
			if def, err = decodePack(p.name, p.source()); err != nil {
				return nil, err
			}
		}
		for i := range def.Rules {
			d := def.Rules[i].detail(p, def.Pack)
			d.Builtin = builtin
			out = append(out, d)
		}
	}
	for _, r := range codeRules(s.patterns) {
		out = append(out, Detail{RuleInfo: r, Builtin: !strings.HasPrefix(r.ID, "pattern:")})
	}
	return out, nil
}

// Detail returns the definitions of the rules with this id: one, or several
// when a user's pack has a rule of the same name as another.
func (s *Set) Detail(id string) ([]Detail, error) {
	all, err := s.Details()
	return slices.DeleteFunc(all, func(d Detail) bool { return d.ID != id }), err
}

func (d *ruleDef) detail(p *pack, packName string) Detail {
	out := Detail{
		RuleInfo: RuleInfo{ID: d.ID, Pack: packName, Why: d.Why, Undo: d.Undo},
		File:     p.name, Line: lineOfRule(p.source(), d.ID), Match: d.Match, NotMatch: d.NotMatch,
	}
	// The pack was compiled when it was loaded, so the tier is a known one.
	if err := out.Tier.UnmarshalText([]byte(d.Tier)); err != nil {
		out.Tier = External
	}
	v := reflect.ValueOf(d).Elem()
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("toml")
		switch key {
		case "id", "tier", "why", "undo", "match", "not_match":
			continue
		}
		if values := valuesOf(v.Field(i)); len(values) > 0 {
			out.Conditions = append(out.Conditions, Condition{Key: key, Values: values})
		}
	}
	return out
}

// valuesOf writes out a field of a definition; nothing for a zero one.
func valuesOf(f reflect.Value) []string {
	switch v := f.Interface().(type) {
	case []string:
		return v
	case bool:
		if v {
			return []string{"true"}
		}
	case int:
		if v != 0 {
			return []string{strconv.Itoa(v)}
		}
	case string:
		if v != "" {
			return []string{v}
		}
	}
	return nil
}

// Problem is one thing that is wrong with a rule pack.
type Problem struct {
	Line int // 0 when it belongs to no line
	Text string
}

// Check looks through a user's pack as Load does, and does not stop at the
// first thing that is wrong. It also says how many rules and examples there
// are. A pack without problems can be loaded.
func Check(f PackFile) (problems []Problem, rules, examples int) {
	def, found := decodeAll(f)
	if def == nil {
		return found, 0, 0
	}
	c := checker{
		p:     &pack{name: f.Name, data: f.Data, def: *def},
		lines: strings.Split(string(f.Data), "\n"), problems: found,
	}
	c.compile()
	c.runExamples()
	if len(c.problems) == 0 {
		// What else Load asks for, now or later, is not known here.
		if _, err := Load(LoadOptions{Packs: []PackFile{f}}); err != nil {
			c.add(0, "%s", strings.TrimPrefix(err.Error(), f.Name+": "))
		}
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return a.Line - b.Line })
	return c.problems, len(def.Rules), c.examples
}

// decodeAll decodes a pack and says every unknown key. The definition is nil
// when the file is not TOML or holds a value of a wrong type.
func decodeAll(f PackFile) (*packDef, []Problem) {
	def, err := decodePack(f.Name, f.Data)
	if err == nil {
		return def, nil
	}
	def = &packDef{Pack: strings.TrimSuffix(baseOf(f.Name), ".toml")}
	var strict *toml.StrictMissingError
	if !errors.As(toml.NewDecoder(bytes.NewReader(f.Data)).DisallowUnknownFields().Decode(def), &strict) {
		line, text := splitLine(f.Name, err)
		return nil, []Problem{{Line: line, Text: text}}
	}
	var out []Problem
	for _, e := range strict.Errors {
		row, _ := e.Position()
		out = append(out, Problem{Line: row, Text: fmt.Sprintf("%sunknown key %q", ruleAt(f.Data, row), strings.Join(e.Key(), "."))})
	}
	return def, out
}

// splitLine takes "NAME:LINE: " off an error of decodePack.
func splitLine(name string, err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), name+":")
	if n, rest, ok := strings.Cut(text, ":"); ok {
		if line, convErr := strconv.Atoi(n); convErr == nil {
			return line, strings.TrimSpace(rest)
		}
	}
	return 0, strings.TrimSpace(text)
}

// checker collects what is wrong with one pack.
type checker struct {
	p        *pack
	lines    []string
	problems []Problem
	examples int
}

func (c *checker) add(line int, format string, v ...any) {
	c.problems = append(c.problems, Problem{Line: line, Text: fmt.Sprintf(format, v...)})
}

// compile compiles every rule; those that are sound stay in the pack.
func (c *checker) compile() {
	seen := map[string]bool{}
	from := 0
	for _, d := range c.p.def.Rules {
		line := c.lineFrom(from, "id", d.ID)
		from = line
		r, err := d.compile(c.p.def.Pack)
		switch {
		case err != nil:
			c.add(line, "rule %q: %v", d.ID, err)
		case seen[d.ID]:
			c.add(line, "rule %q: the id stands twice", d.ID)
		default:
			c.p.rules = append(c.p.rules, r)
		}
		seen[d.ID] = true
		if n := len(d.Match); n < 3 {
			c.add(line, "rule %q: %d match examples, at least 3 are needed", d.ID, n)
		}
		if n := len(d.NotMatch); n < 2 {
			c.add(line, "rule %q: %d not_match examples, at least 2 are needed", d.ID, n)
		}
	}
}

// runExamples runs the examples of the sound rules through a classifier that
// knows these rules.
func (c *checker) runExamples() {
	s, err := Builtin()
	if err != nil {
		c.add(0, "%v", err)
		return
	}
	p := &pack{name: c.p.name, data: c.p.data, def: c.p.def, rules: c.p.rules}
	p.once.Do(func() {})
	s.packs = append(s.packs, p)
	for _, name := range p.programs() {
		s.own[name] = append(s.own[name], p)
	}
	for _, r := range c.p.rules {
		id := c.lineFrom(0, "id", r.ID)
		for _, m := range r.Match {
			c.examples++
			if !s.speaks(r, m) {
				c.add(c.lineOf(id, m), "rule %q: the example %q does not match (%s)", r.ID, m, said(s, m))
			}
		}
		for _, m := range r.NotMatch {
			c.examples++
			if s.speaks(r, m) {
				c.add(c.lineOf(id, m), "rule %q: the near miss %q matches", r.ID, m)
			}
		}
	}
}

// said is what the classifier makes of an example that does not hold.
func said(s *Set, line string) string {
	r := s.ClassifyCommand(line, "")
	if len(r.Hits) == 0 {
		return "no rule speaks of it"
	}
	ids := map[string]bool{}
	for _, id := range r.Rules() {
		ids[id] = true
	}
	return fmt.Sprintf("it is %s by %s", r.Verdict, strings.Join(slices.Sorted(maps.Keys(ids)), ", "))
}

// lineFrom finds the line behind from where a key has this value; from when
// there is none.
func (c *checker) lineFrom(from int, key, value string) int {
	for i := from; i < len(c.lines); i++ {
		k, v, ok := strings.Cut(strings.TrimSpace(c.lines[i]), "=")
		v = strings.TrimSpace(v)
		if ok && strings.TrimSpace(k) == key && (strings.HasPrefix(v, strconv.Quote(value)) || strings.HasPrefix(v, "'"+value+"'")) {
			return i + 1
		}
	}
	return from
}

// lineOf finds the line of an example of the rule that begins at from.
func (c *checker) lineOf(from int, example string) int {
	for i := from; i < len(c.lines); i++ {
		l := strings.TrimSpace(c.lines[i])
		if strings.HasPrefix(l, "[[") {
			break
		}
		if strings.Contains(l, strconv.Quote(example)) || strings.Contains(l, "'"+example+"'") {
			return i + 1
		}
	}
	return from
}
