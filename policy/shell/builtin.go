package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (s *state) cd(dir Word) {
	if strings.HasPrefix(dir.Text, "/") || strings.HasPrefix(dir.Text, "~") || strings.HasPrefix(dir.Text, "$") || s.dir == "" {
		s.dir = dir.Text
		return
	}
	s.dir += "/" + dir.Text
}

// changeDir is cd, pushd and popd: a command that later ones depend on.
func changeDir(w *walker, c Command, in input) (output, bool) {
	w.emit(c)
	args := c.Argv[1:]
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		args = args[1:]
	}
	switch {
	case c.Program() == "popd" || len(args) > 0 && args[0].Text == "-":
		w.st.dir = ""
	case len(args) == 0:
		w.st.cd(Word{Text: "~"})
	default:
		w.st.cd(args[0])
	}
	return silent(), true
}

// setState applies the builtins and tools that change what later commands see.
// The command itself is kept as well.
func setState(w *walker, c Command, in input) (output, bool) {
	args := c.Argv[1:]
	switch c.Program() {
	case "set":
		w.setParams(args)
	case "shift":
		w.shift(args)
	case "unset":
		for _, a := range args {
			w.st.unset(a.Text)
			delete(w.st.funcs, a.Text)
		}
	case "read":
		w.read(args, c.Env, in)
	case "getopts":
		w.st.doubt()
	case "mapfile", "readarray":
		w.readLines(args, in)
	case "printf":
		if len(args) > 2 && args[0].Text == "-v" {
			if text, ok := formatted(args[2:]); ok {
				w.st.set(args[1].Text, text)
			}
			w.emit(c)
			return silent(), true
		}
	case "alias":
		for _, a := range args {
			w.alias(a)
		}
	case "unalias":
		for _, a := range args {
			delete(w.st.aliases, a.Text)
		}
	case "cp", "mv", "ln", "install":
		if len(args) >= 2 {
			s, ok := w.scriptText(args[len(args)-2].Text)
			if c.Program() == "ln" && !ok { // a symbolic link's target is seen from the link
				s, ok = w.scriptText(path.Join(path.Dir(args[len(args)-1].Text), args[len(args)-2].Text))
			}
			if ok {
				w.write(Write{Name: args[len(args)-1].Text, Text: s.text, Known: true})
			}
		}
	case "tee":
		w.tee(args, in)
	}
	return output{}, false
}

func (w *walker) alias(a Word) {
	name, text, ok := strings.Cut(a.Text, "=")
	if !ok || name == "" {
		return
	}
	al := &alias{text: text, f: w.f}
	w.r.aliases = append(w.r.aliases, al)
	if w.st.aliases == nil {
		w.st.aliases = map[string]*alias{}
	}
	if _, ok := w.st.aliases[name]; !ok && len(w.st.aliases) >= maxNames {
		w.r.opaque("too many aliases")
		return
	}
	w.st.aliases[name] = al
}

func (w *walker) tee(args []Word, in input) {
	add := false
	for _, a := range args {
		switch {
		case a.Text == "-a" || a.Text == "--append":
			add = true
		case !strings.HasPrefix(a.Text, "-") && !a.Dynamic && !strings.HasPrefix(a.Text, "/dev/"):
			w.write(Write{Name: a.Text, Text: in.Text, Known: in.Known, Append: add})
		}
	}
}

// setParams is set: its words after the options are the positional parameters.
func (w *walker) setParams(args []Word) {
	for i, a := range args {
		switch {
		case a.Text == "--":
			w.st.params, w.st.hasParams = args[i+1:], true
			return
		case a.Text == "-o" || a.Text == "+o":
			if i+1 < len(args) && args[i+1].Text == "allexport" {
				w.st.allexport = a.Text == "-o"
			}
			return
		case strings.HasPrefix(a.Text, "-"):
			w.st.allexport = w.st.allexport || strings.Contains(a.Text, "a")
			if strings.HasSuffix(a.Text, "o") {
				return
			}
		case strings.HasPrefix(a.Text, "+"):
			if strings.Contains(a.Text, "a") {
				w.st.allexport = false
			}
		default:
			w.st.params, w.st.hasParams = args[i:], true
			return
		}
	}
}

func (w *walker) shift(args []Word) {
	n := 1
	if len(args) > 0 {
		n = atoi(args[0].Text)
	}
	if n >= 0 && n <= len(w.st.params) {
		w.st.params = w.st.params[n:]
	}
}

// read is the read builtin: with a known input the names get its words.
func (w *walker) read(args []Word, env []Assign, in input) {
	const values = "-d -i -n -N -p -t -u"
	var names []string
	array, raw, whole := false, false, false
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if len(t) > 1 && t[0] == '-' {
			raw = raw || strings.Contains(t, "r")
			array = array || strings.Contains(t, "a")
			if hasFlag(values, "-"+t[len(t)-1:]) {
				i++
				whole = whole || t[len(t)-1] == 'd' && i < len(args) && args[i].Text == ""
			}
			continue
		}
		names = append(names, t)
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	line, _, _ := strings.Cut(in.Text, "\n")
	if whole { // -d '' reads to the end
		line = strings.Trim(in.Text, " \t\n")
	}
	if !raw {
		line = unescape(line)
	}
	if !in.Known {
		for _, n := range names {
			w.st.set(n, unknown("$"+n))
		}
		return
	}
	ifs := " \t\n"
	if v, ok := w.st.vars["IFS"]; ok && len(v.vals) > 0 {
		ifs = v.vals[0].Text
	}
	for _, a := range env {
		if a.Name == "IFS" {
			ifs = a.Value.Text
		}
	}
	fields := splitRead(line, ifs, len(names))
	if array {
		var list []Word
		for _, f := range splitRead(line, ifs, 1<<20) {
			list = append(list, Word{Text: f, Dynamic: in.word.Dynamic, Subst: in.word.Subst})
		}
		w.st.setList(names[0], list)
		return
	}
	for i, n := range names {
		val := Word{Dynamic: in.word.Dynamic, Subst: in.word.Subst}
		if i < len(fields) {
			val.Text = fields[i]
		}
		w.st.set(n, val)
	}
}

// splitRead splits a line as read does: the last name gets the rest.
func splitRead(line, ifs string, n int) []string {
	var out []string
	line = strings.Trim(line, " \t")
	for len(out) < n-1 && line != "" {
		i := strings.IndexAny(line, ifs)
		if i < 0 {
			break
		}
		out = append(out, line[:i])
		line = strings.TrimLeft(line[i+1:], " \t")
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

func (w *walker) readLines(args []Word, in input) {
	name := "MAPFILE"
	if n := len(args); n > 0 && !strings.HasPrefix(args[n-1].Text, "-") {
		name = args[n-1].Text
	}
	if !in.Known || !syntax.ValidName(name) {
		w.st.unset(name)
		return
	}
	var list []Word
	for line := range strings.SplitSeq(strings.TrimSuffix(in.Text, "\n"), "\n") {
		list = append(list, Word{Text: line, Dynamic: in.word.Dynamic, Subst: in.word.Subst})
	}
	w.st.setList(name, list)
}

// commandOrExec is command and exec: command -v only looks a name up, exec
// without a command only redirects.
func commandOrExec(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{none: "-v -V"}
	if c.Program() == "exec" {
		wr = wrapper{value: "-a"}
	}
	p := wr.parseArgs(c.Argv)
	if p.none || len(p.cmd) == 0 {
		return output{}, false
	}
	return w.again(c, p.cmd, label(c.Argv, p.end, Word{}), in), true
}
