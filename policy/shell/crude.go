package shell

import "strings"

// crude reads a text that does not parse by its tokens: it splits at the
// operators of the shell, once minding quotes and once ignoring them, so that
// a quote out of place cannot hide a command. Each command is marked opaque.
func (w *walker) crude(text, why string) {
	inner := *w
	inner.st = &state{}
	inner.f.src, inner.f.opaque = text, why
	for _, quotes := range []bool{true, false} {
		for _, argv := range crudeCommands(text, quotes) {
			if len(w.r.line.Commands) >= maxCommands {
				return
			}
			c := Command{Source: joinWords(argv).Text, Opaque: why}
			for len(argv) > 1 && isAssign(argv[0].Text) {
				c.Env = append(c.Env, assignOf(argv[0]))
				argv = argv[1:]
			}
			for len(argv) > 1 && crudeKeyword(argv[0].Text) {
				argv = argv[1:]
			}
			c.Argv = argv
			if inner.f.depth > w.r.opts.MaxDepth {
				inner.emit(c)
				continue
			}
			inner.run(c, input{})
		}
	}
}

func crudeKeyword(s string) bool {
	return hasFlag("if then else elif while until do for case in { ! time coproc function", s)
}

// crudeCommands splits text into commands and those into words.
func crudeCommands(text string, quotes bool) [][]Word {
	var out [][]Word
	var argv []Word
	var b strings.Builder
	open, quote := false, byte(0)
	word := func() {
		if open {
			argv = append(argv, Word{Text: b.String(), Dynamic: strings.ContainsAny(b.String(), "$`")})
			b.Reset()
			open = false
		}
	}
	command := func() {
		word()
		if len(argv) > 0 {
			out = append(out, argv)
			argv = nil
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && quote != '\'':
			i++
			if text[i] != '\n' {
				b.WriteByte(text[i])
				open = true
			}
		case quotes && quote != 0:
			if c == quote {
				quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\'' || c == '"':
			open = open || quotes
			if quotes {
				quote = c
			}
		case strings.IndexByte(" \t\r", c) >= 0:
			word()
		case strings.IndexByte(";&|\n()`", c) >= 0, c == '$' && i+1 < len(text) && text[i+1] == '(':
			command()
		case c < ' ' && c != '\x1b':
		default:
			b.WriteByte(c)
			open = true
		}
	}
	command()
	return out
}

// splitWords splits text at blanks, minding quotes and backslashes, as env -S,
// xargs and git aliases do.
func splitWords(text string) []string {
	var out []string
	var b strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			open = true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, open = c, true
		case strings.IndexByte(" \t\r\n", c) >= 0:
			if open {
				out = append(out, b.String())
				b.Reset()
				open = false
			}
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, b.String())
	}
	return out
}
