package shell

import (
	"fmt"
	"hash/maphash"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of one reading. They are far above what people and agents write,
// and keep a hostile line from taking more than a moment.
const (
	defaultMaxBytes = 1 << 20
	defaultMaxDepth = 16
	maxCommands     = 20000    // commands kept
	maxTraps        = 1000     // trap handlers
	maxWrappers     = 32       // wrappers in front of one command
	maxSteps        = 100000   // statements walked, loops and calls unrolled
	maxPayload      = 4 << 20  // bytes of payloads read, all together
	minPayload      = 1 << 10  // what a payload counts at least
	maxValue        = 64 << 10 // bytes of one variable
	maxOutput       = 1 << 20  // bytes of one known output
	maxFrom         = 4 << 10  // bytes of the source of a pipe's left side
)

// reader reads one line: its bounds, and what it has found so far.
type reader struct {
	opts    Options
	line    Line
	hash    maphash.Hash
	seen    map[uint64]int // key of a command to its index in line.Commands
	said    map[string]bool
	texts   map[Text]bool
	traps   []trap
	funcs   []*function
	bodies  map[*syntax.Stmt][]*function
	aliases []*alias
	buf     []byte
	steps   int
	braced  int // words that brace expansion gave
	payload int
	dry     bool // something in the line needs running to be resolved
}

// trap is a trap handler: it runs last, when everything is defined.
type trap struct {
	w    walker
	c    Command
	code int // index of the handler in the words
}

// Read reads a command line into the simple commands it would run. It never
// panics and its time and memory are bounded; what it could not read is named
// in Line.Opaque.
func Read(line string, o Options) Line {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultMaxDepth
	}
	r := &reader{opts: o, seen: map[uint64]int{}, said: map[string]bool{}}
	if len(line) > o.MaxBytes {
		r.opaque(fmt.Sprintf("longer than %d bytes", o.MaxBytes))
		line = line[:o.MaxBytes]
	}
	r.safely(line, func() { r.read(line) })
	return r.line
}

func (r *reader) read(line string) {
	w := &walker{r: r, st: &state{}}
	w.text(line, input{}, Runs)
	for i := 0; i < len(r.traps) && i < maxTraps; i++ {
		t := r.traps[i]
		t.w.codeOf(t.c, t.c.Argv[t.code], "trap", t.w.st, input{})
	}
	r.leftovers(w)
	r.dryRun(line)
}

// safely runs one pass and, should it panic, says so and reads the text by its
// tokens instead.
func (r *reader) safely(text string, pass func()) {
	defer func() {
		if p := recover(); p != nil {
			why := fmt.Sprintf("reader gave up: %v", p)
			r.opaque(why)
			w := &walker{r: r, st: &state{}}
			w.crude(text, why)
		}
	}()
	pass()
}

// leftovers walks what the line defined and never called.
func (r *reader) leftovers(w *walker) {
	for i := 0; i < len(r.funcs); i++ {
		if fn := r.funcs[i]; !fn.called {
			in := *w
			in.f = fn.f
			in.f.mode = Defined
			in.call(fn, nil, input{})
		}
	}
	for i := 0; i < len(r.aliases); i++ {
		if a := r.aliases[i]; !a.called {
			in := *w
			in.f = a.f
			in.f.mode = Defined
			in.payload(Word{Text: a.text}, "alias", in.st.clone(), input{})
		}
	}
}

// opaque records once why part of the line could not be read.
func (r *reader) opaque(why string) {
	if !r.said[why] {
		r.said[why] = true
		r.line.Opaque = append(r.line.Opaque, why)
	}
}

// text keeps a span of data, once.
func (r *reader) text(t Text) {
	if r.texts == nil {
		r.texts = map[Text]bool{}
	}
	if !r.texts[t] {
		r.texts[t] = true
		r.line.Texts = append(r.line.Texts, t)
	}
}

// step counts one unit of work and says whether there is room for unrolling:
// without it loops and calls are walked once.
func (r *reader) step() bool {
	if r.steps++; r.steps < maxSteps {
		return true
	}
	r.opaque("too many steps")
	return false
}

// add keeps a command unless the same one is there already.
func (r *reader) add(c Command) {
	if len(r.line.Commands) >= maxCommands {
		r.opaque(fmt.Sprintf("more than %d commands", maxCommands))
		return
	}
	r.buf = c.key(r.buf)
	r.hash.Reset()
	_, _ = r.hash.Write(r.buf) // it cannot fail
	k := r.hash.Sum64()
	if i, ok := r.seen[k]; ok {
		merge(&r.line.Commands[i], c)
		return
	}
	r.seen[k] = len(r.line.Commands)
	r.line.Commands = append(r.line.Commands, c)
}

// merge keeps the graver reading of one command seen twice.
func merge(old *Command, c Command) {
	if old.Opaque == "" {
		old.Opaque = c.Opaque
	}
}

// key is what makes two commands the same for a reader of the result.
func (c *Command) key(b []byte) []byte {
	b = b[:0]
	for _, a := range c.Argv {
		b = append(append(b, a.Text...), 0)
	}
	b = append(b, byte(c.Mode), byte(c.Stdin.Kind))
	for _, s := range [...]string{c.Remote, c.Dir, c.Stdin.From, c.Stdin.Text} {
		b = append(append(b, s...), 1)
	}
	for _, rd := range c.Redirects {
		b = append(append(append(b, rd.Op...), rd.Target.Text...), 1)
	}
	for _, s := range c.Scripts {
		b = append(append(b, s...), 2)
	}
	for _, e := range c.Env {
		b = append(append(append(append(b, e.Name...), '='), e.Value.Text...), 1)
	}
	return b
}

// baseName is the program's name without directory, backslash or .exe. A
// scoped package (@scope/name, as npx takes it) keeps its scope.
func baseName(argv []Word) string {
	if len(argv) == 0 {
		return ""
	}
	name := strings.TrimLeft(argv[0].Text, `\`)
	if strings.HasPrefix(name, "@") {
		return name
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if cut, ok := strings.CutSuffix(strings.ToLower(name), ".exe"); ok {
		return cut
	}
	return name
}
