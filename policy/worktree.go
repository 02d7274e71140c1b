package policy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// The bounds of following what a call runs into the files of the work tree.
const (
	maxFile      = 256 << 10 // bytes of one file
	maxFiles     = 32        // files read for one call
	maxFollow    = 4         // files that run files
	maxRecipes   = 500       // lines of recipes and scripts classified for one call
	maxAncestors = 12        // folders above a place in which .git is looked for
)

// worktree is what can be read of the files that a call runs, and what has
// been read. A nil one can read nothing.
type worktree struct {
	open    func(string) (string, bool)
	list    func(string) ([]string, bool) // nil: no folder can be listed
	listed  int                           // folders listed so far
	cwd     string
	texts   map[string]string
	missing map[string]bool
	recipes int // lines of recipes that may still be classified

	programs int  // bytes of programs that may still be looked at
	skim     bool // the program that is being looked at is long

	modules []string // folders that Python modules are looked for in

	changed     func() []string // files that the agent may have written; nil: not known
	changedOnce []string
	program     func(string) string // the program of the system that a file is a copy of; nil: not known

	configs map[string][]gitEntry // configurations of git's that were read
	ranBy   map[string][]Hit      // what tools run by themselves, by file and key

	dir    string   // where the line that is being read stands, as seen from cwd
	stack  []string // the files, and targets in them, that are being followed
	hidden int      // commands seen so far that cannot be seen through
	busy   bool     // the line holds a command that may change a file before another runs it
}

// readingOf begins the classification of a call.
func (s *Set) readingOf(c Call) *reading {
	r := s.newReading()
	r.noWords = c.NoWords
	r.guard, r.cwd = c.Guarded, c.Cwd
	if r.made = c.Builds; r.made == nil {
		r.made = &Builds{} // for this call
	}
	if c.ReadFile != nil {
		r.tree = &worktree{open: c.ReadFile, list: c.ReadDir, changed: c.Changed, program: c.ProgramOf, cwd: c.Cwd, texts: map[string]string{}, missing: map[string]bool{}, recipes: maxRecipes, programs: maxFile}
	}
	return r
}

// path is the name under which a file is asked for; "" when the place it is
// named from is not known. A file of the user's keeps its ~.
func (t *worktree) path(name string) string {
	name = joinDir(t.dir, name)
	for _, home := range []string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(name, home); ok && (rest == "" || rest[0] == '/') {
			name = "~" + rest
		}
	}
	if name == "" || strings.ContainsAny(name, "$`\x00") {
		return ""
	}
	if name[0] == '~' { // whose folder that is, who reads knows
		if name = path.Clean(name); name == "~" || strings.HasPrefix(name, "~/") {
			return name
		}
		return ""
	}
	return path.Clean(joinDir(t.cwd, name))
}

func joinDir(dir, name string) string {
	if dir == "" || name == "" || name[0] == '/' || name[0] == '~' || name[0] == '$' {
		return name
	}
	return dir + "/" + name
}

// read gives the text of a file and the name it was asked for by.
func (t *worktree) read(name string) (text, file string, ok bool) {
	if rest, ok := strings.CutPrefix(name, shell.Toplevel); ok {
		return t.fromTop(rest)
	}
	for _, here := range []string{"$PWD/", "${PWD}/", "$(pwd)/"} {
		name = strings.TrimPrefix(name, here)
	}
	file = t.path(name)
	if file == "" || t.missing[file] {
		return "", file, false
	}
	if text, ok = t.texts[file]; ok {
		return text, file, true
	}
	if len(t.texts) < maxFiles && len(t.missing) < 4*maxFiles {
		text, ok = t.open(file)
	}
	if !ok || len(text) > maxFile || strings.IndexByte(text[:min(len(text), 1<<10)], 0) >= 0 {
		t.missing[file] = true
		return "", file, false
	}
	t.texts[file] = text
	return text, file, true
}

// fromTop reads a file by its name from the top of the work tree.
func (t *worktree) fromTop(name string) (text, file string, ok bool) {
	up := "."
	for range maxAncestors {
		for _, mark := range []string{"/.git/config", "/.git"} {
			if _, _, ok := t.read(up + mark); ok {
				return t.read(up + "/" + name)
			}
		}
		up += "/.."
	}
	return "", "", false
}

// file is the text of a file that a command names or implies: one that the
// line itself wrote, or one of the work tree.
func (r *reading) file(c *shell.Command, name string) (text, file string, ok bool) {
	for _, f := range c.Files {
		if path.Clean(f.Name) == path.Clean(name) {
			return f.Text, f.Name, true
		}
	}
	if r.tree == nil || c.Remote != "" {
		return "", "", false
	}
	return r.tree.read(name)
}

// readScript is shell.Options.ReadFile. A file that is being followed already has
// nothing to add.
func (r *reading) readScript(name string) (string, bool) {
	t := r.tree
	if len(t.stack) >= maxFollow && !slices.Contains(t.stack, t.path(name)) {
		return "", false
	}
	text, file, ok := t.read(name)
	if slices.Contains(t.stack, file) {
		return "", true
	}
	return text, ok
}

