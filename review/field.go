package review

import (
	"strings"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/internal/term"
)

// field is a text that a person writes, of one line or of several. What it holds
// are the very characters; what is drawn shows each that hides.
type field struct {
	runes  []rune
	at     int // before which rune the cursor stands
	single bool
}

// newField begins with a text, the cursor behind it.
func newField(text string, single bool) field {
	f := field{single: single}
	f.insert(text)
	return f
}

func (f *field) insert(text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if f.single {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	add := []rune(text)
	f.runes = append(f.runes[:f.at], append(add, f.runes[f.at:]...)...)
	f.at += len(add)
}

func (f *field) text() string { return string(f.runes) }

// key takes a key, and reports whether it knew it. typed is what it writes.
func (f *field) key(name, typed string) bool {
	from, to := f.line()
	switch name {
	case "left", "ctrl+b":
		f.at = max(0, f.at-1)
	case "right", "ctrl+f":
		f.at = min(len(f.runes), f.at+1)
	case "home", "ctrl+a":
		f.at = from
	case "end", "ctrl+e":
		f.at = to
	case "up":
		f.vertical(-1)
	case "down":
		f.vertical(1)
	case "backspace", "ctrl+h":
		f.cut(max(0, f.at-1), f.at)
	case "delete":
		f.cut(f.at, min(len(f.runes), f.at+1))
	case "ctrl+u":
		f.cut(from, f.at)
	case "ctrl+k":
		f.cut(f.at, to)
	case "ctrl+w", "alt+backspace":
		f.cut(f.word(), f.at)
	case "ctrl+j", "alt+enter", "shift+enter":
		if f.single {
			return false
		}
		f.insert("\n")
	default:
		if typed == "" || !utf8.ValidString(typed) {
			return false
		}
		f.insert(typed)
	}
	return true
}

func (f *field) cut(from, to int) {
	f.runes = append(f.runes[:from], f.runes[to:]...)
	f.at = from
}

// line is where the line of the cursor begins and ends.
func (f *field) line() (from, to int) {
	for from = f.at; from > 0 && f.runes[from-1] != '\n'; {
		from--
	}
	for to = f.at; to < len(f.runes) && f.runes[to] != '\n'; {
		to++
	}
	return from, to
}

// word is where the word before the cursor begins.
func (f *field) word() int {
	i := f.at
	for i > 0 && f.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && f.runes[i-1] != ' ' && f.runes[i-1] != '\n' {
		i--
	}
	return i
}

func (f *field) vertical(by int) {
	from, to := f.line()
	column := f.at - from
	if by < 0 {
		if from == 0 {
			return
		}
		f.at = from - 1
	} else {
		if to == len(f.runes) {
			return
		}
		f.at = to + 1
	}
	from, to = f.line()
	f.at = min(from+column, to)
}

// draw gives rows of the text, at most height of them, and where among them the
// cursor stands.
func (f *field) draw(width, height int) (rows []string, x, y int) {
	width = max(width, 8)
	line, used := "", 0
	end := func() {
		rows = append(rows, line)
		line, used = "", 0
	}
	for i := 0; ; i++ {
		cell := ""
		if i < len(f.runes) && f.runes[i] != '\n' {
			cell = glyph(f.runes, i)
		}
		if used+max(1, term.Cells(cell)) > width {
			end()
		}
		if i == f.at {
			x, y = used, len(rows)
		}
		line, used = line+cell, used+term.Cells(cell)
		if i == len(f.runes) {
			break
		}
		if f.runes[i] == '\n' {
			end()
		}
	}
	end()
	from := max(0, min(y-height/2, len(rows)-height))
	return rows[from:min(len(rows), from+height)], x, y - from
}

// glyph is one character as it is drawn. A mark belongs to the one before, and
// is shown apart from it, because it can be taken out alone.
func glyph(rs []rune, i int) string {
	r := rs[i]
	if r < utf8.RuneSelf {
		return term.Quote(string(r))
	}
	// The letters round it say whether it passes for another.
	from, to := max(0, i-8), min(len(rs), i+8)
	if !strings.ContainsRune(term.Lookalikes(string(rs[from:to])), r) || !term.Visible(r) || term.Cells(string(r)) == 0 {
		return term.Escape(r)
	}
	return term.Quote(string(r))
}
