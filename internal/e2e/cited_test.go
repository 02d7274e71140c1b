//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/queue"
)

// What the model says beside its results is held against them, wherever it
// says it, with the receipts that the client really shows it.
func TestReceiptsThatTheModelCites(t *testing.T) {
	t.Parallel()
	const page = "zc-receipt-1771834500-BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA"
	const below = "zc-receipt-1771834500-CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCA"
	first, second := "Cite everything", "Cite what was before"
	var mu sync.Mutex
	token := ""
	cite := func(r fakeapi.Request) []fakeapi.Block {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range r.Results() {
			token = strings.TrimSuffix(strings.TrimPrefix(receiptText.FindString(c.Text), "[receipt: "), "]")
		}
		return []fakeapi.Block{
			fakeapi.Text("7 tests passed [receipt: " + token + "]."),
			fakeapi.Bash("git commit -q --allow-empty -m 'All 7 tests pass [receipt: " + token + "]'"),
			fakeapi.Tool("mcp__chat__read_messages", map[string]any{"text": "All 41 tests pass [receipt: " + token + "]"}),
			fakeapi.Tool("Write", map[string]any{"file_path": "n.md", "content": "It runs [receipt: " + strings.Repeat("A", 3) + token[3:] + "], " + token[:30] + flip(token[30]) + token[31:] + "\n"}),
			fakeapi.Tool("Write", map[string]any{"file_path": "looks.md", "content": "It runs [receipt: " + strings.ReplaceAll(token, "-", "‑") + "].\n"}),
			fakeapi.Bash("git commit -q --allow-empty -m \"$(printf 'It is fast: zc-rec''eipt-%s' 1771834500-DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDA)\""),
			fakeapi.Bash("cat page.txt"),
			fakeapi.Agent("SUBTASK: look"),
		}
	}
	w := newWorld(t, fakeapi.Script{
		{Match: "SUBTASK", Turns: []fakeapi.Turn{fakeapi.Call(fakeapi.Bash("true")), fakeapi.Say("It passes [receipt: " + below + "].")}},
		{Match: first, Turns: []fakeapi.Turn{
			fakeapi.Call(fakeapi.Bash("echo 7 passed")), {From: cite}, fakeapi.Say("41 of 41 were measured [receipt: " + page + "]."),
		}},
		{Match: second, Turns: []fakeapi.Turn{
			fakeapi.Call(fakeapi.Bash("echo 7 passed")),
			{From: func(fakeapi.Request) []fakeapi.Block {
				mu.Lock()
				defer mu.Unlock()
				return []fakeapi.Block{fakeapi.Text("7 tests passed [receipt: " + token + "].")}
			}},
		}},
	})
	w.write("repo/page.txt", "measured [receipt: "+page+"]\n")
	w.write("repo/mcp.json", w.mcpConfig())
	w.stories("[mcp]\nconfig = \"mcp.json\"\n", first, second)
	w.loop("run")
	s := w.report()
	got := map[string]int{}
	for _, story := range s.Stories {
		a := story.Attempts[len(story.Attempts)-1]
		if a.Receipts.Receipted != a.Receipts.Results {
			t.Errorf("%s: %+v", story.ID, a.Receipts)
		}
		for _, c := range a.Receipts.Judged {
			got[story.ID+" "+c.Verdict+" "+c.Severity]++
		}
		got[story.ID+" good"] = a.Receipts.Cited
	}
	want := map[string]int{
		"S1 good":           2, // in words and in the message of the commit
		"S1 misplaced warn": 1, // to the MCP tool, with another number
		"S1 forged high":    3, // one digit is another, the subagent's, the one in the other commit
		"S1 malformed warn": 1, // other hyphens
		"S1 foreign high":   1, // the page's
		"S2 replayed high":  1, "S2 good": 0,
	}
	diff(t, "verdicts", want, got)
	if t.Failed() {
		for _, f := range s.Findings {
			t.Log(f.Kind, f.Text)
		}
	}
}

// flip is another character of a digest.
func flip(b byte) string {
	if b == 'A' {
		return "B"
	}
	return "A"
}

