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
	if len(in.module) > 0 {
		return r.module(c, in.module)
	}
	var hits []Hit
	if text, file, ok := r.programOf(lang, in, c); ok {
		hits = r.programFile(lang, text, file)
	}
	if in.script != "" && r.set.programs[baseOf(in.script)] != nil {
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
	for _, code := range in.code {
		hits = append(hits, r.program(lang, code)...)
	}
	if h, ok := r.unseen(lang, in, c); ok {
		hits = append(hits, h)
	}
	if in.script != "" && len(c.Files) == 0 && len(hits) == 0 && lang != "awk" {
		hits = append(hits, r.toldTo(in.script, c, afterWord(c.Argv, in.script))...)
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
	if r.depth++; r.depth > maxNesting {
		r.depth--
		return []Hit{opaqueHit("opaque-depth", commandText(c), "Programs that start programs go deeper than is looked at.")}
	}
	defer func() { r.depth-- }()
	inner := *c
	inner.Argv = argv
	if p := r.set.table().bins[argv[0].Text]; p != "" {
		inner.Argv = append([]shell.Word{{Text: p}}, argv[1:]...)
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
				if rule.Net && readsInside(text[k.start:k.end]) {
					hits = append(hits, Hit{Rule: "code-exfil", Tier: External, Why: "What it asks the network for is made of what a file holds.", Text: excerpt(text, k.start, k.end)})
				}
				hits = append(hits, Hit{Rule: rule.ID, Tier: rule.tier, Net: rule.Net, Why: rule.Why, Text: excerpt(text, k.start, k.end)})
			}
		}
	}
	hits = append(hits, r.evaluated(src, calls)...)
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
	case "tclsh":
		hits = append(hits, r.tclExecs(text)...)
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
			found = found || s.argument(k, w)
		}
		if !found && strings.Contains(s.code[k.start:k.end], ",") && !strings.Contains(s.code[k.start:k.end], "{") {
			found = s.methodElsewhere()
		}
		if !found || s.onlyReads(k) {
			return false
		}
	}
	switch {
	case r.tier == Shared:
		return !strings.Contains(s.text, ":memory:")
	case r.tier == External && s.stubbed():
		return false
	}
	return !s.loopbackOnly()
}

// stubbed: the text puts a double in the place of what would send. Of those
// that take an address, no address may be one of another machine.
func (s *source) stubbed() bool {
	for _, w := range []string{"mock.patch(", "@patch(", " patch(", "MockTransport", "requests_mock", "responses.activate", "respx.", "mock_aws", "nock(", "jest.mock(", "vi.mock(", "axios-mock-adapter", "fetch-mock", "setupServer("} {
		if strings.Contains(s.text, w) {
			return true
		}
	}
	for _, w := range []string{"ASGITransport", "TestClient(", "test_client(", "fakeredis", "supertest", "mongomock", "FakeStrictRedis", "light-my-request", "APIClient("} {
		if strings.Contains(s.text, w) {
			return s.noAddress()
		}
	}
	return false
}

// noAddress: no string names a host with a dot.
func (s *source) noAddress() bool {
	for _, l := range s.lits {
		if _, rest, ok := strings.Cut(l.text, "://"); ok && strings.Contains(hostOf(rest), ".") && !isLoopbackURL(l.text) {
			return false
		}
	}
	return true
}

// methodElsewhere: the options of a call stand in a variable, and the text
// holds a writing method somewhere.
func (s *source) methodElsewhere() bool {
	for _, l := range s.lits {
		switch strings.ToUpper(l.text) {
		case "POST", "PUT", "PATCH", "DELETE":
			return true
		}
	}
	return false
}

// readsInside: the arguments read a file or the environment.
func readsInside(args string) bool {
	for _, w := range []string{"open(", "readFile", "read_text(", "File.read", "environ", "process.env", "file_get_contents("} {
		if strings.Contains(args, w) {
			return true
		}
	}
	return false
}

// evaluated classifies code that the text itself evaluates; what is decoded
// first cannot be seen.
func (r *reading) evaluated(s *source, calls []call) []Hit {
	var hits []Hit
	for _, k := range calls {
		if k.name != "eval" && !(k.name == "exec" && s.lang == "python") && k.name != "Function" {
			continue
		}
		if args := s.text[k.start:k.end]; strings.Contains(args, "b64decode") || strings.Contains(args, "atob") || strings.Contains(args, "decode(") || strings.Contains(args, "base64") {
			hits = append(hits, opaqueHit("opaque-payload", excerpt(s.text, k.start, k.end), "It evaluates decoded code."))
			continue
		}
		for _, l := range s.within(k.start, k.end) {
			if r.depth++; r.depth <= maxNesting {
				hits = append(hits, r.program(s.lang, l.text)...)
			}
			r.depth--
		}
	}
	return hits
}

// tclExecs classifies the commands behind Tcl's exec.
func (r *reading) tclExecs(text string) []Hit {
	var hits []Hit
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' || r == '[' || r == ']' }) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "exec "); ok {
			hits = append(hits, r.line(cmd)...)
		}
	}
	return hits
}

// argument reports whether the arguments of a call hold a word. One that names
// a body or a method counts as a name or a key, not inside a text, where an
// address or a content type may have it.
func (s *source) argument(k call, w string) bool {
	switch w {
	case "data", "body", "json", "method", "content":
		if holdsWord(s.code[k.start:k.end], w) {
			return true
		}
		for _, l := range s.within(k.start, k.end) {
			if l.text == w {
				return true
			}
		}
		return false
	}
	return holdsWord(s.text[k.start:k.end], w)
}

// onlyReads: the arguments name a reading method and no body.
func (s *source) onlyReads(k call) bool {
	if s.argument(k, "body") || s.argument(k, "data") || s.argument(k, "json") {
		return false
	}
	for _, l := range s.within(k.start, k.end) {
		if strings.EqualFold(l.text, "get") || strings.EqualFold(l.text, "head") {
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
		i := strings.Index(l.text, "://")
		for i > 0 && (isIdent(l.text[i-1]) || l.text[i-1] == '+') {
			i--
		}
		if i < 0 || strings.HasPrefix(l.text[i:], "://") || strings.Contains(l.text[i:], ":///") {
			continue
		}
		found = true
		if !isLoopbackURL(l.text[i:]) {
			return false
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
