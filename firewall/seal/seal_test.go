package seal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/receipt"
)

var now = time.Date(2026, 2, 23, 8, 15, 0, 0, time.UTC)

type sealWorld struct {
	*Seal
	records []receipt.Record
	err     error
}

func newSeal(t *testing.T) *sealWorld {
	t.Helper()
	key, err := receipt.NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &sealWorld{}
	w.Seal = &Seal{
		Book: receipt.NewBook(key, receipt.V2), Scope: "s/1-1", Now: func() time.Time { return now }, Wait: time.Millisecond,
		Keep: func(_ context.Context, r receipt.Record) error {
			if w.err == nil {
				w.records = append(w.records, r)
			}
			return w.err
		},
	}
	return w
}

const bashResult = `{"stdout":"ok","stderr":"","interrupted":false,"isImage":false}`

func reported(tool, input, response string) firewall.Request {
	return firewall.Request{Event: firewall.EventPostToolUse, Tool: tool, ToolUseID: "t", Input: json.RawMessage(input), Response: json.RawMessage(response)}
}

// asShown is a result of Bash as the model reads it.
func asShown(result string) string {
	var r struct{ Stdout, Stderr string }
	if json.Unmarshal([]byte(result), &r) != nil {
		return result
	}
	return strings.Trim(r.Stdout+"\n"+r.Stderr, "\n")
}

// given is the receipt in a reply, and where it stands.
func given(t *testing.T, r firewall.Reply) (where, text string) {
	t.Helper()
	if r == firewall.NoObjection() {
		return "", ""
	}
	var o postOutput
	if err := json.Unmarshal([]byte(r.Stdout), &o); err != nil || o.HookSpecificOutput.HookEventName != firewall.EventPostToolUse {
		t.Fatalf("%v in %q", err, r.Stdout)
	}
	if u := o.HookSpecificOutput.UpdatedToolOutput; u != nil {
		return "inside", string(u)
	}
	return "beside", o.HookSpecificOutput.AdditionalContext
}

// Where the receipt stands in each kind of result, and that the result itself
// is as it was.
func TestReceiptPlaces(t *testing.T) {
	tests := []struct{ tool, response, where, want string }{
		{"Bash", bashResult, "inside", `{"interrupted":false,"isImage":false,"stderr":"\n[R]","stdout":"ok"}`},
		{"Bash", `{"stdout":"","stderr":"","interrupted":false,"isImage":false,"x":1}`, "inside", `{"interrupted":false,"isImage":false,"stderr":"(no output)\n\n[R]","stdout":"","x":1}`},
		{"Bash", `{"stdout":"a","stderr":"b","interrupted":false,"isImage":false}`, "inside", `{"interrupted":false,"isImage":false,"stderr":"b\n\n[R]","stdout":"a"}`},
		{"Bash", `{"stdout":"png","stderr":"","interrupted":false,"isImage":true}`, "beside", `receipt for the result of Bash call t: [R]`},
		{"Bash", `"odd"`, "beside", `receipt for the result of Bash call t: [R]`},
		{"Read", `{"file":{}}`, "beside", `receipt for the result of Read call t: [R]`},
		{"mcp__a__b", `[{"type":"text","text":"x"}]`, "inside", `[{"type":"text","text":"x"},{"text":"[R]","type":"text"}]`},
		{"mcp__a__b", `"x"`, "inside", `"x\n\n[R]"`},
		{"mcp__a__b", `{"a":1}`, "beside", `receipt for the result of mcp__a__b call t: [R]`},
	}
	for _, tt := range tests {
		w := newSeal(t)
		w.Shown("t", tt.tool, "line", json.RawMessage(`{}`))
		where, text := given(t, w.Report(t.Context(), reported(tt.tool, `{}`, tt.response)))
		entry, ok := w.Book.Call(w.Scope, "t")
		if !ok {
			t.Fatalf("%s %s: no receipt", tt.tool, tt.response)
		}
		if got := strings.ReplaceAll(text, "receipt: "+entry.Token.String(), "R"); where != tt.where || got != tt.want {
			t.Errorf("%s %s:\n%s %s, want\n%s %s", tt.tool, tt.response, where, got, tt.where, tt.want)
		}
	}
}

