package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// Guarded is what a run keeps from the agent that works in it: what guards the
// run, and what would run later where nobody looks. The rules that speak of it
// are silent without one, because a call is judged by how far it reaches then.
type Guarded struct {
	Remotes []string                          // folders of this machine that are remotes of the repository
	Root    string                            // top folder of the work tree; "" = not known
	Home    string                            // the user's home folder; "" = not known
	Files   []string                          // files and folders, absolute, that no call may change; Root is open even where it lies in one
	Own     func() []string                   // further ones, asked for when a call changes something; may be nil
	Pids    []int                             // loop's own process and the client's
	Ports   []int                             // where the client's hooks are answered
	Path    []string                          // folders in which the shells of the run look for programs
	Real    func(name string) string          // the place behind symbolic links, "" when there is none; may be nil
	Glob    func(name string) []string        // the places that a pattern of the shell's means; may be nil
	Finds   func(program, except string) bool // a program of this name is found elsewhere than in a folder; may be nil
}

func (g *Guarded) files() []string {
	switch {
	case g.Own == nil:
		return g.Files
	case len(g.Files) == 0: // so it is in a run, for which this is asked again and again
		return g.Own()
	}
	return slices.Concat(g.Files, g.Own())
}

// IsGuard reports whether a rule is one of those by which a run protects
// itself.
func IsGuard(rule string) bool {
	return strings.HasPrefix(rule, "guard-") || rule == "loop-control"
}

// Tampers reports whether a call would take the guard away, or put in its
// place what nobody guards.
func (r Result) Tampers() bool {
	return slices.ContainsFunc(r.Hits, func(h Hit) bool { return !h.Mention && h.Tier == External && IsGuard(h.Rule) })
}

// Instead is what the gravest rule with something to say offers in place of
// the call; "" when none does.
func (r Result) Instead() string {
	for _, h := range r.Hits {
		if h.Instead != "" && !h.Mention {
			return h.Instead
		}
	}
	return ""
}

// reach is how much of a place a command changes.
type reach uint8

const (
	itself reach = iota // the file or folder of that name
	inside              // files in the folder, nobody knows which; where that is the whole work tree, it is work
	whole               // it and all that lies in it
)

// changedFile is a place that a command changes.
type changedFile struct {
	name  string // in the words of the command
	reach reach
}

// guards says of a command what the rules of a run's own protection say.
func (r *reading) guards(c *shell.Command) []Hit {
	if r.guard == nil || c.Remote != "" {
		return nil
	}
	var hits []Hit
	text := commandText(c)
	places := r.placesOf(c)
	r.noteLinks(c)
	if slices.ContainsFunc(places, func(p spot) bool { return len(p.names) > 0 && holdsHooks(p.names[0], r.text) }) {
		hits = append(hits, r.set.guardHits("guard-client", text)...)
	}
	for _, rule := range r.set.guardRules() {
		if rule.speaksOf(r, c, places) {
			hits = append(hits, rule.hit(text))
		}
	}
	return hits
}

func (r *rule) hit(text string) Hit {
	return Hit{Rule: r.ID, Tier: r.tier, Why: r.Why, Instead: r.Instead, Text: text}
}

// guardHits is what a rule of the run's own protection says of a text.
func (s *Set) guardHits(id, text string) []Hit {
	for _, rule := range s.guardRules() {
		if rule.ID == id {
			return []Hit{rule.hit(text)}
		}
	}
	return nil
}

func (r *rule) speaksOf(rd *reading, c *shell.Command, places []spot) bool {
	if len(r.Writes) > 0 && slices.ContainsFunc(places, func(p spot) bool { return rd.guard.holdsAny(r.Writes, p.names, p.reach) }) {
		return true
	}
	switch {
	case len(r.Sets) > 0 && setsVariable(r.Sets, c):
		return true
	case len(r.Opens) > 0 && rd.guard.opens(r.Opens, c):
		return true
	}
	if containsString(r.When, "in-run") && r.wraps(c) {
		return true
	}
	return r.Port && rd.guard.speaksTo(joinWords(c.Argv)+redirected(c))
}

// wraps: the command is what a program of the rule was told to run.
func (r *rule) wraps(c *shell.Command) bool {
	for _, w := range c.Wrappers {
		prog, _, _ := strings.Cut(w, " ")
		if slices.ContainsFunc(r.cmds, func(p pattern) bool { return len(p.path) == 0 && p.program == baseOf(prog) }) {
			return true
		}
	}
	return false
}

func redirected(c *shell.Command) string {
	var b strings.Builder
	for _, rd := range c.Redirects {
		b.WriteString(" " + rd.Target.Text)
	}
	return b.String()
}

// setsVariable: the command unsets one of the variables, or runs with another
// value of it.
func setsVariable(names []string, c *shell.Command) bool {
	for _, e := range c.Env {
		if matchAny(names, e.Name) {
			return true
		}
	}
	for _, w := range c.Wrappers {
		f := strings.Fields(w)
		if len(f) == 0 || baseOf(f[0]) != "env" {
			continue
		}
		for i, word := range f {
			if word == "-i" || word == "-" || word == "--ignore-environment" {
				return true
			}
			name := strings.TrimPrefix(word, "--unset=")
			if i > 0 && (f[i-1] == "-u" || f[i-1] == "--unset" || name != word) && matchAny(names, name) {
				return true
			}
			if v, ok := strings.CutPrefix(word, "-u"); ok && v != "" && matchAny(names, v) {
				return true
			}
		}
	}
	switch c.Program() {
	case "unset", "export", "declare", "typeset", "readonly", "local", "set", "setenv", "unsetenv":
		for _, w := range c.Argv[1:] {
			if name, _, _ := strings.Cut(w.Text, "="); matchAny(names, name) && !strings.HasPrefix(w.Text, "-") {
				return c.Program() != "export" && c.Program() != "readonly" || strings.Contains(w.Text, "=") || slices.ContainsFunc(c.Argv, func(o shell.Word) bool { return o.Text == "-n" })
			}
		}
	}
	return false
}

// speaksTo: the text names one of the guarded ports of this machine.
func (g *Guarded) speaksTo(text string) bool {
	for _, p := range g.Ports {
		if p > 0 && holdsNumber(text, strconv.Itoa(p)) {
			for _, host := range []string{"127.", "localhost", "::1", "0.0.0.0", "LOOPBACK", "ffff:7f"} {
				if strings.Contains(text, host) {
					return true
				}
			}
		}
	}
	return false
}

func holdsNumber(text, n string) bool {
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	for at := 0; ; {
		i := strings.Index(text[at:], n)
		if i < 0 {
			return false
		}
		if i += at; !digit(i-1) && !digit(i+len(n)) {
			return true
		}
		at = i + 1
	}
}