// commands classifies the commands of a line, and what stands for the scripts
// that were read with it.
func (r *reading) commands(l shell.Line) []Hit {
	var hits []Hit
	var unclear map[string]bool // files of which not everything can be seen through
	var under nested
	all := len(l.Opaque) == 0
	if r.tree != nil {
		defer r.note(l.Commands)()
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		if len(c.Scripts) == 0 {
			hits = append(hits, r.command(c)...)
		} else {
			n, before := len(r.nodes), r.blind()
			hits = append(hits, r.inScript(c)...)
			if r.blind() > before {
				unclear = with(unclear, c.Scripts)
			}
			under.take(r, n, c.Scripts)
		}
		if len(hits) > maxHits {
			all = false
			break
		}
	}
	first := len(r.nodes)
	for i := len(l.Ran) - 1; i >= 0; i-- { // the innermost first
		c := &l.Ran[i]
		file := c.Scripts[len(c.Scripts)-1]
		n, before := len(r.nodes), r.blind()
		said := r.command(c)
		r.tree.hidden = before // what hides behind it has been counted
		if all && !unclear[file] && !r.tree.busy && !changes(l.Commands, file) {
			said = seenThrough(said)
		}
		under.give(r, file, said)
		under.take(r, n, c.Scripts[:len(c.Scripts)-1])
		hits = append(hits, said...)
	}
	slices.Reverse(r.nodes[first:])
	return hits
}

// note remembers, while a line is classified, whether a command of its own may
// change files that another of its commands runs.
func (r *reading) note(list []shell.Command) (done func()) {
	before := r.tree.busy
	r.tree.busy = before || changes(list, "")
	return func() { r.tree.busy = before }
}

// changes: one of the commands, other than those of a script itself, may
// change what a file holds. Without a script it is asked of the commands of
// the line alone.
func changes(list []shell.Command, file string) bool {
	for i := range list {
		c := &list[i]
		if file == "" && len(c.Scripts) > 0 || file != "" && containsString(c.Scripts, file) {
			continue
		}
		if !isInert(c) {
			return true
		}
	}
	return false
}

// inert are programs that change no file, or none that something runs.
const inert = " cd echo printf true false : set unset export local declare readonly mkdir chmod ls pwd test [ sleep cat head tail grep rg wc date env which command type exit return shift break continue time umask trap "

func isInert(c *shell.Command) bool {
	for _, rd := range c.Redirects {
		if strings.Contains(rd.Op, ">") && !strings.HasPrefix(rd.Target.Text, "/dev/") && !strings.HasPrefix(rd.Target.Text, "&") && !strings.HasSuffix(rd.Op, ">&") {
			return false
		}
	}
	if isOwn(c) {
		return false
	}
	prog := c.Program()
	if prog == "git" {
		return len(c.Argv) > 1 && containsString([]string{"status", "log", "diff", "add", "commit", "rev-parse", "show", "branch", "push", "fetch", "tag"}, c.Argv[1].Text)
	}
	return strings.Contains(inert, " "+prog+" ") || followable(prog)
}

func with(set map[string]bool, names []string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	for _, n := range names {
		set[n] = true
	}
	return set
}

// inScript classifies a command that stands in a file.
func (r *reading) inScript(c *shell.Command) []Hit {
	stack := r.tree.stack
	defer func() { r.tree.stack = stack }()
	for _, name := range c.Scripts {
		_, file, _ := r.tree.read(name)
		r.tree.stack = append(slices.Clip(r.tree.stack), file)
	}
	text, file, _ := r.tree.read(c.Scripts[len(c.Scripts)-1])
	if c.Source != "" && !strings.Contains(text, c.Source) { // a function of a file that this one sources
		for _, name := range slices.Sorted(maps.Keys(r.tree.texts)) {
			if strings.Contains(r.tree.texts[name], c.Source) {
				text, file = r.tree.texts[name], name
				break
			}
		}
	}
	return r.placed(r.command(c), file, text, 0)
}

// judged judges a command in its own directory, and notes whether it can be
// seen through.
func (r *reading) judged(c *shell.Command) []Hit {
	if r.tree == nil {
		return r.judge(c)
	}
	defer r.enter(c)()
	hits := r.judge(c)
	if c.Mode != shell.Defined && r.isHidden(c, hits) {
		r.tree.hidden++
	}
	return hits
}

// blind is how many commands could not be seen through so far.
func (r *reading) blind() int {
	if r.tree == nil {
		return 0
	}
	return r.tree.hidden
}

// hide notes that something that runs cannot be seen through.
func (r *reading) hide() {
	if r.tree != nil {
		r.tree.hidden++
	}
}

// enter goes to the directory of a command, for what the command runs.
func (r *reading) enter(c *shell.Command) (leave func()) {
	if r.tree == nil || c.Dir == "" {
		return func() {}
	}
	return r.in(c.Dir)
}

func (r *reading) in(dir string) (leave func()) {
	if r.tree == nil {
		return func() {}
	}
	before := r.tree.dir
	r.tree.dir = joinDir(before, dir)
	return func() { r.tree.dir = before }
}

// following runs follow for a file, or a target in one, unless it is being
// followed already. It reports whether everything in it could be seen through.
func (r *reading) following(key string, follow func() []Hit) (hits []Hit, seen bool) {
	t := r.tree
	if t == nil { // the line wrote the file: nothing else can be read
		return follow(), false
	}
	if slices.Contains(t.stack, key) {
		return nil, true
	}
	if len(t.stack) >= maxFollow {
		t.hidden++
		return nil, false
	}
	stack, before := t.stack, t.hidden
	t.stack = append(slices.Clip(t.stack), key)
	hits = follow()
	t.stack = stack
	return hits, t.hidden == before
}

// recipe classifies one line of a file that is being followed.
func (r *reading) recipe(text, file string, line int) []Hit {
	if r.tree != nil {
		if r.tree.recipes--; r.tree.recipes < 0 {
			r.tree.hidden++
			return nil
		}
		r.left++
	}
	return r.placed(r.line(text), file, "", line)
}
