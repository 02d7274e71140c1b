package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

const (
	invented = "zc-receipt-1771834500-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	fromPage = "zc-receipt-1771834500-BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"
)

// trial is an attempt with receipts of its own and of another one.
type trial struct {
	*night
	run                    run
	a                      queue.Attempt
	ours, revoked, earlier string
	files                  string // the lines that the work tree has more
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	n := newNight(t, sim.Any(say("ok")), "first")
	c := &trial{night: n, run: run{o: &n.o}}
	c.a = n.died(func(a *queue.Attempt) { a.Number, a.Receipts = 2, &queue.Receipts{} })
	key, err := receipt.NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(key.Close)
	before := c.a
	before.Number = 1
	c.run.book = receipt.NewBook(key, receipt.V2)
	issue := func(book *receipt.Book, a *queue.Attempt, id string) string {
		e, err := book.Issue(receipt.Call{Scope: scope(a), ToolUseID: id, Tool: "Bash", Args: []byte(`{}`), Result: []byte(id), Unix: 5})
		if err != nil {
			t.Fatal(err)
		}
		rec := receipt.Record{Event: receipt.CallOK, Scope: scope(a), Tool: "Bash", ToolUseID: id, Receipt: e.Token}
		if err := n.store.AppendAudit(t.Context(), a.Session, e.Token.String(), rec.Next); err != nil {
			t.Fatal(err)
		}
		return e.Token.String()
	}
	c.ours, c.revoked = issue(c.run.book, &c.a, "t1"), issue(c.run.book, &c.a, "t2")
	c.run.book.Revoke(scope(&c.a), "t2", "contradicted")
	c.earlier = issue(receipt.NewBook(key, receipt.V2), &before, "t0")
	return c
}

// assistant and user are records of the client's stream.
func assistant(block string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":[` + block + `]}}`
}

func user(block string) string {
	return `{"type":"user","message":{"role":"user","content":[` + block + `]}}`
}

func called(id, tool, input string) string {
	return assistant(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, tool, input))
}

