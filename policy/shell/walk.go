package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// frame says where a piece of text stands: in the line, in a payload, in a
// function.
type frame struct {
	src      string // the text that positions refer to
	depth    int
	mode     Mode
	remote   string
	opaque   string // why nothing in this text can be trusted; inherited by each command
	wrappers []string
	env      []Assign    // assignments in front of the payload or call
	redirs   []Redirect  // of the compound commands around
	calls    []*function // functions being walked
	scripts  []string    // files being walked
}

// walker walks the tree of one text with the state of one shell.
type walker struct {
	r  *reader
	st *state
	f  frame
}

// output is what is known of a command's standard output.
type output struct {
	Word
	known   bool
	decoded string // how it was decoded ("base64"), if it was
}

// silent is the output of a command that prints nothing.
func silent() output { return output{known: true} }

// input is an Input with what its text is made of.
type input struct {
	Input
	word    Word
	decoded string
}

// outputs adds up what commands print one after another.
type outputs struct {
	sum   output
	texts []string
	size  int
	lost  bool // one of them is not known
}

func (o *outputs) add(p output) {
	o.size += len(p.Text)
	if o.lost = o.lost || !p.known || o.size > maxOutput; o.lost {
		return
	}
	if p.Text != "" {
		o.texts = append(o.texts, p.Text)
	}
	o.sum.Dynamic = o.sum.Dynamic || p.Dynamic
	o.sum.Subst = o.sum.Subst || p.Subst
	if o.sum.decoded == "" {
		o.sum.decoded = p.decoded
	}
}

func (o *outputs) all() output {
	if o.lost {
		return output{}
	}
	o.sum.Text, o.sum.known = strings.Join(o.texts, ""), true
	return o.sum
}

// text parses and walks a whole text. What cannot be parsed is read by its
// tokens, in addition to the statements in front of the error.
func (w *walker) text(text string, in input, mode Mode) output {
	w.r.payload += max(len(text), minPayload)
	if w.r.payload > maxPayload+w.r.opts.MaxBytes {
		w.r.opaque("too many payloads")
		return output{}
	}
	f, src, err := w.r.opts.Parsers.parse(text)
	w.f.src, w.f.mode = src, mode
	out := w.stmts(f.Stmts, in)
	w.comments(f.Last)
	if err == nil {
		return out
	}
	why := err.Error()
	if why != errTooDeep.Error() {
		why = "syntax error at " + why
	}
	w.r.opaque(why)
	w.crude(text, why)
	return output{}
}

func (w *walker) comments(list []syntax.Comment) {
	if len(w.f.scripts) > 0 {
		return // what a file only says is no part of the line
	}
	for _, c := range list {
		w.r.text(Text{Kind: TextComment, Body: c.Text})
	}
}

// fork is a walker for a subshell: it starts with the same state and keeps its
// changes to itself.
func (w *walker) fork() *walker {
	c := *w
	c.st = w.st.clone()
	return &c
}

// slice is the source text from a node's start to another's end.
func (w *walker) slice(from, to syntax.Pos) string {
	a, b := int(from.Offset()), int(to.Offset())
	if a < 0 || b > len(w.f.src) || a > b {
		return ""
	}
	return strings.TrimRight(w.f.src[a:b], "; \t\r\n&")
}

func (w *walker) source(n syntax.Node) string {
	a, b := int(n.Pos().Offset()), int(n.End().Offset())
	if b > len(w.f.src) || a > b {
		return ""
	}
	return w.f.src[a:b]
}

func (w *walker) stmts(list []*syntax.Stmt, in input) output {
	var out outputs
	for _, s := range list {
		out.add(w.stmt(s, in))
	}
	return out.all()
}

// branch walks statements that may not run: afterwards either state may hold.
func (w *walker) branch(list []*syntax.Stmt, in input) output {
	other := w.fork()
	out := other.stmts(list, in)
	w.st.join(other.st)
	return out
}

func (w *walker) stmt(s *syntax.Stmt, in input) output {
	w.r.step()
	w.comments(s.Comments)
	if s.Background || s.Coprocess || s.Disown {
		w = w.fork()
	}
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && len(s.Redirs) == 0 {
		return w.chain(s, b, in)
	}
	redirs, in := w.redirects(s, in)
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return w.redirected(w.callExpr(call, in, redirs), redirs)
	}
	if len(redirs) > 0 {
		inner := *w
		inner.f.redirs = append(slices.Clone(w.f.redirs), redirs...)
		w = &inner
	}
	if s.Cmd == nil {
		return w.bare(s, in, redirs)
	}
	return w.redirected(w.command(s.Cmd, in), redirs)
}

// bare is a statement of redirections alone: ": > file", or the $(<file) form.
func (w *walker) bare(s *syntax.Stmt, in input, redirs []Redirect) output {
	c := Command{Argv: []Word{{Text: ":"}}, Stdin: in.Input, Source: w.source(s)}
	w.emit(c)
	out := silent()
	if in.Kind == InputFile {
		out = w.catFile(in.From)
	}
	return w.redirected(out, redirs)
}

