package shell

import (
	"slices"
	"strings"
)

// wrapper describes the command line of a program that runs another one. Flags
// are written as the manual does and separated by blanks; a short flag may
// also stand in a cluster, with its value glued on.
type wrapper struct {
	sub    string // subcommands in front of the command; alternatives by |
	value  string // flags that take the next word
	code   string // flags whose value is shell code
	none   string // flags after which there is no command
	skip   int    // words between the flags and the command
	assign bool   // NAME=value words in front of the command
	join   bool   // the words of the command are joined and read by a shell
	dash   bool   // the command begins after --
	keep   bool   // it reaches out or acts by itself: it stays a command too
	where  string // prefix of Remote; the last skipped word says where
	image  bool   // the last skipped word is an image, which may have a program of its own
}

// parsed is a wrapper's command line taken apart.
type parsed struct {
	cmd    []Word   // the wrapped command
	code   []Word   // values of code flags
	env    []Assign // assignments in front of the command
	skip   []Word   // the words of skip
	end    int      // index of cmd in the words
	none   bool     // a flag of none was there
	subs   bool     // all subcommands were there
	values map[string]Word
}

// hasFlag says whether a blank-separated list holds a flag.
func hasFlag(list, flag string) bool {
	if flag == "" || strings.IndexByte(flag, ' ') >= 0 {
		return false
	}
	for from := 0; ; {
		i := strings.Index(list[from:], flag)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(flag)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		from = end
	}
}

// parseArgs takes the words after the program apart.
func (wr *wrapper) parseArgs(argv []Word) parsed {
	p := parsed{values: nil}
	subs := strings.Fields(wr.sub)
	flags := true
	i := 1
	for ; i < len(argv); i++ {
		word := argv[i].Text
		switch {
		case flags && word == "--":
			if len(subs) == 0 {
				flags = false
			}
		case flags && len(word) > 1 && word[0] == '-':
			i += p.flag(wr, argv, i)
		case wr.assign && isAssign(word) && len(subs) == 0:
			p.env = append(p.env, assignOf(argv[i]))
		case wr.assign && len(subs) == 0 && i+1 < len(argv) && argv[i].Subst && !isKnownName(argv[i]):
			// env $(cat .env) cmd: assignments that are not known
		case len(subs) > 0 && hasAlternative(subs[0], word):
			subs = subs[1:]
		case len(subs) > 0:
			if isKnownName(argv[i]) {
				return p
			} // docker $OPTS run: flags that are not known
		case len(p.skip) < wr.skip:
			p.skip = append(p.skip, argv[i])
			if wr.where != "" && wr.code == "" && len(p.skip) == wr.skip { // the rest is for the container
				p.cmd, p.end, p.subs = argv[i+1:], i+1, true
				return p
			}
		default:
			p.cmd, p.end, p.subs = argv[i:], i, true
			if wr.dash {
				p.afterDash(argv, i)
			}
			return p
		}
		if !flags && wr.dash {
			p.cmd, p.end, p.subs = argv[i+1:], i+1, len(subs) == 0
			return p
		}
	}
	p.end, p.subs = len(argv), len(subs) == 0
	return p
}

func (p *parsed) afterDash(argv []Word, from int) {
	p.skip = argv[from : from+1]
	for i := from; i < len(argv); i++ {
		if argv[i].Text == "--" {
			p.cmd, p.end = argv[i+1:], i+1
			return
		}
	}
	p.cmd, p.end = nil, len(argv)
}

// flag reads the flag at argv[i] and returns how many more words it takes.
func (p *parsed) flag(wr *wrapper, argv []Word, i int) int {
	word := argv[i].Text
	next := func(name string, glued string, has bool) int {
		val, n := Word{Text: glued, Dynamic: argv[i].Dynamic, Subst: argv[i].Subst}, 0
		if !has {
			if i+1 >= len(argv) {
				return 0
			}
			val, n = argv[i+1], 1
		}
		if hasFlag(wr.code, name) {
			p.code = append(p.code, val)
		}
		if p.values == nil {
			p.values = map[string]Word{}
		}
		p.values[name] = val
		return n
	}
	name, val, has := strings.Cut(word, "=")
	if hasFlag(wr.none, name) {
		p.none = true
	}
	if hasFlag(wr.value, name) || hasFlag(wr.code, name) {
		return next(name, val, has)
	}
	if strings.HasPrefix(word, "--") {
		return 0
	}
	for j := 1; j < len(word); j++ {
		short := "-" + word[j:j+1]
		if hasFlag(wr.none, short) {
			p.none = true
		}
		if hasFlag(wr.value, short) || hasFlag(wr.code, short) {
			return next(short, word[j+1:], j+1 < len(word))
		}
	}
	return 0
}

