package policy

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// option is one option of a command, its cluster taken apart and its value
// found.
type option struct {
	name  string
	value shell.Word
	given bool // it has a value
}

// args is a command line after the option parsing of its tool.
type args struct {
	cmd   *shell.Command
	tool  *tool
	argv  []shell.Word // without the program
	opts  []option
	words []shell.Word // operands; aliases of the subcommand words put in place
	net   bool
	guard *Guarded  // nil: no run is guarded
	dir   string    // where the command runs; "" = not known
	subs  []*subDef // the parts of the tool's table that apply
}

// parseArgs reads argv (without the program) by the tool's table.
func parseArgs(t *tool, c *shell.Command, argv []shell.Word) *args {
	a := &args{cmd: c, tool: t, argv: argv}
	a.addSubs()
	rest := false
	for i := 0; i < len(argv); i++ {
		s := argv[i].Text
		switch {
		case rest || len(s) < 2 || s[0] != '-':
			a.operand(argv[i])
			rest = rest || t.Stop || t.StopAfter > 0 && len(a.words) > t.StopAfter
		case s == "--":
			rest = true
		case strings.HasPrefix(s, "--") || t.SingleDash:
			i = a.long(i)
		default:
			i = a.cluster(i)
		}
	}
	return a
}

func (a *args) operand(w shell.Word) {
	if len(a.words) == 0 && matchAny(a.tool.Skip, w.Text) {
		return
	}
	if len(a.words) < 4 {
		if to, ok := a.tool.Alias[w.Text]; ok {
			w.Text = to
		}
	}
	a.words = append(a.words, w)
	a.addSubs()
}

// written is an operand behind the first as it stands in the line: the name of
// a script is no subcommand, and "npm run x" not "npm run exec".
func (a *args) written(w shell.Word) string {
	for i, v := range a.argv {
		if to, ok := a.tool.Alias[v.Text]; i > 0 && ok && to == w.Text && !containsWord(a.argv, w) {
			return v.Text
		}
	}
	return w.Text
}

// addSubs adds the parts of the tool's table that hold from here on.
func (a *args) addSubs() {
	for i := range a.tool.Sub {
		sub := &a.tool.Sub[i]
		if n := len(a.tool.subPaths[i]); n == len(a.words) && pathIs(a.tool.subPaths[i], a.words) {
			a.subs = append(a.subs, sub)
			a.net = a.net || sub.Net
		}
	}
}

func pathIs(path []wordPattern, words []shell.Word) bool {
	for i, p := range path {
		if !p.match(words[i].Text) {
			return false
		}
	}
	return true
}

// takes reports whether the option takes its value from the next word.
func (a *args) takes(name string) bool {
	if len(a.words) == 0 && a.tool.global.has(name) || a.tool.value.has(name) {
		return true
	}
	if a.tool.SingleDash && a.tool.value.has("-"+name) {
		return true
	}
	for _, sub := range a.subs {
		if slices.Contains(sub.Value, name) {
			return true
		}
		if slices.Contains(sub.RunFlags, name) || slices.Contains(sub.Code, name) || a.tool.SingleDash && slices.Contains(sub.Code, "-"+name) {
			return true
		}
	}
	return false
}

// long reads the option at i, --name, --name=value or --name value, and
// returns the index of its last word.
func (a *args) long(i int) int {
	w := a.argv[i]
	name, value, eq := strings.Cut(w.Text, "=")
	name = a.whole(a.optionName(name))
	o := option{name: name}
	if eq {
		o.value, o.given = shell.Word{Text: value, Dynamic: w.Dynamic, Subst: w.Subst}, true
	} else if i+1 < len(a.argv) && (a.takes(name) || isTruth(a.argv[i+1].Text)) {
		i++
		o.value, o.given = a.argv[i], true
	}
	a.opts = append(a.opts, o)
	return i
}

