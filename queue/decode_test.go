package queue

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

// The quick reader reads what the encoder writes, and reads it as encoding/json
// does.
func FuzzDecodeOfWhatWasStored(f *testing.F) {
	f.Add("git push", `{"command":"git push"}`, uint64(1), int64(0))
	f.Add("a \"b\" \\ \n\t\r\b \x1b \u2028 <&> \xff \U0001f600", `{ "a" : [1, "]}", {"b":"\"}"}] }`, uint64(12), int64(1e15))
	f.Add("", `"torn`, uint64(0), int64(-1))
	f.Add("", `[]`, uint64(1<<63), int64(7))
	f.Fuzz(func(t *testing.T, text, input string, number uint64, nanos int64) {
		a := fresh(Action{
			ID: text, Session: text, Story: text, StoryTitle: text, Attempt: text, Tool: text, ToolUseID: text,
			Agent: text, Input: []byte(input), Command: text, Cwd: text, GitHead: text, GitBranch: text,
			Rules: strings.Split(text, " "), Why: text, Tier: policy.Tier(number % 3), Evidence: policy.Evidence(text),
			Opaque: number%2 == 0, Transcript: text, Line: int(number % 1000), Excerpt: text, FoundBy: FoundBy(text),
			DetectedAt: time.Unix(0, nanos), Outcome: text, RelatedTo: text,
		}, testTime)
		a.Number, a.Repeats, a.Status = number, int(number%7), Status(text)
		if number%5 == 0 {
			a.Decisions = []Decision{{Verb: text, Who: text, When: testTime}}
			a.Replay = &Replay{Output: text, ExitCode: -1}
		}
		b, err := encodeAction(a)
		if err != nil {
			t.Fatal(err)
		}
		want, err := slowDecode(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeAction(string(b))
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s\n%v\n%s", b, err, d)
		}
	})
}

// On bytes that nobody wrote it gives up rather than guess.
func FuzzReadAction(f *testing.F) {
	b, err := encodeAction(fresh(push("t1"), testTime))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"id":"x","line":07}`))
	f.Add([]byte(`{"input":{]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got Action
		if !readAction(string(b), &got) {
			return
		}
		want, err := slowDecode(b)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q\n%v\n%s", b, err, d)
		}
	})
}

// An ordinary action takes the quick way. One with fields that the quick
// reader does not know takes the other, and loses nothing.
func TestQuickReader(t *testing.T) {
	a := fresh(push("t1"), testTime)
	a.ID, a.Number = sessionA, 7
	a.Decisions = []Decision{{Verb: Reject, When: testTime}}
	a.Replay = &Replay{Started: testTime, ExitCode: 1}
	b, err := encodeAction(a)
	if err != nil {
		t.Fatal(err)
	}
	var got Action
	if !readAction(string(b), &got) || cmp.Diff(a, got) != "" {
		t.Errorf("%s\n%s", b, cmp.Diff(a, got))
	}
	for _, odd := range []string{
		`{"id":"a","Command":"git push"}`, `{"id":"a","new_field":1}`, `{"id":"a" }`, `{"id":null}`, `{"line":-1}`,
		`{"line":1.5}`, `{"id":"a","id":"b",}`, `{}x`, `{"id":"a"`, ``, `null`, `{"tier":"far"}`, `{"detected_at":"today"}`,
	} {
		if readAction(odd, &got) {
			t.Errorf("read %s", odd)
		}
	}
}

// The golden holds every field: a new one that it lacks is seen here.
func TestGoldenHoldsEveryField(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "action.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Action]()) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(string(b), fmt.Sprintf("\n  %q:", key)) {
			t.Errorf("no %s in the golden", key)
		}
	}
}
