package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// languageOf names the language of an interpreter.
func languageOf(prog string) string {
	p := strings.TrimRight(strings.ToLower(prog), "0123456789.")
	switch p {
	case "python", "pypy", "ipython":
		return "python"
	case "node", "nodejs", "bun", "deno", "tsx", "ts-node", "zx", "esno", "vite-node":
		return "javascript"
	case "ruby", "jruby", "irb":
		return "ruby"
	case "perl":
		return "perl"
	case "php":
		return "php"
	case "awk", "gawk", "mawk", "nawk":
		return "awk"
	case "bash", "sh", "zsh", "dash", "ksh", "fish", "ash", "source":
		return "shell"
	case "rscript", "lua", "julia", "groovy", "osascript", "tclsh", "pwsh", "powershell":
		return p
	}
	switch low := strings.ToLower(strings.Trim(prog, "${}")); {
	case prog == ".":
		return "shell"
	case !strings.HasPrefix(prog, "$"):
	case low == "py" || strings.HasPrefix(low, "python"):
		return "python"
	case strings.HasPrefix(low, "node"):
		return "javascript"
	}
	return ""
}

// inline is what an interpreter is told to run.
type inline struct {
	code   []string
	script string       // a file, when it runs one
	module []shell.Word // python -m: the module and its arguments
}

// codeFlags are the options that carry code, by language.
func codeFlags(lang string) (short string, long []string) {
	switch lang {
	case "python":
		return "c", nil
	case "javascript":
		return "ep", []string{"--eval", "--print"}
	case "ruby", "lua", "rscript", "julia", "groovy", "osascript":
		return "e", nil
	case "perl":
		return "eE", nil
	case "php":
		return "rBRE", []string{"--run"}
	case "awk":
		return "", []string{"--source"}
	case "shell":
		return "c", nil
	}
	return "", []string{"-Command", "-command", "-c", "-C", "/c", "/C"}
}

// Options of interpreters whose value is the next word.
func valueFlags(lang string) []string {
	switch lang {
	case "python":
		return []string{"-W", "-X", "--check-hash-based-pycs"}
	case "javascript":
		return []string{"-r", "--require", "--import", "--loader", "--env-file", "--conditions", "-C", "--config", "-c", "--tsconfig", "--project"}
	case "ruby":
		return []string{"-I", "-r", "-C"}
	case "perl":
		return []string{"-I"}
	case "php":
		return []string{"-d", "-c", "-t", "-S"}
	case "awk":
		return []string{"-v", "-F"}
	}
	return nil
}

// gluedFlags are the letters of a cluster behind which a value begins, so
// that no letter after them is a flag.
func gluedFlags(lang string) string {
	switch lang {
	case "ruby":
		return "rICFKETWx0"
	case "perl":
		return "MmIFxCdD"
	case "python":
		return "WXmQ"
	case "php":
		return "dczt"
	case "javascript":
		return "rC"
	}
	return ""
}

// readInline finds the code, the script or the module that the words after an
// interpreter name.
func readInline(lang, prog string, argv []shell.Word) inline {
	var in inline
	short, long := codeFlags(lang)
	values := valueFlags(lang)
	for i := 0; i < len(argv); i++ {
		s := argv[i].Text
		next := func() (string, bool) {
			if i+1 < len(argv) {
				i++
				return argv[i].Text, true
			}
			return "", false
		}
		name, glued, eq := strings.Cut(s, "=")
		switch {
		case s == "-" || s == "":
		case s == "--":
		case containsString(long, name) && eq:
			in.code = append(in.code, glued)
		case containsString(long, name):
			if v, ok := next(); ok {
				in.code = append(in.code, v)
			}
		case lang == "shell" && len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.Contains(s, "n"):
			return inline{} // a syntax check runs nothing
		case lang == "javascript" && (s == "--check" || s == "-c" && prog == "node"):
			return inline{}
		case lang == "python" && s == "-m":
			in.module = argv[i+1:]
			return in
		case containsString(values, s):
			next()
		case lang == "awk" && s == "-f":
			if v, ok := next(); ok {
				in.script = v
				return in
			}
		case s[0] == '-' && len(s) > 1 && s[1] != '-' && short != "":
			k := strings.IndexAny(s[1:], short)
			if g := strings.IndexAny(s[1:], gluedFlags(lang)); k < 0 || lang == "awk" || g >= 0 && g < k {
				continue
			}
			if rest := s[k+2:]; rest != "" && lang != "perl" && lang != "ruby" && lang != "shell" {
				in.code = append(in.code, rest)
			} else if rest != "" && strings.ContainsAny(rest, " ;(") {
				in.code = append(in.code, rest)
			} else if v, ok := next(); ok {
				in.code = append(in.code, v)
			}
			if lang == "python" || lang == "shell" {
				return in
			}
		case s[0] == '-':
		case lang == "awk":
			in.code = append(in.code, s)
			return in
		case (prog == "deno" || prog == "bun") && s == "run":
		case prog == "deno" && s == "eval":
			short = ""
			if v, ok := next(); ok {
				in.code = append(in.code, v)
			}
		case (prog == "deno" || prog == "bun") && !strings.ContainsAny(s, "./"):
			return in // another subcommand
		case len(in.code) > 0:
			return in
		default:
			in.script = s
			return in
		}
	}
	return in
}