// chain walks a list of commands joined by && || and |. The parser nests it to
// the left without limit, so it is walked without recursion.
func (w *walker) chain(s *syntax.Stmt, b *syntax.BinaryCmd, in input) output {
	var links []*syntax.BinaryCmd
	first := s
	for ok := true; ok; {
		links = append(links, b)
		first = b.X
		w.comments(first.Comments)
		b, ok = first.Cmd.(*syntax.BinaryCmd)
		ok = ok && len(first.Redirs) == 0
	}
	slices.Reverse(links)
	if links[0].Op == syntax.Pipe || links[0].Op == syntax.PipeAll {
		return w.pipeline(first, links, in)
	}
	var out outputs
	out.add(w.stmt(first, in))
	w.andOr(&out, links, in)
	return out.all()
}

// pipeline walks the pipe at the start of a chain, then the rest of it.
func (w *walker) pipeline(first *syntax.Stmt, links []*syntax.BinaryCmd, in input) output {
	last := w.fork().stmt(first, in)
	left := first.Position
	for len(links) > 0 && (links[0].Op == syntax.Pipe || links[0].Op == syntax.PipeAll) {
		l := links[0]
		links = links[1:]
		if l.OpPos.Offset()-left.Offset() > maxFrom {
			left = l.X.Position
			if b, ok := l.X.Cmd.(*syntax.BinaryCmd); ok {
				left = b.Y.Position
			}
		}
		right := w.fork()
		last = right.stmt(l.Y, pipe(last, w.slice(left, l.OpPos)))
		if len(links) == 0 || links[0].Op != l.Op {
			w.st.join(right.st)
		}
	}
	var out outputs
	out.add(last)
	w.andOr(&out, links, in)
	return out.all()
}

// andOr walks the right sides of && and ||. After && the line goes on as if
// both sides had run, but what the right one set may not be so.
func (w *walker) andOr(out *outputs, links []*syntax.BinaryCmd, in input) {
	for _, l := range links {
		if l.Op == syntax.OrStmt {
			right := w.fork()
			right.stmt(l.Y, in)
			w.st.join(right.st)
			out.lost = true
			continue
		}
		before := w.st
		if !before.empty() {
			before = before.clone()
		} else {
			before = &state{dir: before.dir}
		}
		out.add(w.stmt(l.Y, in))
		if !w.st.empty() {
			dir := w.st.dir
			w.st.join(before)
			w.st.dir = dir
		}
	}
}

// pipe is the input that a command gets from the one on its left.
func pipe(out output, from string) input {
	in := input{Input: Input{Kind: InputPipe, From: from, Known: out.known}, word: out.Word, decoded: out.decoded}
	if out.known {
		in.Text = out.Text
	}
	return in
}

func (w *walker) command(cmd syntax.Command, in input) output {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return w.callExpr(c, in, nil)
	case *syntax.Block:
		out := w.stmts(c.Stmts, in)
		w.comments(c.Last)
		return out
	case *syntax.Subshell:
		sub := w.fork()
		out := sub.stmts(c.Stmts, in)
		w.comments(c.Last)
		w.st.files = union(w.st.files, sub.st.files)
		return out
	case *syntax.IfClause:
		w.ifClause(c, in)
	case *syntax.WhileClause:
		w.while(c, in)
	case *syntax.ForClause:
		return w.forClause(c, in)
	case *syntax.CaseClause:
		w.caseClause(c, in)
	case *syntax.FuncDecl:
		w.declare(c)
		return silent()
	case *syntax.DeclClause:
		w.declClause(c, in)
		return silent()
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.stmt(c.Stmt, in)
		}
	case *syntax.CoprocClause:
		w.fork().stmt(c.Stmt, input{})
	case *syntax.TestDecl:
		w.stmt(c.Body, in)
	case *syntax.ArithmCmd:
		w.r.dry = true
		w.arithm(c.X)
	case *syntax.LetClause:
		w.r.dry = true
		for _, x := range c.Exprs {
			w.arithm(x)
		}
	case *syntax.TestClause:
		w.substs(c)
	default:
		w.r.opaque(fmt.Sprintf("unknown construct %T", cmd))
	}
	return output{}
}

func (w *walker) ifClause(c *syntax.IfClause, in input) {
	var ends []*state
	for ; c != nil; c = c.Else {
		w.stmts(c.Cond, in)
		w.comments(c.CondLast)
		then := w.fork()
		then.stmts(c.Then, in)
		w.comments(c.ThenLast)
		w.comments(c.Last)
		if len(ends) < maxAlternatives {
			ends = append(ends, then.st)
		} else {
			ends[len(ends)-1].join(then.st)
		}
		if len(c.Cond) == 0 { // a final else: one of the branches has run
			*w.st = *ends[len(ends)-1]
			ends = ends[:len(ends)-1]
		}
	}
	for _, st := range ends {
		w.st.join(st)
	}
}

func (w *walker) caseClause(c *syntax.CaseClause, in input) {
	w.literal(c.Word)
	var ends []*state
	for _, item := range c.Items {
		w.comments(item.Comments)
		for _, p := range item.Patterns {
			w.literal(p)
		}
		arm := w.fork()
		arm.stmts(item.Stmts, in)
		w.comments(item.Last)
		ends = append(ends, arm.st)
	}
	w.comments(c.Last)
	for _, st := range ends {
		w.st.join(st)
	}
}
