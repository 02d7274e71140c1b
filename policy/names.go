package policy

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// tables are the lists that the classifier looks at beside the rules. What a
// process does not ask for it does not set up: most are one call's.
type tables struct {
	risky, counter, stage, verbs, harmless wordSet
	soft, strong                           wordSet
	sqlWrites, mongoWrites, redisReads     wordSet
	localTools, netTools, shellTools       wordSet
	wordTools                              wordSet
	envPrinters, envVerbs, prose, english  wordSet
	viewers                                wordSet
	bins                                   func() map[string]string
	mcp                                    func() *mcpTable
	runners                                []taskRunner
	changers                               changersDef
}

// wordSet is a list that becomes a set when it has been asked some times: who
// judges one call asks less than the set would cost.
type wordSet struct {
	list  []string
	asked atomic.Int32
	once  sync.Once
	set   map[string]bool
}

const fewAsks = 8

func (w *wordSet) all() map[string]bool {
	w.once.Do(func() { w.set = setOf(w.list) })
	return w.set
}

func (w *wordSet) has(word string) bool {
	if w.asked.Load() < fewAsks {
		w.asked.Add(1)
		return slices.Contains(w.list, word)
	}
	return w.all()[word]
}

// table decodes the packs that hold lists, once.
func (s *Set) table() *tables {
	s.tablesOnce.Do(func() {
		t := &s.tables
		t.runners = taskRunners()
		t.bins, t.mcp = func() map[string]string { return nil }, func() *mcpTable { return &mcpTable{} }
		for _, p := range s.packsOf("@tables") {
			if n := p.def.Names; n != nil {
				t.risky.list, t.counter.list, t.stage.list = n.Risky, n.Counter, n.Stage
				t.verbs.list, t.harmless.list = n.Verbs, n.Harmless
				t.soft.list, t.strong.list = n.Soft, n.Strong
			}
			if d := p.def.Tables; d != nil {
				t.sqlWrites.list, t.mongoWrites.list, t.redisReads.list = d.SQLWrites, d.MongoWrites, d.RedisReads
				t.localTools.list, t.netTools.list = d.LocalTools, d.NetTools
				t.envPrinters.list, t.envVerbs.list = d.EnvPrinters, d.EnvVerbs
				t.prose.list, t.english.list = d.Prose, d.English
				t.shellTools.list, t.wordTools.list, t.viewers.list = d.ShellTools, d.WordTools, d.Viewers
				t.bins = sync.OnceValue(func() map[string]string { return withPairs(d.Bins, d.bins) })
			}
			if p.def.Changers != nil {
				t.changers = *p.def.Changers
			}
			if d := p.def.MCP; d != nil {
				t.mcp = sync.OnceValue(func() *mcpTable { return newMCPTable(d) })
			}
		}
	})
	return &s.tables
}

// guardRules are the rules that look at what any command does, and those that
// guard a process.
func (s *Set) guardRules() []*rule {
	s.guardsOnce.Do(func() {
		for _, p := range s.packsOf("@guards") {
			s.guards = append(s.guards, p.choose(func(d *ruleDef) bool {
				return d.looksAround() || containsString(d.When, "ends-run")
			})...)
		}
	})
	return s.guards
}

// codeRules are the rules that look at calls in inline code.
func (s *Set) codeRules() []*rule {
	s.codeOnce.Do(func() {
		for _, p := range s.packsOf("@code") {
			s.code = append(s.code, p.choose(func(d *ruleDef) bool { return len(d.Code) > 0 })...)
		}
	})
	return s.code
}

// nameWords cuts a name into its lower-case words at punctuation, digits and
// changes of case: "publishToMavenLocal" is publish, to, maven, local.
func nameWords(name string) []string {
	var out []string
	start := -1
	for i := 0; i <= len(name); i++ {
		letter := i < len(name) && (name[i] >= 'a' && name[i] <= 'z' || name[i] >= 'A' && name[i] <= 'Z')
		hump := letter && start >= 0 && name[i] <= 'Z' && name[i-1] >= 'a'
		if start >= 0 && (!letter || hump) {
			out = append(out, strings.ToLower(name[start:i]))
			start = -1
		}
		if letter && start < 0 {
			start = i
		}
	}
	return out
}

// riskyName reports whether a script or target that cannot be seen through is
// named like one that reaches outside. A word like lint or dry beside the
// risky one clears it, and build or status clears deploy but not publish; a
// stage like dev or test does so only before it, for deploy:dev deploys.
// build-and-push says that it does both.
func (t *tables) riskyName(name string) bool {
	risky, strong, soft, both := false, false, false, false
	for _, w := range nameWords(name) {
		switch {
		case t.risky.has(w):
			risky = true
			strong = strong || t.strong.has(w)
		case t.counter.has(w), t.stage.has(w) && !risky && !both:
			return false
		case t.soft.has(w):
			soft = true
		case w == "and" || w == "then":
			both = true
		}
	}
	return risky && (strong || both || !soft)
}

// riskyScript judges the file name of a script.
func (t *tables) riskyScript(path string) bool {
	base := baseOf(path)
	if strings.HasPrefix(path, "/etc/") || strings.HasPrefix(base, ".env") || strings.HasSuffix(base, ".env") {
		return false // settings of the machine or the project, and no script: . /etc/os-release
	}
	stem := base
	if i := strings.IndexByte(stem, '.'); i > 0 {
		stem = stem[:i]
	}
	if w := nameWords(base); len(w) > 1 {
		for _, last := range w[max(len(w)-2, 1):] {
			if last == "test" || last == "spec" || last == "md" || last == "txt" || last == "json" || last == "yml" || last == "yaml" {
				return false
			}
		}
	}
	return t.riskyName(stem)
}

// riskyOperand: an operand is a target whose name is risky. Assignments and
// options are no targets.
func riskyOperand(a *args, rest []shell.Word) bool {
	for _, w := range rest {
		if strings.Contains(w.Text, "=") || a.tool.set == nil {
			continue
		}
		if (a.tool.is("tox") || a.tool.is("nox")) && containsWord(afterWord(a.argv, "--"), w) {
			continue // the arguments of the tests
		}
		if a.tool.set.table().riskyName(w.Text) {
			return true
		}
	}
	return false
}
