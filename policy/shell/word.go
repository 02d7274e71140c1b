package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// The bounds of one word's brace expansion: the words it may give, and the
// braces it may hold.
const (
	maxBraces     = 1024
	maxBraceParts = 32
)

// expander builds the fields of one word.
type expander struct {
	w     *walker
	split bool // unquoted expansions split into fields
	out   []Word
	buf   strings.Builder
	cur   Word
	open  bool // a field has begun, even if it is empty
}

// fields expands a word into the words that the command gets.
func (w *walker) fields(word *syntax.Word) []Word {
	if len(word.Parts) == 1 {
		if lit, ok := word.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, `\{`) {
			return []Word{{Text: lit.Value}}
		}
	}
	e := expander{w: w, split: true}
	cp := &syntax.Word{Parts: word.Parts}
	braces := countBraces(word)
	if braces > maxBraceParts {
		w.r.opaque("brace expansion too long")
		braces = 0
	}
	if braces == 0 || !syntax.SplitBraces(cp) {
		e.parts(word.Parts, false)
		e.flush()
		return e.out
	}
	n := 0
	for one, err := range expand.BracesSeq(nil, cp) {
		n++
		w.r.braced++
		if n > maxBraces || w.r.braced > maxCommands || err != nil {
			w.r.opaque("brace expansion too long")
			break
		}
		e.parts(one.Parts, false)
		e.flush()
	}
	return e.out
}

func countBraces(word *syntax.Word) int {
	n := 0
	for _, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	return n
}

// literal expands a word without splitting: an assignment, a redirection's
// target, a case word.
func (w *walker) literal(word *syntax.Word) Word {
	if word == nil {
		return Word{}
	}
	e := expander{w: w}
	e.parts(word.Parts, false)
	e.open = true
	e.flush()
	return e.out[0]
}

// document expands the body of a heredoc whose delimiter is not quoted.
func (w *walker) document(word *syntax.Word) Word {
	e := expander{w: w}
	e.quoted(word.Parts, "\\$`\n")
	e.open = true
	e.flush()
	return e.out[0]
}

func (e *expander) flush() {
	if !e.open {
		return
	}
	e.cur.Text = e.buf.String()
	e.out = append(e.out, e.cur)
	e.buf.Reset()
	e.cur, e.open = Word{}, false
}

// add appends text that is not split.
func (e *expander) add(v Word) {
	e.buf.WriteString(v.Text)
	e.cur.Dynamic = e.cur.Dynamic || v.Dynamic
	e.cur.Subst = e.cur.Subst || v.Subst
	e.open = true
}

// expansion appends the value of an unquoted expansion, which splits at blanks
// (or at IFS). A value that is not known stays in one piece.
func (e *expander) expansion(v Word) {
	if !e.split || v.Dynamic {
		if v.Text != "" || !e.split {
			e.add(v)
		}
		return
	}
	ifs := " \t\n"
	if set, ok := e.w.st.vars["IFS"]; ok && len(set.vals) > 0 && !set.vals[0].Dynamic {
		ifs = set.vals[0].Text
	}
	blank := false // the last field ended at white space: a separator may still follow
	for rest := v.Text; rest != ""; {
		i := strings.IndexAny(rest, ifs)
		if i != 0 {
			if i < 0 {
				i = len(rest)
			}
			e.add(Word{Text: rest[:i], Dynamic: v.Dynamic, Subst: v.Subst})
			rest, blank = rest[i:], false
			continue
		}
		white := strings.IndexByte(" \t\n", rest[0]) >= 0
		switch {
		case e.open:
			e.flush()
			blank = white
		case !white && blank:
			blank = false
		case !white: // an empty field
			e.open = true
			e.flush()
		}
		rest = rest[1:]
	}
}

// list appends the elements of "$@" or "${a[@]}": each its own field.
func (e *expander) list(vals []Word, quoted bool) {
	for i, v := range vals {
		if i > 0 {
			if e.split {
				e.flush()
			} else {
				e.add(Word{Text: " "})
			}
		}
		if quoted || !e.split {
			e.add(v)
		} else {
			e.expansion(v)
		}
	}
}

func (e *expander) parts(parts []syntax.WordPart, inside bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.add(Word{Text: unescape(p.Value)})
		case *syntax.SglQuoted:
			if p.Dollar {
				e.add(Word{Text: ansiC(p.Value)})
			} else {
				e.add(Word{Text: p.Value})
			}
		case *syntax.DblQuoted:
			if len(p.Parts) != 1 || !isList(p.Parts[0]) {
				e.open = true
			}
			e.quoted(p.Parts, "\\$`\"\n")
		case *syntax.ParamExp:
			vals, list := e.w.param(p)
			if list {
				e.list(vals, inside)
			} else {
				e.expansion(vals[0])
			}
		case *syntax.CmdSubst:
			e.expansion(e.w.cmdSubst(p))
		default:
			e.add(e.w.part(p))
		}
	}
}

// quoted appends parts that stand inside double quotes or a live heredoc, where
// a backslash only escapes the bytes of special.
func (e *expander) quoted(parts []syntax.WordPart, special string) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.add(Word{Text: unescapeOnly(p.Value, special)})
		case *syntax.ParamExp:
			vals, list := e.w.param(p)
			switch {
			case list && isList(p):
				e.list(vals, true)
			case list:
				e.add(joinWords(vals))
			default:
				e.add(vals[0])
			}
		case *syntax.CmdSubst:
			e.add(e.w.cmdSubst(p))
		case *syntax.DblQuoted:
			e.quoted(p.Parts, special)
		default:
			e.add(e.w.part(p))
		}
	}
}

func isList(p syntax.WordPart) bool {
	pe, ok := p.(*syntax.ParamExp)
	if !ok || pe.Param == nil {
		return false
	}
	if pe.Param.Value == "@" {
		return true
	}
	return indexWord(pe.Index) == "@"
}

// part is a word part that is neither quoted text nor a parameter.
func (w *walker) part(p syntax.WordPart) Word {
	switch p := p.(type) {
	case *syntax.ArithmExp:
		v, ok := w.calc(p.X)
		w.arithm(p.X)
		if ok {
			return Word{Text: v}
		}
		w.r.dry = w.r.dry || len(w.st.vars) > 0
		return unknown(w.source(p))
	case *syntax.ProcSubst:
		w.procSubst(p)
		return Word{Text: w.source(p), Dynamic: true, Subst: true}
	case *syntax.ExtGlob:
		return Word{Text: w.source(p)}
	case *syntax.SglQuoted:
		return Word{Text: p.Value}
	default:
		return unknown(w.source(p))
	}
}

// cmdSubst walks a command substitution; its value is known when the commands
// in it only print known text.
func (w *walker) cmdSubst(p *syntax.CmdSubst) Word {
	out := w.fork().stmts(p.Stmts, input{})
	w.comments(p.Last)
	if out.known {
		out.Text = strings.TrimRight(out.Text, "\n")
		return out.Word
	}
	return Word{Text: w.source(p), Dynamic: true, Subst: true}
}

// procSubst walks a process substitution; in >(cmd) the command reads what is
// written there.
func (w *walker) procSubst(p *syntax.ProcSubst) output {
	in := input{}
	if p.Op == syntax.CmdOut {
		in.Kind = InputPipe
	}
	out := w.fork().stmts(p.Stmts, in)
	w.comments(p.Last)
	return out
}

// substs walks every substitution under a node that is itself not evaluated.
func (w *walker) substs(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.cmdSubst(n)
			return false
		case *syntax.ProcSubst:
			w.procSubst(n)
			return false
		}
		return true
	})
}
