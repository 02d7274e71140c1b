package policy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestTools holds the verdict of calls of many tools.
func TestTools(t *testing.T) {
	data, err := os.ReadFile("testdata/tools.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Verdict{"X": VerdictExternal, "S": VerdictShared, "L": VerdictLocal, "M": VerdictMention}
	s := builtin(t)
	for i, line := range strings.Split(string(data), "\n") {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			continue
		}
		r := s.Classify(Call{Tool: f[1], Input: json.RawMessage(f[2])})
		if r.Verdict != want[f[0]] {
			t.Errorf("testdata/tools.txt:%d: %s %s is %s by %v, want %s", i+1, f[1], f[2], r.Verdict, r.Rules(), want[f[0]])
		}
	}
}

func TestEvidence(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct {
		tool, input string
		verdict     Verdict
		tier        Tier
		evidence    Evidence
		net         bool
	}{
		{"Bash", `{"command":"git push"}`, VerdictExternal, External, Executed, false},
		{"Bash", `{"command":"git commit -m x"}`, VerdictShared, Shared, Executed, false},
		{"Bash", `{"command":"git fetch"}`, VerdictLocal, Local, Executed, true},
		{"Bash", `{"command":"ls"}`, VerdictLocal, Local, "", false},
		{"Bash", `{"command":"echo git push"}`, VerdictMention, Local, Mentioned, false},
		{"Write", `{"file_path":"r.sh","content":"npm publish\n"}`, VerdictMention, Local, Written, false},
		{"Write", `{"file_path":"x.py","content":"import requests\nrequests.post('https://x.example.com')\n"}`, VerdictMention, Local, Written, false},
		{"Write", `{"file_path":"a.txt","content":"hello"}`, VerdictLocal, Local, "", false},
		{"WebFetch", `{"url":"https://example.com","prompt":"x"}`, VerdictLocal, Local, Executed, true},
		{"Task", `{"prompt":"run git push"}`, VerdictMention, Local, Mentioned, false},
		{"mcp__x__y", `{}`, VerdictExternal, External, Executed, false},
		{"Bash", `{"command":`, VerdictLocal, Local, "", false},
		{"Bash", `{"command": "git push`, VerdictExternal, External, Executed, false},
	} {
		r := s.Classify(Call{Tool: c.tool, Input: json.RawMessage(c.input)})
		if r.Verdict != c.verdict || r.Tier != c.tier || r.Evidence != c.evidence || r.Net != c.net {
			t.Errorf("%s %s: %s %s %q net=%v %v", c.tool, c.input, r.Verdict, r.Tier, r.Evidence, r.Net, r.Rules())
		}
	}
}

func TestCommandOf(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"git push","description":"x"}`, "git push"},
		{"Write", `{"file_path":"scripts/x.sh","content":"y"}`, "Write scripts/x.sh"},
		{"mcp__slack__post_message", `{"text":"hi"}`, `mcp__slack__post_message {"text":"hi"}`},
		{"shell", `{"command":["git","push"]}`, `'git' 'push'`},
		{"WebFetch", `{"url":"https://example.com"}`, "WebFetch https://example.com"},
		{"X", `torn`, "X torn"},
	} {
		if got := CommandOf(Call{Tool: c.tool, Input: json.RawMessage(c.input)}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	e := builtin(t).Explain("cd x && sudo git push # then npm publish\npython3 -c 'import os; os.system(\"gh pr create\")'\nf() { npm publish; }")
	if e.Result.Verdict != VerdictExternal {
		t.Errorf("verdict %s", e.Result.Verdict)
	}
	var push, code, defined *Node
	for i := range e.Nodes {
		switch n := &e.Nodes[i]; n.Argv[0] {
		case "git":
			push = n
		case "python3":
			code = n
		case "npm":
			defined = n
		}
	}
	if push == nil || push.Verdict != VerdictExternal || len(push.Wrappers) != 1 || push.Wrappers[0] != "sudo" {
		t.Errorf("push: %+v", push)
	}
	if code == nil || len(code.Children) != 1 || code.Children[0].Argv[0] != "gh" {
		t.Errorf("code: %+v", code)
	}
	if defined == nil || !defined.Defined || defined.Verdict != VerdictMention {
		t.Errorf("defined: %+v", defined)
	}
	if len(e.Texts) != 1 {
		t.Errorf("texts: %q", e.Texts)
	}
}
