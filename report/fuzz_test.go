package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-b23e517c/loop/internal/term"
)

func FuzzTerminal(f *testing.F) {
	for _, s := range []string{"", "git push", hostile, "\x1b[31m", "a\nStory #1 [2026-01-01T00:00:00Z]: x", "- ", "世界\u0301"} {
		f.Add(s, 80, false)
		f.Add(s, 40, true)
	}
	f.Fuzz(func(t *testing.T, s string, width int, all bool) {
		o := options(width%300, false)
		o.All = all
		d := nightOf(s)
		var b bytes.Buffer
		if err := Terminal(&b, d, o); err != nil {
			t.Fatal(err)
		}
		for _, a := range d.Actions {
			if err := Show(&b, a, o); err != nil {
				t.Fatal(err)
			}
		}
		if err := List(&b, d.Actions, o); err != nil {
			t.Fatal(err)
		}
		if err := JSON(&b, d, Options{}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || !term.Visible(r)) }); i >= 0 {
			t.Errorf("%q is printed with %q", s, b.String()[max(0, i-20):i+8])
		}
	})
}
