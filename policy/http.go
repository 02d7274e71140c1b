package policy

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// sendingMethod reports whether an HTTP method changes something; one that is
// not known before the line runs does.
func sendingMethod(w shell.Word) bool {
	if unknownWord(w) {
		return true
	}
	switch strings.ToUpper(w.Text) {
	case "", "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT":
		return false
	}
	return true
}

// proxied reports whether the call may end elsewhere than its URL says.
func proxied(a *args) bool {
	if slices.ContainsFunc([]string{"-x", "--proxy", "--preproxy", "--connect-to", "--resolve", "--socks*", "--proxy1.0", "-e=use_proxy*"}, a.has) {
		return true
	}
	for _, n := range []string{"http_proxy", "https_proxy", "all_proxy"} {
		if v, ok := a.env(n); ok && v.Text != "" && !isLoopbackURL(v.Text) {
			return true
		}
	}
	return false
}

// allLoopback reports whether every host of the call is this machine.
func allLoopback(a *args) bool {
	if a.has("--unix-socket") || a.has("--abstract-unix-socket") {
		return !proxied(a)
	}
	urls := hostWords(a)
	if len(urls) == 0 || proxied(a) {
		return false
	}
	for _, u := range urls {
		if !isLoopbackURL(u) {
			return false
		}
	}
	return true
}

// hostWords lists the words of a call that name a host.
func hostWords(a *args) []string {
	var out []string
	for _, w := range a.all("--url", "-Uri", "-uri", "-URI", "--base-url") {
		out = append(out, w.Text)
	}
	httpie := a.tool.is("http") || a.tool.is("xh")
	for i, w := range a.words {
		s := w.Text
		if httpie {
			if i == 0 && isMethodWord(s) {
				continue
			}
			if strings.HasPrefix(s, ":") {
				s = "localhost" + s
			}
			return append(out, s)
		}
		out = append(out, s)
	}
	return out
}

func isMethodWord(s string) bool {
	for _, r := range s {
		if r < 'A' || r > 'Z' && r < 'a' || r > 'z' {
			return false
		}
	}
	return s != "" && s != "localhost"
}

// curlSends: some operation of the line (they are divided by --next) sends.
func curlSends(a *args, _ []shell.Word) bool {
	start := 0
	for i := 0; i <= len(a.argv); i++ {
		if i < len(a.argv) && a.argv[i].Text != "--next" && a.argv[i].Text != "-:" {
			continue
		}
		if curlOperation(parseArgs(a.tool, a.cmd, a.argv[start:i])) {
			return true
		}
		start = i + 1
	}
	return false
}

func curlOperation(a *args) bool {
	if pushesThroughDaemon(a) {
		return true
	}
	if allLoopback(a) {
		return false
	}
	get := a.has("-G") || a.has("--get")
	body, upload := false, false
	for _, o := range a.opts {
		switch {
		case curlData(o.name):
			body = true
		case o.name == "-T", strings.HasPrefix(o.name, "--upl"), o.name == "-Q", o.name == "--quote",
			o.name == "--mail-rcpt", o.name == "-F", strings.HasPrefix(o.name, "--form"), o.name == "--json":
			upload = true
		}
	}
	if method, ok := a.last("-X", "--request", "--reques", "--reque", "--requ", "--req"); ok {
		return sendingMethod(method) || upload || body && readsFile(a)
	}
	if upload || body && !get {
		return true
	}
	for _, u := range urlsOf(a) {
		s := strings.ToLower(u.Text)
		if strings.HasPrefix(s, "telnet:") || strings.HasPrefix(s, "smtp") || strings.HasPrefix(s, "mqtt") && body {
			return true
		}
	}
	return body && readsFile(a)
}

// pushesThroughDaemon: the call tells Docker's daemon on this machine to push.
func pushesThroughDaemon(a *args) bool {
	if m, ok := a.last("-X", "--request"); !ok || !strings.EqualFold(m.Text, "POST") && !unknownWord(m) {
		return false
	}
	for _, u := range urlsOf(a) {
		path, _, _ := strings.Cut(u.Text, "?")
		if strings.Contains(path, "/images/") && strings.HasSuffix(path, "/push") {
			return true
		}
	}
	return false
}

func curlData(name string) bool {
	return name == "-d" || strings.HasPrefix(name, "--dat")
}

// readsFile: the data of the call come from a file or a command.
func readsFile(a *args) bool {
	for _, o := range a.opts {
		if curlData(o.name) && (o.value.Subst && !harmlessSubst(o.value.Text) || strings.HasPrefix(o.value.Text, "@") || strings.Contains(o.value.Text, "=@")) {
			return true
		}
		name, _, file := strings.Cut(o.value.Text, "@") // what curl reads a file for, where it encodes
		if strings.HasPrefix(o.name, "--data-u") && file && !strings.Contains(name, "=") {
			return true
		}
	}
	return false
}

