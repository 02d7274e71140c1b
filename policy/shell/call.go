package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxChoices bounds how many readings one command gets when variables in it
// may hold one of several values.
const maxChoices = 16

// callExpr reads a simple command: once for each combination of the values
// that the variables in it may hold.
func (w *walker) callExpr(c *syntax.CallExpr, in input, redirs []Redirect) output {
	w.aliased(c, in)
	names := w.choices(c)
	if len(names) == 0 {
		return w.oneCall(c, in, redirs)
	}
	all := make([]variable, len(names))
	total := 1
	for i, n := range names {
		all[i] = w.st.vars[n]
		total *= len(all[i].vals)
	}
	var after *state
	for k := range min(total, maxChoices) {
		chosen := make([]Word, len(names))
		for i, v := range all {
			chosen[i] = v.vals[k%len(v.vals)]
			k /= len(v.vals)
		}
		after = w.choose(c, in, redirs, names, chosen, after)
	}
	if total > maxChoices { // and whatever else they may be
		chosen := make([]Word, len(names))
		for i, n := range names {
			chosen[i] = unknown("$" + n)
		}
		after = w.choose(c, in, redirs, names, chosen, after)
	}
	*w.st = *after
	return output{}
}

// choose reads a command with one value for each variable that may hold
// several, and joins the state afterwards to that of the other choices.
func (w *walker) choose(c *syntax.CallExpr, in input, redirs []Redirect, names []string, chosen []Word, after *state) *state {
	one := w.fork()
	for i, n := range names {
		v := w.st.vars[n]
		v.vals = chosen[i : i+1 : i+1]
		one.st.vars[n], one.st.exports = v, nil
	}
	one.oneCall(c, in, redirs)
	for i, n := range names { // what the command has not set may still be anything
		if v, ok := one.st.vars[n]; ok && len(v.vals) == 1 && v.vals[0] == chosen[i] && !assigns(c, n) {
			one.st.vars[n], one.st.exports = w.st.vars[n], nil
		}
	}
	if after != nil {
		after.join(one.st)
		return after
	}
	return one.st
}

// assigns says whether a command is an assignment of a variable.
func assigns(c *syntax.CallExpr, name string) bool {
	return len(c.Args) == 0 && slices.ContainsFunc(c.Assigns, func(a *syntax.Assign) bool { return a.Name.Value == name })
}

// choices names the variables of a command that may hold several values.
func (w *walker) choices(c *syntax.CallExpr) []string {
	any := false
	for _, v := range w.st.vars {
		any = any || len(v.vals) > 1
	}
	if !any {
		return nil
	}
	var names []string
	add := func(name string) {
		if len(w.st.vars[name].vals) > 1 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, a := range c.Assigns {
		if a.Append {
			add(a.Name.Value)
		}
	}
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if n.Param != nil {
				add(n.Param.Value)
			}
		case *syntax.ArithmExp:
			syntax.Walk(n.X, func(n syntax.Node) bool {
				if lit, ok := n.(*syntax.Lit); ok {
					add(lit.Value)
				}
				return true
			})
		}
		return true
	})
	return names
}

// aliased reads a command whose first word is an alias of the line. Only some
// shells expand it there, so the command is read as it stands as well.
func (w *walker) aliased(c *syntax.CallExpr, in input) {
	if len(w.st.aliases) == 0 || len(c.Args) == 0 {
		return
	}
	name := c.Args[0].Lit()
	a, ok := w.st.aliases[name]
	if !ok || name == "" {
		return
	}
	if w.f.mode == Runs {
		a.called = true
	}
	rest := w.slice(c.Args[0].End(), c.End())
	st := w.st.clone()
	delete(st.aliases, name) // an alias does not expand itself
	w.payload(Word{Text: a.text + rest}, "alias "+name, st, in)
}

