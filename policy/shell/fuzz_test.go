package shell

import (
	"strings"
	"testing"
)

// FuzzRead holds that Read comes back, without a panic, whatever it gets, and
// that every command it gives has a program.
func FuzzRead(f *testing.F) {
	for _, tt := range readTests {
		f.Add(tt.line)
	}
	for _, s := range []string{
		"(((", "$((((", "${x//a/$x}", "a=$((1<<62)); echo ${a[@]:1:2}", "{a,b}{c,d}{1..9}", "f(){ f|f& };f",
		"x=a;while :;do x=$x$x;done", "cat <<A <<B\nx\nA\ny\nB\n", "echo \\", "a\x00b", "if", "case x in", "eval eval eval x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 4<<10 {
			return
		}
		l := Read(line, Options{})
		for _, c := range l.Commands {
			if len(c.Argv) == 0 {
				t.Fatalf("Read(%q): a command without words: %+v", line, c)
			}
		}
		for _, why := range l.Opaque {
			if strings.HasPrefix(why, "reader gave up") {
				t.Fatalf("Read(%q): %s", line, why)
			}
		}
	})
}
