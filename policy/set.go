package policy

import (
	"embed"
	"fmt"
	"io/fs"
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
// for use by several goroutines. An embedded pack is decoded when a command
// first needs it, so that a process that looks at one call starts fast.
type Set struct {
	packs    []*pack
	programs map[string][]*pack // by program name
	patterns []string           // a user's plain strings, in lower case

	mu    sync.Mutex
	tools map[string]*tool // by program name, made when first needed

	tablesOnce  sync.Once
	tables      tables
	phrasesOnce sync.Once
	phrases     phraseIndex
	parsers     shell.Parsers
	looked      atomic.Int64 // bytes looked through for phrases
	dfaOnce     sync.Once
	dfa         *automaton
	undoOnce    sync.Once
	undo        map[string]string // by id of an external rule
	familyOnce  sync.Once
	family      map[string]string // pack by id of a rule
}

// pack is one pack; def and rules are filled by load.
type pack struct {
	name string
	data []byte

	lazy   bool // embedded: decoded when first needed
	decode sync.Once
	once   sync.Once
	def    packDef
	rules  []*rule
	err    error
}

// tool is how a program reads its command line, and the rules that speak of
// it.
type tool struct {
	toolDef
	names    map[string]bool
	global   map[string]bool
	value    map[string]bool
	subPaths [][]wordPattern
	known    map[string]bool // words that stand in subPaths and rules
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
	s := &Set{programs: map[string][]*pack{}, tools: map[string]*tool{}}
	names, err := fs.Glob(builtinPacks, "packs/*.toml")
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		data, err := builtinPacks.ReadFile(n)
		if err != nil {
			return nil, err
		}
		p := &pack{name: n, data: data, lazy: true}
		s.packs = append(s.packs, p)
		for _, prog := range headerPrograms(data) {
			s.programs[prog] = append(s.programs[prog], p)
		}
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

// headerPrograms reads the programs list at the head of an embedded pack
// without decoding the rest. A test holds it to what the pack really names.
func headerPrograms(data []byte) []string {
	text := string(data[:min(len(data), 8192)])
	_, list, ok := strings.Cut(text, "programs = [")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, "]")
	var out []string
	for i, s := range strings.Split(list, `"`) {
		if i%2 == 1 {
			out = append(out, s)
		}
	}
	return out
}

// definition decodes an embedded pack, once, and returns what it says. Its
// examples are run by the tests.
func (p *pack) definition() *packDef {
	if p.lazy {
		p.decode.Do(func() {
			var def *packDef
			if def, p.err = decodePack(p.name, p.data); p.err == nil {
				p.def = *def
			}
		})
	}
	return &p.def
}

// load decodes an embedded pack and makes its rules ready, once.
func (p *pack) load() {
	p.once.Do(func() {
		if p.definition(); p.err == nil {
			p.err = p.compile()
		}
	})
}

func (p *pack) compile() error {
	for _, d := range p.def.Rules {
		r, err := d.compile(p.def.Pack)
		if err != nil {
			return fmt.Errorf("%s:%d: rule %q: %w", p.name, lineOfRule(p.data, d.ID), d.ID, err)
		}
		p.rules = append(p.rules, r)
	}
	return nil
}

// toolFor returns the tool of a program, or nil when no pack speaks of it.
func (s *Set) toolFor(program string) *tool {
	packs := s.programs[program]
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
		p.load()
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
	t.global, t.value = setOf(t.Global), setOf(t.Value)
	for _, sub := range t.Sub {
		path := make([]wordPattern, 0, 3)
		for w := range strings.FieldsSeq(sub.Path) {
			path = append(path, parseWordPattern(w))
		}
		t.subPaths = append(t.subPaths, path)
	}
	for _, p := range packs {
		for _, r := range p.rules {
			if slices.ContainsFunc(r.cmds, func(c pattern) bool { return t.is(c.program) }) {
				t.rules = append(t.rules, r)
			}
		}
	}
	t.known = t.knownWords()
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
	maps.Copy(t.Alias, d.Alias)
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
		p.load()
		for _, r := range p.rules {
			out = append(out, RuleInfo{ID: r.ID, Pack: r.pack, Tier: r.tier, Why: r.Why, Undo: r.Undo})
		}
	}
	return append(out, codeRules(s.patterns)...)
}
