package claims

import (
	"regexp"
	"strings"
	"sync"
)

// kind is what is claimed.
type kind string

const (
	kindNumber  kind = "number"
	kindRun     kind = "run"     // something was run, or passed
	kindCommand kind = "command" // a command line in quotes
	kindURL     kind = "url"
	kindOutput  kind = "output" // quoted output
)

// claim is one thing that a text says and that something could show.
type claim struct {
	kind    kind
	text    string // as it stands
	where   string
	number  number
	about   context // of the number
	command string  // of kindCommand, with single spaces
	work    *work   // of kindRun
	whole   bool    // of kindRun: all of it
	url     string
	lines   []string // of kindOutput
}

var (
	urls  = lazy("https?://[^\\s\"'<>`)\\]}]+")
	ticks = lazy("`([^`\n]{3,300})`")
	tags  = lazy(`</?[a-zA-Z][^<>\n]{0,80}>`)
	fence = lazy("(?ms)^[ \t]*(```|~~~)[^\n]*\n(.*?)\n[ \t]*(```|~~~)[ \t]*$")
)

// lazy compiles an expression when it is needed first: most processes never do.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// find lists what a text claims.
func find(t Text) []claim {
	var out []claim
	add := func(c claim) {
		c.where, c.text = t.Where, strings.TrimSpace(c.text)
		out = append(out, c)
	}
	body := t.Body
	for _, m := range fence().FindAllStringSubmatch(body, -1) {
		if lines := longLines(m[2]); len(lines) > 0 {
			add(claim{kind: kindOutput, text: lines[0], lines: lines})
		}
	}
	plain := fence().ReplaceAllString(body, "")
	for _, m := range ticks().FindAllStringSubmatchIndex(plain, -1) {
		command := strings.Join(strings.Fields(plain[m[2]:m[3]]), " ")
		if strings.Contains(command, " ") && !asksFor(plain[:m[0]]) && !isCode(command) {
			add(claim{kind: kindCommand, text: command, command: command})
		}
	}
	for _, u := range urls().FindAllString(body, -1) {
		u = strings.TrimRight(u, ".,;:!?*_")
		add(claim{kind: kindURL, text: u, url: u})
	}
	blank := func(s string) string { return strings.Repeat(" ", len(s)) }
	bare := tags().ReplaceAllStringFunc(urls().ReplaceAllStringFunc(body, blank), blank)
	for _, n := range allNumbers(bare) {
		if n.unit == "" && t.Key != "" {
			n.unit = keyUnit(t.Key)
		}
		add(claim{kind: kindNumber, text: phrase(bare, n), number: n, about: claimed(bare, t.Key, n)})
	}
	findRuns(t, bare, add)
	return out
}

// asked: "run `x`" tells somebody to, and "ran `x`" says that it was.
var asked = lazy(`(?i)(^|[.,;:(\n]\s*|\b(to|then|please|and|or|can|should|must|will) )(re-?)?(run|use|try|execute|type|call|invoke|see|add|needs?|want)\s+(the\s+)?$`)

func asksFor(before string) bool { return asked().MatchString(before[max(0, len(before)-40):]) }

// isCode: a line of a program, and no command.
func isCode(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return keywords[first] || strings.ContainsAny(first, "(){}=<>,") || strings.HasSuffix(text, ";") || strings.HasSuffix(text, "{")
}

var keywords = wordSet("const let var func function def class return if for while import from type struct select SELECT insert INSERT update UPDATE delete DELETE public private static async await new throw fn use package")

// labelUnit is the unit that a label ends with; min is seldom minutes there.
func labelUnit(label string) string {
	if u := keyUnit(strings.TrimRight(label, " )]:=\"'")); u != "min" && u != "day" && u != "h" {
		return u
	}
	return ""
}

// keyUnit is the unit in a name like latency_ms.
func keyUnit(key string) string {
	list := tokens(key)
	if len(list) < 2 || len(list) > 2 && strings.EqualFold(list[len(list)-2], "per") {
		return ""
	}
	return units[strings.ToLower(list[len(list)-1])]
}

// phrase is a number with the words that it counts.
func phrase(text string, n number) string {
	end := n.end
	rest := text[end:]
	if i := strings.IndexAny(rest, phraseEnds); i >= 0 {
		rest = rest[:i]
	}
	rest, _, _ = strings.Cut(rest, ": ")
	if words := strings.Fields(clip(rest, 60)); len(words) > 0 && strings.TrimSpace(rest) != "" {
		words = words[:min(3, len(words))]
		return text[n.start:end] + sticks(rest) + strings.Join(words, " ")
	}
	return text[n.start:end]
}

// sticks is the space between a number and its next word.
func sticks(rest string) string {
	if rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		return " "
	}
	return ""
}

// longLines are the lines of quoted output by which it can be found again.
func longLines(text string) []string {
	const enough, most = 8, 200
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); len(line) >= enough && len(out) < most {
			out = append(out, line)
		}
	}
	return out
}
