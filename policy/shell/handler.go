package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// handler reads a command that the wrapper table cannot describe. It says
// false when the command is to be kept as it stands.
type handler func(w *walker, c Command, in input) (output, bool)

// handlerOf finds the handler of a program or builtin.
func handlerOf(name string) handler {
	switch name {
	case "eval":
		return evalCode
	case "trap":
		return trapCode
	case ".", "source":
		return sourceFile
	case "cd", "pushd", "popd":
		return changeDir
	case "set", "shift", "unset", "read", "getopts", "mapfile", "readarray", "printf", "alias", "unalias", "cp", "mv", "ln", "install", "tee":
		return setState
	case "command", "exec":
		return commandOrExec
	case "env", "genv":
		return envSplit
	case "su", "runuser":
		return switchUser
	case "watch", "gwatch":
		return watchCode
	case "xargs", "gxargs":
		return xargs
	case "parallel", "rush":
		return parallel
	case "find", "gfind":
		return findExec
	case "fd", "fdfind":
		return fdExec
	case "ssh", "autossh", "mosh", "sshpass":
		return remoteShell
	case "git":
		return gitCode
	case "gh":
		return ghCode
	case "tar", "gtar", "bsdtar", "split", "gsplit", "man":
		return codeFlags
	case "at", "batch", "crontab":
		return deferred
	case "busybox", "toybox":
		return applet
	case "npx", "npm":
		return nodeExec
	case "bwrap":
		return bubblewrap
	case "hyperfine", "concurrently", "npm-run-all":
		return eachArg
	case "tmux":
		return tmuxKeys
	case "nix":
		return nixDevelop
	case "sudo", "newgrp", "nix-shell":
		return inputShell
	case "cmd":
		return cmdCode
	}
	if isShell(name) {
		return runShell
	}
	return nil
}

// isShell says whether a program reads POSIX-like shell code.
func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "rbash", "yash", "fish", "posh", "rzsh", "bash5":
		return true
	}
	return false
}

// isInterpreter says whether a program runs code of another language.
func isInterpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	switch name {
	case "python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "Rscript", "R", "julia", "osascript", "tclsh", "expect", "ssh", "tsx", "ts-node", "pwsh", "powershell", "groovy", "irb", "ipython", "elixir", "scala", "jshell", "swift":
		return true
	}
	return false
}

// evalCode is eval: its words, joined, are read as code in this same shell.
func evalCode(w *walker, c Command, in input) (output, bool) {
	args := c.Argv[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return silent(), false
	}
	w.r.dry = true
	code := joinWords(args)
	out := w.codeOf(c, code, "eval", w.st, in)
	if code.Dynamic {
		w.st.doubt()
	}
	return out, true
}

// codeOf reads code that may hold parts that are not known. Where a
// substitution gives all of it, the command that runs it stays, marked opaque;
// a part of it shows in the words of the commands.
func (w *walker) codeOf(c Command, code Word, label string, st *state, in input) output {
	if code.Subst && isSubst(code.Text) { // nothing of the code is known
		if s, ok := w.scriptText(printedFile(code.Text)); ok && s.file != "" {
			return w.payloadOf(c, s.word(), label, st, in, s)
		}
		c.Opaque = "runs what " + printer(code.Text) + " prints"
		w.emit(c)
		return output{}
	}
	return w.payloadOf(c, code, label, st, in)
}

// printedFile is the file that a substitution prints as it is: $(cat x) and
// $(<x).
func printedFile(text string) string {
	f := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(text, "$("), ")"))
	switch {
	case len(f) == 2 && (f[0] == "cat" || f[0] == "<"):
		return plainName(f[1])
	case len(f) == 1 && strings.HasPrefix(f[0], "<"):
		return plainName(f[0][1:])
	}
	return ""
}

func plainName(s string) string {
	s = strings.Trim(s, `"'`)
	if strings.ContainsAny(s, "$`*?[|&;<>(){}\\\"'") {
		return ""
	}
	return s
}

// printer names the program of the first substitution in a text.
func printer(text string) string {
	for _, open := range []string{"$(", "`", "<("} {
		if _, after, ok := strings.Cut(text, open); ok {
			f := strings.FieldsFunc(after, func(r rune) bool { return strings.ContainsRune(" \t\n)`|;&<", r) })
			for _, name := range f {
				if !isAssign(name) {
					return path.Base(name)
				}
			}
		}
	}
	return "a command"
}

