package term

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Ellipsis stands for what was cut.
const Ellipsis = "…"

// Cells is the number of terminal columns that quoted text takes.
func Cells(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// Truncate cuts quoted text to at most n cells; what was cut ends in "…".
// It never cuts within a character a person sees as one.
func Truncate(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if Cells(s) <= n {
		return s
	}
	head, _ := Split(s, n-1)
	return head + Ellipsis
}

// TruncateMiddle cuts to at most n cells and keeps the end as well as the
// beginning: the last command of a chain is often the one that matters.
func TruncateMiddle(s string, n int) string {
	if n < 12 || Cells(s) <= n {
		return Truncate(s, n)
	}
	head, rest := Split(s, (n-1)*3/5)
	want := n - 1 - Cells(head)
	return head + Ellipsis + tail(rest, want)
}

// tail is the longest end of s that fits into n cells.
func tail(s string, n int) string {
	if isPlain(s) {
		return s[max(0, len(s)-n):]
	}
	over := Cells(s) - n
	if over <= 0 {
		return s
	}
	state := -1
	for over > 0 && s != "" {
		var w int
		_, s, w, state = uniseg.FirstGraphemeClusterInString(s, state)
		over -= w
	}
	return s
}

// Split divides quoted text after the last whole character that fits into n
// cells.
func Split(s string, n int) (head, rest string) {
	if n <= 0 {
		return "", s
	}
	// The byte after the cut must be plain too, as a mark would belong to the
	// one before. Only these are looked at: a long text is split many times.
	if isPlain(s[:min(len(s), n+1)]) {
		n = min(len(s), n)
		return s[:n], s[n:]
	}
	left, used, state := s, 0, -1
	for left != "" {
		_, next, w, st := uniseg.FirstGraphemeClusterInString(left, state)
		if used+w > n {
			break
		}
		used, left, state = used+w, next, st
	}
	return s[:len(s)-len(left)], left
}

// Wrap breaks quoted text of one line into lines of at most n cells, at
// spaces where it can and inside a word where it must.
func Wrap(s string, n int) []string {
	if n < 1 {
		n = 1
	}
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(s) {
		w := Cells(word)
		if line != "" && used+1+w <= n {
			line, used = line+" "+word, used+1+w
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for w > n {
			head, rest := Split(word, n)
			if head == "" { // one character wider than the line
				head, rest = word, ""
			}
			lines = append(lines, head)
			word = rest
			w -= Cells(head)
		}
		line, used = word, w
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// Pad fills s with spaces to n cells; a longer s stays as it is.
func Pad(s string, n int) string {
	return s + Spaces(n-Cells(s))
}

// Spaces is n spaces, none when n is negative.
func Spaces(n int) string {
	return strings.Repeat(" ", max(0, n))
}
