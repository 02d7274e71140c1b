// Package weaken reads a patch and says what in it makes tests and checks
// weaker: tests that are gone or skipped, assertions taken out, configuration
// that was loosened, steps of the CI that are gone.
//
// It reads text and nothing else, and knows languages and tools by tables. It
// speaks only of what the lines themselves show: what was moved, renamed or
// rewritten is no loss. It decides nothing.
package weaken

import (
	"path"
	"strconv"
	"strings"
)

// Finding is one way in which a patch makes checks weaker.
type Finding struct {
	File string // as the patch leaves it, or as it was when it is gone
	Text string // for a person; quotes the patch, which is hostile text
}

// file is one file of a patch.
type file struct {
	was, is string // names; "" = not there
	lines   []line
}

// line is one line of a hunk.
type line struct {
	op   byte // ' ', '+' or '-'
	text string
	no   int // line number in the file after the patch; of a removed one, of where it stood
}

func (f *file) name() string {
	if f.is == "" {
		return f.was
	}
	return f.is
}

// parse reads the output of git diff. What comes before the first header, as
// in a patch whose beginning was cut off, is left out.
func parse(patch string) []file {
	var out []file
	var f *file
	no, inHunk := 0, false
	for text := range strings.Lines(patch) {
		text = strings.TrimRight(text, "\r\n")
		switch {
		case strings.HasPrefix(text, "diff --git "):
			out = append(out, file{})
			f, inHunk = &out[len(out)-1], false
			f.was, f.is = headerNames(text)
		case f == nil:
		case strings.HasPrefix(text, "@@ "):
			no, inHunk = hunkStart(text), true
		case !inHunk:
			f.header(text)
		case text == "" || text[0] == ' ':
			f.lines = append(f.lines, line{' ', strings.TrimPrefix(text, " "), no})
			no++
		case text[0] == '+':
			f.lines = append(f.lines, line{'+', text[1:], no})
			no++
		case text[0] == '-':
			f.lines = append(f.lines, line{'-', text[1:], no})
		}
	}
	return out
}

// headerNames are the names of "diff --git a/x b/x", as far as they can be
// told: of a renamed file the next lines say more.
func headerNames(text string) (was, is string) {
	rest := strings.TrimPrefix(text, "diff --git ")
	if half := len(rest) / 2; len(rest)%2 == 1 && half > 2 && rest[half] == ' ' && rest[2:half] == strings.TrimPrefix(rest[half+1:], "b/") {
		return rest[2:half], rest[2:half]
	}
	a, b, ok := strings.Cut(rest, " b/")
	if !ok {
		return "", ""
	}
	return strings.TrimPrefix(a, "a/"), b
}

func (f *file) header(text string) {
	switch {
	case strings.HasPrefix(text, "deleted file"):
		f.is = ""
	case strings.HasPrefix(text, "new file"):
		f.was = ""
	case strings.HasPrefix(text, "rename from "):
		f.was = unquote(strings.TrimPrefix(text, "rename from "))
	case strings.HasPrefix(text, "rename to "):
		f.is = unquote(strings.TrimPrefix(text, "rename to "))
	case strings.HasPrefix(text, "--- ") && f.was != "":
		f.was = nameAfter(text, "a/", f.was)
	case strings.HasPrefix(text, "+++ ") && f.is != "":
		f.is = nameAfter(text, "b/", f.is)
	}
}

func nameAfter(text, prefix, known string) string {
	name := unquote(strings.TrimRight(text[4:], "\t"))
	if rest, ok := strings.CutPrefix(name, prefix); ok {
		return rest
	}
	return known
}

func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return s
}

func hunkStart(text string) int {
	_, after, _ := strings.Cut(text, "+")
	end := strings.IndexAny(after, ", ")
	if end < 0 {
		return 0
	}
	n, err := strconv.Atoi(after[:end])
	if err != nil {
		return 0
	}
	return n
}

// foreign reports whether a file is somebody else's work, or made by a tool.
func foreign(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "node_modules", "vendor", "third_party", "dist", ".git":
			return true
		}
	}
	return strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".snap") || path.Base(name) == "package-lock.json"
}

var testPath = pattern(`(?i)(^|/)(__tests__|tests?|specs?|e2e)/|(^|[/_.-])(tests?|specs?)([_.-][^/]*)?\.\w+$|(^|/)test[_-][^/]*$|[a-z0-9](Test|Tests|Spec|IT)\.\w+$|\.t$|\.bats$`)

// isTest reports whether a file holds tests, by its name.
func isTest(name string) bool { return name != "" && testPath().MatchString(name) }
