package policy

import (
	"slices"
	"strings"
)

// imported reports whether the text names one of the libraries that the rule
// speaks of, be it in a string put together of several.
func (r *rule) imported(s *source) bool {
	if len(r.Imports) == 0 {
		return true
	}
	for _, i := range r.Imports {
		if name, ok := strings.CutPrefix(i, "lib:"); ok {
			if s.loads(name) {
				return true
			}
			continue
		}
		if strings.Contains(s.text, i) || slices.ContainsFunc(s.lits, func(l literal) bool { return strings.Contains(l.text, i) }) {
			return true
		}
	}
	return false
}

// sends reports whether a call does what the rule says: its arguments hold
// one of the words, and not every address of the text is this machine.
func (r *rule) sends(s *source, k call) bool {
	if s.collects(k) {
		return false
	}
	if len(r.CallArgs) > 0 {
		found := false
		for _, w := range r.CallArgs {
			found = found || s.argument(k, w)
		}
		found = found || s.positionalBody(k)
		if !found && containsString(r.CallArgs, "POST") && strings.Contains(s.code[k.start:k.end], ",") && !strings.Contains(s.code[k.start:k.end], "{") {
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

// named: the arguments hold one of the words that the rule asks for.
func (r *rule) named(s *source, k call) bool {
	for _, w := range r.CallArgs {
		if strings.Contains(s.code[k.start:k.end], w) {
			return true
		}
	}
	return false
}

// stubbed: the text puts a double in the place of what would send. Of those
// that take an address, no address may be one of another machine.
func (s *source) stubbed() bool {
	if s.doubles == notAsked {
		s.doubles = no
		if s.hasDoubles() {
			s.doubles = yes
		}
	}
	return s.doubles == yes
}

func (s *source) hasDoubles() bool {
	for _, w := range []string{"mock.patch(", "@patch(", "with patch(", "MockTransport", "requests_mock", "responses.activate", "respx.", "mock_aws", "nock(", "jest.mock(", "vi.mock(", "setupServer("} {
		if strings.Contains(s.code, w) {
			return true
		}
	}
	for _, w := range []string{"ASGITransport", "TestClient(", "test_client(", "fakeredis", "supertest", "mongomock", "FakeStrictRedis", "httptest.", "light-my-request", "APIClient(", "axios-mock-adapter", "fetch-mock"} {
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
		if !evaluates(s.lang, k.name) {
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

// evaluates: the call runs the text that it is given as code of its own
// language.
func evaluates(lang, name string) bool {
	switch last := name[strings.LastIndexAny(name, ".:>")+1:]; last {
	case "eval", "Function", "instance_eval", "class_eval", "loadstring":
		return true
	case "exec", "compile":
		return lang == "python" && name == last
	case "Worker":
		return lang == "javascript"
	case "runInThisContext", "runInNewContext", "runInContext", "Script", "compileFunction":
		return lang == "javascript"
	}
	return false
}

// tclExecs classifies the commands behind Tcl's exec.
func (r *reading) tclExecs(text string) []Hit {
	var hits []Hit
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' || r == '[' || r == ']' }) {
		line = strings.TrimSpace(line)
		if cmd, ok := strings.CutPrefix(line, "exec "); ok {
			hits = append(hits, r.line(cmd)...)
		}
		f := strings.Fields(line)
		if i := slices.IndexFunc(f, func(w string) bool { return w == "http::geturl" || w == "::http::geturl" }); i >= 0 && i+1 < len(f) && !isLoopbackURL(f[i+1]) {
			if strings.Contains(line, " -query") || strings.Contains(line, " -method") || strings.Contains(line, " -type ") {
				hits = append(hits, Hit{Rule: "code-tcl-send", Tier: External, Why: "Tcl sends an HTTP request that writes.", Text: line})
			}
		}
		if len(f) > 2 && f[0] == "socket" && f[1] != "-server" && !isLoopbackHost(f[len(f)-2]) {
			hits = append(hits, Hit{Rule: "code-tcl-send", Tier: External, Why: "Tcl opens a connection to another machine.", Text: line})
		}
	}
	return hits
}

// macros classifies the commands of m4's syscmd and esyscmd.
func (r *reading) macros(text string) []Hit {
	var hits []Hit
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "syscmd(")
		if !ok {
			return hits
		}
		cmd, _, _ := strings.Cut(after, ")")
		hits = append(hits, r.line(strings.Trim(cmd, "`' "))...)
		rest = after
	}
}

// positionalBody: urllib's second argument is the body.
func (s *source) positionalBody(k call) bool {
	if s.lang != "python" || !strings.Contains(s.text, "urllib") || !strings.HasSuffix(k.name, "Request") && !strings.HasSuffix(k.name, "urlopen") {
		return false
	}
	second := secondArgument(s.code[k.start:k.end])
	name, _, named := strings.Cut(second, "=")
	return second != "" && !strings.HasPrefix(second, "None") && !(named && plainWord(strings.TrimSpace(name)))
}

// secondArgument is the text of a call's second argument.
func secondArgument(args string) string {
	depth, n, from := 0, 0, len(args)
	for i := range len(args) {
		switch args[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth > 0 {
				continue
			}
			if n++; n == 1 {
				from = i + 1
			} else {
				return strings.TrimSpace(args[from:i])
			}
		}
	}
	return strings.TrimSpace(args[from:])
}

// carries: the address of a read is made of a variable that holds what a file
// holds.
func (s *source) carries(k call) bool {
	args := s.code[k.start:k.end]
	first, _, _ := strings.Cut(args, ",")
	if !strings.Contains(s.text[k.start:k.start+len(first)], "://") && !strings.Contains(first, "+") {
		return false
	}
	for _, name := range s.fileValues() {
		if holdsWord(first, name) || strings.Contains(s.text[k.start:k.start+len(first)], "{"+name+"}") {
			return true
		}
	}
	return false
}

// maxFileValues is how many variables that hold a file's text are looked for.
const maxFileValues = 32

// fileValues lists the variables that are set to what a file holds.
func (s *source) fileValues() []string {
	if s.scanned {
		return s.read
	}
	s.scanned = true
	for _, line := range strings.FieldsFunc(s.code, func(r rune) bool { return r == '\n' || r == ';' }) {
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(name), "const "), "let "))
		if ok && name != "" && plainWord(name) && readsInside(value) && !strings.Contains(value, "environ") && !strings.Contains(value, "process.env") {
			s.read = append(s.read, name)
		}
		if len(s.read) == maxFileValues {
			break
		}
	}
	return s.read
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
	if s.here == notAsked {
		s.here = no
		if s.onlyLoopback() {
			s.here = yes
		}
	}
	return s.here == yes
}

func (s *source) onlyLoopback() bool {
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
		host := l.text
		if _, after, ok := strings.Cut(l.text, "host="); ok {
			host, _, _ = strings.Cut(after, " ")
		}
		if strings.Trim(host, "0123456789") != "" && !strings.ContainsAny(host, " /\n") && isLoopbackHost(hostOf(host)) {
			return true
		}
	}
	return false
}
