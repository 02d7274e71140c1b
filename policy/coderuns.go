package policy

import (
	"slices"
	"strings"
)

// runs classifies the command that a call of the text starts: a string is a
// shell line, several are a program with its arguments. When the argument is
// a variable, every string of the text may be what it holds.
func (r *reading) runs(s *source, k call) []Hit {
	hits := r.runsStrings(s, k)
	// What cannot be seen in the strings alone may be plain once the variables are in.
	if !slices.ContainsFunc(hits, func(h Hit) bool { return h.Tier == External && !h.Opaque }) {
		hits = append(hits, r.assembled(s, k)...)
	}
	return hits
}

// runsStrings goes by the strings that stand in the call.
func (r *reading) runsStrings(s *source, k call) []Hit {
	if r.skims() && !namesStart(k.name) {
		return nil
	}
	lits := s.arguments(k)
	if k.name == "open" && len(lits) > 0 {
		if lits = piped(lits); len(lits) == 0 {
			return nil
		}
	}
	switch s.lang {
	case "rust":
		lits = append(lits, s.chained(k.end)...)
	case "swift", "java", "groovy", "dart":
		if len(lits) == 0 {
			lits = s.setCommand()
		}
	}
	if !r.skims() && s.disguised(k) {
		if len(lits) > 0 && r.set.knows(baseOf(lits[0])) && (len(lits) == 1 || strings.HasPrefix(lits[1], "-")) {
			return []Hit{{Rule: "decoded-command", Tier: External, Why: "It decodes what it then tells " + baseOf(lits[0]) + " to do.", Text: excerpt(s.text, k.start, k.end)}}
		}
		return []Hit{opaqueHit("opaque-payload", excerpt(s.text, k.start, k.end), "It runs a command that it first decodes.")}
	}
	if len(lits) == 0 {
		if r.skims() {
			r.hide()
			return nil
		}
		return r.anyString(s)
	}
	if prog := s.itself(k); prog != "" && plainFile(lits[0]) {
		lits = append([]string{prog}, lits...) // another script of the same language
	}
	if !r.set.namesProgram(strings.Join(lits, " ")) {
		return nil
	}
	if strings.ContainsAny(strings.TrimSpace(lits[0]), " \t\n;|&") {
		return r.line(lits[0])
	}
	if len(lits) > 1 && baseOf(lits[0]) == lits[1] {
		lits = lits[1:] // execvp("git", ["git", ...])
	}
	return r.line(quoteWords(lits))
}

// piped is the command that Perl's open starts, with a pipe at an end of it.
func piped(lits []string) []string {
	switch first := strings.TrimSpace(lits[0]); {
	case first == "|-" || first == "-|":
		return lits[1:]
	case strings.HasPrefix(first, "|"), strings.HasSuffix(first, "|"):
		return []string{strings.Trim(first, "|")}
	}
	return lits
}

// chained lists the strings that the methods behind a call add to a command:
// Command::new("git").arg("push").
func (s *source) chained(from int) []string {
	end := s.statementEnd(from)
	for end < len(s.code) && s.code[end] == '\n' && strings.HasPrefix(strings.TrimSpace(s.code[end:]), ".") {
		end += 1 + strings.IndexByte(s.code[end:], '.')
		end = s.statementEnd(end)
	}
	var out []string
	for _, l := range s.within(from, end) {
		before := strings.TrimRight(s.code[from:l.start], "( [&\n\t,\"")
		if len(out) == maxLiterals {
			break
		}
		if strings.HasSuffix(before, ".arg") || strings.HasSuffix(before, ".args") || len(out) > 0 && strings.HasSuffix(strings.TrimRight(s.code[from:l.start], " \n\t"), ",") {
			out = append(out, l.text)
		}
	}
	return out
}

// setCommand is the command that a text puts together of properties:
// p.executableURL = ..., p.arguments = [...].
func (s *source) setCommand() []string {
	var prog, args []string
	for _, k := range s.calls() {
		switch k.name[strings.LastIndexByte(k.name, '.')+1:] {
		case "executableURL=", "launchPath=", "executable=":
			prog = append(prog, s.strings(k)...)
		case "arguments=":
			args = append(args, s.strings(k)...)
		}
	}
	if len(prog) == 0 {
		return args
	}
	return append(prog[:1], args...)
}

// strings lists all strings of a call.
func (s *source) strings(k call) []string {
	var out []string
	for _, l := range s.within(k.start, k.end) {
		if len(out) == maxLiterals {
			break
		}
		out = append(out, l.text)
	}
	return out
}

// itself is the interpreter that runs the text, when a call starts it again:
// subprocess.run([sys.executable, "x.py"]).
func (s *source) itself(k call) string {
	args := s.code[k.start:k.end]
	switch {
	case s.lang == "python" && strings.Contains(args, "sys.executable"):
		return "python3"
	case s.lang == "javascript" && (strings.Contains(args, "process.execPath") || strings.Contains(args, "process.argv[0]")):
		return "node"
	case s.lang == "ruby" && (strings.Contains(args, "RbConfig.ruby") || strings.Contains(args, "Gem.ruby")):
		return "ruby"
	case s.lang == "perl" && strings.Contains(args, "$^X"):
		return "perl"
	case s.lang == "php" && strings.Contains(args, "PHP_BINARY"):
		return "php"
	}
	return ""
}