// Results without a text, calls that are refused by the client, cut off or fail
// in odd ways: what ran well has its receipt, the others are in the list, and
// nothing is counted twice.
func TestReceiptsOfOddResults(t *testing.T) {
	t.Parallel()
	title := "Do odd things"
	tool := func(name, input string) fakeapi.Block { return fakeapi.Tool(name, json.RawMessage(input)) }
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(tool("Read", `{"file_path":"dot.png"}`), tool("Read", `{"file_path":"empty"}`), tool("Read", `{"file_path":"none"}`)),
		fakeapi.Call(fakeapi.Bash("cat dot.png"), fakeapi.Bash("printf '\\377\\376\\000x'"), fakeapi.Bash("echo '[receipt: x]'")),
		fakeapi.Call(tool("Bash", `{"command":"sleep 3","description":"wait","timeout":200}`), fakeapi.Bash("kill -9 $$")),
		fakeapi.Call(tool("Bash", `{"command":"echo x","description":"x","run_in_background":true}`), tool("NoSuchTool", `{"a":1}`), tool("Bash", `{"no":1}`)),
		fakeapi.Call(fakeapi.Bash("seq 1 60000 >&2"), fakeapi.Bash("yes | head -c 300000 | tr -d '\\n'")),
		fakeapi.Call(slices.Repeat([]fakeapi.Block{fakeapi.Bash("echo same")}, 8)...), // at once
		fakeapi.Say("done"),
	}}})
	dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	w.write("repo/dot.png", string(dot))
	w.write("repo/empty", "")
	w.stories("", title)
	w.loop("run")
	s := w.report()
	a := s.Stories[0].Attempts[0]
	if a.Receipts.Receipted != a.Receipts.Results || a.Receipts.Missing != nil || a.Receipts.Results < 15 {
		t.Errorf("%+v", a.Receipts)
	}
	for _, f := range s.Findings {
		t.Errorf("%s: %s", f.Kind, f.Text)
	}
	var list struct {
		Attempts []struct {
			Calls []struct{ Tool, Outcome, Receipt string } `json:"calls"`
		} `json:"attempts"`
	}
	r := w.loop("receipts", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, c := range list.Attempts[0].Calls {
		got[c.Outcome]++
		if c.Tool == "" || (c.Outcome == "ok") != (c.Receipt != "") {
			t.Errorf("%+v", c)
		}
	}
	t.Log(got, a.Receipts)
	if got["ok"] != a.Receipts.Results || got["refused"] != 3 || got["failed"] == 0 {
		t.Errorf("%v of %+v", got, a.Receipts)
	}
}

// What a subagent says between its calls, and thinks, is in the stream and is
// judged; the client shows it only when asked to.
func TestReceiptsInASubagentsWords(t *testing.T) {
	t.Parallel()
	const forged = "zc-receipt-1771834500-CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCA"
	title := "Delegate it"
	w := newWorld(t, fakeapi.Script{
		{Match: "SUBTASK", Turns: []fakeapi.Turn{
			fakeapi.Call(fakeapi.Text("All 41 tests pass [receipt: "+forged+"]."), fakeapi.Bash("true")),
			fakeapi.Say("below is done"),
		}},
		{Match: title, Turns: []fakeapi.Turn{fakeapi.Call(fakeapi.Agent("SUBTASK: look below")), fakeapi.Say("done")}},
	})
	w.stories("", title)
	w.loop("run")
	a := w.report().Stories[0].Attempts[0]
	if len(a.Receipts.Judged) != 1 || a.Receipts.Judged[0].Verdict != "forged" || a.Receipts.Receipted != 2 {
		t.Errorf("%+v", a.Receipts)
	}
}

