package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// makefile is what is read out of a Makefile and what it includes. The
// branches of its conditionals are taken together.
type makefile struct {
	vars    map[string]string
	given   map[string]bool // variables that the command line sets
	rules   []*makeRule
	goal    string       // what is made when nothing is named
	direct  []recipeLine // commands that run while it is read
	unclear bool         // a part was not found, or may say something else

	refs    int    // references expanded so far
	prefix  string // of a recipe line
	inIf    int
	current []*makeRule
}

type makeRule struct {
	target  string
	prereqs []string
	recipe  []recipeLine
}

type recipeLine struct {
	text, file string
	line       int
	names      bool // its first word may be another task's name
}

// makeTargets classifies the recipes that make would run.
func (r *reading) makeTargets(c *shell.Command) ([]Hit, bool) {
	a := parseArgs(r.tool("make"), c, c.Argv[1:])
	if a.hasAny([]string{"-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "-t", "--touch", "-v", "--version", "-h", "--help"}) {
		return nil, false
	}
	for _, d := range a.all("-C", "--directory") {
		defer r.in(d.Text)()
	}
	names := wordTexts(a.all("-f", "--file", "--makefile"))
	if len(names) == 0 {
		names = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	m := &makefile{vars: defaultVars(), prefix: "\t", given: map[string]bool{}, unclear: len(a.all("--eval")) > 0}
	for _, name := range names {
		if strings.HasPrefix(name, "<(") || stdinName(name) && c.Stdin.Kind == shell.InputPipe && !c.Stdin.Known {
			return []Hit{opaqueHit("opaque-payload", commandText(c), "It makes what another command prints.")}, true
		}
		text, file, ok := r.file(c, name)
		if stdinName(name) {
			text, file, ok = c.Stdin.Text, name, true
		}
		if !ok {
			continue
		}
		var targets []string
		for _, w := range a.words {
			if n, v, ok := strings.Cut(w.Text, "="); ok {
				n = strings.TrimRight(n, ":?+")
				m.vars[n], m.given[n] = v, true
			} else {
				targets = append(targets, w.Text)
			}
		}
		return r.following(file+"\x00"+strings.Join(targets, " "), func() []Hit {
			m.read(r, text, file, 0)
			return r.makeGoals(m, targets)
		})
	}
	return nil, false
}

// stdinName: the name of a file that means the standard input.
func stdinName(name string) bool { return name == "-" || name == "/dev/stdin" || name == "/dev/fd/0" }

func defaultVars() map[string]string {
	return map[string]string{"MAKE": "make", "SHELL": "/bin/sh", "CC": "cc", "CXX": "g++", "AR": "ar", "RM": "rm -f", "CURDIR": ".", "AS": "as", "LD": "ld"}
}

func (r *reading) makeGoals(m *makefile, targets []string) []Hit {
	var hits []Hit
	for _, l := range m.direct {
		hits = append(hits, r.recipe(m.expand(l.text, nil, 0), l.file, l.line)...)
	}
	if len(targets) == 0 {
		targets = []string{m.goal}
	}
	done := map[string]bool{}
	for _, t := range targets {
		hits = append(hits, r.makeTarget(m, t, done, true)...)
	}
	if m.unclear {
		r.hide()
	}
	return hits
}

// maxTargets is how many targets of one call are followed.
const maxTargets = 200

// makeTarget classifies the recipe of a target and those of what it needs.
func (r *reading) makeTarget(m *makefile, name string, done map[string]bool, asked bool) []Hit {
	if done[name] {
		return nil
	}
	if done[name] = true; len(done) > maxTargets {
		m.unclear = true
		return nil
	}
	var hits []Hit
	found := false
	for _, rule := range m.rules {
		stem, ok := rule.match(name)
		if !ok {
			continue
		}
		found = true
		needs := make([]string, 0, len(rule.prereqs))
		for _, p := range rule.prereqs {
			for p := range strings.FieldsSeq(m.expand(p, nil, 0)) {
				needs = append(needs, strings.ReplaceAll(p, "%", stem))
			}
		}
		for _, p := range needs {
			hits = append(hits, r.makeTarget(m, p, done, false)...)
		}
		auto := map[string]string{"@": name, "^": strings.Join(needs, " "), "?": strings.Join(needs, " "), "+": strings.Join(needs, " "), "*": stem, "<": ""}
		if len(needs) > 0 {
			auto["<"] = needs[0]
		}
		for _, l := range rule.recipe {
			hits = append(hits, r.recipe(recipeText(m.expand(l.text, auto, 0)), l.file, l.line)...)
		}
	}
	if found || !asked {
		return hits
	}
	m.unclear = true
	for _, rule := range m.rules { // what makes everything else
		if rule.target != "%" && rule.target != ".DEFAULT" {
			continue
		}
		for _, l := range rule.recipe {
			hits = append(hits, r.recipe(recipeText(m.expand(l.text, map[string]string{"@": name, "*": name}, 0)), l.file, l.line)...)
		}
	}
	return hits
}

// recipeText takes the marks off the lines of an expanded recipe line.
func recipeText(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, " \t@+-")
	}
	return strings.Join(lines, "\n")
}

// match says whether the rule is for a target, and what % stands for.
func (r *makeRule) match(name string) (stem string, ok bool) {
	before, after, pattern := strings.Cut(r.target, "%")
	if !pattern {
		return "", r.target == name
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return name[len(before) : len(name)-len(after)], r.target != "%" && len(r.recipe) > 0
}