func plainFile(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\n;|&") }

// disguised: the arguments decode or turn round the text that is run.
func (s *source) disguised(k call) bool {
	args := s.code[k.start:k.end]
	if decodes(args) {
		return true
	}
	if !namesStart(k.name) {
		return false
	}
	// What one of the names in them was given.
	for name := range strings.FieldsFuncSeq(args, func(c rune) bool { return c >= 0x80 || !isIdent(byte(c)) }) {
		for _, op := range []string{" = ", " := ", "="} {
			i := strings.Index(s.code[:k.start], name+op)
			if i < 0 || i > 0 && isIdent(s.code[i-1]) || len(name) < 1 || name[0] >= '0' && name[0] <= '9' {
				continue
			}
			line, _, _ := strings.Cut(s.code[i:k.start], "\n")
			if line, _, _ = strings.Cut(line, ";"); decodes(line) {
				return true
			}
		}
	}
	return false
}

// decodes: the expression makes a text of what does not look like it.
func decodes(code string) bool {
	for _, w := range []string{
		"b64decode", "fromhex(", "unhexlify(", "[::-1]", "codecs.decode(", "chr(", "atob(", "fromCharCode", "fromCodePoint", "decompress(", "Base64.decode", "unpack(",
		"bytes([", "bytearray([", "string([]byte{", "string([]rune{", "DecodeString(", ".getDecoder()", "from_utf8(",
	} {
		if strings.Contains(code, w) {
			return true
		}
	}
	return strings.Contains(code, "Buffer.from(") && strings.Contains(code, "toString(")
}

// wordLists classifies the %w[...] that Ruby starts as a command, and the
// strings that Groovy executes.
func (r *reading) wordLists(s *source) []Hit {
	var hits []Hit
	switch s.lang {
	case "ruby":
		return r.listed(s, "%w")
	case "perl":
		return r.listed(s, "qw")
	case "groovy":
		for _, l := range s.lits {
			if strings.HasPrefix(s.code[l.end:], ".execute(") {
				hits = append(hits, r.line(l.text)...)
			}
		}
	}
	return hits
}

// shFunctions classifies the programs that Python's sh library makes functions
// of: sh.git.push('origin'), git('push') after from sh import git.
func (r *reading) shFunctions(s *source, calls []call) []Hit {
	prefix := "sh."
	switch {
	case s.loads("plumbum"): // local['git']('push')
		prefix = "local."
	case !s.loads("sh"):
		return nil
	}
	var hits []Hit
	for _, k := range calls {
		words := strings.Split(strings.TrimPrefix(k.name, prefix), ".")
		if words[0] == "" || !r.set.knows(words[0]) || r.left < maxReadings/4 {
			continue
		}
		hits = append(hits, r.line(quoteWords(append(words, s.arguments(k)...)))...)
	}
	return hits
}

// listed classifies the lists of words without quotes that are started as
// commands: system(*%w[git push]), system qw(git push).
func (r *reading) listed(s *source, mark string) []Hit {
	var hits []Hit
	for at := 0; ; {
		i := strings.Index(s.text[at:], mark)
		if i < 0 || at+i+3 > len(s.text) {
			return hits
		}
		at += i + 2
		words, ok := bracketed(s.text[at:])
		before := strings.TrimRight(s.text[max(0, at-14):at-2], "(* ")
		for _, verb := range []string{"exec", "system", "spawn", "popen", "capture2", "capture3"} {
			if ok && strings.HasSuffix(before, verb) {
				hits = append(hits, r.line(words)...)
			}
		}
	}
}

// bracketed is what stands between the first character and the one that closes it.
func bracketed(s string) (string, bool) {
	end := s[:1]
	if i := strings.Index("([{<", end); i >= 0 {
		end = ")]}>"[i : i+1]
	}
	inside, _, ok := strings.Cut(s[1:], end)
	return inside, ok
}

// quietCall: a call that is known to do nothing with its strings but look at
// them or print them.
func quietCall(name string) bool {
	return matchAny([]string{"console.*", "require", "import", "JSON.*", "*.log", "*.write*", "*.includes", "*.indexOf", "*.startsWith",
		"*.endsWith", "*.replace*", "*.test", "*.match*", "*.split", "*.join", "*.push", "describe", "it", "test", "expect", "assert*",
		"print", "*.readFileSync", "*.error", "*.warn", "*.toBe", "*.toEqual", "*.equal*", "*.registerTask", "*.task", "task", "*.set", "*.get", "*.add", "*.append*", "Error", "String"}, name)
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
			if c == ':' && s.lang != "swift" || c == '=' && !strings.HasSuffix(before, "args=") && !strings.HasSuffix(before, "args =") {
				continue
			}
			if isIdent(c) && strings.HasSuffix(before, "f") {
				l.text = blankBraces(l.text)
			}
		}
		if strings.TrimSpace(l.text) != "" {
			out = append(out, l.text)
		}
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
		if s.knows(w) || languageOf(w) != "" {
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