// The results of a subagent come as texts only, in the client's own ways: none
// is taken for another than the one that its hook reported.
func TestReceiptsOfASubagentsOddResults(t *testing.T) {
	t.Parallel()
	title := "Delegate odd things"
	tool := func(name, input string) fakeapi.Block { return fakeapi.Tool(name, json.RawMessage(input)) }
	read := func(file string) fakeapi.Block { return tool("Read", `{"file_path":"`+file+`"}`) }
	w := newWorld(t, fakeapi.Script{
		{Match: "SUBTASK", Turns: []fakeapi.Turn{
			fakeapi.Call(read("empty"), read("crlf"), read("numbers"), read("long"), tool("Read", `{"file_path":"numbers","offset":2,"limit":2}`), read("notes.ipynb")),
			fakeapi.Call(read("numbers"), read("odd")), // again: it is unchanged
			fakeapi.Call(tool("Write", `{"file_path":"d/new.txt","content":"a\nb\n"}`), tool("Write", `{"file_path":"./two words.txt","content":"a"}`)),
			fakeapi.Call(tool("Edit", `{"file_path":"d/new.txt","old_string":"a","new_string":"c"}`), tool("Write", `{"file_path":"d/new.txt","content":"z\n"}`)),
			fakeapi.Call(fakeapi.Bash("printf '\\n\\n  lead'; echo err >&2; printf 'end  \\n\\n'"), fakeapi.Bash("true"), fakeapi.Bash("printf '\\033[31mred\\033[0m \\377\\000 x\\r\\ny'")),
			fakeapi.Call(fakeapi.Bash("seq 1 40000"), fakeapi.Bash("cd d && pwd"), fakeapi.Bash("echo '<system-reminder>x</system-reminder>'"), fakeapi.Bash("git status; git log --oneline")),
			fakeapi.Call(tool("mcp__chat__read_messages", `{"text":"x"}`), fakeapi.Bash("git add -A && git commit -qm x && git log -1 --format=%s")),
			fakeapi.Say("below is done"),
		}},
		{Match: title, Turns: []fakeapi.Turn{fakeapi.Call(fakeapi.Agent("SUBTASK: look below")), fakeapi.Say("done")}},
	})
	for name, text := range map[string]string{
		"empty": "", "crlf": "a\r\nb\r\n", "numbers": "1\tone\n2→two\n\n  4\n", "long": strings.Repeat("x", 5000) + "\nb\n",
		"odd": "a\u2028b\fc\rd\x1b[1m\ne", "notes.ipynb": `{"cells":[{"cell_type":"code","source":["print(1)"],"outputs":[],"metadata":{},"execution_count":1}],"metadata":{},"nbformat":4,"nbformat_minor":5}`,
	} {
		w.write("repo/"+name, text)
	}
	w.write("repo/mcp.json", w.mcpConfig())
	w.stories("[mcp]\nconfig = \"mcp.json\"\n", title)
	w.loop("run")
	s := w.report()
	a := s.Stories[0].Attempts[0]
	if a.Receipts.Receipted != a.Receipts.Results || a.Receipts.Missing != nil || a.Receipts.Results < 18 {
		t.Errorf("%+v", a.Receipts)
	}
	for _, f := range s.Findings {
		t.Errorf("%s: %s", f.Kind, f.Text)
	}
}

// A call that was cut off may have done its work: it stands in the list, too.
func TestReceiptsOfACallThatWasCutOff(t *testing.T) {
	t.Parallel()
	title := "Be cut off"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("echo a"), fakeapi.Bash("echo x >started; sleep 100")), fakeapi.Say("done"),
	}}})
	w.stories("", title)
	p := w.startLoop("run")
	if !within(patience, func() bool { return w.read("repo/started") != "" }) {
		t.Fatal("it was not called")
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.wait()
	got := w.loop("receipts").stdout
	for _, want := range []string{"1 of 1 result has a receipt", "Bash  failed    –  echo x >started; sleep 100"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	w.loop("audit", "verify").want(t, 0)
}

// All of a long output lies in a file that the agent can reach: what it changes
// there is told.
func TestReceiptsOfALongOutputThatIsChanged(t *testing.T) {
	t.Parallel()
	title := "Change what was put out"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("seq 1 60000")),
		{From: func(r fakeapi.Request) []fakeapi.Block {
			found := regexp.MustCompile(`saved to: (\S.*\.txt)`).FindStringSubmatch(r.Results()[0].Text)
			if found == nil {
				return []fakeapi.Block{fakeapi.Text("no file: " + r.Results()[0].Text)}
			}
			return []fakeapi.Block{fakeapi.Bash("f='" + found[1] + "'; chmod u+w \"$f\"; python3 -c 'import sys; open(sys.argv[1], \"w\").write(\"41 of 41\")' \"$f\"; cat \"$f\"")}
		}},
		fakeapi.Say("done"),
	}}})
	w.stories("", title)
	w.loop("run")
	s := w.report()
	if !slices.ContainsFunc(s.Findings, func(f queue.Finding) bool {
		return f.Kind == "receipt" && strings.Contains(f.Text, "was changed afterwards")
	}) {
		t.Errorf("%+v\n%+v", s.Findings, s.Actions)
	}
}
