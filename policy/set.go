package policy

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-b23e517c/loop/policy/shell"
)

//go:embed packs/*.toml
var builtinPacks embed.FS

// Set is the rules in force: the embedded packs and a user's own. It is safe
// for use by several goroutines. The embedded packs are laid out when the
// program is built (packs_gen.go), and their rules made ready when a command
// first needs them, so that a process that looks at one call starts fast.
type Set struct {
	packs    []*pack            // the embedded ones stand first
	own      map[string][]*pack // a user's own, by program name
	patterns []string           // a user's plain strings, in lower case

	mu    sync.Mutex
	tools map[string]*tool // by program name, made when first needed

	tablesOnce  sync.Once
	tables      tables
	codeOnce    sync.Once
	code        []*rule // that look at calls in inline code
	guardsOnce  sync.Once
	guards      []*rule
	phrasesOnce sync.Once
	phrases     phraseIndex
	parsers     shell.Parsers
	looked      atomic.Int64 // bytes looked through for phrases
	dfaOnce     sync.Once
	dfa         *automaton
}

// pack is one pack; its rules are filled by load.
type pack struct {
	name string
	data []byte // nil for an embedded one: see source

	once  sync.Once
	def   packDef
	rules []*rule
	err   error
}

// source is the text of the pack.
func (p *pack) source() []byte {
	if p.data != nil {
		return p.data
	}
	data, _ := builtinPacks.ReadFile(p.name) // a test reads each of them
	return data
}

// tool is how a program reads its command line, and the rules that speak of
// it.
type tool struct {
	toolDef
	names    map[string]bool
	global   wordSet
	value    wordSet
	subPaths [][]wordPattern
	known    func() map[string]bool // words that stand in subPaths and rules
	rules    []*rule
	set      *Set // for predicates that look at tables
}

func (t *tool) is(program string) bool { return t.names[program] }

// Builtin returns the embedded packs.
func Builtin() (*Set, error) { return Load(LoadOptions{}) }

// PackFile is one rule pack of a user's.
type PackFile struct {
	Name string // for error messages
	Data []byte
	Own  bool // the user's own, not a repository's: its rules may allow
}

// LoadOptions names what is in force beside the embedded packs.
type LoadOptions struct {
	Packs    []PackFile
	Trusted  bool     // the examples of the packs are not run: it has been done before
	Patterns []string // plain strings, found anywhere, case-insensitively, as external rules
}

