package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// param is the value of a parameter expansion. list says that it stands for
// any number of words; otherwise it is exactly one.
func (w *walker) param(pe *syntax.ParamExp) (vals []Word, list bool) {
	if pe.Param == nil || pe.Flags != nil || pe.NestedParam != nil {
		w.substs(pe)
		return []Word{unknown(w.source(pe))}, false
	}
	name := pe.Param.Value
	if isList(pe) || name == "*" || indexWord(pe.Index) == "*" {
		return w.listParam(pe)
	}
	plain := !pe.Excl && !pe.Length && !pe.Width && !pe.IsSet && pe.Slice == nil &&
		pe.Repl == nil && pe.Names == 0 && pe.Exp == nil && len(pe.Modifiers) == 0
	val, ok := w.lookup(name, pe.Index)
	if plain {
		if ok {
			return []Word{val}, false
		}
		if pe.Index != nil {
			w.r.dry = true
			w.arithm(pe.Index)
		}
		return []Word{unknown(w.source(pe))}, false
	}
	if v, done := w.defaulted(pe, val, ok); done {
		return []Word{v}, false
	}
	w.substs(pe)
	if ok && !val.Dynamic {
		if s, ok := w.evaluate(pe); ok {
			return []Word{{Text: s}}, false
		}
	}
	w.r.dry = w.r.dry || ok || pe.Excl
	return []Word{{Text: w.source(pe), Dynamic: true, Subst: ok && val.Subst}}, false
}

// defaulted is the value of ${x:-word} and its relatives. Where x is not known
// the default is given, marked as not certain.
func (w *walker) defaulted(pe *syntax.ParamExp, val Word, ok bool) (Word, bool) {
	if pe.Exp == nil || pe.Excl || pe.Length {
		return Word{}, false
	}
	empty := ok && val.Text == "" && !val.Dynamic
	switch pe.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		colon := pe.Exp.Op == syntax.DefaultUnsetOrNull || pe.Exp.Op == syntax.AssignUnsetOrNull
		def := w.literal(pe.Exp.Word)
		if ok && !(empty && colon) && !val.Dynamic {
			return val, true
		}
		if !empty {
			def.Dynamic = true
		}
		if pe.Exp.Op == syntax.AssignUnset || pe.Exp.Op == syntax.AssignUnsetOrNull {
			w.st.set(pe.Param.Value, def)
		}
		return def, true
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		alt := w.literal(pe.Exp.Word)
		if ok && !val.Dynamic {
			if empty && pe.Exp.Op == syntax.AlternateUnsetOrNull {
				return Word{}, true
			}
			return alt, true
		}
		return unknown(w.source(pe)), true
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		w.literal(pe.Exp.Word)
		if ok {
			return val, true
		}
		return unknown(w.source(pe)), true
	}
	return Word{}, false
}

// listParam is $@, $*, ${a[@]} and ${a[*]}.
func (w *walker) listParam(pe *syntax.ParamExp) ([]Word, bool) {
	w.substs(pe)
	name := pe.Param.Value
	vals, known := w.st.params, w.st.hasParams
	if pe.Index != nil {
		v, ok := w.st.vars[name]
		vals, known = v.list, ok
		if ok && !v.isList {
			vals = v.vals[:1]
			known = len(v.vals) == 1
		}
	}
	if pe.Slice != nil && known && !pe.Length {
		vals, known = w.sliceList(pe.Slice, vals, pe.Index == nil)
	} else if pe.Excl || pe.Repl != nil || pe.Exp != nil || pe.Slice != nil {
		known = false
	}
	switch {
	case !known:
		w.r.dry = w.r.dry || pe.Index != nil && w.st.vars[name].isList
		return []Word{unknown(w.source(pe))}, false
	case pe.Length:
		return []Word{{Text: strconv.Itoa(len(vals))}}, false
	}
	return vals, true
}

func (w *walker) sliceList(s *syntax.Slice, vals []Word, positional bool) ([]Word, bool) {
	from, ok := w.calc(s.Offset)
	if !ok {
		return nil, false
	}
	i, err := strconv.Atoi(from)
	if positional {
		i--
	}
	if err != nil || i < 0 || i > len(vals) {
		return nil, false
	}
	vals = vals[i:]
	if s.Length != nil {
		n, ok := w.calc(s.Length)
		if !ok {
			return nil, false
		}
		if k, err := strconv.Atoi(n); err == nil && k >= 0 && k < len(vals) {
			vals = vals[:k]
		}
	}
	return vals, true
}

// indexWord is an array index that is a plain word.
func indexWord(x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok && word != nil {
		return word.Lit()
	}
	return ""
}

