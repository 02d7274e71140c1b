package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-b23e517c/loop/policy"
)

// machine is what a few projects of one machine have sent out.
func machine() []Seen {
	at := func(hours int) time.Time { return morning.Add(-time.Duration(hours) * time.Hour) }
	shop, api := "/home/mara/shop", "/home/mara/services/internal/payments-api-gateway"
	session := func(project, name string) string {
		return "/home/mara/.claude/projects/-home-mara-" + project + "/" + name + ".jsonl"
	}
	list := []Seen{
		{Family: "package", Rule: "npm-publish", Undo: policy.UndoNone, Cwd: shop, Command: "npm publish --access public", Time: at(30)},
		{Family: "http", Rule: "curl-send", Undo: policy.UndoNone, Cwd: shop, Command: `curl -H "Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz" -d @report.json https://example.com/hook`, Time: at(40), Outcome: "failed"},
		{Family: "tools", Rule: "mcp-write", Cwd: shop, Tool: "mcp__slack__post_message", Command: `mcp__slack__post_message {"channel":"#dev","text":"deployed"}`},
		{Family: "git", Rule: "git-push", Undo: policy.UndoCorrection, Cwd: shop, Command: "git push origin main", Time: at(3)},
		{Family: "git", Rule: "git-push", Undo: policy.UndoCorrection, Cwd: shop, Command: "git push origin broken", Time: at(2), Outcome: "failed"},
		{Family: "infra", Rule: "kube-write", Undo: policy.UndoCorrection, Cwd: api, Command: "kubectl apply -f k8s/ --context production --namespace payments-api-gateway --server-side --force-conflicts", Time: at(100)},
		{Family: "git", Rule: "git-push", Undo: policy.UndoCorrection, Cwd: "/tmp/\x1b[2J\u202eevil", Command: "git push origin \x1b]0;x\x07\u202emain\r\nCannot be undone (0)", Time: at(9)},
		{Family: "house\x1b[31m", Rule: "own-ship", Undo: policy.UndoFull, Cwd: api, Command: "ship to prod", Time: at(50)},
		{Family: "forge", Rule: "gh-write", Undo: policy.UndoCorrection, Cwd: shop, Command: "gh pr create --fill", Evidence: policy.Blocked, Time: at(5)},
		{Family: "deploy", Rule: "platform-deploy", Undo: policy.UndoNone, Cwd: shop, Command: "Write deploy.sh", Evidence: policy.Written, Time: at(6)},
		{Tier: policy.Shared, Cwd: shop, Command: "git commit -m x"},
		{Evidence: policy.Mentioned, Cwd: shop, Command: "then git push"},
	}
	for i := range 11 {
		list = append(list, Seen{Family: "git", Rule: "git-push", Undo: policy.UndoCorrection, Cwd: api, Command: fmt.Sprintf("git push origin part-%d", i), Time: at(60 + i)})
	}
	for i := range list {
		s := &list[i]
		s.Line, s.ToolUseID, s.File = i+1, fmt.Sprintf("toolu_%d", i), session("shop", "11111111-1111-4111-8111-111111111111")
		if s.Cwd != shop {
			s.File = session("services", "22222222-2222-4222-8222-222222222222")
		}
		if s.Tool == "" {
			s.Tool = "Bash"
		}
		if s.Evidence == "" {
			s.Evidence = policy.Executed
		}
		if s.Tier == policy.Local {
			s.Tier = policy.External
		}
		if s.Outcome == "" && s.Evidence == policy.Executed {
			s.Outcome = "ok"
		}
	}
	return list
}

func outgoing(list []Seen) Outgoing {
	t := NewTally()
	for _, s := range list {
		t.Add(s)
	}
	o := t.Outgoing(func(_, cwd string) string { return cwd })
	o.Folder, o.Since, o.Until = "/home/mara/.claude/projects", morning.AddDate(0, 0, -30), morning
	o.Read = Read{Files: 14, Older: 3, Calls: 1204, Bytes: 1 << 20, Broken: 2, Oversize: 1, Opaque: 4}
	o.Unread = []Unread{{File: "/home/mara/.claude/projects/x/\x1b[2Jgone.jsonl", Error: "permission denied"}}
	return o
}

func TestOutgoingGolden(t *testing.T) {
	for _, width := range []int{0, 40, 80, 120} {
		for _, color := range []bool{false, true} {
			if width < 80 && color {
				continue
			}
			name := fmt.Sprintf("outgoing-%d", width)
			if color {
				name += "-color"
			}
			o := outgoing(machine())
			var b bytes.Buffer
			if err := o.Terminal(&b, "/home/mara", options(width, color)); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		}
	}
}

