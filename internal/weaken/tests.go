package weaken

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxNames is how many names a finding lists.
const maxNames = 5

// Find says what a patch, as git diff prints it, makes weaker.
func Find(patch string) []Finding {
	files := slices.DeleteFunc(parse(patch), func(f file) bool { return foreign(f.name()) })
	added := addedLines(files)
	var out []Finding
	for i := range files {
		f := &files[i]
		say := func(format string, args ...any) {
			out = append(out, Finding{File: f.name(), Text: fmt.Sprintf(format, args...)})
		}
		f.tests(files, added, say)
		f.settings(say)
		f.scripts(added, say)
	}
	return out
}

// addedLines are the lines that the patch adds anywhere, without their
// indentation: what stands among them was moved.
func addedLines(files []file) map[string]int {
	out := map[string]int{}
	for i := range files {
		for _, l := range files[i].lines {
			if t := strings.TrimSpace(l.text); l.op == '+' && t != "" {
				out[t]++
			}
		}
	}
	return out
}

type sayer func(format string, args ...any)

// tests looks at a file that holds tests.
func (f *file) tests(files []file, added map[string]int, say sayer) {
	if isTest(f.was) && f.is != "" && f.was != f.is && languageOf(f.was) != nil && languageOf(f.is) == nil {
		say("the test file %s was renamed, and no test runner looks for such a name", f.was)
	}
	l := languageOf(f.name())
	if l == nil {
		return
	}
	lost := f.lostTests(l, files)
	if len(lost) > 0 {
		say("%s deleted: %s", count(len(lost), "test"), list(lost))
	}
	if n := f.net(l, l.skip, true); n > 0 {
		say("%s from running: %s", count(n, "skip keeps a test", "skips keep tests"), list(f.texts(l, l.skip)))
	}
	if n := f.net(l, l.only, false); n > 0 {
		say("only some tests run: %s", list(f.texts(l, l.only)))
	}
	if n := f.net(l, l.ends, true); n > 0 {
		say("the run of the tests ends well whatever they find: %s", list(f.texts(l, l.ends)))
	}
	if f.mainWithoutTests() {
		say("TestMain runs no test")
	}
	if n := f.net(l, l.empty, false); n > 0 {
		say("an assertion that cannot fail: %s", list(f.texts(l, l.empty)))
	}
	if len(lost) == 0 && f.is != "" {
		f.lostAssertions(l, added, say)
	}
}

// mainWithoutTests: a function of Go's that stands in front of all tests is new, or
// lost what runs them.
func (f *file) mainWithoutTests() bool {
	if !strings.HasSuffix(f.name(), "_test.go") {
		return false
	}
	main, runs, lost := false, false, false
	for _, x := range f.lines {
		run := strings.Contains(x.text, "m.Run()")
		switch {
		case x.op == '-':
			lost = lost || run
		case run:
			runs = true
		case x.op == '+':
			main = main || strings.HasPrefix(x.text, "func TestMain(")
		}
	}
	return (main || lost) && !runs && f.is != ""
}

// lostTests are the names of the tests that are gone. A test that stands
// elsewhere now was moved; as many new ones as old ones in one file are a
// rewrite.
func (f *file) lostTests(l *language, files []file) []string {
	var removed []string
	fresh := 0
	for _, x := range f.lines {
		name, ok := l.testName(x.text)
		switch {
		case !ok || x.op == ' ':
		case x.op == '+':
			fresh++
		default:
			removed = append(removed, name)
		}
	}
	if len(removed) <= fresh {
		return nil
	}
	var lost []string
	net := len(removed) - fresh
	unnamed := unnamedElsewhere(files, l, f)
	for _, name := range removed {
		switch {
		case name == "" && unnamed > 0:
			unnamed--
		case name != "" && standsElsewhere(files, l, name):
		default:
			lost = append(lost, name)
		}
	}
	// What was rewritten in place is not lost, but which of them cannot be told.
	if len(lost) > net {
		lost = lost[:net]
	}
	return lost
}

