package policy

import (
	"os"
	"strings"
	"testing"
)

// TestSpellings holds the verdict of many everyday and hostile spellings.
func TestSpellings(t *testing.T) {
	name := "testdata/spellings.txt"
	if n := os.Getenv("LOOP_SPELLINGS"); n != "" {
		name = n
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := builtin(t)
	want := map[string]Verdict{"X": VerdictExternal, "S": VerdictShared, "L": VerdictLocal, "M": VerdictMention}
	n := 0
	for i, line := range strings.Split(string(data), "\n") {
		kind, command, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		n++
		command = strings.ReplaceAll(command, `\n`, "\n")
		if r := s.ClassifyCommand(command, ""); r.Verdict != want[kind] {
			t.Errorf("%s:%d: %q is %s by %v, want %s", name, i+1, command, r.Verdict, r.Rules(), want[kind])
		}
	}
	if n == 0 {
		t.Errorf("%s: no lines", name)
	}
}
