package policy

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// programName is the program that a package, a module or an image name stands
// for: @railway/cli is railway, eas-cli is eas. It is "" when no rule speaks of
// such a program.
func (s *Set) programName(pkg string) string {
	if i := strings.LastIndex(pkg, "@"); i > 0 {
		pkg = pkg[:i]
	}
	if p := s.table().bins()[pkg]; p != "" {
		return p
	}
	scope, base, scoped := strings.Cut(strings.TrimPrefix(pkg, "@"), "/")
	if !scoped || pkg[0] != '@' {
		scope, base = "", baseOf(pkg)
	}
	for _, n := range []string{base, strings.TrimSuffix(base, "-cli"), strings.TrimSuffix(base, "cli"), scope} {
		if n != "" && n != "cli" && (s.knows(n) || languageOf(n) != "") && (n != scope || base == "cli" || base == scope+"-cli") {
			return n
		}
	}
	return ""
}

// localBin classifies the words from n on as a program of the project's own
// packages: yarn, pnpm and bun run one when no script has that name.
func (r *reading) localBin(a *args, n int) []Hit {
	prog := r.set.programName(a.words[n].Text)
	if prog == "" || a.tool.is(prog) || r.set.table().harmless.has(prog) {
		return nil
	}
	argv := append([]shell.Word{}, tailOf(a.argv, a.words[n])...)
	argv[0] = shell.Word{Text: prog}
	return r.line(lineOf(argv))
}

// packageProgram classifies a program that is named as its package: npx
// eas-cli, pnpm dlx @railway/cli.
func (r *reading) packageProgram(c *shell.Command) []Hit {
	if jar := afterWord(c.Argv, "-jar"); c.Program() == "java" && len(jar) > 0 {
		name := strings.TrimSuffix(baseOf(jar[0].Text), ".jar")
		if i := strings.IndexAny(name, "0123456789"); i > 1 {
			name = strings.TrimRight(name[:i], "-_")
		}
		if !r.set.knows(name) {
			return nil
		}
		inner := *c
		inner.Argv = append([]shell.Word{{Text: name}}, jar[1:]...)
		return r.again(&inner)
	}
	if len(c.Wrappers) == 0 && !strings.HasPrefix(c.Argv[0].Text, "@") {
		return nil
	}
	prog := r.set.programName(strings.TrimPrefix(c.Argv[0].Text, "npm:"))
	if prog == "" || prog == c.Program() {
		return nil
	}
	inner := *c
	inner.Argv = append([]shell.Word{{Text: prog}}, c.Argv[1:]...)
	inner.Remote, inner.Opaque, inner.Redirects = "", "", nil
	return r.again(&inner)
}

// again classifies a command that another one stands for.
func (r *reading) again(c *shell.Command) []Hit {
	if r.depth++; r.depth > maxNesting {
		r.depth--
		return []Hit{opaqueHit("opaque-depth", commandText(c), "Programs that start programs go deeper than is looked at.")}
	}
	defer func() { r.depth-- }()
	if c.Source == "" {
		c.Source = commandText(c)
	}
	return r.command(c)
}

