package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

const (
	ours   = "zc-receipt-1774608600-1XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"
	theirs = "zc-receipt-1774608600-9XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"
	root64 = "1b2c3d4e5f60718293a4b5c6d7e8f9001b2c3d4e5f60718293a4b5c6d7e8f900"
)

func ourToken() receipt.Token {
	t, err := receipt.ParseToken(ours)
	if err != nil {
		panic(err)
	}
	return t
}

func isOurs(token string) bool { return token == ours }

// callsOf are the calls of an attempt, with a text in every place.
func callsOf(h string) []audit.Call {
	return []audit.Call{
		{Record: 1, TS: evening.Unix(), Scope: h, Tool: h, ToolUseID: h, Outcome: "ok", Receipt: ourToken(), ArgsSHA256: h},
		{Record: 2, TS: evening.Unix(), Scope: h, Tool: h, ToolUseID: h, Outcome: "deferred"},
		{Record: 3, TS: evening.Unix(), Scope: h, Tool: h, ToolUseID: h, Outcome: "ok", Receipt: ourToken(), Revoked: true},
	}
}

func saidIn(d queue.Snapshot) map[string]Said {
	out := map[string]Said{}
	for _, a := range d.Attempts {
		out[a.ID] = Said{Text: a.FinalText, Calls: callsOf(a.StoryTitle)}
	}
	return out
}

// receiptPrints is every way to print the receipts and trails of a snapshot.
func receiptPrints(d queue.Snapshot, name string, o Options) map[string]func(io.Writer) error {
	out := map[string]func(io.Writer) error{}
	for _, a := range d.Attempts {
		h := a.StoryTitle
		list := Receipts{Schema: 1, Session: h, Problems: []audit.Problem{{Text: h}}}
		calls := callsOf(h)
		of := ReceiptsOf{Story: h, Title: h, Attempt: 2, Scope: h, Coverage: a.Receipts}
		for i, c := range calls {
			of.Calls = append(of.Calls, ReceiptCall{Call: c, Command: []string{h, ""}[i%2]})
		}
		list.Attempts = []ReceiptsOf{of, {Story: h}}
		answers := []audit.Answer{
			{Line: 2, Receipt: h, Verdict: receipt.VerdictMalformed, Reason: h},
			{Receipt: ours, Verdict: receipt.VerdictValid, Session: h, Story: h, Attempt: 2, Call: &calls[0], Signed: &receipt.Tree{Size: 9}, Command: h},
			{Receipt: ours, Verdict: receipt.VerdictValid, Session: h, Story: h, Call: &calls[0], Damage: h},
			{Receipt: ours, Verdict: receipt.VerdictRevoked, Session: h, Story: h, Call: &calls[2]},
		}
		result := audit.Result{
			Session: h, PublicKey: h, Records: 9, Open: []string{h}, Status: audit.Interrupted, Decisions: 1, Unsigned: 2,
			Problems: []audit.Problem{{Record: 1, Text: h}}, States: []audit.State{{Tree: receipt.Tree{Size: 3}}, {Problem: h}},
		}
		out["receipts"+name] = func(w io.Writer) error { return ReceiptList(w, list, o) }
		out["answers"+name] = func(w io.Writer) error { return Answers(w, answers, o) }
		out["audit"+name] = func(w io.Writer) error { return Audit(w, result, o) }
		out["receipts-json"] = func(w io.Writer) error { return WriteJSON(w, list, o) }
		out["exact-json"] = func(w io.Writer) error { return WriteExactJSON(w, strings.ReplaceAll(h, "abcdef0123456789", "")) }
		out["proof"+name] = func(w io.Writer) error {
			return ProofChecked(w, receipt.Record{Tool: h, Scope: h}, receipt.Checkpoint{Origin: h}, false, o)
		}
		break
	}
	return out
}

