package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// tables are the lists that the classifier looks at beside the rules.
type tables struct {
	risky, counter, stage, verbs, harmless map[string]bool
	soft, strong                           map[string]bool
	sqlWrites, mongoWrites, redisReads     map[string]bool
	localTools, netTools, shellTools       map[string]bool
	wordTools                              map[string]bool
	envPrinters, envVerbs, prose, english  map[string]bool
	viewers                                map[string]bool
	bins                                   map[string]string
	mcp                                    mcpTable
	runners                                []taskRunner
	guards                                 []*rule // that look at what any command does, and those that guard a process
	changers                               changersDef
}

// table decodes the packs that hold lists, once.
func (s *Set) table() *tables {
	s.tablesOnce.Do(func() {
		t := &s.tables
		t.runners = taskRunners()
		for _, p := range s.packsOf("@tables") {
			if n := p.def.Names; n != nil {
				t.risky, t.counter, t.stage = setOf(n.Risky), setOf(n.Counter), setOf(n.Stage)
				t.verbs, t.harmless = setOf(n.Verbs), setOf(n.Harmless)
				t.soft, t.strong = setOf(n.Soft), setOf(n.Strong)
			}
			if d := p.def.Tables; d != nil {
				t.sqlWrites, t.mongoWrites, t.redisReads = setOf(d.SQLWrites), setOf(d.MongoWrites), setOf(d.RedisReads)
				t.localTools, t.netTools = setOf(d.LocalTools), setOf(d.NetTools)
				t.envPrinters, t.envVerbs = setOf(d.EnvPrinters), setOf(d.EnvVerbs)
				t.prose, t.english = setOf(d.Prose), setOf(d.English)
				t.shellTools, t.wordTools = setOf(d.ShellTools), setOf(d.WordTools)
				t.viewers, t.bins = setOf(d.Viewers), withPairs(d.Bins, d.bins)
			}
			if p.def.Changers != nil {
				t.changers = *p.def.Changers
			}
			if p.def.MCP != nil {
				t.mcp = newMCPTable(p.def.MCP)
			}
		}
		for _, p := range s.packsOf("@guards") {
			t.guards = append(t.guards, p.choose(func(d *ruleDef) bool {
				return d.looksAround() || containsString(d.When, "ends-run")
			})...)
		}
	})
	return &s.tables
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
		case t.risky[w]:
			risky = true
			strong = strong || t.strong[w]
		case t.counter[w], t.stage[w] && !risky && !both:
			return false
		case t.soft[w]:
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