// guesses matches the rules once more with the words left out that may be the
// values of options the tool's table does not name: tool --unknown value deploy.
func (r *reading) guesses(a *args) []Hit {
	b := *a
	for range 3 {
		i := b.ambiguous(a)
		if i < 0 {
			return nil
		}
		b.words = append(append([]shell.Word{}, b.words[:i]...), b.words[i+1:]...)
		known := false
		for _, w := range b.words[i:min(i+2, len(b.words))] {
			known = known || a.tool.knows(w.Text)
		}
		if !known {
			continue
		}
		if hits := r.rules(&b); len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// ambiguous finds one of the first operands that stands right behind an option
// and is no subcommand that a rule or the table names.
func (a *args) ambiguous(full *args) int {
	for i, w := range a.words[:min(len(a.words), 3)] {
		if len(a.words) < 2 || a.tool.names[w.Text] || a.tool.knows(w.Text) {
			continue
		}
		for k := 1; k < len(full.argv); k++ {
			if o := full.argv[k-1].Text; full.argv[k] == w && len(o) > 1 && o[0] == '-' && o != "--" && !strings.Contains(o, "=") {
				return i
			}
		}
	}
	return -1
}

// knows reports whether a rule or the table names the word as a subcommand.
func (t *tool) knows(word string) bool {
	_, alias := t.Alias[word]
	return alias || t.known()[word]
}

// knownWords lists what knows answers for beside the aliases.
func (t *tool) knownWords() map[string]bool {
	known := map[string]bool{}
	add := func(path []wordPattern) {
		for _, p := range path {
			for word := range p.alternatives() {
				known[word] = true
			}
		}
	}
	for _, path := range t.subPaths {
		add(path)
	}
	for _, r := range t.rules {
		for _, list := range [][]pattern{r.cmds, r.excepts} {
			for _, c := range list {
				if t.is(c.program) {
					add(c.path)
				}
			}
		}
	}
	return known
}

// imageName is the program that a container image runs: the table's, or the
// one that the image, or the folder of the registry it lies in, is named for.
func (s *Set) imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	parts := strings.Split(image, "/")
	for _, key := range []string{image, strings.Join(parts[max(len(parts)-2, 0):], "/")} {
		if p := s.table().bins()[key]; p != "" {
			return p
		}
	}
	return s.programName(parts[len(parts)-1])
}

// views: the command runs in the image of a tool that only looks at the files
// it is given.
func (t *tables) views(c *shell.Command) bool {
	image, ok := strings.CutPrefix(c.Remote, "docker:")
	name, _, _ := strings.Cut(baseOf(image), ":")
	return ok && t.viewers.has(name)
}

// packageOperand classifies the words from n on as the program of a package
// and its arguments: nix run nixpkgs#git -- push, go run MODULE@v1 deploy. A
// package of the project itself is judged by its name and its first argument.
func (r *reading) packageOperand(a *args, c *shell.Command, n int) []Hit {
	spec := a.words[n].Text
	if a.tool.is("deno") {
		pkg, ok := strings.CutPrefix(spec, "npm:")
		if prog := r.set.programName(pkg); ok && prog != "" {
			inner := *c
			inner.Argv = append([]shell.Word{{Text: prog}}, afterWord(a.argv, spec)...)
			return r.again(&inner)
		}
		return nil
	}
	rest := afterWord(a.argv, spec)
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	name := spec
	if _, pkg, ok := strings.Cut(spec, "#"); ok && pkg != "" {
		name = pkg[strings.LastIndexByte(pkg, '.')+1:]
	}
	name, _, _ = strings.Cut(name, "@")
	if prog := r.packageOf(name); prog != "" && !isLocalPath(spec) {
		inner := *c
		inner.Argv = append([]shell.Word{{Text: prog}}, rest...)
		return r.again(&inner)
	}
	if r.set.table().riskyScript(strings.TrimSuffix(spec, "/")) {
		return []Hit{opaqueHit("opaque-script", commandText(c), "A program that is not looked into is named like one that reaches outside.")}
	}
	return r.toldTo(spec, c, rest)
}

// packageOf finds the program of a module path or flake reference.
func (r *reading) packageOf(path string) string {
	t := r.set.table()
	parts := strings.Split(path, "/")
	if last := parts[len(parts)-1]; len(parts) > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		parts = parts[:len(parts)-1]
	}
	for _, key := range []string{path, strings.Join(parts, "/")} {
		if p := t.bins()[key]; p != "" {
			return p
		}
	}
	return r.set.programName(parts[len(parts)-1])
}

func containsWord(list []shell.Word, w shell.Word) bool {
	return slices.Contains(list, w)
}

// afterWord is the words behind the first that reads so.
func afterWord(argv []shell.Word, text string) []shell.Word {
	for i, w := range argv {
		if w.Text == text {
			return argv[i+1:]
		}
	}
	return nil
}
