package main

import (
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// Whatever `loop explain` calls local is local: held for the examples of every
// rule there is.
func TestEveryFormTaughtIsLocal(t *testing.T) {
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	near, err := newNearer(set)
	if err != nil {
		t.Fatal(err)
	}
	taught, external := 0, 0
	for _, d := range near.rules {
		for _, line := range d.Match {
			for _, node := range set.Explain(line).Nodes {
				if node.Verdict == policy.VerdictExternal {
					external++
				}
				f, ok := near.of(node)
				if !ok {
					continue
				}
				taught++
				if got := set.ClassifyCommand(f.command, ""); got.Verdict != policy.VerdictLocal {
					t.Errorf("%q: %s: %q is %s by %v", line, f.label, f.command, got.Verdict, got.Rules())
				}
			}
		}
	}
	t.Logf("%d forms for %d external commands", taught, external)
	if taught < external/2 {
		t.Errorf("only %d forms for %d external commands", taught, external)
	}
}
