package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// holds reports whether one of the patterns means the place; a guarded file
// where it is "@files", a program in front of another of its name where it is
// "@path".
func (g *Guarded) holds(patterns []string, cwd, name string, how reach) bool {
	return g.holdsAny(patterns, g.places(cwd, name, true), how)
}

func (g *Guarded) holdsAny(patterns, names []string, how reach) bool {
	for _, n := range names {
		low := strings.ToLower(n)
		for _, p := range patterns {
			switch {
			case p == "@files":
				if slices.ContainsFunc(g.files(), func(f string) bool { return g.guards(filepathSlash(f), low, how) }) {
					return true
				}
			case p == "@path":
				if g.shadows(n) {
					return true
				}
			case g.means(p, low, how):
				return true
			}
		}
	}
	return false
}

// spot is a place that a command changes, under each of its names.
type spot struct {
	names []string
	reach reach
}

// maxLookups is for how many places of one call the file system is asked what
// lies behind them.
const maxLookups = 400

// placesOf finds the names of what a command changes.
func (r *reading) placesOf(c *shell.Command) []spot {
	changed := r.throughLinks(c.Dir, r.throughFind(r.changes(c)))
	out := make([]spot, 0, len(changed))
	for _, f := range changed {
		r.lookups++
		names := r.guard.places(r.cwd, joinDir(c.Dir, f.name), r.lookups <= maxLookups)
		if c.Program() == "ln" {
			names = withoutTarget(names, c)
		}
		out = append(out, spot{names, f.reach})
	}
	return out
}

// withoutTarget leaves out what a link that a command makes leads to once it is
// there: who looks at the command afterwards finds it, and it was not changed.
func withoutTarget(names []string, c *shell.Command) []string {
	operands, _ := givenFiles(wordTexts(c.Argv[1:]))
	return slices.DeleteFunc(names, func(n string) bool {
		return n != names[0] && baseOf(n) != baseOf(names[0]) && slices.ContainsFunc(operands, func(o string) bool { return baseOf(o) == baseOf(n) })
	})
}

// maxPlaces is how many of the places are looked at that a pattern means.
const maxPlaces = 32

// places are the places of the machine that a name may mean: as it is written,
// and, where it is looked for, behind links and what a pattern of the shell's
// finds.
func (g *Guarded) places(cwd, name string, look bool) []string {
	var out []string
	for _, n := range g.named(name) {
		n = g.resolve(cwd, n)
		out = append(out, n)
		if !look {
			continue
		}
		found := []string{n}
		if g.Glob != nil && strings.HasPrefix(n, "/") && strings.ContainsAny(n, "*?[") {
			found = g.Glob(n)
			found = found[:min(len(found), maxPlaces)]
			out = append(out, found...)
		}
		for _, f := range found {
			if g.Real == nil || !strings.HasPrefix(f, "/") {
				continue
			}
			if real := g.Real(f); real != "" && real != f {
				out = append(out, filepathSlash(real))
			}
		}
	}
	return out
}

// isThere: something of that name, or that the pattern means, can be found.
func (g *Guarded) isThere(cwd, name string) bool {
	return g.Glob != nil && len(g.Glob(g.resolve(cwd, name))) > 0
}

// throughLinks goes through the links that earlier commands of the line have
// made: what is written below the link is written where it leads.
func (r *reading) throughLinks(dir string, places []changedFile) []changedFile {
	for _, p := range places {
		name := path.Clean(r.guard.resolve(r.cwd, joinDir(dir, p.name)))
		for _, l := range r.links {
			if rest, ok := strings.CutPrefix(name, l.from); ok && (rest == "" || rest[0] == '/') {
				places = append(places, changedFile{name: l.to + rest, reach: p.reach})
			}
		}
	}
	return places
}

// link is a name for another place that the line itself has made.
type link struct{ from, to string }

// maxLinks is how many links of one line are remembered.
const maxLinks = 32

// noteLinks remembers the links that a command makes.
func (r *reading) noteLinks(c *shell.Command) {
	prog := c.Program()
	if r.guard == nil || len(r.links) >= maxLinks || prog != "ln" && prog != "mount" && prog != "link" && prog != "bindfs" {
		return
	}
	operands, target := givenFiles(wordTexts(c.Argv[1:]))
	if target == "" && len(operands) < 2 {
		if len(operands) == 0 {
			return
		}
		target = baseOf(operands[0])
	} else if target == "" {
		target, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	from := path.Clean(r.guard.resolve(r.cwd, joinDir(c.Dir, target)))
	for _, o := range operands {
		to := r.guard.resolve(r.cwd, joinDir(c.Dir, o))
		if !strings.HasPrefix(o, "/") && slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
			return w.Text == "-s" || w.Text == "-sf" || w.Text == "-sfn" || w.Text == "--symbolic" || w.Text == "-sn" || w.Text == "-snf"
		}) && strings.HasPrefix(from, "/") {
			to = path.Join(path.Dir(from), o) // a symbolic link leads on from where it lies
		}
		r.links = append(r.links, link{from: from, to: path.Clean(to)}, link{from: from + "/" + baseOf(o), to: path.Clean(to)})
	}
}

