package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

// What waits is counted from the bytes of the records, and a tool may have been
// given anything: its input decides nothing.
func TestOverviews(t *testing.T) {
	s := newStore(t)
	ids := []string{"0192d3c4-0000-7000-8000-0000000000aa", "0192d3c4-0000-7000-8000-0000000000bb", "0192d3c4-0000-7000-8000-0000000000cc"}
	for i, id := range ids {
		if err := s.PutSession(t.Context(), Session{ID: id, Started: testTime, StoryFile: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	attempt := Attempt{ID: "0192d3c4-0000-7000-8000-0000000000dd", Session: ids[1], Story: "1", Number: 1, Started: testTime}
	if err := s.PutAttempt(t.Context(), attempt); err != nil {
		t.Fatal(err)
	}
	add := func(session string, e policy.Evidence, input string, verb string) {
		t.Helper()
		a := push(fmt.Sprint(session, e, input, verb))
		a.Session, a.Evidence, a.Tool = session, e, "mcp__x__y"
		if input != "" {
			a.Input = []byte(input)
		}
		a = mustAdd(t, s, a)
		if verb != "" {
			if _, err := s.Decide(t.Context(), a.ID, Decision{Verb: verb}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(ids[0], policy.Blocked, "", "")
	add(ids[0], policy.Executed, `{"evidence":"mentioned"}`, "")
	add(ids[0], policy.Executed, `{"status":"rejected"}`, "")
	add(ids[0], policy.Mentioned, "", "")
	add(ids[0], policy.Mentioned, `{"evidence":"blocked"}`, "")
	add(ids[0], policy.Blocked, `{"status":"pending"}`, Reject)
	add(ids[0], policy.Blocked, `{"status":"pending","x":1}`, Approve)
	add(ids[0], policy.Blocked, `{"status": "rejected" }`, "")
	add(ids[2], policy.Written, `{"text":"\"status\":\"rejected\""}`, "")
	list, err := s.Overviews(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range list {
		got[o.Session.ID] = fmt.Sprintf("file %s, %d attempts, %d wait", o.Session.StoryFile, len(o.Attempts), o.Waiting)
	}
	want := map[string]string{ids[0]: "file 0, 0 attempts, 4 wait", ids[1]: "file 1, 1 attempts, 0 wait", ids[2]: "file 2, 0 attempts, 1 wait"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n, err := s.WaitingElsewhere(t.Context(), ids[2]); n != 4 || err != nil {
		t.Errorf("elsewhere: %d, %v", n, err)
	}
	rewrite(t, s, bucketActions, func(v string) string { return strings.Replace(v, `"status":"pending"`, `"status`, 1) })
	if _, err := s.Overviews(t.Context()); err == nil {
		t.Error("a record that cannot be read is not said")
	}
	if _, err := s.WaitingElsewhere(t.Context()); err == nil {
		t.Error("elsewhere: a record that cannot be read is not said")
	}
}