// What was reported and is not a genuine result gets nothing, and is told.
func TestNoReceiptForWhatDidNotHappen(t *testing.T) {
	const in = `{"command":"go test ./..."}`
	tests := map[string]struct {
		before func(*sealWorld)
		report firewall.Request
		fault  string
	}{
		"never made": {func(*sealWorld) {}, reported("Bash", in, bashResult), "never made"},
		"another session": {func(w *sealWorld) {
			w.Client = "ours"
			w.Shown("t", "Bash", "go test", json.RawMessage(in))
		}, func() firewall.Request { r := reported("Bash", in, bashResult); r.SessionID = "theirs"; return r }(), "by another session"},
		"another tool":  {func(w *sealWorld) { w.Shown("t", "Read", "Read x", json.RawMessage(in)) }, reported("Bash", in, bashResult), "of another call"},
		"another input": {func(w *sealWorld) { w.Shown("t", "Bash", "true", json.RawMessage(`{"command":"true"}`)) }, reported("Bash", in, bashResult), "of another call"},
		"rewritten input": {func(w *sealWorld) {
			w.Shown("t", "Bash", "go test", json.RawMessage(in))
			w.Asked(context.Background(), reported("Bash", `{"command":"true"}`, ""), false, false)
		}, reported("Bash", in, bashResult), "another input than the firewall was asked about"},
		"reported twice": {func(w *sealWorld) {
			w.Shown("t", "Bash", "go test", json.RawMessage(in))
			w.Report(context.Background(), reported("Bash", in, bashResult))
		}, reported("Bash", in, bashResult), "second result"},
		"no result": {func(w *sealWorld) { w.Shown("t", "Bash", "go test", json.RawMessage(in)) }, reported("Bash", in, ""), "cannot be signed"},
		"trail not kept": {func(w *sealWorld) {
			w.Shown("t", "Bash", "go test", json.RawMessage(in))
			w.err = errors.New("disk full")
		}, reported("Bash", in, bashResult), "disk full"},
		"input not JSON": {func(w *sealWorld) { w.Shown("t", "Bash", "go test", json.RawMessage(in)) }, reported("Bash", `{`, bashResult), "cannot be signed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newSeal(t)
			tt.before(w)
			if r := w.Report(t.Context(), tt.report); r != firewall.NoObjection() {
				t.Errorf("%+v", r)
			}
			if e, ok := w.Book.Call(w.Scope, "t"); ok && e.Revoked == "" {
				t.Errorf("a receipt that counts: %+v", e)
			}
			faults := w.Account().Faults
			if len(faults) != 1 || !strings.Contains(faults[0], tt.fault) {
				t.Errorf("%q", faults)
			}
		})
	}
}

// The stream has the last word on what the result was.
func TestReceiptOfAContradictedResultIsWithdrawn(t *testing.T) {
	const in = `{"command":"go test"}`
	tests := map[string]struct {
		structured func(updated string) string
		text       func(updated string) string
		counts     bool
	}{
		"as we made it":       {func(u string) string { return u }, func(string) string { return "" }, true},
		"as it was":           {func(string) string { return bashResult }, func(string) string { return "" }, true},
		"another":             {func(string) string { return strings.Replace(bashResult, "ok", "FAIL", 1) }, func(string) string { return "" }, false},
		"text with it":        {func(string) string { return "" }, asShown, true},
		"text without it":     {func(string) string { return "" }, func(string) string { return "FAIL" }, false},
		"structured, no JSON": {func(string) string { return "{" }, func(u string) string { return u }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newSeal(t)
			w.Shown("t", "Bash", "go test", json.RawMessage(in))
			_, updated := given(t, w.Report(t.Context(), reported("Bash", in, bashResult)))
			w.Result("t", json.RawMessage(tt.structured(updated)), tt.text(updated), false)
			account := w.Account()
			got, faults := account.Coverage, account.Faults
			want := Coverage{Results: 1, Receipted: 1}
			if !tt.counts {
				want = Coverage{Results: 1, Missing: []string{"go test"}}
			}
			if diff := cmp.Diff(want, got); diff != "" || (len(faults) == 0) != tt.counts {
				t.Errorf("%q (-want +got)\n%s", faults, diff)
			}
			if e, _ := w.Book.Call(w.Scope, "t"); (e.Revoked == "") != tt.counts || account.Revoked["t"] != e.Revoked {
				t.Errorf("revoked: %q, told %q", e.Revoked, account.Revoked["t"])
			}
		})
	}
}