func TestOutgoingOfNothing(t *testing.T) {
	var b bytes.Buffer
	o := NewTally().Outgoing(func(_, cwd string) string { return cwd })
	o.Folder, o.Since, o.Until = "/x", morning, morning
	if err := o.Terminal(&b, "", options(80, false)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "No session file is that new.") {
		t.Errorf("printed:\n%s", b.String())
	}
	b.Reset()
	if err := o.JSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"schema": 1`, `"sent": []`, `"tried": []`, `"files": []`, `"unread": []`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestOutgoingJSONGolden(t *testing.T) {
	o := outgoing(machine())
	var b bytes.Buffer
	if err := o.JSON(&b); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Error("not JSON")
	}
	golden(t, "outgoing-json", b.Bytes())
}

func TestOutgoingCSV(t *testing.T) {
	list := machine()
	for i, c := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "a,\"b\"\n=c", "＝1"} {
		list = append(list, Seen{Tool: "Bash", ToolUseID: fmt.Sprint("x", i), Command: c, Rule: "=r", Family: "git", Tier: policy.External, Evidence: policy.Executed})
	}
	o := outgoing(list)
	var b bytes.Buffer
	if err := o.CSV(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "outgoing-csv", b.Bytes())
	if strings.ContainsAny(b.String(), "\x1b\x07\u202e\t") {
		t.Error("a cell holds what a terminal acts on")
	}
	if strings.Contains(b.String(), "abcdefghijklmnop") {
		t.Error("a secret is not masked")
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(list) - 2; len(rows) != want { // without the shared call and the words
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	for _, row := range rows {
		for _, c := range row {
			if c != "" && strings.ContainsRune("=+-@\t\r", rune(strings.TrimLeft(c+"x", " ")[0])) {
				t.Errorf("the cell %q is a formula", c)
			}
		}
	}
}

// Copies of a record count once, whichever comes first, and the copy that
// knows how the call ended is the one that counts.
func TestTallyCountsACallOnce(t *testing.T) {
	at := morning
	call := Seen{Tool: "Bash", ToolUseID: "t1", Command: "git push", Rule: "git-push", Family: "git", Undo: policy.UndoCorrection, Tier: policy.External, Evidence: policy.Executed, Outcome: "unknown", File: "a", Time: at}
	with := func(change func(*Seen)) Seen { s := call; change(&s); return s }
	ok := with(func(s *Seen) { s.File, s.Outcome = "b", "ok" })
	blocked := with(func(s *Seen) { s.File, s.Evidence, s.Outcome = "c", policy.Blocked, "" })
	spaced := with(func(s *Seen) { s.Command, s.File = "git  push ", "d" })
	other := with(func(s *Seen) { s.Command = "git push --force" })
	shared := with(func(s *Seen) { s.Tier, s.ToolUseID = policy.Shared, "t2" })
	words := with(func(s *Seen) { s.Evidence, s.ToolUseID = policy.Mentioned, "" })
	words2 := with(func(s *Seen) { s.Evidence, s.ToolUseID, s.File, s.Line = policy.Mentioned, "", "z", 9 })
	for name, c := range map[string]struct {
		list                          []Seen
		sent, tried, shared, mentions int
	}{
		"copies":          {[]Seen{call, ok, call}, 1, 0, 0, 0},
		"written anew":    {[]Seen{call, spaced}, 1, 0, 0, 0},
		"blocked is more": {[]Seen{call, blocked}, 0, 1, 0, 0},
		"it ran":          {[]Seen{blocked, ok, call}, 1, 0, 0, 0},
		"another command": {[]Seen{call, other}, 2, 0, 0, 0},
		"shared":          {[]Seen{shared, shared}, 0, 0, 1, 0},
		"words":           {[]Seen{words, words2}, 0, 0, 0, 1},
		"everything":      {[]Seen{call, ok, blocked, other, shared, words, words2}, 2, 0, 1, 1},
	} {
		for range 4 {
			rand.Shuffle(len(c.list), func(i, j int) { c.list[i], c.list[j] = c.list[j], c.list[i] })
			o := outgoing(c.list)
			got := [4]int{Count(o.Sent), Count(o.Tried), o.Shared, o.Mentions}
			if want := [4]int{c.sent, c.tried, c.shared, c.mentions}; got != want {
				t.Errorf("%s: sent, tried, shared, mentions are %v, want %v", name, got, want)
			}
		}
	}
}

func TestTallyDoesNotDependOnOrder(t *testing.T) {
	list := append(machine(), machine()...)
	for i := range list {
		if i%3 == 0 {
			list[i].File += ".fork"
		}
	}
	want := outgoing(list)
	for range 10 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		got := outgoing(list)
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Outgoing{}, Group{})); d != "" {
			t.Fatalf("another order, another result:\n%s", d)
		}
	}
}

func TestTallyKeepsLittleOfALongCommand(t *testing.T) {
	long := "git push " + strings.Repeat("ä", 10000) + " token=abcdefghijklmnop1234567890"
	o := outgoing([]Seen{{Command: long, ToolUseID: "1", Tier: policy.External, Evidence: policy.Executed}})
	if got := o.Sent[0].Example; len(got) > maxTallied+3 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d bytes are kept: …%q", len(got), got[len(got)-8:])
	}
}

func TestFamilyOfRulesInNoPack(t *testing.T) {
	for rule, want := range map[string]string{"mcp-write": "tools", "opaque-script": "opaque", "net-redirect": "http", "client-vcs-push": "git"} {
		if got := Family("engine", rule); got != want {
			t.Errorf("%s is of family %q, want %q", rule, got, want)
		}
	}
	if got := Family("git", "git-push"); got != "git" {
		t.Errorf("git-push is of family %q", got)
	}
}
