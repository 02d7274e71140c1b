package replay

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
)

// visible passes output on line by line as it comes, with a bar before each
// line, so that it cannot be taken for ours, with secrets masked and with what
// would act on the terminal made visible. A line is held back until it ends:
// the beginning of a secret gives nothing away that could be recognised. It is
// written to by one goroutine at a time.
type visible struct {
	w    io.Writer
	rest []byte
	key  bool // within a private key
	err  error
}

const (
	bar     = "| "
	maxHeld = 64 << 10 // of a line that does not end
)

// Write never gives the child an error: it goes on when nobody can watch.
func (v *visible) Write(p []byte) (int, error) {
	held := append(v.rest, p...)
	for {
		i := bytes.IndexByte(held, '\n')
		if i < 0 && len(held) < maxHeld {
			v.rest = slices.Clone(held) // what was before it is let go
			return len(p), nil
		}
		if i < 0 {
			i = len(held) - 1
		}
		v.line(strings.TrimSuffix(string(held[:i+1]), "\n"))
		held = held[i+1:]
	}
}

// end closes a last line that has no end of its own.
func (v *visible) end() {
	if len(v.rest) > 0 {
		v.line(string(v.rest))
		v.rest = nil
	}
}

func (v *visible) line(s string) {
	s = strings.TrimSuffix(s, "\r")
	begins := strings.Contains(s, "-----BEGIN ") && strings.Contains(s, "PRIVATE KEY")
	switch {
	case v.key:
		v.key = !strings.Contains(s, "-----END ")
		return
	case begins && !strings.Contains(s, "-----END "):
		v.key = true
		s, _, _ = strings.Cut(s, "-----BEGIN ")
		s += "-----BEGIN PRIVATE KEY-----…"
	default:
		s = term.Mask(s)
	}
	if v.err == nil {
		_, v.err = io.WriteString(v.w, bar+term.QuoteLines(s)+"\n")
	}
}
