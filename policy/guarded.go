package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// Guarded is what a run keeps from the agent that works in it: what guards the
// run, and what would run later where nobody looks. The rules that speak of it
// are silent without one, because a call is judged by how far it reaches then.
type Guarded struct {
	Root  string                   // top folder of the work tree; "" = not known
	Home  string                   // the user's home folder; "" = not known
	Files []string                 // files and folders, absolute, that no call may change; Root is open even where it lies in one
	Pids  []int                    // loop's own process and the client's
	Ports []int                    // where the client's hooks are answered
	Real  func(name string) string // the place behind symbolic links, "" when there is none; may be nil
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

// changedFile is a file that a command changes. With tree, what lies below it is
// changed too.
type changedFile struct {
	name string // in the words of the command
	tree bool
}

// guards says of a command what the rules of a run's own protection say.
func (r *reading) guards(c *shell.Command) []Hit {
	if r.guard == nil || c.Remote != "" {
		return nil
	}
	var hits []Hit
	text := commandText(c)
	places := r.changes(c)
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

func (r *rule) speaksOf(rd *reading, c *shell.Command, places []changedFile) bool {
	for _, p := range places {
		if len(r.Writes) > 0 && rd.guard.holds(r.Writes, rd.cwd, joinDir(c.Dir, p.name), p.tree) {
			return true
		}
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

// holds reports whether one of the patterns, or a guarded file where a pattern
// is "@files", means the place.
func (g *Guarded) holds(patterns []string, cwd, name string, tree bool) bool {
	names := []string{g.resolve(cwd, name)}
	if g.Real != nil && strings.HasPrefix(names[0], "/") {
		if real := g.Real(names[0]); real != "" && real != names[0] {
			names = append(names, filepathSlash(real))
		}
	}
	for _, n := range names {
		for _, p := range patterns {
			if p == "@files" {
				if slices.ContainsFunc(g.Files, func(f string) bool { return g.guards(filepathSlash(f), n, tree) }) {
					return true
				}
				continue
			}
			if g.means(strings.ToLower(p), strings.ToLower(n), tree) {
				return true
			}
		}
	}
	return false
}

// guards: the place is the file, lies in it, or holds it.
func (g *Guarded) guards(file, name string, tree bool) bool {
	if root := filepathSlash(g.Root); root != "" && within(root, file) && within(name, root) {
		return false
	}
	return file != "" && (name == file || strings.HasPrefix(name, file+"/") || tree && within(file, name) ||
		strings.Contains(name, "*") && matchGlob(name, file))
}

// within: file lies below the folder.
func within(file, folder string) bool {
	return folder == "/" || folder != "" && strings.HasPrefix(file, strings.TrimSuffix(folder, "/")+"/")
}

// fixtures are folders in which a project keeps what no program reads for its
// own.
var fixtures = []string{"testdata", "fixtures", "__fixtures__", "node_modules", "vendor", "examples", "templates", "template"}

// means reports whether a pattern means the place. "~/x" is a file of the
// user's, "/x" one of the machine, and "x" one of the work tree, in any of its
// folders.
func (g *Guarded) means(pattern, name string, tree bool) bool {
	fixed, _, _ := strings.Cut(pattern, "*")
	fixed = strings.TrimSuffix(fixed, "/")
	switch {
	case strings.HasPrefix(pattern, "~/"):
		for _, home := range g.homes(name) {
			if matchGlob(home+pattern[1:], name) || tree && within(home+fixed[1:], name) {
				return true
			}
		}
		return false
	case strings.HasPrefix(pattern, "/"), len(pattern) > 1 && pattern[1] == ':':
		return matchGlob(pattern, name) || tree && within(fixed, name)
	}
	root := strings.ToLower(filepathSlash(g.Root))
	rel, ok := strings.CutPrefix(name, root+"/")
	switch {
	case root != "" && (name == root || tree && within(root, name)):
		return tree
	case root != "" && strings.HasPrefix(name, "/") && !ok,
		root == "" && (strings.HasPrefix(name, "/tmp/") || strings.HasPrefix(name, "/private/") || strings.HasPrefix(name, "/var/folders/")),
		strings.HasPrefix(name, "~"), strings.ContainsAny(name, "$`") && strings.Contains(name, "tmp"):
		return false
	}
	return belowWorkTree(pattern, fixed, rel, tree)
}

func belowWorkTree(pattern, fixed, rel string, tree bool) bool {
	parts := strings.Split(strings.TrimPrefix(rel, "/"), "/")
	for i := range parts {
		if slices.Contains(fixtures, parts[i]) {
			return false
		}
		tail := strings.Join(parts[i:], "/")
		if matchGlob(pattern, tail) || tree && within(fixed, tail) {
			return true
		}
	}
	return false
}

// homes are the folders that "~" may stand for in a name.
func (g *Guarded) homes(name string) []string {
	homes := []string{"~", "/root"}
	if g.Home != "" {
		homes = append(homes, strings.ToLower(filepathSlash(g.Home)))
	}
	for _, base := range []string{"/home/", "/users/"} {
		if rest, ok := strings.CutPrefix(name, base); ok {
			user, _, _ := strings.Cut(rest, "/")
			homes = append(homes, base+user)
		}
	}
	return homes
}

func filepathSlash(s string) string { return strings.ReplaceAll(s, `\`, "/") }

// resolve is the name as a place of the machine, as far as it is known.
func (g *Guarded) resolve(cwd, name string) string {
	name = filepathSlash(name)
	for _, v := range []struct{ says, is string }{
		{"$HOME", g.Home}, {"${HOME}", g.Home}, {"~", g.Home}, {"$PWD", cwd}, {"${PWD}", cwd}, {"$(pwd)", cwd},
		{"$CLAUDE_PROJECT_DIR", g.Root}, {"$(git rev-parse --show-toplevel)", g.Root},
	} {
		if rest, ok := strings.CutPrefix(name, v.says); ok && v.is != "" && (rest == "" || rest[0] == '/') {
			name = filepathSlash(v.is) + rest
		}
	}
	for _, d := range []string{"--git-dir)", "--git-common-dir)", "--absolute-git-dir)"} {
		if i := strings.Index(name, d); i >= 0 {
			name = ".git" + name[i+len(d):]
		}
	}
	if i := strings.Index(name, "--git-path "); i >= 0 {
		name = ".git/" + strings.Replace(name[i+len("--git-path "):], ")", "", 1)
	}
	if name == "" || name[0] == '~' || name[0] == '$' || len(name) > 1 && name[1] == ':' {
		return name
	}
	if name[0] != '/' && cwd != "" {
		name = filepathSlash(cwd) + "/" + name
	}
	return path.Clean(name)
}