// urlExfil: a read whose URL, or a header that is no credential, carries what
// a command printed.
func urlExfil(a *args, _ []shell.Word) bool {
	if allLoopback(a) {
		return false
	}
	for _, w := range urlsOf(a) {
		if w.Subst && !harmlessSubst(w.Text) && !wholeSubst(w.Text) {
			return true
		}
	}
	for _, w := range a.all("-A", "--user-agent", "-e", "--referer", "--url-query", "--data-urlencode") {
		if w.Subst && !harmlessSubst(w.Text) {
			return true
		}
	}
	for _, w := range a.all("-H", "--header", "-b", "--cookie") {
		if w.Subst && !harmlessSubst(w.Text) && (!credentialHeader(w.Text) || encodesFile(w.Text)) {
			return true
		}
	}
	return false
}

// wholeSubst: nothing but what a command printed. The host is in it too, as
// with a list of addresses.
func wholeSubst(s string) bool {
	bodies, ok := substitutions(s)
	return ok && len(bodies) == 1 && (s == "$("+bodies[0]+")" || s == "`"+bodies[0]+"`") && strings.HasPrefix(strings.TrimSpace(bodies[0]), "cat ")
}

// encodesFile: a substitution packs a file as text, which no credential asks
// for.
func encodesFile(s string) bool {
	bodies, _ := substitutions(s)
	for _, b := range bodies {
		f := strings.Fields(b)
		if len(f) > 1 && containsString([]string{"base64", "base32", "xxd", "od", "tar", "gzip", "zip"}, f[0]) && strings.ContainsAny(f[len(f)-1], "/.~") {
			return true
		}
	}
	return false
}

func credentialHeader(s string) bool {
	name, _, _ := strings.Cut(strings.ToLower(s), ":")
	for _, k := range []string{"auth", "token", "key", "cookie", "session", "csrf", "jwt", "secret", "accept", "if-"} {
		if strings.Contains(name, k) {
			return true
		}
	}
	return false
}

// httpieSends: HTTPie and its kin send with a method, a data item, or a body
// on standard input.
func httpieSends(a *args, _ []shell.Word) bool {
	if allLoopback(a) {
		return false
	}
	words := a.words
	if len(words) > 0 && isMethodWord(words[0].Text) && len(words) > 1 {
		if sendingMethod(words[0]) {
			return true
		}
		return false
	}
	if a.has("--raw") || a.has("-d") || a.has("--data") {
		return true
	}
	for _, w := range words[min(1, len(words)):] {
		if dataItem(w.Text) {
			return true
		}
	}
	return hasInput(a, nil) && !a.has("--ignore-stdin") && !a.has("-I")
}

// dataItem reads an HTTPie request item; the first separator decides.
func dataItem(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '=':
			return !strings.HasPrefix(s[i:], "==")
		case '@':
			return true
		case ':':
			return strings.HasPrefix(s[i:], ":=")
		}
	}
	return false
}

// powershellSends: Invoke-RestMethod and Invoke-WebRequest; parameter names
// are taken in any case and may be cut short.
func powershellSends(a *args, _ []shell.Word) bool {
	if allLoopback(a) {
		return false
	}
	for _, w := range a.words {
		if len(w.Text) > 1 && w.Text[0] == '@' && isIdent(w.Text[1]) {
			return true // its parameters stand in a variable
		}
	}
	for i, o := range a.opts {
		n := strings.ToLower(o.name)
		switch {
		case strings.HasPrefix(n, "-me"), strings.HasPrefix(n, "-custommethod"):
			if sendingMethod(o.value) {
				return true
			}
		case n == "-body", strings.HasPrefix(n, "-inf"), n == "-form":
			if i >= 0 {
				return true
			}
		}
	}
	return false
}

// apiSends: gh api and glab api post when they are given a field and no
// method; a GraphQL call sends when its query is a mutation or cannot be seen.
func apiSends(a *args, rest []shell.Word) bool {
	if h, ok := a.last("--hostname"); ok && isLoopbackHost(hostOf(h.Text)) {
		return false
	}
	fields := a.all("-f", "-F", "--raw-field", "--field", "-d", "--data")
	if len(rest) > 0 && strings.TrimPrefix(rest[0].Text, "/") == "graphql" {
		return graphqlSends(a, fields)
	}
	if m, ok := a.last("-X", "--method"); ok {
		return sendingMethod(m)
	}
	return len(fields) > 0 || a.has("--input")
}

func graphqlSends(a *args, fields []shell.Word) bool {
	if a.has("--input") {
		return !a.cmd.Stdin.Known || strings.Contains(a.cmd.Stdin.Text, "mutation")
	}
	seen := false
	for _, f := range fields {
		v, ok := strings.CutPrefix(f.Text, "query=")
		if !ok {
			continue
		}
		seen = true
		if isMutation(v) {
			return true
		}
		if strings.HasPrefix(v, "@") && !(v == "@-" && a.cmd.Stdin.Known && !isMutation(a.cmd.Stdin.Text)) {
			return true
		}
		if f.Dynamic && strings.HasPrefix(v, "$") && !strings.Contains(v, "{") {
			return true
		}
	}
	return !seen
}

// isMutation reports whether a GraphQL document holds a mutation operation:
// the word at the top level, not inside braces, strings or comments.
func isMutation(doc string) bool {
	depth := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '#':
			if n := strings.IndexByte(doc[i:], '\n'); n >= 0 {
				i += n
			} else {
				return false
			}
		case 'm':
			if depth == 0 && strings.HasPrefix(doc[i:], "mutation") {
				return true
			}
		}
	}
	return false
}
