package shell

import (
	"slices"
	"strconv"
	"strings"
)

// run takes a command apart: a function of the line, or what dispatch does.
func (w *walker) run(c Command, in input) output {
	name := c.Program()
	if fns := w.st.funcs[name]; len(fns) > 0 && c.Argv[0].Text == name && isKnownName(c.Argv[0]) {
		out := w.callAll(fns, c, in)
		if !slices.Contains(fns, nil) {
			return out
		}
		w.dispatch(c, in)
		return output{}
	}
	return w.dispatch(c, in)
}

// dispatch takes a command apart that is no function: a builtin that changes
// what follows, a wrapper, or a plain command that is kept.
func (w *walker) dispatch(c Command, in input) output {
	if w.r.step(); len(c.Wrappers) > maxWrappers {
		c.Opaque = "too many wrappers"
		w.r.opaque(c.Opaque)
		w.emit(c)
		return output{}
	}
	name := c.Program()
	if h := handlerOf(name); h != nil && isKnownName(c.Argv[0]) {
		if out, done := h(w, c, in); done {
			return out
		}
	} else if wr, ok := wrapperOf(name, c.Argv); ok && isKnownName(c.Argv[0]) {
		if out, done := w.unwrap(wr, c, in); done {
			return out
		}
	}
	if out, done := w.script(c, in); done {
		return out
	}
	w.emit(c)
	if !isKnownName(c.Argv[0]) {
		w.maybeEmpty(c, in)
	}
	return w.printed(c, in)
}

// maybeEmpty reads "$SUDO git push" as git push as well: a variable in front
// that is empty, or names a wrapper, leaves the rest as the command.
func (w *walker) maybeEmpty(c Command, in input) {
	if len(c.Argv) > 1 && isCommandName(c.Argv[1].Text) {
		w.again(c, c.Argv[1:], c.Argv[0].Text, in)
	}
}

// isCommandName says whether a word looks like the name of a program.
func isCommandName(s string) bool {
	if s == "" || strings.IndexByte("-+=:@%#!~$", s[0]) >= 0 {
		return false
	}
	return !strings.ContainsAny(s, " =:*?[]{}()<>|&;\"'\\\n")
}

func (w *walker) callAll(fns []*function, c Command, in input) output {
	inner := *w
	inner.f.env = slices.Concat(w.f.env, c.Env)
	inner.f.redirs = slices.Concat(w.f.redirs, c.Redirects)
	inner.f.wrappers = slices.Concat(w.f.wrappers, c.Wrappers)
	args := append([]Word{}, c.Argv[1:]...)
	var out output
	for _, fn := range fns {
		if fn != nil {
			out = inner.call(fn, args, in)
		}
	}
	if len(fns) > 1 {
		return output{}
	}
	return out
}

// again runs what a wrapper wraps: the same command with other words. Programs
// see no functions of the shell.
func (w *walker) again(c Command, argv []Word, label string, in input) output {
	if len(argv) == 0 {
		return output{}
	}
	c.Argv = argv
	c.Wrappers = append(slices.Clone(c.Wrappers), label)
	return w.dispatch(c, in)
}

// script reads a script that the command names, when its text is known.
func (w *walker) script(c Command, in input) (output, bool) {
	name := hereName(c.Argv[0])
	if !strings.Contains(name, "/") {
		return output{}, false
	}
	s, ok := w.scriptText(name)
	if !ok || !isShellText(s.text) {
		return output{}, false
	}
	st := w.st.child()
	st.params, st.hasParams, st.name = c.Argv[1:], true, c.Argv[0]
	return w.payloadOf(c, s.word(), name, st, in, s), true
}

// hereName is the name of a file as it can be looked up: $PWD/x and its kin
// are ./x, $HOME/x is ~/x, $(git rev-parse --show-toplevel)/x stays for the reader to know; ""
// when a part of it is not known.
func hereName(name Word) string {
	if !name.Dynamic {
		return name.Text
	}
	for _, p := range []string{"$PWD/", "${PWD}/", "$(pwd)/", "`pwd`/"} {
		if rest, ok := strings.CutPrefix(name.Text, p); ok {
			return plainName("./" + rest)
		}
	}
	for _, p := range []string{"$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(name.Text, p); ok && plainName(rest) != "" {
			return "~/" + plainName(rest)
		}
	}
	if rest, ok := strings.CutPrefix(name.Text, Toplevel); ok {
		if rest = plainName(rest); rest != "" {
			return Toplevel + rest
		}
	}
	return ""
}

// Toplevel in front of a file's name stands for the top of the work tree.
const Toplevel = "$(git rev-parse --show-toplevel)/"

// script is the text of a script, and the name by which it was read from
// outside; "" when the line wrote it.
type script struct{ text, file string }

func (s script) word() Word { return Word{Text: s.text} }

// maxScripts is how deep scripts that run scripts are followed.
const maxScripts = 4

func (w *walker) scriptText(name string) (script, bool) {
	if text, ok := w.st.file(name); ok {
		return script{text: text}, true
	}
	if w.r.opts.ReadFile == nil || w.f.remote != "" || name == "" {
		return script{}, false
	}
	s := script{file: w.st.join2(name)}
	if slices.Contains(w.f.scripts, s.file) {
		return s, true // it stands in Commands already
	}
	if len(w.f.scripts) >= maxScripts {
		return script{}, false
	}
	text, ok := w.r.opts.ReadFile(s.file)
	s.text = text
	return s, ok
}

// isShellText says whether a script is for a shell, by its first line.
func isShellText(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") {
		return true
	}
	for f := range strings.FieldsSeq(first[2:]) {
		if isShell(baseName([]Word{{Text: f}})) {
			return true
		}
	}
	return false
}

// payloadOf reads code that a command runs, keeping the command's own
// wrappers, assignments and redirections around it.
func (w *walker) payloadOf(c Command, code Word, label string, st *state, in input, from ...script) output {
	inner := *w
	for _, s := range from {
		if s.file != "" {
			w.ran(c, s.file)
			inner.f.scripts = append(slices.Clone(w.f.scripts), s.file)
		}
	}
	inner.f.redirs = slices.Concat(w.f.redirs, c.Redirects)
	inner.f.wrappers = slices.Concat(w.f.wrappers, c.Wrappers)
	if st == w.st { // eval and source: the assignments hold for this code only
		inner.f.env = slices.Concat(w.f.env, c.Env)
	} else {
		for _, a := range slices.Concat(w.f.env, c.Env) {
			st.set(a.Name, a.Value)
			st.export(a.Name, true)
		}
		inner.f.env = nil
	}
	return inner.payload(code, label, st, in)
}

// payload reads a text as shell code in the given state. Code that is wholly
// or partly unknown is read as far as it goes.
func (w *walker) payload(code Word, label string, st *state, in input) output {
	inner := *w
	inner.st = st
	inner.f.depth++
	if label != "" {
		inner.f.wrappers = append(slices.Clone(w.f.wrappers), label)
	}
	if inner.f.depth > w.r.opts.MaxDepth {
		why := "more than " + strconv.Itoa(w.r.opts.MaxDepth) + " payloads deep"
		w.r.opaque(why)
		inner.crude(code.Text, why)
		return output{}
	}
	return inner.text(code.Text, in, w.f.mode)
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
