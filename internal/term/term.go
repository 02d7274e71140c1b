// Package term makes untrusted text safe and legible on a terminal.
//
// It quotes what an agent wrote (control characters, direction marks,
// invisible and look-alike letters become visible escapes), masks secrets,
// measures and cuts text in terminal cells, and holds the few styles that
// loop prints with. It does not decide what is printed, reads no environment
// variable, and keeps no global state: whether there is colour is a value.
//
// The one invariant: what Quote returns holds no rune that a terminal acts
// on or that a reader cannot see.
package term

import (
	"fmt"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal; a nil f is none.
func IsTerminal(f *os.File) bool {
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// Width is the number of columns of the terminal f, 0 when f is no terminal
// or does not say.
func Width(f *os.File) int {
	if !IsTerminal(f) {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil || w < 0 {
		return 0
	}
	return w
}

// ColorMode decides whether to colour. The flag is "auto" (or empty),
// "always" or "never"; anything else is an error. On auto there is colour
// only on a terminal that can show it (termName is the value of TERM) and
// where NO_COLOR is not set (noColor). An explicit flag wins over both.
func ColorMode(flag string, isTerminal, noColor bool, termName string) (bool, error) {
	switch flag {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
		return isTerminal && !noColor && termName != "" && termName != "dumb", nil
	}
	return false, fmt.Errorf("unknown colour mode %q (auto, always or never)", flag)
}