// Load returns the embedded packs with a user's packs and patterns. A user's
// pack is checked whole, its examples too; an error names file, line and rule.
func Load(o LoadOptions) (*Set, error) {
	s := &Set{own: map[string][]*pack{}, tools: map[string]*tool{}}
	for i := range builtinDefs {
		s.packs = append(s.packs, &pack{name: builtinNames[i], def: builtinDefs[i]})
	}
	for _, pat := range o.Patterns {
		if err := s.addPattern(pat); err != nil {
			return nil, err
		}
	}
	for _, f := range o.Packs {
		if err := s.addUser(f, o.Trusted); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Set) addPattern(p string) error {
	p = strings.ToLower(strings.TrimSpace(p))
	if p == "" {
		return fmt.Errorf("an empty pattern would match everything")
	}
	s.patterns = append(s.patterns, p)
	return nil
}

// packsOf are the packs that speak of a program.
func (s *Set) packsOf(program string) []*pack {
	own := s.own[program]
	i, ok := slices.BinarySearchFunc(builtinPrograms[:], program, func(p programPacks, name string) int {
		return strings.Compare(p.name, name)
	})
	if !ok {
		return own
	}
	var out []*pack
	for n, p := range s.packs[:len(builtinDefs)] {
		if builtinPrograms[i].packs&(1<<n) != 0 {
			out = append(out, p)
		}
	}
	return append(out, own...)
}

// knows reports whether a pack speaks of a program.
func (s *Set) knows(program string) bool { return len(s.packsOf(program)) > 0 }

// programPacks are the embedded packs that speak of a program, a bit each.
type programPacks struct {
	name  string
	packs uint32
}

// load makes the rules of a pack ready, once.
func (p *pack) load() { p.once.Do(func() { p.err = p.compile() }) }

func (p *pack) compile() error {
	for i := range p.def.Rules {
		d := &p.def.Rules[i]
		r, err := d.compile(p.def.Pack)
		if err != nil {
			return fmt.Errorf("%s:%d: rule %q: %w", p.name, lineOfRule(p.source(), d.ID), d.ID, err)
		}
		p.rules = append(p.rules, r)
	}
	return nil
}

// rulesFor are the rules that speak of a tool, and no other is made ready: a
// process that looks at one call needs few of them.
func (p *pack) rulesFor(t *tool) []*rule {
	names := slices.Collect(maps.Keys(t.names)) // one or two: quicker to compare with than to look up
	return p.choose(func(d *ruleDef) bool {
		return slices.ContainsFunc(d.Cmd, func(c string) bool { return slices.Contains(names, firstWord(c)) })
	})
}

// firstWord is the first of the words of strings.Fields.
func firstWord(s string) string {
	s = strings.TrimLeft(s, " \t\n")
	for i := range len(s) {
		if isSpace(s[i]) {
			return s[:i]
		}
	}
	return s
}

// choose makes the rules ready that are wanted. A pack that does not compile is
// reported by load.
func (p *pack) choose(wanted func(*ruleDef) bool) []*rule {
	var out []*rule
	for i := range p.def.Rules {
		if d := &p.def.Rules[i]; wanted(d) {
			if r, err := d.compile(p.def.Pack); err == nil {
				out = append(out, r)
			}
		}
	}
	return out
}

// toolFor returns the tool of a program, or nil when no pack speaks of it.
func (s *Set) toolFor(program string) *tool {
	packs := s.packsOf(program)
	if len(packs) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tools[program]; ok {
		return t
	}
	t := buildTool(program, packs)
	t.set = s
	s.tools[program] = t
	return t
}

func buildTool(program string, packs []*pack) *tool {
	t := &tool{toolDef: toolDef{Name: program}, names: map[string]bool{program: true}}
	for _, p := range packs {
		for _, d := range p.def.Tools {
			if d.Name == program || slices.Contains(d.Names, program) {
				t.names[d.Name] = true
				for _, n := range d.Names {
					t.names[n] = true
				}
				t.extend(d)
			} else if slices.Contains(d.Like, program) {
				t.extend(d)
			}
		}
	}
	t.global.list, t.value.list = t.Global, t.Value
	t.subPaths = make([][]wordPattern, 0, len(t.Sub))
	for _, sub := range t.Sub {
		t.subPaths = append(t.subPaths, wordPatterns(strings.Fields(sub.Path)))
	}
	for _, p := range packs {
		t.rules = append(t.rules, p.rulesFor(t)...)
	}
	t.known = sync.OnceValue(t.knownWords)
	return t
}

// extend adds a tool table of one pack to what others say of the program.
func (t *tool) extend(d toolDef) {
	t.Skip = append(t.Skip, d.Skip...)
	t.Global = append(t.Global, d.Global...)
	t.Value = append(t.Value, d.Value...)
	t.Help = append(t.Help, d.Help...)
	t.Sub = append(t.Sub, d.Sub...)
	t.SingleDash = t.SingleDash || d.SingleDash
	t.Abbrev = t.Abbrev || d.Abbrev
	t.Stop = t.Stop || d.Stop
	t.StopAfter = max(t.StopAfter, d.StopAfter)
	t.Net = t.Net || d.Net
	if t.Alias == nil {
		t.Alias = map[string]string{}
	}
	maps.Copy(t.Alias, withPairs(d.Alias, d.alias))
}

// withPairs is m, or the map that the generated packs write as pairs.
func withPairs(m map[string]string, pairs []string) map[string]string {
	if len(pairs) == 0 {
		return m
	}
	m = make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

func setOf(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// RuleInfo is what there is to say about one rule.
type RuleInfo struct {
	ID   string `json:"id"`
	Pack string `json:"pack"`
	Tier Tier   `json:"tier"`
	Why  string `json:"why"`
	Undo string `json:"undo,omitempty"` // "none", "correction", "full", "" = not said
}

// Rules lists every rule of the set, in the order of the packs.
func (s *Set) Rules() []RuleInfo {
	var out []RuleInfo
	for _, p := range s.packs {
		for i := range p.def.Rules {
			out = append(out, p.info(i))
		}
	}
	return append(out, codeRules(s.patterns)...)
}

// rule is the rule with an id: a user's own before an embedded one. None is made
// ready for it, nor are all of them laid out to find one.
func (s *Set) rule(id string) (RuleInfo, bool) {
	for _, p := range slices.Backward(s.packs) {
		for i := range p.def.Rules {
			if p.def.Rules[i].ID == id {
				return p.info(i), true
			}
		}
	}
	for _, r := range codeRules(s.patterns) {
		if r.ID == id {
			return r, true
		}
	}
	return RuleInfo{}, false
}

func (p *pack) info(i int) RuleInfo {
	d := &p.def.Rules[i]
	r := RuleInfo{ID: d.ID, Pack: p.def.Pack, Why: d.Why, Undo: d.Undo}
	_ = r.Tier.UnmarshalText([]byte(d.Tier)) // load reports one that is none
	return r
}