func text(t *testing.T, print func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sealedNight has a story whose results are all receipted, and one where one
// is not.
func sealedNight() queue.Snapshot {
	d := goodNight()
	d.Attempts = d.Attempts[:2]
	d.Session.StoryOrder = d.Session.StoryOrder[:2]
	d.Attempts[0].Receipts = &queue.Receipts{Results: 40, Receipted: 40}
	d.Attempts[1].Receipts = &queue.Receipts{Results: 2, Receipted: 1, Missing: []string{"make install"}}
	d.Attempts[0].AuditRoot, d.Attempts[1].AuditRoot = strings.Repeat("0", 64), root64
	return d
}

func TestReportOfReceipts(t *testing.T) {
	d := sealedNight()
	o := options(80, false)
	got := text(t, func(w io.Writer) error { return Terminal(w, d, o) })
	for _, want := range []string{
		"receipts 1 of 2, missing: make install\n",
		"Receipts 41 of 42 results · audit root 1b2c3d4e5f60… · whole with --all\n",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
	if strings.Contains(got, "40 of 40") || strings.Contains(got, "Tool receipts") {
		t.Errorf("it says more than it must:\n%s", got)
	}
	o.Roots = true
	if got := text(t, func(w io.Writer) error { return Terminal(w, d, o) }); !strings.HasSuffix(got, "\nReceipts 41 of 42 results\nloop audit verify "+sessionID+" \\\n  --root "+root64+"\n") {
		t.Errorf("no whole root:\n%s", got)
	}
	if got := text(t, func(w io.Writer) error { return Terminal(w, goodNight(), o) }); strings.Contains(got, "eceipt") {
		t.Errorf("receipts were off:\n%s", got)
	}
}

// A root that stands in a list is whole on a terminal of 80 columns, too.
func TestRootsAreNotBroken(t *testing.T) {
	r := audit.Result{States: []audit.State{{Tree: receipt.Tree{Size: 99999}}, {Tree: receipt.Tree{Size: 100000}, Problem: "not checked", Unchecked: true}}}
	got := text(t, func(w io.Writer) error { return Audit(w, r, options(80, false)) })
	found := false
	for line := range strings.Lines(got) {
		if strings.Contains(line, strings.Repeat("0", 64)) {
			found = true
		}
		if len(line) > 81 {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
	if !found || !strings.Contains(strings.Join(strings.Fields(got), " "), "1 of 2 states by the session's key, each with the root that it has at its size; 1 not checked") {
		t.Errorf("%s", got)
	}
	r.States = nil
	if got := text(t, func(w io.Writer) error { return Audit(w, r, options(0, false)) }); !strings.Contains(got, "nothing is signed: ") {
		t.Errorf("%s", got)
	}
}

const block = `
  All of it is done.
  And more.

---
Tool receipts:
  Bash: ` + ours + `
`

// The block is the one that other programs print, whole and at the margin, at
// the end of an action and, where it is asked for, in the report.
func TestToolReceiptsBlock(t *testing.T) {
	d := sealedNight()
	a := d.Attempts[1]
	calls := callsOf("Bash")
	said := map[string]Said{a.ID: {Text: "All of it is done.\nAnd more.\n", Calls: calls}}
	x := action(1, "2", "git push", policy.Blocked, "git-push", "Sends commits.")
	x.Attempt = a.ID
	for _, width := range []int{0, 40, 80} {
		o := options(width, false)
		o.Said = said
		if got := text(t, func(w io.Writer) error { return Show(w, x, o) }); !strings.HasSuffix(got, block) {
			t.Errorf("show at %d:\n%s", width, got)
		}
		if got := text(t, func(w io.Writer) error { return Terminal(w, d, o) }); !regexp.MustCompile(`\nStory 2: what the agent said last( ─*)?\n`).MatchString(got) || !strings.Contains(got, block[1:]) {
			t.Errorf("report at %d:\n%s", width, got)
		}
	}
}

// Receipts that loop issued are shown wherever they stand; what only looks
// like one is hidden, also a secret that is dressed up as one.
func TestKnownReceiptsAreShown(t *testing.T) {
	secret := "zc-receipt-1-hunter2hunter2 " + strings.ReplaceAll(theirs, "-", "\u2011") + strings.ReplaceAll(" "+theirs, "-", "&#45;")
	x := action(1, "2", "git commit -m '[receipt: "+ours+"] [receipt: "+theirs+"] "+secret+"'", policy.Blocked, "git-push", "why")
	x.Attempt = "a"
	d := queue.Snapshot{Session: session("2"), Actions: []queue.Action{x}, Findings: []queue.Finding{{Kind: "receipt", Text: ours + " " + theirs + " " + secret}}}
	o := options(0, false)
	o.All, o.Known = true, isOurs
	o.Said = map[string]Said{"a": {Text: ours + " " + theirs + " " + secret}}
	for name, print := range map[string]func(io.Writer) error{
		"terminal": func(w io.Writer) error { return Terminal(w, d, o) },
		"show":     func(w io.Writer) error { return Show(w, x, o) },
		"list":     func(w io.Writer) error { return List(w, d.Actions, o) },
		"json":     func(w io.Writer) error { return JSON(w, d, o) },
		"export":   func(w io.Writer) error { return Export(w, d.Actions, "s", "json", o) },
		"field":    func(w io.Writer) error { return WriteJSON(w, map[string]string{"token": ours, "x_token": secret}, o) },
	} {
		got := text(t, print)
		if !strings.Contains(got, ours) || strings.Contains(got, theirs[22:30]) || strings.Contains(got, "hunter2") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	o.Known = nil
	if got := text(t, func(w io.Writer) error { return Show(w, x, o) }); strings.Contains(got, ours) {
		t.Errorf("shown, and nobody knows it:\n%s", got)
	}
}

// A report asks for a receipt only where a text has something like one.
func TestReportAsksForNoReceiptInVain(t *testing.T) {
	o := options(80, false)
	o.Known = func(token string) bool { t.Errorf("asked for %q", token); return false }
	d := badNight()
	d.Findings = append(d.Findings, queue.Finding{Kind: "receipt", Text: "zc-receipt-1-SECRET is malformed"})
	text(t, func(w io.Writer) error { return Terminal(w, d, o) })
}

func TestReceiptList(t *testing.T) {
	calls := callsOf("Bash")
	of := ReceiptsOf{
		Story: "2", Title: "Show it", Attempt: 1,
		Coverage: &queue.Receipts{Results: 2, Receipted: 1, Missing: []string{"make x"}, Cited: 3, Judged: []queue.Citation{{Token: theirs, Verdict: "forged", Reason: "it was never issued", Line: 7}}},
		Calls:    []ReceiptCall{{Call: calls[0], Command: "go test ./..."}, {Call: calls[1], Command: "git push"}, {Call: calls[2]}},
	}
	list := Receipts{Session: "s", Attempts: []ReceiptsOf{of, {Story: "3"}}}
	o := Options{Known: isOurs, Location: time.UTC}
	want := `Session s · 1 of 2 results have a receipt

Story 2  Show it
  1 of 2 results have a receipt; missing: ` + "`make x`" + `
  2026-11-29T22:10:00Z  2  Bash  ok        ` + ours + `  go test ./...
  2026-11-29T22:10:00Z  2  Bash  deferred  –  git push
  2026-11-29T22:10:00Z  2  Bash  revoked   ` + ours + `  Bash
  cited by the agent: 3 good, 1 not
    forged: zc-receipt-1774608600-9XtP…: it was never issued (transcript line 7)

Story 3
  not counted: the attempt has not come to its end
`
	if got := text(t, func(w io.Writer) error { return ReceiptList(w, list, o) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// On a terminal a receipt stands whole on its own line.
	o.Width = 60
	if got := text(t, func(w io.Writer) error { return ReceiptList(w, list, o) }); !strings.Contains(got, "\n    "+ours+"\n") {
		t.Errorf("%s", got)
	}
}
