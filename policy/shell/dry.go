package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// The bounds of the dry run. Steps are what ends it; the clock is a backstop.
const (
	maxDryBytes = 8 << 10
	maxDrySteps = 2000
	maxDryIdle  = 300 // steps without a command not seen before
	maxDryValue = 4 << 10
	maxDryArgs  = 64 << 10
	maxDryTime  = 250 * time.Millisecond
)

var errDryDone = errors.New("dry run: enough")

// dryRun runs the line in the shell interpreter with every door to the outside
// closed: nothing is executed, opened or listed, each command succeeds at once
// and is recorded. It finds what only running can resolve (counters, string
// surgery, getopts); what the static walk has found already is left as it is.
func (r *reader) dryRun(line string) {
	if !r.dry || len(line) > maxDryBytes {
		return
	}
	d := &dryer{r: r, have: map[string]bool{}}
	for _, c := range r.line.Commands {
		if c.Mode == Runs {
			d.have[argvKey(c.Argv)] = true
		}
	}
	f, src, err := r.opts.Parsers.parseAs(line, syntax.LangBash)
	if err != nil || !d.tame(f) {
		return
	}
	d.src = src
	d.run(f)
	d.report()
}

// dryer records the commands of one dry run.
type dryer struct {
	r     *reader
	src   string
	have  map[string]bool
	found [][]Word
	marks []Word // what the placeholders stand for
	steps int
	idle  int
}

func argvKey(argv []Word) string {
	var b strings.Builder
	for _, a := range argv {
		b.WriteString(a.Text)
		b.WriteByte(0)
	}
	return b.String()
}

func (d *dryer) run(f *syntax.File) {
	defer func() {
		if p := recover(); p != nil {
			// The static walk has its results; the dry run only adds to them.
			d.steps = maxDrySteps
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), maxDryTime)
	defer cancel()
	runner, err := interp.New(
		interp.Env(expand.ListEnviron("HOME=~", "UID=1000", "EUID=1000", "GID=1000", "TMPDIR=/tmp", "PATH=/nowhere")),
		interp.Dir("/"),
		interp.StdIO(nil, io.Discard, io.Discard),
		interp.CallHandler(d.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return d.exec }),
		interp.OpenHandler(func(_ context.Context, path string, _ int, _ os.FileMode) (io.ReadWriteCloser, error) {
			return nil, &os.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}),
		interp.ReadDirHandler2(func(context.Context, string) ([]fs.DirEntry, error) { return nil, nil }),
		interp.StatHandler(func(_ context.Context, name string, _ bool) (fs.FileInfo, error) { return dryDir(name), nil }),
		interp.AccessHandler(func(context.Context, string, interp.AccessMode) error { return nil }),
	)
	if err != nil {
		return
	}
	// An error is how a run that is long enough ends; there is no other kind.
	_ = runner.Run(ctx, f)
}

// call sees every simple command before it runs: it counts, stops what grows,
// and lets through only builtins that stay within the interpreter.
func (d *dryer) call(_ context.Context, args []string) ([]string, error) {
	d.steps++
	d.idle++
	if d.steps > maxDrySteps || d.idle > maxDryIdle {
		return nil, errDryDone
	}
	size := 0
	for _, a := range args {
		size += len(a)
	}
	if size > maxDryArgs || len(args) > maxDryArgs/64 {
		return nil, errDryDone
	}
	for len(args) > 1 && (args[0] == "command" || args[0] == "builtin") && !strings.HasPrefix(args[1], "-") {
		args = args[1:]
	}
	nothing := []string{":"}
	switch args[0] {
	case ":":
		if len(args) == 4 && args[1] == guardMark && (len(args[2]) > maxDryValue || atoi(args[3]) > maxDryValue/4) {
			return nil, errDryDone
		}
		return nothing, nil
	case "true", "false", "echo", "shift", "getopts", "test", "[", "return", "break", "continue", "exit", "unset", "let":
		return args, nil
	case "printf":
		if wideFormat(args[1:]) {
			return nothing, nil
		}
		return args, nil
	case "set":
		if len(args) > 1 && (args[1] == "--" || args[1] != "" && args[1][0] != '-' && args[1][0] != '+') {
			return args, nil
		}
		return nothing, nil
	case "eval":
		if d.harmless(strings.Join(args[1:], " ")) {
			return args, nil
		}
		return nothing, nil
	}
	if interp.IsBuiltin(args[0]) {
		return nothing, nil
	}
	return args, nil
}