func (w *walker) oneCall(c *syntax.CallExpr, in input, redirs []Redirect) output {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assign(a)
		}
		if len(redirs) > 0 {
			w.emit(Command{Argv: []Word{{Text: ":"}}, Redirects: redirs, Stdin: in.Input, Source: w.source(c)})
		}
		return silent()
	}
	cmd := Command{Stdin: in.Input, Redirects: redirs, Source: w.source(c)}
	for _, a := range c.Assigns {
		if a.Value != nil {
			cmd.Env = append(cmd.Env, Assign{Name: a.Name.Value, Value: w.literal(a.Value)})
		}
	}
	for _, word := range c.Args {
		cmd.Argv = append(cmd.Argv, w.fields(word)...)
	}
	if len(cmd.Argv) == 0 {
		return silent()
	}
	return w.run(cmd, in)
}

// assign applies NAME=value, NAME+=value, NAME=(a b) and NAME[i]=value.
func (w *walker) assign(a *syntax.Assign) {
	if a.Name == nil {
		w.literal(a.Value)
		return
	}
	name := a.Name.Value
	switch {
	case a.Array != nil:
		var list []Word
		if a.Append {
			list = slices.Clone(w.st.vars[name].list)
		}
		for _, e := range a.Array.Elems {
			w.comments(e.Comments)
			if e.Index != nil {
				w.arithm(e.Index)
			}
			if e.Value != nil {
				list = append(list, w.fields(e.Value)...)
			}
		}
		w.st.setList(name, list)
	case a.Index != nil:
		w.arithm(a.Index)
		w.assignElem(name, a.Index, w.literal(a.Value))
	case a.Naked:
	case a.Append:
		old, ok := w.lookup(name, nil)
		if !ok {
			old = unknown("$" + name)
		}
		val := joinText(old, w.literal(a.Value))
		if v := w.st.vars[name]; v.isList && len(v.list) > 0 {
			v.list = slices.Clone(v.list)
			v.list[0] = val
			w.st.vars[name] = v
			return
		}
		w.st.set(name, val)
	default:
		w.st.set(name, w.literal(a.Value))
	}
}

func (w *walker) assignElem(name string, index syntax.ArithmExpr, val Word) {
	list := slices.Clone(w.st.vars[name].list)
	text, ok := w.calc(index)
	i := len(text)
	if n := atoi(text); ok && n >= 0 && n <= len(list) {
		i = n
	} else {
		i = len(list)
	}
	if i == len(list) {
		list = append(list, val)
	} else {
		list[i] = val
	}
	w.st.setList(name, list)
}

func joinText(a, b Word) Word {
	return Word{Text: a.Text + b.Text, Dynamic: a.Dynamic || b.Dynamic, Subst: a.Subst || b.Subst}
}

// declClause is export, declare, local, readonly and typeset: a command, and
// assignments.
func (w *walker) declClause(d *syntax.DeclClause, in input) {
	c := Command{Argv: []Word{{Text: d.Variant.Value}}, Stdin: in.Input, Source: w.source(d)}
	export := d.Variant.Value == "export"
	var flags strings.Builder
	for _, a := range d.Args {
		if a.Name == nil {
			word := w.literal(a.Value)
			if strings.HasPrefix(word.Text, "-") {
				flags.WriteString(word.Text)
			}
			c.Argv = append(c.Argv, word)
			continue
		}
		if d.Variant.Value != "export" && d.Variant.Value != "readonly" && !strings.Contains(flags.String(), "g") {
			w.st.locals.hide(w.st, a.Name.Value)
		}
		w.assign(a)
		w.attribute(a.Name.Value, flags.String())
		word := Word{Text: a.Name.Value}
		if !a.Naked {
			val := joinWords(w.st.vars[a.Name.Value].list)
			if v := w.st.vars[a.Name.Value]; !v.isList && len(v.vals) > 0 {
				val = v.vals[0]
			}
			val.Text = a.Name.Value + "=" + val.Text
			word = val
		}
		c.Argv = append(c.Argv, word)
		if export || strings.Contains(flags.String(), "x") {
			w.st.export(a.Name.Value, !strings.Contains(flags.String(), "n"))
		}
	}
	w.emit(c)
}