// isSubst says whether a text is one substitution and nothing else.
func isSubst(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "$(") && !strings.HasPrefix(text, "`") && !strings.HasPrefix(text, "\"$(") {
		return false
	}
	f, _, err := (*Parsers)(nil).parseAs(text, syntax.LangBash)
	if err != nil || len(f.Stmts) != 1 || len(f.Stmts[0].Redirs) > 0 {
		return false
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Assigns) == 0 && len(call.Args) == 1 && isSubstParts(call.Args[0].Parts)
}

func isSubstParts(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	switch p := parts[0].(type) {
	case *syntax.CmdSubst:
		return true
	case *syntax.DblQuoted:
		return isSubstParts(p.Parts)
	}
	return false
}

// trapCode is trap: its handler will run, at the end of the shell.
func trapCode(w *walker, c Command, in input) (output, bool) {
	i := 1
	for i < len(c.Argv) && hasFlag("-- -p -l -P", c.Argv[i].Text) {
		i++
	}
	if len(c.Argv)-i < 2 || c.Argv[i].Text == "" || c.Argv[i].Text == "-" {
		return silent(), false
	}
	w.r.traps = append(w.r.traps, trap{w: *w, c: c, code: i})
	return silent(), true
}

// sourceFile is source: a file of the line or a process substitution is code.
func sourceFile(w *walker, c Command, in input) (output, bool) {
	if len(c.Argv) < 2 {
		return output{}, false
	}
	if _, ok := w.scriptText(c.Argv[1].Text); !ok {
		defer w.st.doubt()
	}
	return w.runFile(c, c.Argv[1], c.Argv[2:], w.st, in)
}

// runFile runs a script file named on a command line, when its text is known.
func (w *walker) runFile(c Command, name Word, args []Word, st *state, in input) (output, bool) {
	if strings.HasPrefix(name.Text, "<(") || hasFlag("/dev/stdin /dev/fd/0 /proc/self/fd/0 -", name.Text) {
		if !strings.HasPrefix(name.Text, "<(") {
			return w.runInput(c, st, in)
		}
		if s, ok := w.scriptText(printedFile("$" + name.Text[1:])); ok && s.file != "" {
			return w.payloadOf(c, s.word(), label(c.Argv[:1], 1, Word{}), st, in, s), true
		}
		if text, ok := w.inner(name.Text); ok {
			return w.payloadOf(c, text.Word, label(c.Argv[:1], 1, Word{}), st, in), true
		}
		c.Opaque = "runs what " + firstWord(strings.TrimPrefix(name.Text, "<(")) + " prints"
		w.emit(c)
		return output{}, true
	}
	s, ok := w.scriptText(hereName(name))
	if !ok {
		return output{}, false
	}
	if len(args) > 0 || s.file != "" && st != w.st {
		st.params, st.hasParams = args, true
	}
	if st != w.st {
		st.name = name
	}
	return w.payloadOf(c, s.word(), c.Program()+" "+name.Text, st, in, s), true
}

// inner is what a process substitution, given by its source, prints.
func (w *walker) inner(src string) (output, bool) {
	body := strings.TrimSuffix(strings.TrimPrefix(src, "<("), ")")
	sub := w.fork()
	out := sub.payload(Word{Text: body}, "", sub.st, input{})
	return out, out.known
}

// runInput reads standard input as code.
func (w *walker) runInput(c Command, st *state, in input) (output, bool) {
	switch {
	case in.Known:
		inner := *w
		if in.decoded != "" {
			inner.f.opaque = "decoded from " + in.decoded
		}
		return inner.codeOf(c, Word{Text: in.Text, Dynamic: in.word.Dynamic, Subst: in.word.Subst}, label(c.Argv, len(c.Argv), Word{}), st, input{}), true
	case in.Kind == InputPipe:
		if name, ok := strings.CutPrefix(in.From, "cat "); ok && !strings.ContainsAny(name, " \t$|;&'\"") {
			if s, ok := w.scriptText(name); ok {
				return w.payloadOf(c, s.word(), label(c.Argv, len(c.Argv), Word{}), st, input{}, s), true
			}
		}
		c.Opaque = "runs what " + firstWord(in.From) + " prints"
	case in.Kind == InputFile:
		if s, ok := w.scriptText(in.From); ok {
			return w.payloadOf(c, s.word(), label(c.Argv, len(c.Argv), Word{}), st, input{}, s), true
		}
		c.Opaque = "runs what is in " + in.From
	default:
		return output{}, false
	}
	w.emit(c)
	return output{}, true
}