func standsElsewhere(files []file, l *language, name string) bool {
	for i := range files {
		if languageOf(files[i].name()) != l {
			continue
		}
		for _, x := range files[i].lines {
			if got, ok := l.testName(x.text); ok && x.op == '+' && got == name {
				return true
			}
		}
	}
	return false
}

// unnamedElsewhere is by how many tests the other files of the language grew,
// where their names cannot be told.
func unnamedElsewhere(files []file, l *language, own *file) (n int) {
	for i := range files {
		f := &files[i]
		if f == own || languageOf(f.name()) != l {
			continue
		}
		grew := 0
		for _, x := range f.lines {
			if name, ok := l.testName(x.text); ok && name == "" {
				switch x.op {
				case '+':
					grew++
				case '-':
					grew--
				}
			}
		}
		n += max(grew, 0)
	}
	return n
}

// net is how many more lines match than before. With bare only those count
// that no condition stands over.
func (f *file) net(l *language, r *regexp.Regexp, bare bool) int {
	n := 0
	for i, x := range f.lines {
		if x.op == ' ' || !l.has(r, x.text) || bare && f.conditional(i) {
			continue
		}
		if x.op == '+' {
			n++
		} else {
			n--
		}
	}
	return n
}

var condition = pattern(`^\s*(?:\} else )?(?:if|unless|when|elif|else|case|except|catch)\b`)

var quoted = pattern("\"[^\"]*\"|'[^']*'|`[^`]*`")

// conditional reports whether the line before is a condition, or the line is
// one itself.
func (f *file) conditional(i int) bool {
	bare := quoted().ReplaceAllString(f.lines[i].text, "")
	if condition().MatchString(bare) || strings.Contains(bare, " if ") || strings.Contains(bare, " unless ") {
		return true
	}
	for j := i - 1; j >= 0; j-- {
		if x := f.lines[j]; strings.TrimSpace(x.text) != "" && (x.op == f.lines[i].op || x.op == ' ') {
			return condition().MatchString(x.text)
		}
	}
	return false
}

// texts are the added lines that match.
func (f *file) texts(l *language, r *regexp.Regexp) (out []string) {
	for i, x := range f.lines {
		if x.op == '+' && l.has(r, x.text) && !f.conditional(i) {
			out = append(out, fmt.Sprintf("line %d: %s", x.no, short(x.text)))
		}
	}
	return out
}

// plumbing ends a test because what it needs is not there.
var plumbing = pattern(`\b\w\.(?:Fatal|Error|Fatalf|Errorf)\((?:"[^"]*", )?\w*[eE]rr\)`)

// lostAssertions: assertions went, and none came. One that stands elsewhere now
// was moved.
func (f *file) lostAssertions(l *language, added map[string]int, say sayer) {
	var lost []string
	for _, x := range f.lines {
		if x.op == ' ' || !l.has(l.asserts, x.text) || plumbing().MatchString(x.text) {
			continue
		}
		if x.op == '+' {
			return
		}
		if added[strings.TrimSpace(x.text)] == 0 {
			lost = append(lost, short(x.text))
		}
	}
	if len(lost) > 0 {
		say("%s removed and none added: %s", count(len(lost), "assertion"), list(lost))
	}
}

// count is "1 test" or "3 tests"; words are the singular and, where it is no
// plain one, the plural.
func count(n int, words ...string) string {
	if n == 1 {
		return "1 " + words[0]
	}
	return fmt.Sprintf("%d %s", n, append(words, words[0]+"s")[1])
}

// list is names in a line, of which some may not be known.
func list(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	if len(names) == 0 {
		return "(without a name)"
	}
	more := ""
	if n := len(names) - maxNames; n > 0 {
		names, more = names[:maxNames], fmt.Sprintf(", and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

const maxShort = 80

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for i := range s {
		if i >= maxShort {
			return s[:i] + "…"
		}
	}
	return s
}
