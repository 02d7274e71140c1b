package shell

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines are the lines of the other tests, for properties that hold of any.
func lines() []string {
	var out []string
	for _, tt := range readTests {
		out = append(out, tt.line)
	}
	b := base64.StdEncoding.EncodeToString([]byte("git push"))
	for _, c := range carriers {
		out = append(out, strings.NewReplacer("%%", "%", "%s", "git push", "%q", "'git push'", "%b", b).Replace(c))
	}
	return out
}

// TestAppend holds that a harmless command in front of a line or behind it
// takes nothing away from what the line runs.
func TestAppend(t *testing.T) {
	for _, line := range lines() {
		want := runs(Read(line, Options{}))
		for _, longer := range []string{line + "\ntrue", "true\n" + line, "X=1\n" + line + "\n: $X", "zz9() { true; }\n" + line, "cd .\n" + line, "# x\n" + line} {
			got := runs(Read(longer, Options{}))
			for _, cmd := range want {
				if !slices.Contains(got, cmd) {
					t.Errorf("Read(%q) lost %q of %q: %q", longer, cmd, line, got)
				}
			}
		}
	}
}

// TestSame holds that reading is a function of the line.
func TestSame(t *testing.T) {
	more := []string{
		"A=1; B=2; if x; then A=3; B=4; fi; export A B; git $A $B", "a() { x; }; b() { y; }; c() { z; }", "export A=1 B=2 C=3; x",
		"for ((i=0;i<3;i++)); do git push $i; done",
	}
	for _, line := range append(lines(), more...) {
		first := Read(line, Options{})
		for range 3 {
			if diff := cmp.Diff(first, Read(line, Options{})); diff != "" {
				t.Fatalf("Read(%q) differs (-first +again):\n%s", line, diff)
			}
		}
	}
}

// TestCut holds that the front of a line is read however the line is cut off:
// a whole first command is found even when what follows is torn.
func TestCut(t *testing.T) {
	const line = "git push origin main && echo \"a $(b 'c') d\" | { e; (f) } && cat <<'EOF' > g\nh\nEOF\n"
	want := []string{"git", "push", "origin", "main"}
	for n := len("git push origin main"); n <= len(line); n++ {
		if l := Read(line[:n], Options{}); !holds(l, want) {
			t.Errorf("Read(%q) = %q", line[:n], runs(l))
		}
	}
}