// attribute applies declare -l, -u, -i and -n to a value.
func (w *walker) attribute(name, flags string) {
	v, ok := w.st.vars[name]
	if !ok || v.isList {
		return
	}
	for i, val := range v.vals {
		switch {
		case strings.Contains(flags, "l"):
			val.Text = strings.ToLower(val.Text)
		case strings.Contains(flags, "u"):
			val.Text = strings.ToUpper(val.Text)
		case strings.ContainsAny(flags, "in"):
			val = unknown("$" + name)
		}
		v.vals = slices.Clone(v.vals)
		v.vals[i] = val
	}
	w.st.vars[name] = v
}

// emit keeps a command.
func (w *walker) emit(c Command) {
	c = w.complete(c)
	w.r.add(c)
	w.effects(&c)
}

// ran keeps a command that stands for what its script runs.
func (w *walker) ran(c Command, file string) {
	if len(w.r.line.Ran) < maxWritten {
		c = w.complete(c)
		c.Scripts = append(slices.Clone(c.Scripts), file)
		w.r.line.Ran = append(w.r.line.Ran, c)
	}
}

// complete adds to a command what holds around it.
func (w *walker) complete(c Command) Command {
	c.Scripts = w.f.scripts
	c.Mode, c.Depth, c.Remote, c.Dir = w.f.mode, w.f.depth, w.f.remote, w.st.dir
	c.Wrappers = slices.Concat(w.f.wrappers, c.Wrappers)
	c.Redirects = slices.Concat(w.f.redirs, c.Redirects)
	if env := w.st.env(); len(w.f.env)+len(c.Env) == 0 {
		c.Env = env
	} else {
		c.Env = slices.Concat(env, w.f.env, c.Env)
	}
	if len(c.Env) == 0 {
		c.Env = nil
	}
	if c.Opaque == "" {
		c.Opaque = w.f.opaque
	}
	if c.Opaque == "" && !isKnownName(c.Argv[0]) {
		c.Opaque = "runs a program whose name is not known"
		if c.Argv[0].Subst {
			c.Opaque = "runs what " + printer(c.Argv[0].Text) + " prints"
		}
	}
	if len(w.st.files) > 0 {
		w.attachFiles(&c)
	}
	return c
}

// attachFiles adds the files of the line that a command names, or that its
// program reads without being told.
func (w *walker) attachFiles(c *Command) {
	add := func(name string) {
		if text, ok := w.st.file(name); ok {
			c.Files = append(c.Files, File{Name: name, Text: text})
		}
	}
	if isScript(c.Argv[0].Text) { // uv run a.py, ./a.py
		add(c.Argv[0].Text)
	}
	for _, a := range c.Argv[1:] {
		add(a.Text)
	}
	for _, name := range implicitFiles(c.Program()) {
		add(name)
	}
}

// isScript: the program is a file of a scripting language.
func isScript(name string) bool {
	for _, ext := range []string{".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}

func implicitFiles(program string) []string {
	switch program {
	case "make", "gmake":
		return []string{"Makefile", "makefile", "GNUmakefile"}
	case "npm", "pnpm", "yarn", "bun":
		return []string{"package.json"}
	case "just":
		return []string{"justfile", "Justfile"}
	case "task":
		return []string{"Taskfile.yml", "Taskfile.yaml"}
	case "docker", "podman":
		return []string{"Dockerfile"}
	case "cmake":
		return []string{"CMakeLists.txt"}
	case "gradle", "gradlew":
		return []string{"build.gradle", "build.gradle.kts"}
	case "ant":
		return []string{"build.xml"}
	}
	return nil
}

// isKnownName says whether the program's own name is known, be its directory
// known ($HOME/bin/git) or not.
func isKnownName(word Word) bool {
	if !word.Dynamic {
		return true
	}
	base := word.Text[strings.LastIndexByte(word.Text, '/')+1:]
	return base != "" && !strings.ContainsAny(base, "$`(){}<>")
}
