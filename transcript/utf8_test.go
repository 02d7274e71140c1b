package transcript

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"é":                             "é",
		"\xef\xbb\xbf{}":                "{}",
		"\xff\xfea\x00\xe9\x00\n\x00":   "aé\n",
		"\xfe\xff\x00a\x00\xe9":         "aé",
		"{\x00}\x00":                    "{}",
		"\x00{\x00}":                    "{}",
		"\xff\xfe":                      "",
		"a\x00b":                        "a\x00b",
		"\xef\xbb":                      "\xef\xbb",
		"\xff\xfe=\xd8\x00\xde!\x00":    "😀!",
		"\xfe\xff" + "\xd8\x3d\xde\x00": "😀",
	} {
		got, err := io.ReadAll(UTF8(iotest.OneByteReader(strings.NewReader(in))))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
}
