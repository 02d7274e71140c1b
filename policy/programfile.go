package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// ownProgram classifies a program of the project that is written in another
// language than the shell's, ./x with #!/usr/bin/env python3.
func (r *reading) ownProgram(c *shell.Command) []Hit {
	name := c.Argv[0].Text
	if path.Ext(name) == ".py" && len(c.Wrappers) > 0 && strings.Contains(c.Wrappers[len(c.Wrappers)-1], " run") { // uv run x.py
		if text, file, ok := r.file(c, name); ok {
			return r.programFile("python", text, file)
		}
	}
	if home, ok := strings.CutPrefix(name, "$HOME/"); ok {
		name = "~/" + home
	}
	if !strings.Contains(name, "/") || strings.ContainsAny(name, "$`") {
		return nil
	}
	text, file, ok := r.file(c, name)
	if !ok || !strings.HasPrefix(text, "#!") {
		return nil
	}
	return r.programFile(languageOfFile("", text), text, file)
}

// longProgram is the size from which a program file is more than a script
// that somebody wrote for one errand: its strings are no guesses at commands,
// and a method's name alone says little.
const longProgram = 8 << 10

// programFile classifies a file that an interpreter runs.
func (r *reading) programFile(lang, text, file string) []Hit {
	return r.programPart(lang, text, file, nil)
}

// programPart classifies a file that another loads, of which only what these
// names reach runs; nil is all of it.
func (r *reading) programPart(lang, text, file string, names map[string]bool) []Hit {
	if lang == "" || lang == "shell" {
		return nil
	}
	hits, _ := r.following(file, func() []Hit {
		if r.tree != nil {
			if r.tree.programs -= len(text); r.tree.programs < 0 {
				r.hide()
				return nil
			}
			defer func(before bool) { r.tree.skim = before }(r.tree.skim)
			r.tree.skim = len(text) > longProgram
		}
		if names != nil {
			text = reachedText(lang, text, names)
		}
		hits := r.placed(r.program(lang, text), file, text, 0)
		out := hits[:0]
		for _, h := range hits {
			switch {
			case h.Tier < External:
			case h.Opaque && h.Rule != "opaque-payload" && !namesFile(h.Text):
				h.Tier = Local
			case strings.HasPrefix(h.Rule, "code-") && genericCall(h.Text):
				continue
			}
			out = append(out, h)
		}
		return append(out, r.imports(lang, text, file)...)
	})
	return hits
}

// skims: a long program is being looked at.
func (r *reading) skims() bool { return r.tree != nil && r.tree.skim }

// namesFile: the command names a program by its path.
func namesFile(command string) bool {
	f := strings.Fields(strings.Trim(command, `"'`))
	return len(f) > 0 && strings.ContainsAny(strings.TrimLeft(f[0], "'\""), "/.")
}

// genericCall: the call is one of a method that collections have as well, and
// nothing in it looks like an address: cache.delete(key).
func genericCall(text string) bool {
	low := strings.ToLower(text)
	if strings.Contains(low, "headers.delete(") {
		return true
	}
	for _, w := range []string{"/", "url", "uri", "endpoint", "href", "api", "http", "client", "session", "request", "axios", "got.", "ky."} {
		if strings.Contains(low, w) {
			return false
		}
	}
	for _, m := range []string{".delete(", ".put(", ".patch(", ".post(", ".connect(", ".invoke(", ".submit(", ".push("} {
		if strings.Contains(text, m) {
			return true
		}
	}
	return false
}

// namesStart: a call of that name starts a command in every language.
func namesStart(name string) bool {
	last := strings.ToLower(name[strings.LastIndexAny(name, ".>:")+1:])
	switch last {
	case "run", "call", "sh", "$", "fork", "local", "qx":
		return true
	}
	for _, w := range []string{"exec", "spawn", "popen", "system", "shell", "check_", "command", "getoutput"} {
		if strings.Contains(last, w) {
			return true
		}
	}
	return false
}

// programOf is the program text of the work tree that an interpreter is given,
// by name or on standard input.
func (r *reading) programOf(lang string, in inline, c *shell.Command) (text, file string, ok bool) {
	name := in.script
	if name == "" && c.Stdin.Kind == shell.InputFile && !c.Stdin.Known && len(in.code) == 0 {
		name = c.Stdin.From
	}
	if r.tree == nil || name == "" || len(c.Files) > 0 || lang == "shell" || c.Remote != "" {
		return "", "", false
	}
	if lang == "pwsh" || lang == "powershell" {
		for i, w := range c.Argv[:len(c.Argv)-1] {
			if strings.EqualFold(w.Text, "-File") || strings.EqualFold(w.Text, "-f") {
				name = c.Argv[i+1].Text
			}
		}
	}
	tries := []string{name}
	switch {
	case lang == "javascript" && path.Ext(name) == "":
		tries = append(tries, name+".js", name+".ts", name+"/index.js")
	case lang == "python" && path.Ext(name) == "":
		tries = append(tries, name+"/__main__.py")
	}
	for _, n := range tries {
		if text, file, ok = r.tree.read(n); ok {
			return text, file, true
		}
	}
	return "", "", false
}

// moduleFile classifies a module of the project that python -m runs.
func (r *reading) moduleFile(name string) []Hit {
	if r.tree == nil {
		return nil
	}
	base := strings.ReplaceAll(name, ".", "/")
	for _, n := range []string{base + ".py", base + "/__main__.py"} {
		text, file, ok := r.tree.read(n)
		if !ok {
			continue
		}
		defer func(before []string) { r.tree.modules = before }(r.tree.modules)
		r.tree.modules = append(slices.Clip(r.tree.modules), r.tree.dir)
		var hits []Hit
		if pkg, _, nested := strings.Cut(base, "/"); nested || strings.HasSuffix(n, "/__main__.py") { // the package is loaded first
			if text, file, ok := r.tree.read(pkg + "/__init__.py"); ok {
				hits = r.programPart("python", text, file, map[string]bool{})
			}
		}
		return append(hits, r.programFile("python", text, file)...)
	}
	return nil
}
