package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// guardMark is the first argument of the calls that watch how values grow.
const guardMark = "\x02guard"

// tame rewrites a tree so that the interpreter stays within one goroutine and
// within bounds: pipes and background jobs become plain sequences, nothing is
// redirected, variables of which the line says nothing become placeholders,
// and guards watch loops and assignments. It says false for what cannot be
// bounded.
func (d *dryer) tame(f *syntax.File) bool {
	t := &tamer{d: d, assigned: map[string]bool{}, done: map[syntax.Command]bool{}}
	syntax.Walk(f, t.collect)
	if t.refused || t.braces > 8 || t.repls > 8 {
		return false
	}
	syntax.Walk(f, t.rewrite)
	return true
}

type tamer struct {
	d        *dryer
	assigned map[string]bool // names that the line may set
	done     map[syntax.Command]bool
	refused  bool
	braces   int
	repls    int
}

// collect notes the names that the line sets, and what makes it unbounded.
func (t *tamer) collect(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			t.assigned[n.Name.Value] = true
		}
	case *syntax.WordIter:
		t.assigned[n.Name.Value] = true
	case *syntax.CallExpr:
		if len(n.Args) > 0 && (hasWord(n.Args, "getopts") || hasWord(n.Args, "read") || hasWord(n.Args, "printf") || hasWord(n.Args, "mapfile") || hasWord(n.Args, "readarray") || hasWord(n.Args, "let")) {
			t.assigned["OPTARG"], t.assigned["OPTIND"], t.assigned["REPLY"] = true, true, true
			for _, a := range n.Args {
				name, _, _ := strings.Cut(a.Lit(), "=")
				t.assigned[name] = true
			}
		}
	case *syntax.BinaryArithm:
		t.arithName(n.X)
	case *syntax.UnaryArithm:
		t.arithName(n.X)
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil {
			t.assigned[n.Param.Value] = true
		}
		if n.Repl != nil {
			t.repls++
			t.refused = t.refused || n.Repl.With != nil && hasParam(n.Repl.With)
		}
	case *syntax.Word:
		for _, p := range n.Parts {
			if lit, ok := p.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
				t.braces++
				t.refused = t.refused || strings.Count(lit.Value, "{") > 6
			}
		}
	}
	return !t.refused
}

func (t *tamer) arithName(x syntax.ArithmExpr) {
	if word, ok := x.(*syntax.Word); ok {
		t.assigned[word.Lit()] = true
	}
}

func hasParam(word *syntax.Word) bool {
	found := false
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			found = true
		}
		return !found
	})
	return found
}

// rewrite changes one node before its children are visited.
func (t *tamer) rewrite(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Stmt:
		t.stmt(n)
	case *syntax.WhileClause:
		n.Do = append([]*syntax.Stmt{guard("")}, n.Do...)
		if reads(n.Cond) { // its input is not known: one round
			n.Do = append(n.Do, &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{word(&syntax.Lit{Value: "break"})}}})
		}
	case *syntax.ForClause:
		n.Select = false
		n.Do = append([]*syntax.Stmt{guard("")}, n.Do...)
	case *syntax.Word:
		t.parts(n.Parts)
		if len(n.Parts) > 0 {
			if lit, ok := n.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "~") {
				n.Parts[0] = &syntax.Lit{Value: `\` + lit.Value}
			}
		}
	case *syntax.DblQuoted:
		t.parts(n.Parts)
	}
	return true
}

func (t *tamer) stmt(s *syntax.Stmt) {
	s.Background, s.Coprocess, s.Disown, s.Redirs = false, false, false, nil
	switch c := s.Cmd.(type) {
	case nil:
		s.Cmd = guard("").Cmd
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			left := &syntax.Stmt{Cmd: &syntax.Subshell{Stmts: []*syntax.Stmt{c.X}}}
			s.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{left, c.Y}}
		}
	case *syntax.CoprocClause:
		s.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{c.Stmt}}
	case *syntax.TimeClause:
		if c.Stmt == nil {
			s.Cmd = guard("").Cmd
			return
		}
		s.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{c.Stmt}}
	case *syntax.TestDecl:
		s.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{c.Body}}
	case *syntax.CallExpr:
		if len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			c.Args, c.Assigns = nil, t.readNames(c)
		}
		if len(c.Args) == 0 && !t.done[c] {
			t.done[c] = true
			t.watch(s, c, c.Assigns)
		}
	case *syntax.DeclClause:
		if !t.done[c] {
			t.done[c] = true
			t.watch(s, c, c.Args)
		}
	}
}

// readNames makes assignments of a read: its names get unknown values.
func (t *tamer) readNames(c *syntax.CallExpr) []*syntax.Assign {
	out := []*syntax.Assign{assignLit("REPLY", t.d.mark(unknown("$REPLY")))}
	for _, a := range c.Args[1:] {
		if name := a.Lit(); syntax.ValidName(name) {
			out = append(out, assignLit(name, t.d.mark(unknown("$"+name))))
		}
	}
	return out
}

func assignLit(name, value string) *syntax.Assign {
	return &syntax.Assign{Name: &syntax.Lit{Value: name}, Value: word(&syntax.Lit{Value: value})}
}

// reads says whether a loop's condition is a read.
func reads(cond []*syntax.Stmt) bool {
	for _, s := range cond {
		if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "read" {
			return true
		}
	}
	return false
}

// watch puts guards behind assignments.
func (t *tamer) watch(s *syntax.Stmt, c syntax.Command, assigns []*syntax.Assign) {
	block := &syntax.Block{Stmts: []*syntax.Stmt{{Cmd: c}}}
	for _, a := range assigns {
		if a.Name != nil {
			block.Stmts = append(block.Stmts, guard(a.Name.Value))
		}
	}
	s.Cmd = block
}

// guard is a call that the dry run counts; with a name it looks at the size of
// that variable too.
func guard(name string) *syntax.Stmt {
	args := []*syntax.Word{word(&syntax.Lit{Value: ":"}), word(&syntax.Lit{Value: guardMark})}
	if syntax.ValidName(name) {
		param := &syntax.Lit{Value: name}
		all := word(&syntax.Lit{Value: "@"})
		args = append(args,
			word(&syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Param: param}}}),
			word(&syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Param: param, Length: true, Index: all}}}))
	}
	return &syntax.Stmt{Cmd: &syntax.CallExpr{Args: args}}
}

func word(p syntax.WordPart) *syntax.Word { return &syntax.Word{Parts: []syntax.WordPart{p}} }

// parts puts placeholders where a value is not to be had: process
// substitutions, and variables that the line never sets.
func (t *tamer) parts(parts []syntax.WordPart) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.ProcSubst:
			parts[i] = &syntax.Lit{Value: t.d.mark(Word{Text: "<(...)", Dynamic: true, Subst: true})}
		case *syntax.ParamExp:
			if t.unset(p) {
				parts[i] = &syntax.Lit{Value: t.d.mark(unknown("$" + p.Param.Value))}
			}
		}
	}
}

// unset says whether an expansion is a plain one of a variable that the line
// never sets.
func (t *tamer) unset(p *syntax.ParamExp) bool {
	if p.Param == nil || !syntax.ValidName(p.Param.Value) || p.Param.Value == "IFS" {
		return false
	}
	plain := !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
	return plain && !t.assigned[p.Param.Value]
}