// whole is the long option that a shortened one means. Only options that take
// a value are known to be all there, so that no shortened switch, a dry run
// among them, is taken for another.
func (a *args) whole(name string) string {
	if !a.tool.Abbrev || len(name) < len("--x") || a.tool.value.has(name) {
		return name
	}
	found := ""
	for _, v := range a.tool.value.list {
		if strings.HasPrefix(v, name) {
			if found != "" && found != v {
				return name
			}
			found = v
		}
	}
	if found == "" {
		return name
	}
	return found
}

// isTruth: npm and its kin take the word behind a switch when it is true or
// false.
func isTruth(s string) bool { return s == "true" || s == "false" }

// cluster reads -abcVALUE at i: letters without a value up to one that takes
// the rest of the word, or the next word.
func (a *args) cluster(i int) int {
	w := a.argv[i]
	s := w.Text
	for k := 1; k < len(s); k++ {
		o := option{name: "-" + s[k:k+1]}
		if !a.takes(o.name) {
			if k+1 < len(s) && s[k+1] == '=' {
				o.value, o.given = shell.Word{Text: s[k+2:], Dynamic: w.Dynamic, Subst: w.Subst}, true
				a.opts = append(a.opts, o)
				return i
			}
			a.opts = append(a.opts, o)
			continue
		}
		o.given = true
		if k+1 < len(s) {
			o.value = shell.Word{Text: strings.TrimPrefix(s[k+1:], "="), Dynamic: w.Dynamic, Subst: w.Subst}
		} else if i+1 < len(a.argv) {
			i++
			o.value = a.argv[i]
		}
		a.opts = append(a.opts, o)
		return i
	}
	return i
}

// has reports whether an option that the pattern means is given. The pattern
// is a name, which may hold *, or name=glob, which looks at the value too.
func (a *args) has(pattern string) bool {
	name, value, eq := strings.Cut(pattern, "=")
	name = a.optionName(name)
	for _, o := range a.opts {
		if o.name != name && !(strings.Contains(name, "*") && matchGlob(name, o.name)) {
			continue
		}
		if !eq || o.given && (matchGlob(value, o.value.Text) || o.value.Dynamic) {
			return true
		}
	}
	return false
}

// optionName is how the tool spells an option: some take -name and --name for
// the same.
func (a *args) optionName(name string) string {
	if a.tool.SingleDash {
		return "-" + strings.TrimLeft(name, "-")
	}
	return name
}

func (a *args) hasAny(patterns []string) bool {
	return slices.ContainsFunc(patterns, a.has)
}

// last returns the value of the last of the named options.
func (a *args) last(names ...string) (shell.Word, bool) {
	for i := len(a.opts) - 1; i >= 0; i-- {
		for _, n := range names {
			if a.opts[i].name == a.optionName(n) && a.opts[i].given {
				return a.opts[i].value, true
			}
		}
	}
	return shell.Word{}, false
}

// all returns the values of every one of the named options, in order.
func (a *args) all(names ...string) []shell.Word {
	var out []shell.Word
	for _, o := range a.opts {
		for _, n := range names {
			if o.name == a.optionName(n) && o.given {
				out = append(out, o.value)
			}
		}
	}
	return out
}

// dry reports whether one of the dry-run options is on: given, not with
// =false, and not taken back by a later --no- form.
func (a *args) dry(names []string) bool {
	on := false
	for _, o := range a.opts {
		for _, n := range names {
			name, value, eq := strings.Cut(n, "=")
			name = a.optionName(name)
			switch {
			case o.name == name && eq:
				on = on || o.given && matchGlob(value, o.value.Text)
			case o.name == name:
				on = !o.given || truthy(o.value)
			case strings.HasPrefix(name, "--") && o.name == "--no-"+name[2:]:
				on = false
			}
		}
	}
	return on
}

func truthy(w shell.Word) bool {
	switch strings.ToLower(w.Text) {
	case "false", "0", "no", "off", "none", "f", "n":
		return false
	}
	return !w.Dynamic
}

// env returns the value that a variable has on the command.
func (a *args) env(name string) (shell.Word, bool) {
	for i := len(a.cmd.Env) - 1; i >= 0; i-- {
		if strings.EqualFold(a.cmd.Env[i].Name, name) {
			return a.cmd.Env[i].Value, true
		}
	}
	return shell.Word{}, false
}