// listers are programs that print the names they are given, or find.
const listers = " find ls echo printf realpath readlink git fd dirname basename "

// named are the files that a word names: it, or where a command prints the
// name, what stands in that command.
func (g *Guarded) named(name string) []string {
	i := strings.IndexAny(name, "$`")
	if i < 0 {
		return []string{name}
	}
	code := strings.TrimLeft(name[i:], "$(`")
	out := []string{name}
	words := strings.FieldsFunc(code, func(c rune) bool { return strings.ContainsRune(" \t\n\"'`()|;", c) })
	if len(words) < 2 {
		return out
	}
	for j, w := range words[1:min(len(words), maxPlaces)] {
		switch prog := words[j]; {
		case prog == "which" || prog == "-v" || prog == "-P" || prog == "-p" || prog == "whence" || prog == "-ap":
			for _, f := range g.files() {
				if baseOf(filepathSlash(f)) == w {
					out = append(out, g.beside(f, name)...)
				}
			}
		case strings.Contains(listers, " "+words[0]+" ") && strings.Contains(w, "/"):
			out = append(out, w)
		}
	}
	return out
}

// beside is a file, or what a word names from its folder:
// $(dirname "$(command -v loop)")/x.
func (g *Guarded) beside(file, word string) []string {
	if !strings.Contains(word, "dirname") {
		return []string{file}
	}
	return []string{path.Dir(filepathSlash(file)) + word[strings.LastIndexAny(word, ")`")+1:]}
}

// shadows: the place is a program in one of the folders in which programs are
// looked for, and the system has one of that name elsewhere.
func (g *Guarded) shadows(name string) bool {
	dir, program := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if root := filepathSlash(g.Root); root != "" && (dir == root || within(dir, root)) || strings.ContainsAny(program, "*?$`") {
		return false
	}
	if !slices.ContainsFunc(g.Path, func(d string) bool { return filepathSlash(d) == dir }) {
		return false
	}
	return slices.Contains(runNames, program) || g.Finds != nil && g.Finds(program, dir)
}

// guards: the place is the file, lies in it, or holds it.
func (g *Guarded) guards(file, name string, how reach) bool {
	file = strings.ToLower(file) // as name is: some file systems know no difference
	root := strings.ToLower(filepathSlash(g.Root))
	if root != "" && (within(root, file) && within(name, root) || how == inside && within(file, root) && !within(name, file) && name != file) {
		return false // what a gate's file became is seen after the attempt
	}
	return file != "" && (name == file || strings.HasPrefix(name, file+"/") || how != itself && within(file, name) ||
		expandsTo(name, file))
}

// expandsTo: the shell's pattern means the place. A star stands for no slash,
// and for no dot in front.
func expandsTo(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	if ok, err := path.Match(pattern, name); err != nil || !ok {
		return false
	}
	parts := strings.Split(name, "/")
	for i, p := range strings.Split(pattern, "/") {
		if i < len(parts) && strings.HasPrefix(parts[i], ".") && !strings.HasPrefix(p, ".") {
			return false
		}
	}
	return true
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
func (g *Guarded) means(pattern, name string, how reach) bool {
	if strings.ContainsAny(name, "*?[") {
		plain := strings.ReplaceAll(pattern, "*", "")
		if rest, ok := strings.CutPrefix(plain, "~"); ok {
			plain = strings.ToLower(filepathSlash(g.Home)) + rest
		} else if !strings.HasPrefix(plain, "/") && g.Root != "" {
			plain = strings.ToLower(filepathSlash(g.Root)) + "/" + plain
		}
		if expandsTo(name, plain) {
			return true
		}
	}
	tree := how != itself
	fixed, _, _ := strings.Cut(pattern, "*")
	fixed = strings.TrimSuffix(fixed, "/")
	switch {
	case !tree && !strings.Contains(name, strings.TrimPrefix(fixed, "~")):
		return false
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
		return how == whole
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
	if name = filepathSlash(name); strings.HasPrefix(name, "/") && !strings.Contains(name, "$") {
		name = path.Clean(name)
	}
	for _, v := range []struct{ says, is string }{
		{"$HOME", g.Home}, {"${HOME}", g.Home}, {"~+", cwd}, {"~", g.Home}, {"$PWD", cwd}, {"${PWD}", cwd}, {"$(pwd)", cwd}, {"`pwd`", cwd}, {"$(pwd -P)", cwd},
		{"/proc/self/cwd", cwd}, {"/proc/thread-self/cwd", cwd}, {"/proc/$$/cwd", cwd}, {"/proc/$PPID/cwd", cwd}, {"/proc/self/root", "/."},
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