func firstWord(src string) string {
	if i := strings.LastIndex(src, "|"); i >= 0 {
		src = src[i+1:]
	}
	f := strings.Fields(src)
	if len(f) == 0 {
		return "a command"
	}
	return path.Base(f[0])
}

// runShell is a shell: -c CODE, a script, or code on standard input.
func runShell(w *walker, c Command, in input) (output, bool) {
	const values = "--rcfile --init-file -o +o -O +O -C --init-command -f --features"
	code, i := false, 1
	st := w.st.child()
flags:
	for ; i < len(c.Argv); i++ {
		word := c.Argv[i].Text
		switch {
		case word == "--" || word == "-":
			i++
			break flags
		case word == "-s":
			if !code {
				return w.runInput(c, st, in)
			}
		case hasFlag("--command", strings.SplitN(word, "=", 2)[0]):
			if _, val, ok := strings.Cut(word, "="); ok {
				arg := c.Argv[i]
				arg.Text = val
				return w.codeOf(c, arg, c.Program()+" -c", st, in), true
			}
			code = true
		case hasFlag(values, word):
			i++
		case strings.HasPrefix(word, "--"):
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			code = code || word[0] == '-' && strings.Contains(word, "c")
			if word[0] == '-' && strings.Contains(word, "n") && !code {
				return output{}, false // a syntax check runs nothing
			}
			if strings.ContainsAny(word[len(word)-1:], "oO") {
				i++
			}
		default:
			break flags
		}
	}
	if i >= len(c.Argv) {
		if code {
			return output{}, false
		}
		return w.runInput(c, st, in)
	}
	if !code {
		return w.runFile(c, c.Argv[i], c.Argv[i+1:], st, in)
	}
	st.params, st.hasParams = nil, true
	if i+1 < len(c.Argv) {
		st.name, st.params = c.Argv[i+1], c.Argv[i+2:]
	}
	return w.codeOf(c, c.Argv[i], label(c.Argv, i, Word{}), st, in), true
}

// remoteShell is ssh HOST CMD. The ssh itself stays: it reaches HOST.
func remoteShell(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{skip: 1, value: "-B -b -c -D -E -e -F -I -i -J -L -l -m -M -O -o -p -P -Q -R -S -W -w"}
	switch c.Program() {
	case "mosh":
		wr.value = "-p --ssh --port --predict --bind-server --server --client --family"
	case "sshpass":
		p := (&wrapper{value: "-p -f -d -P"}).parseArgs(c.Argv)
		return w.again(c, p.cmd, "sshpass", in), len(p.cmd) > 0
	case "ssh":
		wr.value = strings.Replace(wr.value, " -M", "", 1)
	}
	p := wr.parseArgs(c.Argv)
	w.proxyCommands(c, in)
	inner := *w
	if len(p.skip) > 0 {
		inner.f.remote = p.skip[0].Text
	}
	if len(p.cmd) == 0 {
		if in.Known && len(p.skip) > 0 {
			w.emit(c)
			return inner.payloadOf(c, Word{Text: in.Text}, "ssh "+p.skip[0].Text, &state{}, input{}), true
		}
		if in.Kind == InputPipe || in.Kind == InputFile && in.From != "/dev/null" {
			c.Opaque = "a remote shell runs what " + firstWord(in.From) + " gives"
		}
		w.emit(c)
		return output{}, true
	}
	w.emit(c)
	c.Opaque = ""
	return inner.payloadOf(c, joinWords(p.cmd), label(c.Argv, p.end, Word{}), &state{}, in), true
}

// proxyCommands reads -o ProxyCommand=CMD, which runs here.
func (w *walker) proxyCommands(c Command, in input) {
	for i, a := range c.Argv {
		text := strings.TrimPrefix(a.Text, "-o")
		if i > 0 && (strings.HasPrefix(text, "ProxyCommand=") || strings.HasPrefix(text, "LocalCommand=") || strings.HasPrefix(text, "KnownHostsCommand=")) {
			_, code, _ := strings.Cut(text, "=")
			w.payloadOf(c, Word{Text: code, Dynamic: a.Dynamic, Subst: a.Subst}, "ssh -o", w.st.child(), in)
		}
	}
}

// applet is busybox: its first argument is the program.
func applet(w *walker, c Command, in input) (output, bool) {
	if len(c.Argv) < 2 || strings.HasPrefix(c.Argv[1].Text, "-") {
		return output{}, false
	}
	return w.again(c, slices.Clone(c.Argv[1:]), c.Program(), in), true
}