// What ran without a report is named, what failed has no receipt to miss.
func TestCoverage(t *testing.T) {
	w := newSeal(t)
	w.Shown("t", "Bash", "make", json.RawMessage(`{}`))
	w.Result("t", nil, "ok", false)
	w.Shown("u", "Bash", "make check", json.RawMessage(`{}`))
	w.Report(t.Context(), firewall.Request{Event: firewall.EventPostToolUseFailure, Tool: "Bash", ToolUseID: "u", Input: json.RawMessage(`{}`), Error: "Exit code 1"})
	w.Result("u", nil, "Exit code 1", true)
	got, faults := w.Account().Coverage, w.Account().Faults
	if diff := cmp.Diff(Coverage{Results: 1, Missing: []string{"make"}}, got); diff != "" || faults != nil {
		t.Errorf("%q (-want +got)\n%s", faults, diff)
	}
	if len(w.records) != 1 || w.records[0].Event != receipt.CallFail || w.records[0].ResultSHA256 != receipt.SumHex([]byte("Exit code 1")) {
		t.Errorf("%+v", w.records)
	}
}

// A refused call is in the trail, whether or not the queue took it.
func TestRefusalsAreRecorded(t *testing.T) {
	for _, queued := range []bool{true, false} {
		w := newSeal(t)
		w.Asked(t.Context(), firewall.Request{Event: firewall.EventPreToolUse, Tool: "Bash", ToolUseID: "t", Input: json.RawMessage(`{}`)}, true, queued)
		w.Asked(t.Context(), firewall.Request{Event: firewall.EventPreToolUse, Tool: "Bash", ToolUseID: "u", Input: json.RawMessage(`{}`)}, false, false)
		want := receipt.Deferred
		if !queued {
			want = receipt.CallDenied
		}
		if len(w.records) != 1 || w.records[0].Event != want || w.records[0].ToolUseID != "t" {
			t.Errorf("%+v", w.records)
		}
	}
}

// A result that is reported before the stream has shown its call waits for it.
func TestReportWaitsForTheStream(t *testing.T) {
	w := newSeal(t)
	w.Wait = time.Minute
	got := make(chan firewall.Reply)
	go func() { got <- w.Report(t.Context(), reported("Bash", `{}`, bashResult)) }()
	w.Shown("t", "Bash", "x", json.RawMessage(`{}`))
	if where, _ := given(t, <-got); where != "inside" {
		t.Error("no receipt")
	}
}

const goTest = `{"command":"go test"}`

// sealedCall is a call that was asked about, made, and reported once.
func (w *sealWorld) sealedCall(t *testing.T) (updated string) {
	t.Helper()
	w.Asked(t.Context(), reported("Bash", goTest, ""), false, false)
	w.Shown("t", "Bash", "go test", json.RawMessage(goTest))
	_, updated = given(t, w.Report(t.Context(), reported("Bash", goTest, bashResult)))
	return updated
}

// The stream may repeat a result, and may not show two.
func TestOneResultOfACall(t *testing.T) {
	other := strings.Replace(bashResult, "ok", "FAIL", 1)
	tests := map[string]struct {
		then  func(w *sealWorld, updated string)
		want  Coverage
		fault string
	}{
		"shown twice":       {func(w *sealWorld, u string) { w.Result("t", json.RawMessage(u), "ok", false) }, Coverage{Results: 1, Receipted: 1}, ""},
		"another one":       {func(w *sealWorld, _ string) { w.Result("t", json.RawMessage(other), "FAIL", false) }, Coverage{1, 0, []string{"go test"}}, "shows another result"},
		"a failure":         {func(w *sealWorld, _ string) { w.Result("t", nil, "Exit code 1", true) }, Coverage{1, 0, []string{"go test"}}, "shows that it failed"},
		"text alone":        {func(w *sealWorld, u string) { w.Result("t", nil, asShown(u), false) }, Coverage{Results: 1, Receipted: 1}, ""},
		"another text":      {func(w *sealWorld, _ string) { w.Result("t", nil, "FAIL", false) }, Coverage{1, 0, []string{"go test"}}, "a result without it"},
		"reported again":    {func(w *sealWorld, _ string) { w.Report(context.Background(), reported("Bash", goTest, other)) }, Coverage{1, 0, []string{"go test"}}, "a second result"},
		"then not run":      {func(w *sealWorld, _ string) { w.NotRun("t", "denied") }, Coverage{Results: 1, Receipted: 1}, ""},
		"of no known call":  {func(w *sealWorld, _ string) { w.Result("u", nil, "ok", false) }, Coverage{2, 1, []string{"call u"}}, ""},
		"a failure of none": {func(w *sealWorld, _ string) { w.Result("u", nil, "no", true) }, Coverage{Results: 1, Receipted: 1}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newSeal(t)
			updated := w.sealedCall(t)
			w.Result("t", json.RawMessage(updated), "ok", false)
			tt.then(w, updated)
			a := w.Account()
			if diff := cmp.Diff(tt.want, a.Coverage); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := strings.Join(a.Faults, "\n"); (got == "") != (tt.fault == "") || !strings.Contains(got, tt.fault) {
				t.Errorf("%q", a.Faults)
			}
			if e, _ := w.Book.Call(w.Scope, "t"); (e.Revoked == "") != (tt.fault == "") {
				t.Errorf("revoked: %q", e.Revoked)
			}
		})
	}
}