// wideFormat says whether a printf format asks for a long padding.
func wideFormat(args []string) bool {
	for _, a := range args {
		digits := 0
		for i := range len(a) {
			if a[i] >= '0' && a[i] <= '9' {
				digits++
			} else {
				digits = 0
			}
			if strings.Contains(a, "%") && (digits > 3 || a[i] == '*') {
				return true
			}
		}
	}
	return false
}

// exec records a command. What it would print is not known: a placeholder.
func (d *dryer) exec(ctx context.Context, args []string) error {
	argv := make([]Word, len(args))
	for i, a := range args {
		argv[i] = d.unmark(a)
	}
	if key := argvKey(argv); !d.have[key] {
		d.have[key], d.idle = true, 0
		d.found = append(d.found, argv)
	}
	if out := interp.HandlerCtx(ctx).Stdout; out != io.Discard {
		src := "$(" + joinWords(argv).Text + ")"
		if _, err := io.WriteString(out, d.mark(Word{Text: src, Dynamic: true, Subst: true})); err != nil {
			return errDryDone
		}
	}
	return nil
}

const markByte = "\x02"

// mark gives a placeholder for an unknown value. It holds no blank, so that
// the value stays one word.
func (d *dryer) mark(v Word) string {
	d.marks = append(d.marks, v)
	return markByte + strconv.Itoa(len(d.marks)-1) + markByte
}

// unmark puts the source texts back in the place of placeholders.
func (d *dryer) unmark(s string) Word {
	var out Word
	for {
		before, rest, ok := strings.Cut(s, markByte)
		out.Text += before
		if !ok {
			return out
		}
		num, after, ok := strings.Cut(rest, markByte)
		if i := atoi(num); ok && i >= 0 && i < len(d.marks) && len(out.Text) < maxValue {
			v := d.marks[i]
			out.Text += v.Text
			out.Dynamic, out.Subst = true, out.Subst || v.Subst
		}
		s = after
	}
}

// report keeps the commands that the static walk has not seen.
func (d *dryer) report() {
	for _, argv := range d.found {
		if !isKnownName(argv[0]) {
			continue // the static walk has it, with its reason
		}
		sub := &reader{opts: d.r.opts, seen: map[uint64]int{}, said: map[string]bool{}}
		w := &walker{r: sub, st: &state{}}
		w.run(Command{Argv: argv, Source: joinWords(argv).Text}, input{})
		for _, c := range sub.line.Commands {
			key := argvKey(c.Argv)
			if plain := key == argvKey(argv); plain || !d.have[key] {
				d.have[key] = true
				d.r.add(c)
			}
		}
		for _, why := range sub.line.Opaque {
			d.r.opaque(why)
		}
	}
	d.found = nil
}

// dryDir is a directory that exists only for the dry run.
type dryDir string

func (d dryDir) Name() string     { return string(d) }
func (dryDir) Size() int64        { return 1 }
func (dryDir) Mode() fs.FileMode  { return fs.ModeDir | 0o755 }
func (dryDir) ModTime() time.Time { return time.Time{} }
func (dryDir) IsDir() bool        { return true }
func (dryDir) Sys() any           { return nil }

// harmless says whether code may be handed to the interpreter's own eval.
func (d *dryer) harmless(code string) bool {
	if len(code) > maxDryValue || strings.ContainsAny(code, "~{") {
		return false
	}
	f, _, err := d.r.opts.Parsers.parseAs(code, syntax.LangBash)
	if err != nil {
		return false
	}
	ok := true
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			ok = ok && !n.Background && !n.Coprocess && !n.Disown && len(n.Redirs) == 0
		case *syntax.BinaryCmd:
			ok = ok && n.Op != syntax.Pipe && n.Op != syntax.PipeAll
		case *syntax.ProcSubst, *syntax.CoprocClause, *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl, *syntax.Assign, *syntax.TestDecl:
			ok = false
		case *syntax.ParamExp:
			ok = ok && n.Repl == nil
		}
		return ok
	})
	return ok
}

// hasWord says whether any of the words is the given one.
func hasWord(words []*syntax.Word, s string) bool {
	return slices.ContainsFunc(words, func(w *syntax.Word) bool { return w.Lit() == s })
}
