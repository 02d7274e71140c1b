package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// scriptFiles classifies the files that a program is given as what it is to
// do: sed -f x.sed, gdb -x x, expect x, runghc x.hs. They are those that the
// line wrote, and those of the project.
func (r *reading) scriptFiles(prog string, c *shell.Command) []Hit {
	if len(c.Argv) < 2 && c.Stdin.Kind != shell.InputFile {
		return nil
	}
	switch prog {
	case "sed", "gsed":
		return r.scripts(c, false, "-f", "--file")
	case "gdb", "lldb":
		return r.scripts(c, false, "-x", "--command", "-s", "--source")
	case "vim", "vi", "nvim", "ex", "gvim":
		return r.scripts(c, false, "-S", "-s", "-u")
	case "psql", "pgcli", "mysql", "mariadb", "sqlite3", "duckdb":
		return r.scripts(c, false, "-f", "--file", "-init", "--init")
	case "expect":
		return r.scripts(c, true, "-f", "-b")
	case "emacs":
		return r.programsNamed("lisp", c, 0, "-l", "--load", "--script", "-x")
	}
	switch lang, sub := runsFiles(prog); {
	case lang == "":
		return nil
	case sub == "" || containsString(strings.Fields(sub), c.Argv[1].Text):
		return r.programsNamed(lang, c, 1)
	case prog == "nim" && containsString(wordTexts(c.Argv), "-r"), prog == "v", prog == "crystal":
		return r.programsNamed(lang, c, 1)
	}
	return nil
}

// runsFiles is the language of the files that a program is given to run, and
// the subcommands with which it runs them.
func runsFiles(prog string) (lang, subcommands string) {
	switch prog {
	case "clojure", "clj", "bb", "guile", "racket", "sbcl", "ecl", "clisp", "csi", "gosh", "janet", "fennel", "hy", "chibi-scheme":
		return "lisp", ""
	case "runghc", "runhaskell", "ocaml", "octave", "escript", "gforth":
		return "generic", ""
	case "nim":
		return "generic", "r run e"
	case "v":
		return "generic", "run"
	case "crystal":
		return "ruby", "run eval spec"
	case "raku", "rakudo":
		return "raku", ""
	case "zig":
		return "rust", "run"
	case "nu", "elvish", "xonsh":
		return "shell", ""
	case "dotnet":
		return "java", "run script fsi"
	case "dotnet-script", "csharprepl", "fsi":
		return "java", ""
	case "yaegi":
		return "go", ""
	case "luau", "lune":
		return "lua", ""
	case "qjs", "d8", "jsc":
		return "javascript", ""
	case "wish":
		return "tclsh", ""
	}
	return "", ""
}

// programsNamed classifies the first so many program texts among the operands,
// and those that options name.
func (r *reading) programsNamed(lang string, c *shell.Command, operands int, options ...string) []Hit {
	var hits []Hit
	for i, w := range c.Argv[1:] {
		named := containsString(options, c.Argv[i].Text)
		if !named && (operands == 0 || strings.HasPrefix(w.Text, "-") || path.Ext(w.Text) == "") {
			continue
		}
		text, file, ok := r.file(c, w.Text)
		if !ok {
			continue
		}
		if !named {
			operands--
		}
		if lang == "shell" {
			hits = append(hits, r.line(text)...)
		} else if len(c.Files) > 0 {
			hits = append(hits, r.program(lang, text)...)
		} else {
			hits = append(hits, r.programFile(lang, text, file)...)
		}
	}
	return hits
}

// scripts classifies the files of commands that options name, and the first
// operand or standard input where that is one.
func (r *reading) scripts(c *shell.Command, operand bool, options ...string) []Hit {
	var hits []Hit
	read := func(name string) {
		text, file, ok := r.file(c, name)
		if !ok || len(text) > maxProgram {
			return
		}
		found, _ := r.following(file, func() []Hit {
			inner := *c
			inner.Files, inner.Stdin = nil, shell.Input{}
			inner.Argv = c.Argv[:1:1]
			for line := range strings.Lines(text) {
				inner.Argv = append(inner.Argv, shell.Word{Text: strings.TrimSpace(line)})
			}
			if c.Program() == "expect" {
				return r.spawned(text)
			}
			return r.editor(c.Program(), &inner)
		})
		hits = append(hits, found...)
	}
	for i, w := range c.Argv[1:] {
		switch name, value, glued := strings.Cut(w.Text, "="); {
		case containsString(options, c.Argv[i].Text):
			read(w.Text)
		case glued && containsString(options, name):
			read(value)
		case operand && !strings.HasPrefix(w.Text, "-"):
			operand = false
			read(w.Text)
		}
	}
	if c.Stdin.Kind == shell.InputFile && !c.Stdin.Known {
		read(c.Stdin.From)
	}
	return hits
}

// spawned classifies the commands of an expect script, and what it types.
func (r *reading) spawned(text string) []Hit {
	var hits []Hit
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, verb := range []string{"spawn ", "exec ", "system ", "send -- ", "send "} {
			if cmd, ok := strings.CutPrefix(line, verb); ok {
				cmd = strings.NewReplacer(`\r`, "", `\n`, "", "-noecho ", "").Replace(cmd)
				if strings.HasPrefix(verb, "send") {
					cmd = strings.Trim(cmd, `"{}`)
				}
				hits = append(hits, r.line(cmd)...)
				break
			}
		}
	}
	return hits
}