// What the stream shows and the report does not, or the other way round.
func TestReportAndStreamDiffer(t *testing.T) {
	failure := firewall.Request{Event: firewall.EventPostToolUseFailure, Tool: "Bash", ToolUseID: "t", Input: json.RawMessage(goTest), Error: "Exit code 1"}
	for name, tt := range map[string]struct {
		do      func(w *sealWorld)
		fault   string
		revoked bool
		results int
	}{
		"a success that failed":      {func(w *sealWorld) { w.sealedCall(t); w.Result("t", nil, "Exit code 1", true) }, "that it failed", true, 0},
		"a success that did not run": {func(w *sealWorld) { w.sealedCall(t); w.NotRun("t", "denied") }, "did not run", true, 0},
		"a failure that succeeded": {func(w *sealWorld) {
			w.Shown("t", "Bash", "go test", json.RawMessage(goTest))
			w.Report(context.Background(), failure)
			w.Result("t", json.RawMessage(bashResult), "ok", false)
		}, "reported as failed", false, 1},
		"twice, then shown": {func(w *sealWorld) {
			u := w.sealedCall(t)
			w.Report(context.Background(), reported("Bash", goTest, bashResult))
			w.Result("t", json.RawMessage(u), "ok", false)
		}, "second result", true, 1},
		"not run, and a result": {func(w *sealWorld) {
			w.Shown("t", "Bash", "go test", json.RawMessage(goTest))
			w.NotRun("t", "denied")
			w.Report(context.Background(), reported("Bash", goTest, bashResult))
			w.Result("t", json.RawMessage(bashResult), "ok", false)
		}, "of another call", false, 1},
		"a refused one": {func(w *sealWorld) {
			w.Shown("t", "Bash", "go test", json.RawMessage(goTest))
			w.Asked(context.Background(), reported("Bash", goTest, ""), true, true)
			if r := w.Report(context.Background(), reported("Bash", goTest, bashResult)); r != firewall.NoObjection() {
				t.Errorf("%+v", r)
			}
			w.Result("t", json.RawMessage(bashResult), "ok", false)
		}, "had been refused", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSeal(t)
			tt.do(w)
			a := w.Account()
			if len(a.Faults) == 0 || !strings.Contains(strings.Join(a.Faults, "\n"), tt.fault) || a.Receipted != 0 || a.Results != tt.results {
				t.Errorf("%+v", a)
			}
			if e, ok := w.Book.Call(w.Scope, "t"); ok != tt.revoked || ok && e.Revoked == "" {
				t.Errorf("%t, %+v", ok, e)
			}
		})
	}
}

