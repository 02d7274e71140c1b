package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
)

// planNight is a night with a Markdown plan in the place of the prd.json.
func planNight(t *testing.T, script sim.Script, text string) *night {
	t.Helper()
	n := newNight(t, script)
	n.o.Stories = filepath.Join(n.o.Root, "fix_plan.md")
	if err := os.WriteFile(n.o.Stories, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *night) plan() string {
	n.t.Helper()
	b, err := os.ReadFile(n.o.Stories)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(b)
}

// In a plan with checkboxes the agent ticks everything, as it is used to, and
// adds a note. The gate passes for one story: that box is ticked, by loop, the
// others are put back to the byte, and the claims are told.
func TestACheckboxPlanIsTickedByLoopAlone(t *testing.T) {
	const plan = "# Boat\r\n\r\n## Phase 1\r\n- [ ] A-2: paint (depends on A-1)\r\n\t- [ ] two coats\r\n- [ ] A-1: sand\r\n\r\n" +
		"```\r\n- [ ] an example\r\n```\r\n## Phase 2\r\n- [ ] launch"
	tick := sim.Bash(`sed -i 's/\[ \]/[x]/' fix_plan.md && printf '\r\n  - took a day' >> fix_plan.md`, "")
	n := planNight(t, sim.Any(tick, say("all done")), plan)
	n.o.Gates = []string{"test -e sanded"}
	if err := os.WriteFile(filepath.Join(n.o.Root, "sanded"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n.o.Only = "A-1"
	snap := n.run(t.Context())
	want := strings.Replace(plan, "- [ ] A-1", "- [x] A-1", 1)
	// Criteria and examples are no marks: what the agent did to them stays.
	want = strings.Replace(want, "- [ ] two coats", "- [x] two coats", 1)
	want = strings.Replace(want, "- [ ] an example", "- [x] an example", 1) + "\r\n  - took a day"
	if diff := cmp.Diff(want, n.plan()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	claims := map[string]bool{}
	for _, f := range snap.Findings {
		if f.Kind == "claim" {
			claims[f.Text] = true
		}
	}
	for _, id := range []string{"A-1", "A-2", "launch-"} {
		found := false
		for text := range claims {
			found = found || strings.Contains(text, "the agent marked story \""+id) && strings.Contains(text, "as done")
		}
		if !found {
			t.Errorf("the claim about %s is not told: %v", id, claims)
		}
	}
	if len(claims) != 3 {
		t.Errorf("%d claims, want 3: %v", len(claims), claims)
	}
}

// Without a gate that passes nothing is ticked, and the order is that of the plan.
func TestACheckboxPlanInItsOrder(t *testing.T) {
	n := planNight(t, sim.Any(say("done")), "## Phase 1\n- [ ] LOW: A-1: a\n- [ ] HIGH: A-2: b\n## Phase 2\n- [-] A-3: c\n- [ ] A-4: d\n")
	n.o.Gates = []string{"false"}
	was := n.plan()
	n.run(t.Context())
	var started []string
	for line := range strings.SplitSeq(n.log.String(), "\n") {
		if id, ok := strings.CutPrefix(line, "start "); ok {
			started = append(started, id)
		}
	}
	if diff := cmp.Diff([]string{"A-2", "A-1", "A-4"}, started); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(was, n.plan()); diff != "" {
		t.Errorf("the plan changed (-want +got)\n%s", diff)
	}
}
