package term

import (
	"os"
	"testing"
)

func TestStylesWithoutColourWriteNoEscape(t *testing.T) {
	for _, s := range list(NewStyles(false)) {
		if got := s.Render("text"); got != "text" {
			t.Errorf("got %q", got)
		}
	}
}

func TestStylesWithColourDoNotDependOnTheEnvironment(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	t.Setenv("TERM", "dumb")
	if got, want := NewStyles(true).Danger.Render("text"), "\x1b[1;31mtext\x1b[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, s := range list(NewStyles(true)) {
		if s.on == "" || s.off == "" {
			t.Errorf("style %+v writes nothing", s)
		}
		if got := s.Render(""); got != "" {
			t.Errorf("empty text became %q", got)
		}
	}
}

func list(s Styles) []Style {
	return []Style{s.Heading, s.Danger, s.Warn, s.Ok, s.Good, s.Faint, s.Bold, s.Said, s.Added, s.Removed}
}

func TestColorMode(t *testing.T) {
	tests := []struct {
		flag           string
		tty, noColor   bool
		term           string
		want, wantFail bool
	}{
		{"auto", true, false, "xterm-256color", true, false},
		{"", true, false, "xterm", true, false},
		{"auto", false, false, "xterm", false, false},
		{"auto", true, true, "xterm", false, false},
		{"auto", true, false, "dumb", false, false},
		{"auto", true, false, "", false, false},
		{"always", false, true, "dumb", true, false},
		{"never", true, false, "xterm", false, false},
		{"Always", true, false, "xterm", false, true},
	}
	for _, tt := range tests {
		got, err := ColorMode(tt.flag, tt.tty, tt.noColor, tt.term)
		if got != tt.want || (err != nil) != tt.wantFail {
			t.Errorf("ColorMode(%q, %v, %v, %q) = %v, %v", tt.flag, tt.tty, tt.noColor, tt.term, got, err)
		}
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsTerminal(f) || IsTerminal(nil) || Width(f) != 0 || Width(nil) != 0 {
		t.Error("a regular file or nil passes for a terminal")
	}
}