// What the client itself did not run is in the trail as well, once.
func TestWhatTheClientRefusesIsRecorded(t *testing.T) {
	w := newSeal(t)
	w.Shown("t", "Bash", "go test", json.RawMessage(goTest))
	w.Asked(t.Context(), reported("Bash", goTest, ""), false, false)
	w.NotRun("t", "denied by a rule")
	w.NotRun("t", "denied by a rule")
	w.Shown("u", "Bash", "git push", json.RawMessage(goTest))
	w.Asked(t.Context(), firewall.Request{Tool: "Bash", ToolUseID: "u", Input: json.RawMessage(goTest)}, true, true)
	w.NotRun("u", "denied by us")
	got := w.Account().Untold
	args, err := canonicalSum(json.RawMessage(goTest))
	if err != nil {
		t.Fatal(err)
	}
	want := []receipt.Record{{
		Event: receipt.CallDenied, Scope: w.Scope, Tool: "Bash", ToolUseID: "t", TS: now.Unix(),
		ArgsSHA256: fmt.Sprintf("%x", args), ResultSHA256: receipt.SumHex([]byte("denied by a rule")),
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b receipt.Token) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A file that holds all of a long output is what was seen, or it is told.
func TestWholeOutputIsHeldAgainstItself(t *testing.T) {
	for name, change := range map[string]func(string) error{
		"": func(string) error { return nil }, "gone": os.Remove,
		"changed": func(path string) error { return os.WriteFile(path, []byte("41 of 41"), 0o600) },
	} {
		w := newSeal(t)
		path := filepath.Join(t.TempDir(), "out.txt")
		if err := os.WriteFile(path, []byte("FAIL"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.Shown("t", "Bash", "go test", json.RawMessage(goTest))
		w.Report(t.Context(), reported("Bash", goTest, strings.TrimSuffix(bashResult, "}")+fmt.Sprintf(`,"persistedOutputPath":%q}`, path)))
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if got := w.Account().Faults; (len(got) == 1 && strings.Contains(got[0], path)) != (name == "changed") || name != "changed" && got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The names of calls without a receipt cost no more than they must.
func TestMissingIsBounded(t *testing.T) {
	w := newSeal(t)
	for i := range maxMissing + 7 {
		id := fmt.Sprint(i)
		w.Shown(id, "Bash", strings.Repeat("é", 1000), json.RawMessage(`{}`))
		w.Result(id, nil, "ok", false)
	}
	c := w.Account().Coverage
	if c.Results != maxMissing+7 || len(c.Missing) != maxMissing+1 || c.Missing[maxMissing] != "and 7 more" || len(c.Missing[0]) > 410 || !utf8.ValidString(c.Missing[0]) {
		t.Errorf("%d results, %d named", c.Results, len(c.Missing))
	}
}

// A call that was cut off may have done its work: it is in the trail as well.
func TestCallsThatWereCutOffAreRecorded(t *testing.T) {
	w := newSeal(t)
	w.sealedCall(t) // reported: it is in the trail
	for _, id := range []string{"u", "v", "w", "x"} {
		w.Asked(t.Context(), firewall.Request{Tool: "Bash", ToolUseID: id, Input: json.RawMessage(goTest)}, id == "w", false)
		w.Shown(id, "Bash", "make", json.RawMessage(goTest))
	}
	w.Elsewhere("x")
	w.Result("v", nil, "Exit code 137", true)
	w.Asked(t.Context(), firewall.Request{Tool: "Bash", ToolUseID: "y", Input: json.RawMessage(goTest)}, false, false) // never shown
	var got []string
	for _, r := range w.Account().Untold {
		got = append(got, string(r.Event)+" "+r.ToolUseID+" "+r.Tool)
		text := map[string]string{"u": receipt.CutOff, "v": "Exit code 137"}[r.ToolUseID]
		if r.ResultSHA256 != receipt.SumHex([]byte(text)) || len(r.ArgsSHA256) != 64 || strings.Trim(r.ArgsSHA256, "0") == "" {
			t.Errorf("%+v", r)
		}
	}
	if diff := cmp.Diff([]string{"call_fail u Bash", "call_fail v Bash"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A second result that comes while the first one's record is being written
// leaves the agent without a receipt.
func TestSecondResultInTheMeantime(t *testing.T) {
	w := newSeal(t)
	w.Shown("t", "Bash", "go test", json.RawMessage(goTest))
	keep := w.Keep
	w.Keep = func(ctx context.Context, r receipt.Record) error {
		w.Keep = keep
		if got := w.Report(ctx, reported("Bash", goTest, bashResult)); got != firewall.NoObjection() {
			t.Errorf("the second: %+v", got)
		}
		return keep(ctx, r)
	}
	if got := w.Report(t.Context(), reported("Bash", goTest, bashResult)); got != firewall.NoObjection() {
		t.Errorf("the first: %+v", got)
	}
	w.Result("t", json.RawMessage(bashResult), "ok", false)
	if a := w.Account(); a.Receipted != 0 || len(a.Missing) != 1 || a.Revoked["t"] == "" {
		t.Errorf("%+v", a)
	}
}