// code classifies what an interpreter runs: inline code, code on standard
// input, a file the line has written, a module, or a script by its name.
func (r *reading) code(prog string, c *shell.Command) []Hit {
	lang := languageOf(prog)
	if lang == "" {
		return nil
	}
	in := readInline(lang, prog, c.Argv[1:])
	if len(in.module) > 0 {
		return r.module(c, in.module)
	}
	if in.script != "" && r.set.programs[baseOf(in.script)] != nil {
		return r.script(c, in.script)
	}
	var hits []Hit
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
	for _, code := range in.code {
		hits = append(hits, r.program(lang, code)...)
	}
	if h, ok := r.unseen(lang, in, c); ok {
		hits = append(hits, h)
	}
	if in.script != "" && len(c.Files) == 0 && lang != "awk" && r.set.table().riskyScript(in.script) {
		hits = append(hits, opaqueHit("opaque-script", commandText(c), "A script that is not looked into is named like one that reaches outside."))
	}
	return hits
}

// unseen judges an interpreter whose program comes out of another command.
func (r *reading) unseen(lang string, in inline, c *shell.Command) (Hit, bool) {
	switch {
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
	inner := *c
	inner.Argv = argv
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
	case "shell", "pwsh", "powershell":
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
	for _, rule := range r.set.table().code {
		if !containsString(rule.Code, lang) || !rule.imported(text) {
			continue
		}
		for _, k := range calls {
			if rule.Runs && quietCall(k.name) || !matchAny(rule.Calls, k.name) && !matchAny(rule.Calls, src.fullName(k.name)) {
				continue
			}
			if rule.Runs {
				hits = append(hits, r.runs(src, k)...)
			} else if rule.sends(src, k) {
				hits = append(hits, Hit{Rule: rule.ID, Tier: rule.tier, Net: rule.Net, Why: rule.Why, Text: excerpt(text, k.start, k.end)})
			}
		}
	}
	for _, l := range src.lits {
		if l.quote == '`' && (lang == "ruby" || lang == "perl" || lang == "php" || lang == "javascript" && tagged(src, l)) {
			hits = append(hits, r.line(l.text)...)
		}
	}
	switch lang {
	case "awk":
		hits = append(hits, r.awkPipes(src)...)
	case "osascript":
		hits = append(hits, r.appleScript(src)...)
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
		if strings.HasSuffix(before, "|") && !strings.HasSuffix(before, "||") || strings.HasPrefix(after, "|") && !strings.HasPrefix(after, "||") {
			hits = append(hits, r.line(l.text)...)
		}
	}
	return hits
}

// imported reports whether the text names one of the libraries that the rule
// speaks of.
func (r *rule) imported(text string) bool {
	if len(r.Imports) == 0 {
		return true
	}
	for _, i := range r.Imports {
		if strings.Contains(text, i) {
			return true
		}
	}
	return false
}

// sends reports whether a call does what the rule says: its arguments hold
// one of the words, and not every address of the text is this machine.
func (r *rule) sends(s *source, k call) bool {
	if len(r.CallArgs) > 0 {
		found := false
		for _, w := range r.CallArgs {
			found = found || holdsWord(s.text[k.start:k.end], w)
		}
		if !found || onlyReads(s.text[k.start:k.end]) {
			return false
		}
	}
	return !s.loopbackOnly()
}

// onlyReads: the arguments name a reading method and no body.
func onlyReads(args string) bool {
	low := strings.ToLower(args)
	if holdsWord(low, "body") || holdsWord(low, "data") || holdsWord(low, "json") {
		return false
	}
	for _, q := range []string{`'get'`, `"get"`, `'head'`, `"head"`} {
		if strings.Contains(low, q) {
			return true
		}
	}
	return false
}

func holdsWord(text, w string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], w)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(w)
		if (i == 0 || !isIdent(text[i-1])) && (end == len(text) || !isIdent(text[end])) {
			return true
		}
		at = i + 1
	}
}

