package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// code classifies what an interpreter runs: inline code, code on standard
// input, a file the line has written, a module, or a script by its name.
func (r *reading) code(prog string, c *shell.Command) []Hit {
	lang := languageOf(prog)
	if lang == "" {
		return nil
	}
	in := readInline(lang, prog, c.Argv[1:])
	if in.check {
		return nil
	}
	defer r.pythonPath(c)()
	if len(in.module) > 0 {
		return append(r.moduleFile(in.module[0].Text), r.module(c, in.module)...)
	}
	defer r.give(in, c)()
	var hits []Hit
	if text, file, ok := r.programOf(lang, in, c); ok {
		hits = r.programFile(lang, text, file)
	}
	if strings.HasPrefix(in.script, "https://") || strings.HasPrefix(in.script, "http://") && !isLoopbackURL(in.script) {
		return append(hits, opaqueHit("opaque-payload", commandText(c), "It runs a program that it downloads."))
	}
	if in.script != "" && r.set.knows(baseOf(in.script)) {
		return append(hits, r.script(c, in.script)...)
	}
	for _, f := range c.Files {
		in.code = append(in.code, f.Text)
	}
	if len(in.code) == 0 && in.script == "" && c.Stdin.Known && lang != "awk" {
		in.code = append(in.code, c.Stdin.Text)
	}
	if lang == "pwsh" || lang == "powershell" {
		for _, w := range c.Argv[1:] {
			if strings.HasPrefix(strings.ToLower(w.Text), "-enc") || strings.ToLower(w.Text) == "-e" || strings.ToLower(w.Text) == "-ec" {
				hits = append(hits, opaqueHit("opaque-payload", commandText(c), "It runs an encoded command."))
			}
		}
	}
	if lang == "perl" {
		in.code = withModules(in.code, c.Argv)
	}
	for _, code := range in.code {
		hits = append(hits, r.program(lang, code)...)
		hits = append(hits, r.imports(lang, code, "")...)
	}
	if h, ok := r.unseen(lang, in, c); ok {
		hits = append(hits, h)
	}
	if in.script != "" && len(c.Files) == 0 && len(hits) == 0 && lang != "awk" {
		hits = append(hits, r.toldTo(in.script, c, afterWord(c.Argv, in.script))...)
	}
	if in.script != "" && len(c.Files) == 0 && lang != "awk" && r.set.table().riskyScript(in.script) && !helpOnly(c.Argv) {
		hits = append(hits, opaqueHit("opaque-script", commandText(c), "A script that is not looked into is named like one that reaches outside."))
	}
	return hits
}

// give notes what the program that c runs is given.
func (r *reading) give(in inline, c *shell.Command) (restore func()) {
	old := r.given
	g := &given{cmd: c, noInput: len(in.code) == 0 && in.script == ""}
	last := in.script
	if len(in.code) > 0 {
		last = in.code[len(in.code)-1]
	} else if g.noInput {
		last = "-"
	}
	g.operands = afterWord(c.Argv, last)
	if len(g.operands) > 0 && g.operands[0].Text == "--" {
		g.operands = g.operands[1:]
	}
	r.given = g
	return func() { r.given = old }
}

// withModules puts in front of Perl's inline code the modules that its options
// load: -MNet::FTP, -Mojo.
func withModules(code []string, argv []shell.Word) []string {
	var use strings.Builder
	for _, w := range argv[1:] {
		if name, ok := strings.CutPrefix(w.Text, "-M"); ok && name != "" {
			use.WriteString("use " + name + ";\n")
		}
	}
	if use.String() == "" {
		return code
	}
	out := make([]string, len(code))
	for i, text := range code {
		out[i] = use.String() + text
	}
	return out
}

// unseen judges an interpreter whose program comes out of another command.
func (r *reading) unseen(lang string, in inline, c *shell.Command) (Hit, bool) {
	switch {
	case len(in.code) == 1 && lang != "awk" && lang != "shell" && strings.HasPrefix(in.code[0], "$(") && strings.HasSuffix(in.code[0], ")"):
		if f := strings.Fields(strings.Trim(in.code[0], "$()")); len(f) == 2 && f[0] == "cat" && !r.set.table().riskyScript(f[1]) {
			return Hit{}, false
		}
	case lang == "awk" || lang == "shell" || len(in.code) > 0 || len(c.Files) > 0:
		return Hit{}, false
	case strings.HasPrefix(in.script, "<("), unknownWord(shell.Word{Text: in.script, Dynamic: true}) && strings.HasPrefix(in.script, "$("):
	case in.script == "" && c.Stdin.Kind == shell.InputPipe && !c.Stdin.Known && len(c.Argv) == 1+dashes(c.Argv):
		f := strings.Fields(c.Stdin.From)
		if len(f) == 2 && f[0] == "cat" && !r.set.table().riskyScript(f[1]) {
			return Hit{}, false
		}
	default:
		return Hit{}, false
	}
	return opaqueHit("opaque-payload", commandText(c), "It runs a program that another command prints."), true
}

// dashes counts the words that are "-" or options without a value.
func dashes(argv []shell.Word) int {
	n := 0
	for _, w := range argv[1:] {
		if w.Text == "-" || w.Text == "-u" || w.Text == "-s" || w.Text == "-B" {
			n++
		}
	}
	return n
}

