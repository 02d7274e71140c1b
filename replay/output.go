package replay

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/internal/term"
)

// visible passes a command's output on as it comes, with a bar before each
// line, so that it cannot be taken for ours, and with what would act on the
// terminal made visible. It is written to by one goroutine at a time.
type visible struct {
	w    io.Writer
	rest []byte // the beginning of a character that is not whole yet
	mid  bool   // in the middle of a line
	cr   bool   // the last character was a CR, not printed yet
	err  error
}

const bar = "| "

// Write never gives the child an error: it goes on when nobody can watch.
func (v *visible) Write(p []byte) (int, error) {
	all := append(v.rest, p...)
	whole := wholeRunes(all)
	v.rest = append([]byte(nil), all[whole:]...)
	v.print(string(all[:whole]))
	return len(p), nil
}

// end closes a last line that has no end of its own.
func (v *visible) end() {
	v.print(string(v.rest))
	v.rest = nil
	if v.mid {
		v.print("\n")
	}
}

func (v *visible) print(s string) {
	var b strings.Builder
	if v.cr && s != "" {
		s, v.cr = "\r"+s, false
	}
	if strings.HasSuffix(s, "\r") {
		s, v.cr = s[:len(s)-1], true
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for line := range strings.SplitAfterSeq(s, "\n") {
		if line == "" {
			continue
		}
		if !v.mid {
			b.WriteString(bar)
		}
		text, ended := strings.CutSuffix(line, "\n")
		b.WriteString(term.QuoteLines(text))
		if ended {
			b.WriteByte('\n')
		}
		v.mid = !ended
	}
	if v.err == nil && b.Len() > 0 {
		_, v.err = io.WriteString(v.w, b.String())
	}
}

// wholeRunes is the length of b without a character that was cut at its end.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}
