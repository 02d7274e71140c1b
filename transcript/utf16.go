package transcript

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader turns UTF-16 into UTF-8: what PowerShell's redirection writes.
type utf16Reader struct {
	r    io.Reader
	big  bool
	in   []byte // bytes read and not yet converted
	out  []byte // bytes converted and not yet given
	high rune   // first half of a surrogate pair, 0 = none
	err  error
}

func newUTF16(first []byte, r io.Reader, big bool) *utf16Reader {
	return &utf16Reader{r: r, big: big, in: first}
}

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(u.out) == 0 {
		if len(u.in) < 2 {
			if u.err != nil {
				return 0, u.err
			}
			if u.more(); len(u.in) < 2 && u.err == nil {
				return 0, nil
			}
			continue
		}
		u.convert()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) more() {
	chunk := make([]byte, 32<<10)
	n, err := u.r.Read(chunk)
	u.in = append(u.in, chunk[:n]...)
	u.err = err
	if err != nil && len(u.in)%2 == 1 {
		u.in = append(u.in, 0) // a torn last character
	}
}

func (u *utf16Reader) convert() {
	u.out = u.out[:0]
	for ; len(u.in) >= 2; u.in = u.in[2:] {
		c := rune(u.in[0]) | rune(u.in[1])<<8
		if u.big {
			c = rune(u.in[0])<<8 | rune(u.in[1])
		}
		if u.high != 0 {
			if r := utf16.DecodeRune(u.high, c); r != utf8.RuneError {
				u.out, u.high = utf8.AppendRune(u.out, r), 0
				continue
			}
			u.out, u.high = utf8.AppendRune(u.out, utf8.RuneError), 0
		}
		if utf16.IsSurrogate(c) {
			u.high = c
			continue
		}
		u.out = utf8.AppendRune(u.out, c)
	}
}

// UTF8 reads a text as the lines of a transcript are read: without a byte order
// mark, and in UTF-8 where it is in UTF-16.
func UTF8(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	head, _ := b.Peek(3) // an error comes again with the first read
	switch {
	case bytes.HasPrefix(head, markUTF8):
		_, _ = b.Discard(len(markUTF8))
	case bytes.HasPrefix(head, markLE), bytes.HasPrefix(head, markBE):
		_, _ = b.Discard(len(markLE))
		return newUTF16(nil, b, head[0] == 0xfe)
	case wide(head):
		return newUTF16(nil, b, head[0] == 0)
	}
	return b
}
