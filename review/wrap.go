package review

import (
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
)

// row is a line as it is drawn; from is the line of the text that it is a part
// of.
type row struct {
	text string
	from int
	kind kind
}

// kind is how a line is drawn.
type kind uint8

const (
	plain kind = iota
	heading
	warning
	faint
)

// maxIndent is how far what a line goes on with is indented.
const maxIndent = 12

// wrapped breaks the lines of a text, which are safe to print, where they are
// wider than the pane. What a line goes on with stands behind a mark, further in
// than the line began: none of it can pass for a line of ours.
func wrapped(text string, width, from int) []row {
	var out []row
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		out = wrapLine(out, line, width, from+i)
	}
	return out
}

func wrapLine(out []row, line string, width, from int) []row {
	k := plain
	if strings.HasPrefix(strings.TrimLeft(line, " "), "!! ") {
		k = warning
	}
	if term.Cells(line) <= width {
		return append(out, row{line, from, k})
	}
	lead := term.Spaces(min(len(line)-len(strings.TrimLeft(line, " "))+2, maxIndent)) + "↳ "
	head, rest := split(line, width)
	out = append(out, row{head, from, k})
	for rest != "" {
		var piece string
		piece, rest = split(rest, max(width-term.Cells(lead), 1))
		out = append(out, row{lead + piece, from, k})
	}
	return out
}

// split breaks before a blank where there is one in the last third, and loses
// nothing: a blank at which a line was broken stands before what follows.
func split(line string, n int) (head, rest string) {
	head, rest = term.Split(line, n)
	if head == "" { // one character that is wider than the pane
		return rest, ""
	}
	if rest == "" || rest[0] == ' ' {
		return head, rest
	}
	if i := strings.LastIndexByte(head, ' '); i > n*2/3 {
		return line[:i], line[i:] // no copy: a line may be a megabyte
	}
	return head, rest
}