// loopbackOnly: the text names addresses, and each is this machine.
func (s *source) loopbackOnly() bool {
	found := false
	for _, l := range s.lits {
		for _, scheme := range []string{"http://", "https://", "ws://", "wss://"} {
			i := strings.Index(strings.ToLower(l.text), scheme)
			if i < 0 {
				continue
			}
			found = true
			if !isLoopbackURL(l.text[i:]) {
				return false
			}
		}
	}
	if found {
		return true
	}
	for _, l := range s.lits {
		if isLoopbackHost(l.text) && l.text != "" {
			return true
		}
	}
	return false
}

// runs classifies the command that a call of the text starts: a string is a
// shell line, several are a program with its arguments. When the argument is
// a variable, every string of the text may be what it holds.
func (r *reading) runs(s *source, k call) []Hit {
	lits := s.arguments(k)
	if len(lits) == 0 {
		return r.anyString(s)
	}
	if !r.set.namesProgram(strings.Join(lits, " ")) {
		return nil
	}
	if strings.ContainsAny(strings.TrimSpace(lits[0]), " \t\n;|&") {
		return r.line(lits[0])
	}
	if len(lits) > 1 && lits[0] == lits[1] {
		lits = lits[1:] // execvp("git", ["git", ...])
	}
	return r.line(quoteWords(lits))
}

// quietCall: a call that is known to do nothing with its strings but look at
// them or print them.
func quietCall(name string) bool {
	return matchAny([]string{"console.*", "require", "import", "JSON.*", "*.log", "*.write*", "*.includes", "*.indexOf", "*.startsWith",
		"*.endsWith", "*.replace*", "*.test", "*.match*", "*.split", "*.join", "*.push", "describe", "it", "test", "expect", "assert*",
		"print", "*.readFileSync", "*.error", "*.warn", "*.toBe", "*.toEqual", "*.equal*", "*.set", "*.get", "*.add", "*.append*", "Error", "String"}, name)
}

// maxLiterals is how many strings of one call are looked at.
const maxLiterals = 64

// arguments lists the strings of a call, without those of named arguments.
func (s *source) arguments(k call) []string {
	var out []string
	for _, l := range s.within(k.start, k.end) {
		if len(out) == maxLiterals {
			break
		}
		before := strings.TrimRight(s.code[:l.start], " \n\t")
		if before != "" {
			c := before[len(before)-1]
			if c == ':' || c == '=' && !strings.HasSuffix(before, "args=") && !strings.HasSuffix(before, "args =") {
				continue
			}
			if isIdent(c) && strings.HasSuffix(before, "f") {
				l.text = blankBraces(l.text)
			}
		}
		out = append(out, l.text)
	}
	return out
}

// blankBraces puts a variable in the place of each {expression} of a format
// string.
func blankBraces(s string) string {
	for {
		i := strings.IndexByte(s, '{')
		j := strings.IndexByte(s, '}')
		if i < 0 || j < i {
			return s
		}
		s = s[:i] + "$X" + s[j+1:]
	}
}

// anyString classifies every string of the text as a line, and the strings of
// every list as a command.
func (r *reading) anyString(s *source) []Hit {
	var hits []Hit
	for _, l := range s.lits {
		if r.left < maxReadings/4 {
			return hits
		}
		if strings.Contains(strings.TrimSpace(l.text), " ") && r.set.namesProgram(l.text) {
			for _, h := range r.line(l.text) {
				if h.Tier == External && !h.Mention && !h.Opaque {
					hits = append(hits, h)
				}
			}
		}
	}
	for i := 0; i < len(s.code); i++ {
		if s.code[i] != '[' {
			continue
		}
		end := strings.IndexByte(s.code[i:], ']')
		if end < 0 {
			break
		}
		var words []string
		for _, l := range s.within(i, i+end) {
			words = append(words, l.text)
		}
		if len(words) > 1 && r.left > maxReadings/4 && r.set.namesProgram(strings.Join(words, " ")) {
			hits = append(hits, r.line(quoteWords(words))...)
		}
	}
	return hits
}

// namesProgram reports whether a text could be a command that a rule speaks
// of: it names a program, a script, or something that is not known.
func (s *Set) namesProgram(text string) bool {
	if strings.ContainsAny(text, "$`/") {
		return true
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) && r != '.' }) {
		if s.programs[w] != nil || languageOf(w) != "" {
			return true
		}
	}
	return s.table().riskyName(text)
}

func quoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// excerpt is the part of a text round a call, cut to a readable length.
func excerpt(text string, start, end int) string {
	from := strings.LastIndexByte(text[:start], '\n') + 1
	if start-from > 120 {
		from = start - 120
	}
	return strings.TrimSpace(text[from:min(end+1, len(text), from+400)])
}
