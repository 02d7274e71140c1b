package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// What an attempt does to tests and checks is told, committed or not, passed or
// not; what it only moved is not.
func TestWeakenedChecksAreTold(t *testing.T) {
	files := map[string]string{
		"a_test.go": "package a\n\nfunc TestA(t *testing.T) {\n\tt.Fatal(\"x\")\n}\n\nfunc TestB(t *testing.T) {\n\tt.Fatal(\"x\")\n}\n",
		"Makefile":  "test:\n\tgo test ./...\n",
	}
	for name, c := range map[string]struct {
		does string
		want []string
	}{
		"deleted":       {"git rm -q a_test.go", []string{"a_test.go: 2 tests deleted: TestA, TestB"}},
		"committed":     {"git rm -q a_test.go && git commit -q -m 'faster tests'", []string{"a_test.go: 2 tests deleted: TestA, TestB"}},
		"both":          {"sed -i 's/^.t.Fatal/\\tt.Skip()\\n&/' a_test.go; sed -i 's/\\.\\.\\.$/& || true/' Makefile", []string{"Makefile: the failure of a command counts for nothing", "a_test.go: 2 skips keep tests from running"}},
		"attributes":    {"echo '*.go -diff' > .gitattributes; printf '\\000' > x.dat; sed -i 's/^.t.Fatal/\\tt.Skip()\\n&/' a_test.go", []string{"a_test.go: 2 skips keep tests from running"}},
		"moved":         {"git mv a_test.go b_test.go", nil},
		"ordinary":      {"echo 'package a' > a.go", nil},
		"in a new file": {"printf 'package a\\n\\nfunc TestC(t *testing.T) {\\n\\tt.Skip()\\n}\\n' > c_test.go", []string{"c_test.go: 1 skip keeps a test from running"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNight(t, sim.Any(sim.Bash(c.does, ""), say("done")), "first")
			n.committed(files)
			var got []string
			for _, f := range n.run(t.Context()).Findings {
				if f.Kind == "weakened" {
					got = append(got, f.Text)
				}
			}
			slices.Sort(got)
			if !slices.EqualFunc(got, c.want, func(g, w string) bool { return strings.HasPrefix(g, w) }) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A patch with no end of findings does not fill the report.
func TestManyWeakenedChecksAreCounted(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("rm -f t*_test.go", ""), say("done")), "first")
	files := map[string]string{}
	for i := range maxWeakened + 5 {
		files["t"+string(rune('a'+i))+"_test.go"] = "package a\n\nfunc Test" + string(rune('A'+i)) + "(t *testing.T) {}\n"
	}
	n.committed(files)
	snap := n.run(t.Context())
	var got []queue.Finding
	for _, f := range snap.Findings {
		if f.Kind == "weakened" {
			got = append(got, f)
		}
	}
	if len(got) != maxWeakened+1 || got[maxWeakened].Text != "and 5 more like these" {
		t.Errorf("%d: %+v", len(got), got[len(got)-1])
	}
}
