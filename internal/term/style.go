package term

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Style colours a piece of quoted text. The zero Style leaves it as it is.
type Style struct{ on, off string }

// Render puts the style round s; an empty s stays empty.
func (st Style) Render(s string) string {
	if s == "" || st.on == "" {
		return s
	}
	return st.on + s + st.off
}

// Styles are the few that loop prints with. They use the sixteen colours of
// the terminal's own palette, so that they fit a dark and a light one.
type Styles struct {
	Heading Style // a section
	Danger  Style // something got out, or failed
	Warn    Style // look at this
	Ok      Style // proven
	Good    Style // proven, all of it
	Faint   Style // there when looked for
	Bold    Style
	Said    Style // an agent's words
	Added   Style // a line a diff adds
	Removed Style // a line a diff removes
}

// NewStyles makes the styles; without colour none of them writes an escape.
func NewStyles(color bool) Styles {
	if !color {
		return Styles{}
	}
	r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(termenv.ANSI))
	r.SetColorProfile(termenv.ANSI)
	r.SetHasDarkBackground(true) // decided, so that the terminal is never asked
	plain := r.NewStyle()
	return Styles{
		Heading: compile(plain.Bold(true)),
		Danger:  compile(plain.Bold(true).Foreground(lipgloss.Color("1"))),
		Warn:    compile(plain.Foreground(lipgloss.Color("3"))),
		Ok:      compile(plain.Foreground(lipgloss.Color("2"))),
		Good:    compile(plain.Bold(true).Foreground(lipgloss.Color("2"))),
		Said:    compile(plain.Italic(true)),
		Faint:   compile(plain.Faint(true)),
		Bold:    compile(plain.Bold(true)),
		Added:   compile(plain.Foreground(lipgloss.Color("2"))),
		Removed: compile(plain.Foreground(lipgloss.Color("1"))),
	}
}

// compile takes the escapes of a lipgloss style once: rendering ten thousand
// lines is then two concatenations each, and text is never re-flowed.
func compile(s lipgloss.Style) Style {
	on, off, _ := strings.Cut(s.Render("x"), "x")
	return Style{on: on, off: off}
}