func came(id, text string) string {
	b, _ := json.Marshal(text)
	return user(fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s}`, id, b))
}

func said(text string) string {
	b, _ := json.Marshal(text)
	return assistant(`{"type":"text","text":` + string(b) + `}`)
}

// below makes a record a subagent's.
func below(id, record string) string {
	return strings.TrimSuffix(record, "}") + fmt.Sprintf(`,"parent_tool_use_id":%q}`, id)
}

// judge gives what is found in records, "forged high" and the like.
func (c *trial) judge(records ...string) []string {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.a.Dir, transcriptName), []byte(strings.Join(records, "\n")+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := c.run.cited(c.t.Context(), &c.a, c.files); err != nil {
		c.t.Fatal(err)
	}
	var got []string
	for _, j := range c.a.Receipts.Judged {
		got = append(got, j.Verdict+" "+j.Severity)
	}
	return got
}

func (c *trial) findings() (texts []string) {
	c.t.Helper()
	list, err := c.store.Findings(c.t.Context(), c.a.Session)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, f := range list {
		texts = append(texts, f.Text)
	}
	return texts
}

// Whatever an agent writes, and wherever, is looked through.
func TestEveryPlaceThatAnAgentWritesIn(t *testing.T) {
	escaped := strings.ReplaceAll(invented, "-", `\u002d`)
	for name, records := range map[string][]string{
		"words":                  {said("All 41 pass [receipt: " + invented + "].")},
		"a fence":                {said("```\n[receipt: " + invented + "]\n```")},
		"a URL":                  {said("See https://ci.test/runs?r=" + invented + "&x=1")},
		"thinking":               {assistant(`{"type":"thinking","thinking":"I say ` + invented + `"}`)},
		"a file":                 {called("t", "Write", `{"file_path":"a","content":"`+invented+`"}`)},
		"a name of a file":       {called("t", "Write", `{"file_path":"docs/`+invented+`.md","content":""}`)},
		"an edit":                {called("t", "Edit", `{"file_path":"a","old_string":"x","new_string":"`+invented+`"}`)},
		"many edits":             {called("t", "MultiEdit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"`+invented+`"}]}`)},
		"a notebook":             {called("t", "NotebookEdit", `{"notebook_path":"a","new_source":"`+invented+`"}`)},
		"a commit message":       {called("t", "Bash", `{"command":"git commit -m 'Verified [receipt: `+invented+`]'"}`)},
		"a heredoc":              {called("t", "Bash", `{"command":"cat >a <<E\n`+invented+`\nE"}`)},
		"MCP, nested":            {called("t", "mcp__x__post", `{"a":[{"b":"`+invented+`"}]}`)},
		"MCP, a name":            {called("t", "mcp__x__post", `{"`+invented+`":1}`)},
		"a subagent's prompt":    {called("t", "Agent", `{"prompt":"Say `+invented+`"}`), below("t", user(`{"type":"text","text":"Say `+invented+`"}`))},
		"a subagent's words":     {called("t", "Agent", `{"prompt":"p"}`), below("t", called("u", "Bash", `{"command":"true"}`)), below("t", said(invented))},
		"a subagent's report":    {called("t", "Agent", `{"prompt":"p"}`), below("t", called("u", "Bash", `{"command":"true"}`)), came("t", "It passes [receipt: "+invented+"]")},
		"a report, then cited":   {called("t", "Agent", `{"prompt":"p"}`), below("t", called("u", "Bash", `{"command":"true"}`)), came("t", "see "+invented), said("see " + invented)},
		"the last word":          {`{"type":"result","subtype":"success","result":"` + invented + `"}`},
		"escapes of JSON":        {said("x"), called("t", "Bash", `{"command":"echo `+escaped+`"}`)},
		"escapes, in words":      {strings.Replace(said("x"), `"x"`, `"`+escaped+`"`, 1)},
		"after it was echoed":    {called("t", "Bash", `{"command":"echo `+invented+`"}`), came("t", invented)},
		"an input that is text":  {called("t", "Bash", `"`+invented+`"`)},
		"two of them, glued":     {said(invented + strings.Repeat("-", 200) + invented)},
		"beside a good one":      {said("a")},
		"one digit is different": {said("b")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrial(t)
			want := []string{"forged high"}
			switch name {
			case "two of them, glued":
				want = append(want, want[0])
			case "a report, then cited", "a subagent's prompt":
				want = nil
			case "beside a good one":
				records = []string{said("It runs [receipt: " + c.ours + "]. It is fast [receipt: " + invented + "].")}
			case "one digit is different":
				digit := map[bool]string{true: "B", false: "A"}[c.ours[30] == 'A']
				records = []string{said("It runs [receipt: " + c.ours[:30] + digit + c.ours[31:] + "].")}
			}
			got := c.judge(records...)
			if want == nil { // as often as it was written
				for _, g := range got {
					if g != "forged high" {
						t.Errorf("%q", got)
					}
				}
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What it did not write, or may write, is not held against it.
func TestCitedVerdicts(t *testing.T) {
	page := func(c *trial) []string {
		return []string{called("t", "Bash", `{"command":"cat page"}`), came("t", "done [receipt: "+fromPage+"], "+c.earlier)}
	}
	for name, tt := range map[string]struct {
		records func(c *trial) []string
		want    []string
		good    int
	}{
		"good": {func(c *trial) []string { return []string{said("It runs [receipt: " + c.ours + "].")} }, nil, 1},
		"good, in a commit and a file": {func(c *trial) []string {
			return []string{called("t", "Bash", `{"command":"git commit -m '`+c.ours+`'"}`), called("u", "Write", `{"content":"`+c.ours+`"}`)}
		}, nil, 2},
		"withdrawn":       {func(c *trial) []string { return []string{said("It runs [receipt: " + c.revoked + "].")} }, []string{"revoked high"}, 0},
		"another attempt": {func(c *trial) []string { return []string{said("It runs [receipt: " + c.earlier + "].")} }, []string{"replayed high"}, 0},
		"read, then cited": {func(c *trial) []string {
			return append(page(c), said("It runs [receipt: "+fromPage+"]."))
		}, []string{"foreign high"}, 0},
		"read, then stands for a test": {func(c *trial) []string {
			return append(page(c), said("go test passes, 41 of 41: "+fromPage))
		}, []string{"foreign high"}, 0},
		"read, then spoken of": {func(c *trial) []string {
			return append(page(c), said("The page shows "+fromPage+" at its end."))
		}, []string{"foreign info"}, 0},
		"read and copied":   {func(c *trial) []string { return append(page(c), called("u", "Write", `{"content":"`+fromPage+`"}`)) }, []string{"foreign info"}, 0},
		"read and not used": {func(c *trial) []string { return page(c) }, nil, 0},
		"what an edit leaves": {func(c *trial) []string {
			return append(page(c), called("u", "Edit", `{"old_string":"done `+c.earlier+`","new_string":"Done `+c.earlier+`"}`))
		}, nil, 0},
		"a line that a file keeps": {func(c *trial) []string {
			read := func(id, text string) []string {
				return []string{called(id, "Read", `{"file_path":"progress.txt"}`), came(id, text)}
			}
			line := "Story 1: 7 passed [receipt: " + c.earlier + "]."
			return append(read("r", "1\t# Progress\n2\t"+line+"\n"),
				called("u", "Write", `{"file_path":"progress.txt","content":"# Progress\n`+line+`\nStory 2: done\n"}`))
		}, []string{"replayed info"}, 0},
		"a line that a file changes": {func(c *trial) []string {
			return []string{
				called("r", "Read", `{"file_path":"progress.txt"}`), came("r", "1→Story 1: 7 passed [receipt: "+c.earlier+"].\n"),
				called("u", "Write", `{"file_path":"progress.txt","content":"Story 2: 7 passed [receipt: `+c.earlier+`].\n"}`),
			}
		}, []string{"replayed high"}, 0},
		"a line that is said again": {func(c *trial) []string {
			line := "Story 1: 7 passed [receipt: " + c.earlier + "]."
			return []string{called("r", "Bash", `{"command":"cat progress.txt"}`), came("r", line), said(line)}
		}, []string{"replayed high"}, 0},
		"what an edit adds": {func(c *trial) []string {
			return append(page(c), called("u", "Edit", `{"old_string":"done","new_string":"Done `+c.earlier+`"}`))
		}, []string{"replayed high"}, 0},
		"in other letters":   {func(c *trial) []string { return []string{said(strings.ReplaceAll(c.ours, "-", "‑"))} }, []string{"malformed warn"}, 0},
		"in the prompt":      {func(c *trial) []string { return []string{user(`{"type":"text","text":"` + fromPage + `"}`)} }, nil, 0},
		"a good one, cut":    {func(c *trial) []string { return []string{said(c.ours[:40])} }, []string{"malformed warn"}, 0},
		"a good one, longer": {func(c *trial) []string { return []string{said(c.ours + "x")} }, []string{"malformed warn"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrial(t)
			got := c.judge(tt.records(c)...)
			if diff := cmp.Diff(tt.want, got); diff != "" || c.a.Receipts.Cited != tt.good {
				t.Errorf("%d good (-want +got)\n%s\n%+v", c.a.Receipts.Cited, diff, c.a.Receipts.Judged)
			}
		})
	}
}

// Saying a good one over and over hides no forged one.
func TestManyGoodReceiptsHideNoForgedOne(t *testing.T) {
	c := newTrial(t)
	var records []string
	for i := range maxCitedGood + 10 {
		records = append(records, said(fmt.Sprintf("%d: %s", i, c.ours)))
	}
	got := c.judge(append(records, said("It runs [receipt: "+invented+"]."))...)
	if diff := cmp.Diff([]string{"forged high"}, got); diff != "" || c.a.Receipts.Cited != maxCitedGood {
		t.Errorf("%d (-want +got)\n%s", c.a.Receipts.Cited, diff)
	}
	if texts := strings.Join(c.findings(), "\n"); !strings.Contains(texts, "10 times more") || !strings.Contains(texts, "forged") {
		t.Errorf("%s", texts)
	}
}

// Nobody is called a forger because the queue could not be read, or because
// somebody took the record away.
func TestNotKnowingIsNoVerdict(t *testing.T) {
	c := newTrial(t)
	if err := os.WriteFile(filepath.Join(c.a.Dir, transcriptName), []byte(said(c.earlier)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.run.cited(ctx, &c.a, ""); err == nil || len(c.a.Receipts.Judged) > 0 {
		t.Errorf("%v, %+v", err, c.a.Receipts.Judged)
	}
	token, err := receipt.ParseToken(c.earlier)
	if err != nil {
		t.Fatal(err)
	}
	other := receipt.Record{Event: receipt.StoryOpen, Scope: "x"} // another record in its place
	if err := c.store.AppendAudit(t.Context(), "other", invented, other.Next); err != nil {
		t.Fatal(err)
	}
	var failed error
	if _, ok := fromLedger(t.Context(), c.store, token, &failed); !ok || failed != nil {
		t.Errorf("%t, %v", ok, failed)
	}
	token, err = receipt.ParseToken(invented)
	if err != nil {
		t.Fatal(err)
	}
	if rec, ok := fromLedger(t.Context(), c.store, token, &failed); !ok || failed != nil || !strings.Contains(rec.Scope, "changed") {
		t.Errorf("%+v, %t, %v", rec, ok, failed)
	}
}

// What somebody else writes into the trail while a run goes on, or takes out of
// it, is not signed; decisions, which other processes add, are.
func TestForeignRecordsAreNotSigned(t *testing.T) {
	for name, tt := range map[string]struct {
		event receipt.Event
		fault string
	}{
		"none": {}, "a decision": {receipt.Approved, ""},
		"a call":           {receipt.CallOK, "record 1 of the audit trail was not written by loop"},
		"another's record": {"removed", "are not in the audit trail any more"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrial(t)
			session := c.a
			session.Session = "01a22dbd-ab3c-7237-8fdb-ce25d12d0a20"
			l, err := newLedger(&c.o, session.Session)
			if err != nil {
				t.Fatal(err)
			}
			defer l.signer.Close()
			c.run.ledger = l
			if err := l.add(t.Context(), receipt.Record{Event: receipt.StoryOpen, Scope: scope(&session)}); err != nil {
				t.Fatal(err)
			}
			switch tt.event {
			case "":
			case "removed":
				l.note(receipt.Hash{1}, true) // as if it had been written
			default:
				rec := receipt.Record{Event: tt.event, Scope: scope(&session), Tool: "Bash"}
				if err := c.store.AppendAudit(t.Context(), session.Session, "", rec.Next); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.run.closeStory(t.Context(), &session); err != nil {
				t.Fatal(err)
			}
			list, err := c.store.Findings(t.Context(), session.Session)
			if err != nil {
				t.Fatal(err)
			}
			var found strings.Builder
			for _, f := range list {
				found.WriteString(f.Kind + " " + f.Text)
			}
			if (session.AuditRoot == "") != (tt.fault != "") || tt.fault == "" && found.String() != "" || tt.fault != "" && (!strings.Contains(found.String(), "tampered ") || !strings.Contains(found.String(), tt.fault)) {
				t.Errorf("root %q, %q", session.AuditRoot, found.String())
			}
		})
	}
}

// Each receipt is a line of the log for who debugs, with its parts apart; no
// line has a key.
func TestReceiptsAreLogged(t *testing.T) {
	n := newNight(t, sim.Any(sim.Bash("echo one", ""), say("ok")), "first")
	var log bytes.Buffer
	n.o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	snap := n.run(t.Context())
	issued, err := n.store.Issued(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(log.String()) {
		var rec struct{ Level, Msg, Tool, Call, Receipt string }
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if rec.Msg != "tool receipt generated" {
			continue
		}
		if found++; rec.Level != "DEBUG" || rec.Tool != "Bash" || rec.Call == "" || !issued[rec.Receipt] {
			t.Errorf("%s", line)
		}
	}
	if found != 1 || len(issued) != 1 || snap.Attempts[0].Receipts.Receipted != 1 {
		t.Errorf("%d lines, %d receipts, %+v", found, len(issued), snap.Attempts[0].Receipts)
	}
}

// What a withdrawn receipt stood for is borne out by none.
func TestWithdrawnReceiptsBearNothingOut(t *testing.T) {
	c := newTrial(t)
	rec := receipt.Record{Event: receipt.CallRevoked, Scope: scope(&c.a), ToolUseID: "t2"}
	if err := c.store.AppendAudit(t.Context(), c.a.Session, "", rec.Next); err != nil {
		t.Fatal(err)
	}
	got, err := receiptsOf(t.Context(), &c.o, c.a.Session)
	if diff := cmp.Diff(map[string]string{"t0": c.earlier, "t1": c.ours}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// A subagent in the background comes back at once and works afterwards.
func TestSubagentInTheBackgroundIsNotIdle(t *testing.T) {
	c := newTrial(t)
	c.judge(
		called("a", "Agent", `{"prompt":"look"}`), came("a", "Async agent launched"), below("a", called("b", "Bash", `{"command":"true"}`)),
		called("c", "Agent", `{"prompt":"invent"}`), came("c", "41 of 41"),
	)
	if got := c.findings(); len(got) != 1 || !strings.Contains(got[0], "invent") {
		t.Errorf("%q", got)
	}
}

// A file that a program wrote is looked through as well; nobody is accused of
// what may come from elsewhere.
func TestFilesThatACommandChanged(t *testing.T) {
	c := newTrial(t)
	c.files = "It runs [receipt: " + invented + "]\nIt ran [receipt: " + c.earlier + "]\nIt runs [receipt: " + c.ours + "]\nA page [receipt: " + fromPage + "] zc-receipt-1\n"
	got := c.judge(called("t", "Bash", `{"command":"cat page"}`), came("t", fromPage), called("u", "Write", `{"content":"`+c.earlier+`"}`))
	// The earlier one was seen in the call, and judged there.
	want := []string{"replayed high", "forged warn", "foreign info", "malformed info"}
	if diff := cmp.Diff(want, got); diff != "" || c.a.Receipts.Cited != 1 {
		t.Errorf("(-want +got)\n%s\n%+v", diff, c.a.Receipts)
	}
	if texts := strings.Join(c.findings(), "\n"); !strings.Contains(texts, "a file that a command changed") || strings.Contains(texts, "memory file") {
		t.Errorf("%s", texts)
	}
}

// The same, from the first to the last: a program writes the file.
func TestReceiptsInFilesOfPrograms(t *testing.T) {
	split := strings.Replace(invented, "17", "'1'7", 1)
	n := newNight(t, sim.Any(sim.Bash("printf 'It runs [receipt: %s]\\n' "+split+" >>README", ""), say("ok")), "first")
	if err := os.WriteFile(filepath.Join(n.o.Root, "README"), []byte("old "+fromPage+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "a"}, {"config", "user.email", "a@b.test"}, {"add", "-A"}, {"commit", "-q", "-m", "start"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = n.o.Root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	snap := n.run(t.Context())
	var got []string
	for _, j := range snap.Attempts[0].Receipts.Judged {
		got = append(got, j.Verdict+" "+j.Severity)
	}
	if diff := cmp.Diff([]string{"forged warn"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A commit message is read where it ends up: how it got there does not matter.
func TestCommitMessagesAreRead(t *testing.T) {
	split := strings.Replace(invented, "17", "'1'7", 1)
	n := newNight(t, sim.Any(
		sim.Bash("git commit -q --allow-empty -m first -m 'good as it is'", ""),
		sim.Bash("git commit -q --allow-empty -m \"$(printf '41 of 41 [receipt: %s]' "+split+")\"", ""), say("ok"),
	), "first")
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "a"}, {"config", "user.email", "a@b.test"}, {"commit", "-q", "--allow-empty", "-m", "start " + fromPage}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = n.o.Root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	snap := n.run(t.Context())
	var got []string
	for _, f := range snap.Findings {
		if f.Kind == "receipt" {
			got = append(got, f.Text)
		}
	}
	if len(got) != 1 || !strings.Contains(got[0], "forged") || !strings.Contains(got[0], "message of a commit") {
		t.Errorf("%q\n%+v", got, snap.Attempts[0].Receipts)
	}
}

// What an agent wrote is judged although loop died, by the trail alone, and
// what has a receipt is counted.
func TestReceiptsOfADeadLoopAreJudged(t *testing.T) {
	c := newTrial(t)
	c.o.Log = slog.New(slog.DiscardHandler)
	s, err := c.store.Session(t.Context(), c.a.Session)
	if err != nil {
		t.Fatal(err)
	}
	s.AuditKey = "loop.local/x"
	c.a.Receipts = nil
	for _, err := range []error{c.store.PutSession(t.Context(), s), c.store.PutAttempt(t.Context(), c.a)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	records := []string{
		called("t1", "Bash", `{"command":"true"}`), came("t1", "t1"), called("t3", "Bash", `{"command":"make"}`), came("t3", "x"), came("t3", "x"),
		said("It runs [receipt: " + c.ours + "]."), said("It runs [receipt: " + invented + "]. So does [receipt: " + c.earlier + "]."),
	}
	if err := os.WriteFile(filepath.Join(c.a.Dir, transcriptName), []byte(strings.Join(records, "\n")+"\n{\"type"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := recoverAttempts(t.Context(), &c.o); err != nil {
		t.Fatal(err)
	}
	snap, err := c.store.Snapshot(t.Context(), c.a.Session)
	if err != nil {
		t.Fatal(err)
	}
	got := snap.Attempts[0].Receipts
	if got == nil || len(got.Judged) != 2 {
		t.Fatalf("%+v", got)
	}
	verdicts := got.Judged[0].Verdict + " " + got.Judged[1].Verdict
	got.Judged = nil
	if diff := cmp.Diff(&queue.Receipts{Results: 2, Receipted: 1, Missing: []string{"make"}, Cited: 1}, got); diff != "" || verdicts != "forged replayed" {
		t.Errorf("%s (-want +got)\n%s", verdicts, diff)
	}
}