// lookup is the known value of a parameter.
func (w *walker) lookup(name string, index syntax.ArithmExpr) (Word, bool) {
	if n, err := strconv.Atoi(name); err == nil {
		if n == 0 {
			return w.st.name, w.st.name.Text != ""
		}
		if !w.st.hasParams {
			return Word{}, false
		}
		if n > len(w.st.params) {
			return Word{}, true
		}
		return w.st.params[n-1], true
	}
	if name == "#" && w.st.hasParams {
		return Word{Text: strconv.Itoa(len(w.st.params))}, true
	}
	v, ok := w.st.vars[name]
	if !ok {
		if name == "BASH_SOURCE" && len(w.f.scripts) > 0 {
			return Word{Text: w.f.scripts[len(w.f.scripts)-1]}, true
		}
		if name == "IFS" {
			return Word{Text: " \t\n"}, true
		}
		return Word{}, false
	}
	if !v.isList {
		if len(v.vals) > 1 { // nobody has chosen: see callExpr
			return unknown("$" + name), true
		}
		return v.vals[0], true
	}
	i := 0
	if index != nil {
		text, ok := w.calc(index)
		n, err := strconv.Atoi(text)
		if !ok || err != nil {
			return Word{}, false
		}
		if i = n; i < 0 {
			i += len(v.list)
		}
	}
	if i < 0 || i >= len(v.list) {
		return Word{}, true
	}
	return v.list[i], true
}

// arithm walks the substitutions of an arithmetic expression; the variables
// that it sets are not known any more.
func (w *walker) arithm(x syntax.ArithmExpr) {
	w.substs(x)
	if len(w.st.vars) == 0 {
		return
	}
	forget := func(x syntax.ArithmExpr) {
		if name := indexWord(x); w.st.vars[name].vals != nil {
			w.st.set(name, unknown("$"+name))
		}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			if op := n.Op.String(); strings.HasSuffix(op, "=") && !hasFlag("== != <= >=", op) {
				forget(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				forget(n.X)
			}
		}
		return true
	})
}

// calc evaluates an arithmetic expression over known values.
func (w *walker) calc(x syntax.ArithmExpr) (string, bool) {
	if !w.evaluable(x, true) {
		return "", false
	}
	n, err := expand.Arithm(&expand.Config{Env: known{w}}, x)
	return strconv.Itoa(n), err == nil
}

// evaluate lets the expansion library work out an expansion over known values.
func (w *walker) evaluate(pe *syntax.ParamExp) (string, bool) {
	if !w.evaluable(pe, false) {
		return "", false
	}
	s, err := expand.Literal(&expand.Config{Env: known{w}}, &syntax.Word{Parts: []syntax.WordPart{pe}})
	return s, err == nil && len(s) <= maxValue
}

// evaluable says whether a node is small, holds no substitution and names only
// known, short values: evaluating it then takes little time and memory. In
// arithmetic a bare word is a name too.
func (w *walker) evaluable(n syntax.Node, arith bool) bool {
	ok, nodes, repl := true, 0, 0
	syntax.Walk(n, func(n syntax.Node) bool {
		nodes++
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			ok = false
		case *syntax.ParamExp:
			if n.Repl != nil {
				repl++
			}
			ok = ok && n.Param != nil && w.short(n.Param.Value)
		case *syntax.Lit:
			ok = ok && !strings.HasPrefix(n.Value, "~") // no look-up of users
			if arith && syntax.ValidName(n.Value) {
				ok = ok && w.short(n.Value)
			}
		}
		return ok && nodes < 64
	})
	return ok && nodes < 64 && repl < 2
}

// short says whether a parameter has a known value of modest length.
func (w *walker) short(name string) bool {
	v, ok := w.lookup(name, nil)
	return ok && !v.Dynamic && len(v.Text) <= 4096
}

// known offers the known variables to the expansion library.
type known struct{ w *walker }

func (k known) Get(name string) expand.Variable {
	if v, ok := k.w.st.vars[name]; ok && v.isList {
		list := make([]string, len(v.list))
		for i, e := range v.list {
			list[i] = e.Text
		}
		return expand.Variable{Set: true, Kind: expand.Indexed, List: list}
	}
	v, ok := k.w.lookup(name, nil)
	if !ok || v.Dynamic {
		return expand.Variable{}
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: v.Text}
}

func (k known) Each(func(string, expand.Variable) bool) {}

// joinWords is "$*": the words with blanks between them.
func joinWords(words []Word) Word {
	var out Word
	texts := make([]string, len(words))
	for i, v := range words {
		texts[i] = v.Text
		out.Dynamic = out.Dynamic || v.Dynamic
		out.Subst = out.Subst || v.Subst
	}
	out.Text = strings.Join(texts, " ")
	return out
}