// module classifies python -m MODULE as the program of that name.
func (r *reading) module(c *shell.Command, argv []shell.Word) []Hit {
	if r.depth++; r.depth > maxNesting {
		r.depth--
		return []Hit{opaqueHit("opaque-depth", commandText(c), "Programs that start programs go deeper than is looked at.")}
	}
	defer func() { r.depth-- }()
	inner := *c
	inner.Argv = argv
	if p := r.set.table().bins()[argv[0].Text]; p != "" {
		inner.Argv = append([]shell.Word{{Text: p}}, argv[1:]...)
	} else if i := strings.LastIndexByte(argv[0].Text, '.'); i > 0 && i+1 < len(argv[0].Text) && r.tool(argv[0].Text) == nil {
		inner.Argv = append([]shell.Word{{Text: argv[0].Text[i+1:]}}, argv[1:]...) // scripts.release is named release
	}
	inner.Opaque, inner.Remote, inner.Redirects = "", "", nil
	if inner.Source == "" {
		inner.Source = commandText(c)
	}
	return r.command(&inner)
}

// script classifies python manage.py migrate as manage.py migrate.
func (r *reading) script(c *shell.Command, name string) []Hit {
	for i, w := range c.Argv {
		if w.Text == name {
			return r.module(c, c.Argv[i:])
		}
	}
	return nil
}

// maxProgram is the longest program text that is looked into.
const maxProgram = 256 << 10

// program classifies a program text.
func (r *reading) program(lang, text string) []Hit {
	switch lang {
	case "pwsh", "powershell":
		return append(append(r.line(text), dotNet(text)...), r.started(text)...)
	case "shell":
		return r.line(text)
	}
	if len(text) > maxProgram {
		return []Hit{opaqueHit("opaque-depth", text[:200], "The program text is too long to be looked into.")}
	}
	if r.left--; r.left < 0 {
		return nil
	}
	src := lex(lang, text)
	var hits []Hit
	calls := src.calls()
	for _, rule := range r.set.codeRules() {
		if !containsString(rule.Code, lang) || !rule.imported(src) {
			continue
		}
		for _, k := range calls {
			if rule.Runs && quietCall(k.name) || !matchAny(rule.Calls, k.name) && !matchAny(rule.Calls, src.fullName(k.name)) {
				continue
			}
			if rule.Runs && len(rule.CallArgs) > 0 && !rule.named(src, k) {
				continue
			}
			if rule.Runs {
				hits = append(hits, r.runs(src, k)...)
			} else if rule.sends(src, k) {
				if rule.Net && (readsInside(text[k.start:k.end]) || src.carries(k)) {
					hits = append(hits, Hit{Rule: "code-exfil", Tier: External, Why: "What it asks the network for is made of what a file holds.", Text: excerpt(text, k.start, k.end)})
				}
				hits = append(hits, Hit{Rule: rule.ID, Tier: rule.tier, Net: rule.Net, Why: rule.Why, Text: excerpt(text, k.start, k.end)})
			}
		}
	}
	hits = append(hits, r.codeGuards(src)...)
	hits = append(hits, r.evaluated(src, calls)...)
	for _, l := range src.lits {
		if l.quote == '`' && (lang == "ruby" || lang == "perl" || lang == "php" || lang == "javascript" && tagged(src, l)) {
			e := expander{s: src, given: r.given}
			hits = append(hits, r.line(e.interpolated(l, 0))...)
		}
	}
	hits = append(hits, r.wordLists(src)...)
	switch lang {
	case "python":
		hits = append(hits, r.shFunctions(src, calls)...)
		hits = append(hits, r.toldModule(src, calls)...)
	case "awk":
		hits = append(hits, r.awkPipes(src)...)
	case "raku":
		hits = append(hits, r.rakuWords(text)...)
	case "scala":
		hits = append(hits, r.pipedLits(src)...)
	case "generic", "dc":
		hits = append(hits, r.bangs(strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == ';' }), "!")...)
	case "osascript":
		hits = append(hits, r.appleScript(src)...)
	case "tclsh":
		hits = append(hits, r.tclExecs(text)...)
	case "m4":
		hits = append(hits, r.macros(text)...)
	}
	return hits
}

// tagged: a JavaScript template behind $, as zx and Bun run it.
func tagged(s *source, l literal) bool {
	return l.start > 0 && s.code[l.start-1] == '$'
}

// awkPipes classifies the commands that awk pipes from and to.
func (r *reading) awkPipes(s *source) []Hit {
	var hits []Hit
	for _, l := range s.lits {
		before := strings.TrimRight(s.code[:l.start], " ")
		after := strings.TrimLeft(s.code[l.end:], " ")
		if strings.HasPrefix(l.text, "/inet") {
			hits = append(hits, Hit{Rule: "net-redirect", Tier: External, Why: "awk opens a network connection for this file name.", Text: l.text})
		}
		if strings.HasSuffix(before, "|") && languageOf(strings.TrimSpace(l.text)) == "shell" {
			hits = append(hits, opaqueHit("opaque-payload", s.text, "It runs what awk prints."))
		}
		if strings.HasSuffix(before, "|") && !strings.HasSuffix(before, "||") || strings.HasPrefix(after, "|") && !strings.HasPrefix(after, "||") {
			hits = append(hits, r.line(l.text)...)
		}
	}
	return hits
}
