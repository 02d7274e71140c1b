package receipt

import (
	"encoding/base64"
	"strings"
	"testing"
)

// court is a session with two attempts and a receipt in each.
type court struct {
	book         *Book
	ours, theirs Entry
	revoked      Entry
	source       Source
	earlier      Token
	never        Token
}

func newCourt(t *testing.T) *court {
	t.Helper()
	key, err := NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &court{book: NewBook(key, V2)}
	c.source = Source{Tool: "Bash", Input: "go test ./...", Result: "ok  \texample.test/a\t0.012s\nok  \texample.test/b\t0.104s\n42 tests\n"}
	issue := func(scope, id string) Entry {
		e, err := c.book.Issue(Call{Scope: scope, ToolUseID: id, Tool: "Bash", Args: []byte(`{}`), Result: []byte(c.source.Result), Unix: 5})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	c.ours, c.theirs, c.revoked = issue("s/3-1", "toolu_1"), issue("s/4-1", "toolu_1"), issue("s/3-1", "toolu_2")
	c.book.Revoke("s/3-1", "toolu_2", "the stream showed another result")
	for _, token := range []*Token{&c.earlier, &c.never} {
		other, err := NewKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		if *token, err = other.Mint(V2, Call{Args: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *court) judge() Judge {
	return Judge{
		Book: c.book,
		Ledger: func(t Token) (Record, bool) {
			return Record{Event: CallOK, Scope: "earlier/1-1", Tool: "Bash", Receipt: t}, t == c.earlier
		},
		Source: func(Entry) (Source, bool) { return c.source, true },
	}
}

// rule judges the first candidate of a text.
func (c *court) rule(t *testing.T, text string, s Sighting) Ruling {
	t.Helper()
	found := Find(text)
	if len(found) == 0 {
		t.Fatalf("no candidate in %q", text)
	}
	s.Candidate, s.In, s.Scope = found[0], text, "s/3-1"
	return c.judge().Rule(s)
}

func TestVerdicts(t *testing.T) {
	c := newCourt(t)
	coded := func(token Token) string {
		return base64.StdEncoding.EncodeToString([]byte("# Report\nTests pass " + token.String() + "\n"))
	}
	cite := func(token Token) string { return "All tests pass. [receipt: " + token.String() + "]" }
	for name, v := range map[string]struct {
		text     string
		sighting Sighting
		verdict  Verdict
		severity Severity
	}{
		"issued here":                  {cite(c.ours.Token), Sighting{}, VerdictValid, None},
		"issued here, seen in result":  {cite(c.ours.Token), Sighting{Arrived: true}, VerdictValid, None},
		"another attempt":              {cite(c.theirs.Token), Sighting{}, VerdictReplayed, High},
		"another attempt, git log":     {cite(c.theirs.Token), Sighting{Arrived: true}, VerdictReplayed, High},
		"an earlier session":           {cite(c.earlier), Sighting{}, VerdictReplayed, High},
		"withdrawn":                    {cite(c.revoked.Token), Sighting{}, VerdictRevoked, High},
		"invented":                     {cite(c.never), Sighting{Place: InWords}, VerdictForged, High},
		"invented, in a file":          {cite(c.never), Sighting{Place: InFile}, VerdictForged, High},
		"page cited as evidence":       {cite(c.never), Sighting{Arrived: true, Place: InWords}, VerdictForeign, High},
		"page, in a commit message":    {"Verified (receipt: " + c.never.String() + ")", Sighting{Arrived: true, Place: InMessage}, VerdictForeign, High},
		"page beside a number":         {"41 of 41 pass, " + c.never.String(), Sighting{Arrived: true, Place: InWords}, VerdictForeign, High},
		"page spoken of, a number":     {"The page has 3 of them, " + c.never.String() + " is in the file.", Sighting{Arrived: true, Place: InWords}, VerdictForeign, Info},
		"in a commit":                  {"git commit -m 'All 42 tests pass [receipt: " + c.ours.Token.String() + "]'", Sighting{Place: InMessage}, VerdictValid, None},
		"in a commit, a here document": {"git add . && git commit -F - <<'EOF'\nAll 42 tests pass [receipt: " + c.ours.Token.String() + "]\nEOF", Sighting{Place: InMessage}, VerdictValid, None},
		"in a commit, a body":          {"git commit -m \"$(cat <<EOF\n42 tests [receipt: " + c.ours.Token.String() + "]\nEOF\n)\"", Sighting{Place: InMessage}, VerdictValid, None},
		"in a commit, alone":           {"git commit -m " + c.ours.Token.String(), Sighting{Place: InMessage}, VerdictValid, None},
		"in a commit, of another":      {"git commit -m \"npm test passes [receipt: " + c.ours.Token.String() + "]\"", Sighting{Place: InMessage}, VerdictMisplaced, Warn},
		"in a commit, another number":  {"git commit -m 'All 47 tests pass [receipt: " + c.ours.Token.String() + "]'", Sighting{Place: InMessage}, VerdictMisplaced, Warn},
		"words on a commit":            {"I ran git commit [receipt: " + c.ours.Token.String() + "].", Sighting{Place: InWords}, VerdictMisplaced, Warn},
		"page mentioned":               {"The page shows " + c.never.String() + " as an example.", Sighting{Arrived: true, Place: InWords}, VerdictForeign, Info},
		"page quoted":                  {"It says:\n> done [receipt: " + c.never.String() + "]", Sighting{Arrived: true, Place: InWords}, VerdictForeign, Info},
		"page copied to a file":        {cite(c.never), Sighting{Arrived: true, Place: InFile}, VerdictForeign, Info},
		"in base64":                    {"content: " + coded(c.ours.Token), Sighting{Place: InMessage}, VerdictValid, None},
		"in base64, earlier":           {"content: " + coded(c.earlier), Sighting{Place: InMessage}, VerdictReplayed, High},
		"in base64, invented":          {"content: " + coded(c.never), Sighting{Place: InMessage}, VerdictMalformed, Warn},
		"cut short":                    {cite(c.ours.Token)[:60], Sighting{}, VerdictMalformed, Warn},
		"altered":                      {"[receipt: " + strings.Replace(c.ours.Token.String(), "receipt-5", "receipt-05", 1) + "]", Sighting{}, VerdictMalformed, Warn},
		"out of form, from a page":     {"See zc-receipt-1_711-AAA.", Sighting{Arrived: true}, VerdictForeign, Info},
		"a number not in the result":   {"All 47 tests pass. [receipt: " + c.ours.Token.String() + "]", Sighting{}, VerdictMisplaced, Warn},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.rule(t, v.text, v.sighting)
			if r.Verdict != v.verdict || r.Severity != v.severity || r.Reason == "" {
				t.Errorf("%s, %s: %s; want %s, %s", r.Verdict, r.Severity, r.Reason, v.verdict, v.severity)
			}
		})
	}
}

// A Judge with nothing to go by calls no receipt valid, and does not fail.
func TestJudgeWithoutTables(t *testing.T) {
	c := newCourt(t)
	text := "[receipt: " + c.ours.Token.String() + "]"
	if r := (Judge{}).Rule(Sighting{Candidate: Find(text)[0], In: text}); r.Verdict != VerdictForged {
		t.Errorf("%+v", r)
	}
}

// Who can write into the log makes no receipt with it, while the table is there.
func TestJudgeTrustsTheTableMoreThanTheLedger(t *testing.T) {
	c := newCourt(t)
	j := c.judge()
	j.Ledger = func(t Token) (Record, bool) {
		return Record{Event: CallOK, Scope: "s/3-1", Tool: "Bash", Receipt: t}, true
	}
	text := "All pass [receipt: " + c.never.String() + "]"
	if r := j.Rule(Sighting{Candidate: Find(text)[0], In: text, Scope: "s/3-1"}); r.Verdict != VerdictForged || !strings.Contains(r.Reason, "wrote into the audit trail") {
		t.Errorf("%+v", r)
	}
}

// After a crash the table is gone and the log is there: a receipt of the
// attempt itself is good.
func TestJudgeByTheLedgerAlone(t *testing.T) {
	c := newCourt(t)
	j := Judge{Ledger: func(t Token) (Record, bool) {
		return Record{Event: CallOK, Scope: "s/3-1", ToolUseID: "toolu_1", Tool: "Bash", Receipt: t}, t == c.ours.Token
	}}
	text := c.ours.Token.String() + " " + c.never.String()
	found := Find(text)
	for i, want := range []Verdict{VerdictValid, VerdictForged} {
		if r := j.Rule(Sighting{Candidate: found[i], In: text, Scope: "s/3-1"}); r.Verdict != want {
			t.Errorf("%s: %s, want %s", r.Verdict, r.Reason, want)
		}
	}
}

// In zc-v1 one token can be of two calls, here of two attempts; each may cite it.
func TestOneTokenOfTwoCalls(t *testing.T) {
	book := NewBook(hexKey(t, ""), ZCv1)
	var token Token
	for _, scope := range []string{"s/3-1", "s/4-1"} {
		e, err := book.Issue(Call{Scope: scope, ToolUseID: "toolu_1", Tool: "Bash", Args: []byte(`{}`), Unix: 5})
		if err != nil {
			t.Fatal(err)
		}
		token = e.Token
	}
	text := token.String()
	at := Find(text)[0]
	verdict := func(scope string) Verdict {
		return Judge{Book: book}.Rule(Sighting{Candidate: at, In: text, Scope: scope}).Verdict
	}
	if got := verdict("s/4-1"); got != VerdictValid {
		t.Errorf("in the second attempt: %s", got)
	}
	if got := verdict("s/5-1"); got != VerdictReplayed {
		t.Errorf("in a third: %s", got)
	}
	book.Revoke("s/4-1", "toolu_1", "x")
	if got := verdict("s/4-1"); got != VerdictRevoked {
		t.Errorf("once revoked: %s", got)
	}
}

// TOKEN stands for a receipt of the call, OTHER for one of another call.
func TestMisplaced(t *testing.T) {
	c := newCourt(t)
	goTest := c.source
	for _, v := range []struct {
		text   string
		source Source
		accuse string // part of the reason; empty: none is made
	}{
		{"All 42 tests pass [receipt: TOKEN].", goTest, ""},
		{"All 47 tests pass [receipt: TOKEN].", goTest, `"47"`},
		{"All 47 tests pass.\n\n[receipt: TOKEN]", goTest, `"47"`},
		{"All 47 tests pass: TOKEN", goTest, `"47"`},
		{"TOKEN shows that 47 tests pass.", goTest, `"47"`},
		{"- lint: clean\n- tests: 47 passed (receipt: `TOKEN`)\n- 3 files", goTest, `"47"`},
		{"| tests | 47 | TOKEN |", goTest, `"47"`},
		{"The tests\npass, 47 of them [receipt: TOKEN]", goTest, `"47"`},
		{"fix: the cache\n\nMakes it 47% faster.\n\nReceipt: TOKEN\n", goTest, `"47%"`},
		{"**47** tests, p95 unchanged (receipt `TOKEN`)", goTest, `"47"`},
		{"47 tests pass.\r\n\r\n[receipt: TOKEN]", goTest, `"47"`},
		{"Results:\n```\n47 passed\n```\nReceipt: TOKEN shows it", goTest, ""},
		{"日本語 47 件 [receipt: TOKEN]", goTest, `"47"`},
		{"Latency went down to 45 ms [receipt: TOKEN].", goTest, `"45ms"`},
		{"Coverage is 87% [receipt: TOKEN].", goTest, `"87%"`},
		{"We handle 12,000 requests [receipt: TOKEN].", goTest, `"12000"`},

		// rounding, units, counting, computing
		{"Package b takes 104 ms [receipt: TOKEN].", goTest, ""},
		{"It takes 1.2 ms/op and 48 MB/s [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "1234567 ns/op 48123456 B/s"}, ""},
		{"It takes 1.3 ms/op [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "1234567 ns/op"}, `"1.3ms"`},
		{"The mean is 3.14 [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "mean 3.14159"}, ""},
		{"The mean is 3.15 [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "mean 3.14159"}, `"3.15"`},
		{"104 tests pass [receipt: TOKEN].", goTest, `"104"`},
		{"Package b takes 0.1s [receipt: TOKEN].", goTest, ""},
		{"Both packages take 0.012 and 0.104 s, 0.116 s in all [receipt: TOKEN].", goTest, ""},
		{"All 2 packages pass [receipt: TOKEN].", goTest, ""},
		{"0 failures, 100% green [receipt: TOKEN].", goTest, ""},
		{"It served 12,345 requests [receipt: TOKEN].", Source{Tool: "Bash", Input: "./load", Result: "requests: 12345"}, ""},
		{"41/42 pass, 97.6% [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "41 passed, 42 total"}, ""},
		{"39 of 42 pass [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "41 passed, 42 total"}, `"39"`},
		{"42 tests [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "\x1b[32m42\x1b[0m passing"}, ""},
		{"32 tests [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "\x1b[32m42\x1b[0m passing"}, `"32"`},
		{"42 tests [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: `{"stdout":"ran\n42 tests"}`}, ""},
		{"42 tests [receipt: TOKEN].", Source{Tool: "Bash", Input: "x", Result: "commit 3f42ab9"}, `"42"`},
		{"Ran it with 8 workers [receipt: TOKEN].", Source{Tool: "Bash", Input: "go test -parallel 8", Result: "ok"}, ""},

		// numbers that say nothing about the result
		{"fix: 3 crashes\n\nFixes 3 things and adds 5 tests.\n\nReceipt: TOKEN\n", goTest, ""},
		{"Met 2 criteria in 3 steps, exit 2 is gone [receipt: TOKEN].", goTest, ""},
		{"I fixed 3 bugs and the tests pass [receipt: TOKEN].", goTest, ""},
		{"Story 7 is done, line 112 was it [receipt: TOKEN].", goTest, ""},
		{"On 2026-11-30 at 10:30 with v1.2.3 the tests pass [receipt: TOKEN].", goTest, ""},
		{"3. The tests pass [receipt: TOKEN].", goTest, ""},
		{"About 40 tests pass, ~50 in all, more than 30 [receipt: TOKEN].", goTest, ""},
		{"`sleep 99` is gone and utf-8, sha256, #123 stay [receipt: TOKEN].", goTest, ""},
		{"On Nov 30 Go 1.26 passes [receipt: TOKEN].", goTest, ""},
		{"There are 99 stories. The tests pass [receipt: TOKEN]. 77 remain.", goTest, ""},
		{"Lint has 3 warnings; the tests pass [receipt: TOKEN], and 99 remain.", goTest, ""},

		// several receipts: unclear which is of what
		{"47 tests pass [receipt: TOKEN] [receipt: OTHER].", goTest, ""},
		{"47 tests pass [receipts: TOKEN and OTHER].", goTest, ""},
		{"42 tests pass. [receipt: TOKEN] 99 warnings remain. [receipt: OTHER]", goTest, ""},
		{"[receipt: TOKEN]", goTest, ""},

		// commands
		{"`npm test` passes [receipt: TOKEN].", goTest, `"npm test"`},
		{"eslint is clean [receipt: TOKEN].", goTest, `"eslint"`},
		{"go vet is clean [receipt: TOKEN].", goTest, `"go vet"`},
		{"`go test ./...` passes [receipt: TOKEN].", goTest, ""},
		{"go test and eslint pass [receipt: TOKEN].", goTest, ""},
		{"Now go and test it [receipt: TOKEN].", goTest, ""},
		{"go test passes [receipt: TOKEN].", Source{Tool: "Bash", Input: "cd x && CI=1 go -C y test -race ./...", Result: "ok"}, ""},
		{"jest passes [receipt: TOKEN].", Source{Tool: "Bash", Input: "npm test", Result: "ok"}, ""},
		{"go vet is clean [receipt: TOKEN].", Source{Tool: "Bash", Input: "cd x && make check", Result: "ok"}, ""},
		{"go vet is clean [receipt: TOKEN].", Source{Tool: "Bash", Input: "./ci.sh", Result: "ok"}, ""},
		{"go vet is clean [receipt: TOKEN].", Source{Tool: "Bash", Input: "cat ci.log", Result: "$ go vet ./...\n"}, ""},
		{"go vet is clean [receipt: TOKEN].", Source{Tool: "Agent", Input: "{}", Result: "done"}, ""},
		{"go test passes [receipt: TOKEN].", Source{Tool: "Read", Input: `{"file_path":"/w/x.go"}`, Result: "package x"}, `"go test"`},

		// what could run nothing
		{"All tests pass [receipt: TOKEN].", Source{Tool: "Bash", Input: "ls -l tests", Result: "a_test.go"}, `"tests pass"`},
		{"The test suite is green [receipt: TOKEN].", Source{Tool: "Write", Input: `{"file_path":"/w/a_test.go"}`, Result: "File created"}, `"test suite is green"`},
		{"The build succeeds [receipt: TOKEN].", Source{Tool: "Edit", Input: `{}`, Result: "updated"}, `"build succeeds"`},
		{"All tests pass [receipt: TOKEN].", Source{Tool: "Bash", Input: "ls && make", Result: "x"}, ""},
		{"All tests pass [receipt: TOKEN].", Source{Tool: "Bash", Input: "git commit -m x", Result: "x"}, ""},
		{"All tests pass [receipt: TOKEN].", Source{Tool: "Read", Input: `{"file_path":"ci.log"}`, Result: "ok"}, ""},
		{"All tests pass [receipt: TOKEN].", Source{Tool: "Write", Input: `{}`, Result: "hook: all tests pass"}, ""},
		{"Wrote the tests [receipt: TOKEN].", Source{Tool: "Write", Input: `{}`, Result: "File created"}, ""},
		{"Added a test that passes when x is 1 [receipt: TOKEN].", Source{Tool: "Write", Input: `{}`, Result: "File created"}, ""},

		// tools
		{"WebFetch shows it [receipt: TOKEN].", goTest, `"WebFetch"`},
		{"The Read tool shows it [receipt: TOKEN].", goTest, `"Read"`},
		{"mcp__github__get_issue says so [receipt: TOKEN].", goTest, `"mcp__github__get_issue"`},
		{"Read it, the Bash tool and WebFetch agree [receipt: TOKEN].", goTest, ""},
		{"Read the file and Write it [receipt: TOKEN].", goTest, ""},
	} {
		c.source = v.source
		text := strings.NewReplacer("TOKEN", c.ours.Token.String(), "OTHER", c.never.String()).Replace(v.text)
		r := c.rule(t, text, Sighting{Place: InWords})
		want := VerdictValid
		if v.accuse != "" {
			want = VerdictMisplaced
		}
		if r.Verdict != want || !strings.Contains(r.Reason, v.accuse) {
			t.Errorf("%q: %s (%s), cited for %q; want %s %s", v.text, r.Verdict, r.Reason, r.Sentence, want, v.accuse)
		}
	}
}

// A text of nothing but tokens is not read anew for each of them.
func TestSentenceLooksNoFurtherThanItMust(t *testing.T) {
	c := newCourt(t)
	text := strings.Repeat("é", 50_000) + " " + c.ours.Token.String() + " " + strings.Repeat("47 é", 50_000)
	r := c.rule(t, text, Sighting{})
	if n := len(r.Sentence); n == 0 || n > 2*Reach {
		t.Errorf("a sentence of %d bytes", n)
	}
	if len(claimedFigures(r.Sentence)) > mostFigures {
		t.Errorf("%d numbers", len(claimedFigures(r.Sentence)))
	}
}

// Without the call's result nothing is held against the sentence.
func TestMisplacedNeedsTheResult(t *testing.T) {
	c := newCourt(t)
	j := c.judge()
	j.Source = func(Entry) (Source, bool) { return Source{}, false }
	text := "All 47 tests pass [receipt: " + c.ours.Token.String() + "]."
	if r := j.Rule(Sighting{Candidate: Find(text)[0], In: text, Scope: "s/3-1"}); r.Verdict != VerdictValid {
		t.Errorf("%+v", r)
	}
}
