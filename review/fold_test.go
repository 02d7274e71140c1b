package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// retries is a night in which an agent tried the same again and again.
func retries() *fakeDesk {
	d := &fakeDesk{actions: []queue.Action{
		call(1, "US-1", "git push origin main", policy.Blocked),
		call(2, "US-1", "git -C . push origin main\nevil "+evil, policy.Blocked),
		call(3, "US-2", "npm publish", policy.Blocked),
		call(4, "US-2", "git push origin main", policy.Blocked),
		call(5, "US-3", "git push origin main", policy.Executed),
		call(6, "US-4", "git push origin main", policy.Blocked),
		call(7, "US-5", "git push origin main", policy.Blocked),
	}}
	d.actions[0].Repeats, d.actions[0].Again = 2, []uint64{2}
	d.actions[1].RelatedTo = "1"
	d.actions[3].GitHead = strings.Repeat("c0ffee", 7)[:40]
	d.actions[5].Cwd = "/elsewhere"
	d.actions[6].Tampering = true
	return d
}

func rows(v *view) (out []string) {
	for _, i := range v.shown {
		out = append(out, fmt.Sprintf("#%d+%d", v.all[i].Number, len(v.row(v.all[i]))-1))
	}
	return out
}

// The same call again, and its other spellings, are one row with a count; what
// got out, runs elsewhere or is graver is a row of its own.
func TestRepeatsAreFolded(t *testing.T) {
	d := retries()
	v := newView(t, d, 130, 60, Options{})
	if diff := cmp.Diff([]string{"#5+0", "#1+2", "#3+0", "#6+0", "#7+0"}, rows(v)); diff != "" {
		t.Error(diff)
	}
	v.wants("×3 +2 git push origin main", "7 wait", "2 of 5", "folded with it (+ shows each as a row);", "a runs #1 alone, r rejects all 3",
		"#2  tried as", `2 | evil \x1b]0;x\x07\u202e\u0430\x20`, "#4  the same again, story US-2, at c0ffeec0ffee")
	v.press("+")
	if diff := cmp.Diff([]string{"#5+0", "#1+0", "#2+0", "#3+0", "#4+0", "#6+0", "#7+0"}, rows(v)); diff != "" {
		t.Error(diff)
	}
	v.press("j", "+")
	v.wants("> #1", "2 of 5")
	v.press("j", "+")
	v.wants("nothing is folded behind #3")
	// Found by what is folded: it is a row then.
	v.press("/", "evil", "enter")
	v.wants("> #2", "1 of 1")
	v.press("esc", "k", "k", "k")
	// One that was changed by a person, or marked, stays a row.
	d.actions[3].Edited = &queue.Edited{Command: "git push origin main", Input: d.actions[3].Input}
	v.marks[d.actions[1].ID] = true
	v.send(actionsMsg{actions: slices.Clone(d.actions)})
	if diff := cmp.Diff([]string{"#5+0", "#1+1", "#2+0", "#3+0", "#4+0", "#6+0", "#7+0"}, rows(v)); diff == "" {
		t.Error("a marked one is hidden")
	}
	if !slices.Contains(rows(v), "#2+0") || !slices.Contains(rows(v), "#4+0") {
		t.Errorf("rows %q", rows(v))
	}
}

// What is approved of a row is its first, and what is rejected is what is named.
func TestARowDecidesWhatItSays(t *testing.T) {
	d := retries()
	v := newView(t, d, 100, 60, Options{})
	v.press("a", "space", "space", "y")
	v.wants("#1 replayed; #2 #4, folded with it, still wait")
	if len(d.ran) != 1 || d.actions[1].Status != queue.Pending || d.actions[3].Status != queue.Pending {
		t.Errorf("ran %q; #2 is %s, #4 %s", d.ran, d.actions[1].Status, d.actions[3].Status)
	}

	d = retries()
	v = newView(t, d, 100, 60, Options{})
	v.press("r")
	v.wants("Reject #1 #2 #4", "#2  git -C . push origin main  (2 lines)", "#4  git push origin main")
	v.press("esc", "r", "once is enough", "enter")
	for i, want := range []queue.Status{queue.Rejected, queue.Rejected, queue.Pending, queue.Rejected, queue.Pending, queue.Pending, queue.Pending} {
		if a := d.actions[i]; a.Status != want {
			t.Errorf("#%d is %s, want %s", a.Number, a.Status, want)
		}
	}
	v.wants("rejected #1 #2 #4; u takes it back", "4 wait")
	v.press("u")
	v.wants("taken back: #1 #2 #4 wait again", "7 wait")
	if d.actions[3].Status != queue.Pending {
		t.Errorf("#4 is %s", d.actions[3].Status)
	}
	// A row that is laid out is one action.
	v.press("g", "j", "+", "r", "this one", "enter")
	if d.actions[0].Status != queue.Rejected || d.actions[1].Status != queue.Pending {
		t.Errorf("#1 is %s, #2 %s", d.actions[0].Status, d.actions[1].Status)
	}
	// Marked rows are run by their first, and are rejected whole.
	d = retries()
	v = newView(t, d, 100, 60, Options{})
	v.press("m", "m", "a")
	v.wants("2 actions, in this order:", "1. #1  git push origin main", "2. #3  npm publish")
	v.press("n", "r")
	v.wants("Reject #1 #2 #4 #3")
	v.press("esc")
}
