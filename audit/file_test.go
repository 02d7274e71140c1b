package audit

import (
	"errors"
	"testing"
)

// forever repeats a text without an end.
type forever struct {
	text string
	at   int
}

func (f *forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = f.text[f.at%len(f.text)]
		f.at++
	}
	return len(p), nil
}

// What is no trail is told of before all of it was read.
func TestReadGivesUp(t *testing.T) {
	for _, text := range []string{"\x00", "{\"a\":1}\n", "\n", "\xff\xfe\n", "x\r\n"} {
		r := &forever{text: text}
		if _, err := Read(r); !errors.Is(err, ErrNoTrail) || r.at > 4*maxLine {
			t.Errorf("%q: %v after %d bytes", text, err, r.at)
		}
	}
}
