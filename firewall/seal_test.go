package firewall

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/receipt"
)

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

func reported(tool, input, response string) Request {
	return Request{Event: EventPostToolUse, Tool: tool, ToolUseID: "t", Input: json.RawMessage(input), Response: json.RawMessage(response)}
}

// given is the receipt in a reply, and where it stands.
func given(t *testing.T, r Reply) (where, text string) {
	t.Helper()
	if r == NoObjection() {
		return "", ""
	}
	var o postOutput
	if err := json.Unmarshal([]byte(r.Stdout), &o); err != nil || o.HookSpecificOutput.HookEventName != EventPostToolUse {
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
		report Request
		fault  string
	}{
		"never made":    {func(*sealWorld) {}, reported("Bash", in, bashResult), "never made"},
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
			if r := w.Report(t.Context(), tt.report); r != NoObjection() {
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
		"text with it":        {func(string) string { return "" }, func(u string) string { return "ok\n" + u }, true},
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
	w.Report(t.Context(), Request{Event: EventPostToolUseFailure, Tool: "Bash", ToolUseID: "u", Input: json.RawMessage(`{}`), Error: "Exit code 1"})
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
	for _, queueErr := range []error{nil, errors.New("disk full")} {
		w := newSeal(t)
		g := newGuard(policy.Unattended, &memQueue{err: queueErr})
		g.Seal = w.Seal
		g.Handle(t.Context(), pre("t", "external"))
		g.Handle(t.Context(), pre("u", "local"))
		want := receipt.Deferred
		if queueErr != nil {
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
	got := make(chan Reply)
	go func() { got <- w.Report(t.Context(), reported("Bash", `{}`, bashResult)) }()
	w.Shown("t", "Bash", "x", json.RawMessage(`{}`))
	if where, _ := given(t, <-got); where != "inside" {
		t.Error("no receipt")
	}
}
