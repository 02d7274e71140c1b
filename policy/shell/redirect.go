package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects reads a statement's redirections: the list of them, and the
// standard input they give.
func (w *walker) redirects(s *syntax.Stmt, in input) ([]Redirect, input) {
	var out []Redirect
	for _, rd := range s.Redirs {
		fd := ""
		if rd.N != nil {
			fd = rd.N.Value
		}
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := w.heredoc(rd)
			w.data(s, body.Text)
			in = input{Input: Input{Kind: InputHeredoc, Text: body.Text, Known: true}, word: body}
		case syntax.WordHdoc:
			body := w.literal(rd.Word)
			body.Text += "\n"
			w.data(s, body.Text)
			in = input{Input: Input{Kind: InputHereString, Text: body.Text, Known: true}, word: body}
		case syntax.RdrIn, syntax.RdrInOut:
			target, sub := w.target(rd.Word)
			if fd == "" || fd == "0" {
				in = input{Input: Input{Kind: InputFile, From: target.Text}, word: target}
				if sub.known {
					in.Known, in.Text, in.word, in.decoded = true, sub.Text, sub.Word, sub.decoded
				} else if text, ok := w.st.file(target.Text); ok {
					in.Known, in.Text, in.word = true, text, Word{Text: text}
				}
			}
			out = append(out, Redirect{Op: fd + rd.Op.String(), Target: target})
		default:
			target, _ := w.target(rd.Word)
			op := rd.Op.String()
			if fd != "" && fd != "1" {
				op = fd + op
			}
			out = append(out, Redirect{Op: op, Target: target})
		}
	}
	return out, in
}

// target is a redirection's target; a process substitution as target comes
// with what it prints.
func (w *walker) target(word *syntax.Word) (Word, output) {
	if word == nil {
		return Word{}, output{}
	}
	if len(word.Parts) == 1 {
		if ps, ok := word.Parts[0].(*syntax.ProcSubst); ok {
			out := w.procSubst(ps)
			return Word{Text: w.source(ps), Dynamic: true, Subst: true}, out
		}
	}
	return w.literal(word), output{}
}

// heredoc is the body of a heredoc, with what the shell expands in it.
func (w *walker) heredoc(rd *syntax.Redirect) Word {
	if rd.Hdoc == nil {
		return Word{}
	}
	body := Word{}
	if quotedDelimiter(rd.Word) {
		body.Text = rawText(rd.Hdoc)
	} else {
		body = w.document(rd.Hdoc)
	}
	if rd.Op == syntax.DashHdoc {
		lines := strings.Split(body.Text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		body.Text = strings.Join(lines, "\n")
	}
	return body
}

func quotedDelimiter(word *syntax.Word) bool {
	for _, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

func rawText(word *syntax.Word) string {
	var b strings.Builder
	for _, p := range word.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
		}
	}
	return b.String()
}

// data records the text of a heredoc whose command only reads it as data. What
// a shell or an interpreter reads is code, and stands in the commands.
func (w *walker) data(s *syntax.Stmt, text string) {
	if len(w.f.scripts) > 0 {
		return
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		for _, a := range call.Args {
			name := baseName([]Word{{Text: a.Lit()}})
			if isShell(name) || isInterpreter(name) {
				return
			}
		}
	}
	w.r.text(Text{Kind: TextHeredoc, Body: text})
}

// redirected is what is left of a command's output after its redirections; a
// file that gets known text is remembered.
func (w *walker) redirected(out output, redirs []Redirect) output {
	for _, rd := range redirs {
		switch rd.Op {
		case ">", ">>", ">|", "&>", "&>>":
			if !rd.Target.Dynamic && !strings.HasPrefix(rd.Target.Text, "/dev/") {
				w.write(Write{Name: rd.Target.Text, Text: out.Text, Known: out.known, Append: strings.HasSuffix(rd.Op, ">>")})
			}
			if rd.Target.Text != "/dev/stdout" {
				out = silent()
			}
		case ">&", "1>&":
			if rd.Target.Text == "2" {
				out = silent()
			}
		}
	}
	return out
}

// maxWritten is how many writes of one line are listed.
const maxWritten = 256

// write remembers what the line puts into a file, for what it runs later.
func (w *walker) write(f Write) {
	if f.Known {
		text := f.Text
		if _, ok := w.st.file(f.Name); !ok && f.Append && w.r.opts.ReadFile != nil {
			old, _ := w.r.opts.ReadFile(w.st.join2(f.Name))
			text = old + text
		}
		w.st.setFile(f.Name, text, f.Append)
	}
	if f.Name = w.st.join2(f.Name); w.f.mode == Runs && w.f.remote == "" && len(w.r.line.Written) < maxWritten {
		w.r.line.Written = append(w.r.line.Written, f)
	}
}

// effects remembers what a program other than those known here puts into files.
func (w *walker) effects(c *Command) {
	if w.r.opts.Effects == nil || w.f.remote != "" {
		return
	}
	for _, f := range w.r.opts.Effects(c, w.st.file) {
		w.write(f)
	}
}

// catFile is the text of a file, when the line wrote it or it can be read.
func (w *walker) catFile(name string) output {
	if text, ok := w.st.file(name); ok {
		return output{Word: Word{Text: text}, known: true}
	}
	return output{}
}