func hasAlternative(alts, word string) bool {
	for a := range strings.SplitSeq(alts, "|") {
		if a == word {
			return true
		}
	}
	return false
}

// isAssign says whether a word is NAME=value.
func isAssign(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && isName(name)
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func assignOf(word Word) Assign {
	name, val, _ := strings.Cut(word.Text, "=")
	word.Text = val
	return Assign{Name: name, Value: word}
}

// unwrap runs what a wrapper of the table wraps. It says false when the words
// do not use the program as a wrapper.
func (w *walker) unwrap(wr wrapper, c Command, in input) (output, bool) {
	p := wr.parseArgs(c.Argv)
	if entry, ok := p.values["--entrypoint"]; ok && wr.where == "docker:" && entry.Text != "" {
		p.cmd = slices.Concat([]Word{entry}, p.cmd)
	} else if wr.image && len(p.skip) > 0 {
		if name := imageProgram(p.skip[len(p.skip)-1], p.cmd); name != "" {
			p.cmd = slices.Concat([]Word{{Text: name}}, p.cmd)
		}
	}
	if !p.subs || len(p.code) == 0 && (p.none || len(p.cmd) == 0) {
		return output{}, false
	}
	if wr.keep {
		w.emit(c)
		c.Redirects, c.Wrappers = slices.Clone(c.Redirects), slices.Clone(c.Wrappers)
	}
	inner := *w
	if wr.where != "" && len(p.skip) > 0 {
		inner.f.remote = wr.where + p.skip[len(p.skip)-1].Text
	}
	c.Env = slices.Concat(c.Env, p.env)
	if dir, ok := chdir(c.Program(), p.values); ok {
		inner.st = w.st.clone()
		inner.st.cd(dir)
	}
	var out output
	for _, code := range p.code {
		out = inner.payloadOf(c, code, label(c.Argv, p.end, code), w.childOf(wr), in)
	}
	if len(p.code) > 0 || len(p.cmd) == 0 || p.none {
		return out, true
	}
	if wr.where != "" && len(p.skip) > 0 && !isKnownName(p.skip[0]) && len(p.cmd) > 1 {
		inner.again(c, p.cmd[1:], label(c.Argv, p.end, Word{}), in) // docker run $OPTS image cmd
	}
	if wr.join {
		return inner.payloadOf(c, joinWords(p.cmd), label(c.Argv, p.end, Word{}), w.childOf(wr), in), true
	}
	return inner.again(c, p.cmd, label(c.Argv, p.end, Word{}), in), true
}

// childOf is the state of the shell that a wrapper starts: another machine or
// container has no variables of ours.
func (w *walker) childOf(wr wrapper) *state {
	if wr.where != "" {
		return &state{}
	}
	return w.st.child()
}

// chdir is the directory that a wrapper changes to.
func chdir(program string, values map[string]Word) (Word, bool) {
	flags := ""
	switch program {
	case "env", "genv":
		flags = "-C --chdir"
	case "sudo":
		flags = "-D --chdir"
	}
	for name, val := range values {
		if flags != "" && hasFlag(flags, name) {
			return val, true
		}
	}
	return Word{}, false
}

// label names a wrapper as it was written, without its code.
func label(argv []Word, end int, code Word) string {
	var texts []string
	for i, a := range argv[:end] {
		if i > 0 && (a == code || a.Text == "--") {
			continue
		}
		texts = append(texts, a.Text)
	}
	texts[0] = baseName(argv)
	return strings.Join(texts, " ")
}
