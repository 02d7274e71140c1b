package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxItems is how many words of a for loop are walked one by one.
const maxItems = 128

// while walks the body once, and again when the first round changed a
// variable that it reads.
func (w *walker) while(c *syntax.WhileClause, in input) {
	if w.readLoop(c, in) {
		return
	}
	w.r.dry = true
	in.Known, in.Text, in.word = false, "", Word{} // each round reads further
	w.rounds(func() {
		w.stmts(c.Cond, in)
		w.comments(c.CondLast)
		w.branch(c.Do, in)
	})
	w.comments(c.DoLast)
}

// rounds walks a loop's body until its state settles, at most three times.
func (w *walker) rounds(body func()) {
	var before *state
	for range 3 {
		before = w.st.clone()
		body()
		if same(before, w.st) {
			return
		}
		if !w.r.step() {
			break
		}
	}
	for name, v := range w.st.vars { // it goes on changing: any value
		if !v.isList && !slices.Equal(v.vals, before.vars[name].vals) {
			one := state{vars: map[string]variable{name: v}}
			one.doubt()
			w.st.vars[name], w.st.exports = one.vars[name], nil
		}
	}
}

func same(a, b *state) bool {
	if len(a.vars) != len(b.vars) {
		return false
	}
	for name, va := range a.vars {
		vb, ok := b.vars[name]
		if !ok || !slices.Equal(va.vals, vb.vals) || !slices.Equal(va.list, vb.list) {
			return false
		}
	}
	return true
}

// readLoop unrolls "while read x; do ...; done" over a known input, one line
// at a time. It says whether it did.
func (w *walker) readLoop(c *syntax.WhileClause, in input) bool {
	if !in.Known || c.Until || len(c.Cond) != 1 {
		return false
	}
	first := c.Cond[0]
	if b, ok := first.Cmd.(*syntax.BinaryCmd); ok { // read -r l || [ -n "$l" ]
		first = b.X
	}
	call, ok := first.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "read" {
		return false
	}
	lines := strings.Split(strings.TrimSuffix(in.Text, "\n"), "\n")
	if len(lines) > maxItems {
		return false
	}
	rest := in
	for _, line := range lines {
		if !w.r.step() {
			return false
		}
		in.Text = line + "\n"
		in.word.Text = in.Text
		w.stmts(c.Cond, in)
		rest.Known, rest.Text = false, ""
		w.branch(c.Do, rest)
	}
	w.comments(c.DoLast)
	return true
}

func (w *walker) forClause(c *syntax.ForClause, in input) output {
	defer w.comments(c.DoLast)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		return w.forWords(c, l, in)
	case *syntax.CStyleLoop:
		w.r.dry = true
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if x != nil {
				w.arithm(x)
			}
		}
		w.rounds(func() { w.branch(c.Do, in) })
	}
	return output{}
}

func (w *walker) forWords(c *syntax.ForClause, l *syntax.WordIter, in input) output {
	items := w.st.params
	if l.InPos.IsValid() {
		items = nil
		for _, word := range l.Items {
			items = append(items, w.fields(word)...)
		}
	} else if !w.st.hasParams {
		items = []Word{unknown(`$@`)}
	}
	var out outputs
	for i, item := range items {
		if i == maxItems || !w.r.step() {
			w.st.set(l.Name.Value, unknown("$"+l.Name.Value))
			w.stmts(c.Do, in)
			return output{}
		}
		w.st.set(l.Name.Value, item)
		out.add(w.stmts(c.Do, in))
	}
	if len(items) == 0 {
		w.branch(c.Do, in)
	}
	return out.all()
}

// declare remembers a function.
func (w *walker) declare(d *syntax.FuncDecl) {
	names := d.Names
	if d.Name != nil {
		names = append(names, d.Name)
	}
	if len(names) == 0 { // zsh's anonymous function runs at once
		w.stmt(d.Body, input{})
		return
	}
	for _, name := range names {
		fn := w.r.function(name.Value, d.Body, w.f)
		if w.st.funcs == nil {
			w.st.funcs = map[string][]*function{}
		}
		if _, ok := w.st.funcs[name.Value]; !ok && len(w.st.funcs) >= maxNames {
			w.r.opaque("too many functions")
			continue
		}
		w.st.funcs[name.Value] = []*function{fn}
	}
}

// function is the function of a body: one, however often the walk comes by.
func (r *reader) function(name string, body *syntax.Stmt, f frame) *function {
	for _, fn := range r.bodies[body] {
		if fn.name == name {
			return fn
		}
	}
	fn := &function{name: name, body: body, f: f}
	if r.bodies == nil {
		r.bodies = map[*syntax.Stmt][]*function{}
	}
	r.bodies[body] = append(r.bodies[body], fn)
	r.funcs = append(r.funcs, fn)
	return fn
}

// maxCalls is how deep functions may call each other.
const maxCalls = 64

// call walks a function's body with its arguments.
func (w *walker) call(fn *function, args []Word, in input) output {
	room := w.r.step() || !fn.called
	if slices.Contains(w.f.calls, fn) || !room {
		return output{}
	}
	if len(w.f.calls) >= maxCalls {
		w.r.opaque("functions nested too deep")
		return output{}
	}
	if w.f.mode == Runs {
		fn.called, w.r.dry = true, true
	}
	inner := *w
	inner.f.src = fn.f.src
	inner.f.calls = append(slices.Clone(w.f.calls), fn)
	params, has, outer := w.st.params, w.st.hasParams, w.st.locals
	w.st.params, w.st.hasParams, w.st.locals = args, true, &locals{}
	if args == nil && w.f.mode == Defined {
		w.st.hasParams = false
	}
	out := inner.stmt(fn.body, in)
	w.st.locals.restore(w.st)
	w.st.params, w.st.hasParams, w.st.locals = params, has, outer
	return out
}

// locals remembers what a function's local variables hide.
type locals struct {
	names []string
	vars  []variable
}

func (l *locals) hide(s *state, name string) {
	if l == nil || slices.Contains(l.names, name) {
		return
	}
	l.names = append(l.names, name)
	l.vars = append(l.vars, s.vars[name])
}

func (l *locals) restore(s *state) {
	for i, name := range l.names {
		if v := l.vars[i]; v.isList || len(v.vals) > 0 {
			s.vars[name], s.exports = v, nil
		} else {
			s.unset(name)
		}
	}
}
