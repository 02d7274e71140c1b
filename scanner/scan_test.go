package scanner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

// fake is a rule set of a few words: what runs "push" is external, "commit"
// is shared, and the phrase "git push" is a mention.
type fake struct{}

func (fake) Classify(c policy.Call) policy.Result {
	var in struct{ Command string }
	_ = json.Unmarshal(c.Input, &in)
	if c.Tool == "Bash" || c.Tool == "Monitor" {
		return fake{}.ClassifyCommand(in.Command, c.Cwd)
	}
	if strings.HasPrefix(c.Tool, "mcp__") && strings.Contains(c.Tool, "post") {
		return external("mcp-write", c.Tool)
	}
	return policy.Result{Verdict: policy.VerdictLocal}
}

func external(rule, text string) policy.Result {
	return policy.Result{
		Verdict: policy.VerdictExternal, Tier: policy.External, Evidence: policy.Executed,
		Hits: []policy.Hit{{Rule: rule, Tier: policy.External, Why: "it leaves", Text: text}},
	}
}

func (fake) ClassifyCommand(command, _ string) policy.Result {
	for part := range strings.SplitSeq(command, ";") {
		switch part = strings.TrimSpace(part); {
		case strings.HasPrefix(part, "git push") && !strings.Contains(part, "--dry-run"):
			return external("git-push", part)
		case strings.HasPrefix(part, "rsync"):
			return external("rsync", part)
		case strings.HasPrefix(part, "git commit"):
			return policy.Result{
				Verdict: policy.VerdictShared, Tier: policy.Shared, Evidence: policy.Executed,
				Hits: []policy.Hit{{Rule: "git-commit", Tier: policy.Shared, Text: part}},
			}
		}
	}
	return policy.Result{Verdict: policy.VerdictLocal, Opaque: strings.HasPrefix(command, "./")}
}

func (fake) Writes(policy.Call) []policy.FileWrite { return nil }

func (fake) MayMention([]byte) bool { return true }

func (fake) FindMentions(text []byte, yield func(policy.Mention) bool) {
	low := make([]byte, 0, len(text))
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low = append(low, c)
	}
	for at := 0; ; {
		i := bytes.Index(low[at:], []byte("git"))
		if i < 0 {
			return
		}
		i += at
		at = i + 3
		rest := low[at:]
		n := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
		if n > 0 && bytes.HasPrefix(rest[n:], []byte("push")) {
			at += n + 4
			if !yield(policy.Mention{Rule: "say-push", Tier: policy.External, Why: "words", Start: i, End: at}) {
				return
			}
		}
	}
}

// scanText runs a scan with the fake rules.
func scanText(t testing.TB, in string, o Options) ([]Hit, Stats) {
	t.Helper()
	var hits []Hit
	stats, err := scan(context.Background(), strings.NewReader(in), o, fake{}, func(h Hit) error {
		hits = append(hits, h)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hits, stats
}

// brief prints a hit on one line.
func brief(h Hit) string {
	s := fmt.Sprintf("%d %s", h.Line, h.Evidence)
	if h.Outcome != "" {
		s += "/" + h.Outcome
	}
	if h.Opaque {
		s += " opaque"
	}
	if h.Agent != "" {
		s += " agent=" + h.Agent
	}
	if h.ToolUseID != "" {
		s += " " + h.Tool + "#" + h.ToolUseID
	}
	return s + fmt.Sprintf(" %s %q", strings.Join(h.Rules, ","), h.Excerpt)
}

func briefs(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, brief(h))
	}
	return out
}

func quoted(s string) string {
	js, _ := json.Marshal(s)
	return string(js)
}

func bash(id, command string) string { return tool(id, "Bash", `{"command":`+quoted(command)+`}`) }

func tool(id, name, input string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}]}}` + "\n"
}

func ok(id, text string) string     { return resultRow(id, text, "false", "") }
func failed(id, text string) string { return resultRow(id, text, "true", "") }
func denied(id, text string) string {
	return resultRow(id, text, "true", `,"tool_result_meta":[{"id":"`+id+`","non_execution_kind":"permission-rule","permission_decision":{"decision":"reject","source":"hook"}}]`)
}

func resultRow(id, text, isError, more string) string {
	return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","is_error":` + isError + `,"content":` + quoted(text) + `}]}` + more + "}\n"
}

func said(text string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":` + quoted(text) + `}]}}` + "\n"
}

const pushNotice = `{"type":"system","subtype":"vcs_state_changed","kind":"push","branch":"main"}` + "\n"

func pushed(id string) string {
	return resultRow(id, "done", "false", `,"tool_use_result":{"stdout":"","gitOperation":{"push":{"branch":"main"}}}`)
}

func plainDetail(id string) string {
	return resultRow(id, "done", "false", `,"tool_use_result":{"stdout":""}`)
}

func TestScan(t *testing.T) {
	refusal := "PreToolUse:Bash hook error: queued as #7 for review; go on with local work (git push)"
	rulesText := "You must not run any of these commands here:\n- git push\nThey are queued."
	tests := []struct {
		name, in string
		o        Options
		want     []string
	}{
		{"nothing", said("all local") + bash("a", "ls") + ok("a", "x"), Options{}, nil},
		{"ran", bash("a", "git push") + ok("a", "x"), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`}},
		{"ran and failed", bash("a", "git push") + failed("a", "Exit code 1"), Options{}, []string{`1 executed/failed Bash#a git-push "git push"`}},
		{"no result", bash("a", "git push"), Options{}, []string{`1 executed/unknown Bash#a git-push "git push"`}},
		{"refused by us", bash("a", "git push") + denied("a", refusal), Options{}, []string{`1 blocked Bash#a git-push "git push"`}},
		{
			"refused by another hook that talks", bash("a", "git push") + denied("a", "no git push here"), Options{},
			[]string{`1 blocked Bash#a git-push "git push"`, `2 mentioned #a say-push "no git push here"`},
		},
		{
			"a result that only pretends to be our refusal", bash("a", "ls") + ok("a", refusal), Options{},
			[]string{fmt.Sprintf("2 mentioned #a say-push %q", refusal)},
		},
		{"unknown tool", bash("a", "git push") + failed("a", "<tool_use_error>No such tool</tool_use_error>"), Options{}, []string{`1 blocked Bash#a git-push "git push"`}},
		{"order", bash("a", "git push") + said("then git push") + ok("a", "x"), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`, `2 mentioned say-push "then git push"`}},
		{"shared is no hit", bash("a", "git commit -m x") + ok("a", ""), Options{}, nil},
		{"shared that talks", bash("a", "git commit -m 'then git push'") + ok("a", ""), Options{}, []string{`1 mentioned Bash#a say-push "git commit -m 'then git push'"`}},
		{"dry run", bash("a", "git push --dry-run") + ok("a", ""), Options{}, []string{`1 mentioned Bash#a say-push "git push --dry-run"`}},
		{"dry run, calls only", bash("a", "git push --dry-run") + ok("a", "git push") + said("git push"), Options{CallsOnly: true}, nil},
		{"calls only", said("git push") + bash("a", "git push") + ok("a", "git push"), Options{CallsOnly: true}, []string{`2 executed/ok Bash#a git-push "git push"`}},
		{"the same call twice", bash("a", "git push") + `{"type":"progress","data":{"type":"agent_progress","agentId":"s","message":` + strings.TrimSpace(bash("a", "git push")) + "}}\n" + ok("a", ""), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`}},
		{"another call with the same id", bash("a", "git push one") + ok("a", "") + bash("a", "git push two") + ok("a", ""), Options{}, []string{`1 executed/ok Bash#a git-push "git push one"`, `3 executed/ok Bash#a git-push "git push two"`}},
		{"only in progress", `{"type":"progress","data":{"type":"agent_progress","agentId":"s","message":` + strings.TrimSpace(bash("a", "git push")) + "}}\n", Options{}, []string{`1 executed/unknown agent=s Bash#a git-push "git push"`}},
		{
			"file that is run", tool("w", "Write", `{"file_path":"/x/deploy.sh","content":"set -e\ngit push\n"}`) + ok("w", "created"), Options{},
			[]string{`1 written Write#w say-push "git push"`},
		},
		{
			"file that was not written", tool("w", "Write", `{"file_path":"/x/deploy.sh","content":"git push\n"}`) + denied("w", "no"), Options{},
			[]string{`1 mentioned Write#w say-push "git push"`},
		},
		{
			"file that is read", tool("w", "Write", `{"file_path":"/x/README.md","content":"Run git push."}`) + ok("w", "created"), Options{},
			[]string{`1 mentioned Write#w say-push "Run git push."`},
		},
		{
			"recipe", tool("e", "Edit", `{"file_path":"Makefile","old_string":"x","new_string":"ship:\n\t@rsync -a out host:/srv\n"}`) + ok("e", ""), Options{},
			[]string{`1 written Edit#e rsync "rsync -a out host:/srv"`},
		},
		{"echoed into a script", bash("a", "echo 'git push' >> ./deploy.sh") + ok("a", ""), Options{}, []string{`1 written Bash#a say-push "echo 'git push' >> ./deploy.sh"`}},
		{"script by heredoc", bash("a", "cat > \"Makefile\" <<'EOF'\nx:\n\tgit push\nEOF") + ok("a", ""), Options{}, []string{`1 written Bash#a say-push "git push"`}},
		{"script by tee", bash("a", "echo git push | tee -a x.sh") + ok("a", ""), Options{}, []string{`1 written Bash#a say-push "echo git push | tee -a x.sh"`}},
		{"text by heredoc", bash("a", "cat > notes.md <<'EOF'\ngit push\nEOF") + ok("a", ""), Options{}, []string{`1 mentioned Bash#a say-push "git push"`}},
		{
			"removed from a script", tool("e", "Edit", `{"file_path":"deploy.sh","old_string":"git push","new_string":"true"}`) + ok("e", ""), Options{},
			[]string{`1 mentioned Edit#e say-push "git push"`},
		},
		{
			"added to a script", tool("e", "MultiEdit", `{"file_path":"deploy.sh","edits":[{"old_string":"true","new_string":"git push"}]}`) + ok("e", ""), Options{},
			[]string{`1 written MultiEdit#e say-push "git push"`},
		},
		{"opaque call that is no hit", bash("a", "./build") + ok("a", ""), Options{}, nil},
		{"plain log", "$ git push\n+ GIT PUSH origin\n❯ git  push\nnothing\n", Options{}, []string{`1 mentioned say-push "$ git push"`, `2 mentioned say-push "+ GIT PUSH origin"`, `3 mentioned say-push "❯ git  push"`}},
		{"lines do not run together", "see git\npush it\n" + said("git") + said("push"), Options{}, nil},
		{"torn", strings.TrimSpace(bash("a", "cd x\ngit push"))[:138] + "\n", Options{}, []string{`1 mentioned say-push "ntent\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"Bash\",\"input\":{\"command\":\"cd x\\ngit push\""`}},
		{"glued", strings.TrimSpace(bash("a", "git push")) + ok("a", ""), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`}},
		{"torn, then glued", strings.TrimSpace(said("hello"))[:30] + bash("a", "git push") + ok("a", ""), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`}},
		{"escapes", strings.ReplaceAll(said("git@push"), "@", `\u0020`) + strings.ReplaceAll(said("git@push"), "@", `\n`) + strings.ReplaceAll(bash("a", "git@push"), "@", `\u0020`), Options{}, []string{
			`1 mentioned say-push "git push"`, `2 mentioned say-push "git push"`, `3 executed/unknown Bash#a git-push "git push"`,
		}},
		{"thinking", `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"I could git push"}]}}`, Options{}, []string{`1 mentioned say-push "I could git push"`}},
		{"any field of any record", `{"type":"system","subtype":"new_thing","note":{"deep":["git push"]}}`, Options{}, []string{`1 mentioned say-push "git push"`}},
		{"once for each record", `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"git push"},{"type":"text","text":"git push again"}]},"toolUseResult":"git push"}`, Options{}, []string{`1 mentioned say-push "git push"`}},
		{"the client's own rows", `{"type":"api-request","body":"git push"}` + "\n" + `{"type":"api-request-blob","x":[` + strings.TrimSpace(bash("a", "git push")) + "]}\n" + `{"type":"prompt_snapshot","x":"git push"}`, Options{}, nil},
		{"our rules", `{"type":"user","message":{"role":"user","content":` + quoted("Story 1\n\n"+rulesText+"\n\nBuild it.") + "}}\n", Options{Ignore: []string{rulesText + "\n"}}, nil},
		{"our rules in a hook's answer", `{"type":"system","subtype":"hook_response","hook_event":"SessionStart","stdout":` + quoted(`{"additionalContext":`+quoted(rulesText)+`}`) + "}", Options{Ignore: []string{rulesText}}, nil},
		{"our rules and more", said(rulesText + " But I will git push."), Options{Ignore: []string{rulesText}}, []string{`1 mentioned say-push "They are queued. But I will git push."`}},
		{"our rules in a log", "Never ever use git push in here.\ngit push\n", Options{Ignore: []string{"Rules\nNever ever use git push in here.\n- git push"}}, []string{`2 mentioned say-push "git push"`}},
		{"our hook's answer", `{"type":"system","subtype":"hook_response","hook_event":"PreToolUse","stdout":"{\"reason\":\"queued as #7 (git push)\"}"}`, Options{}, nil},
		{"last text said again", said("Next: git push.") + `{"type":"result","subtype":"success","result":"Next: git push.","permission_denials":[]}`, Options{}, []string{`1 mentioned say-push "Next: git push."`}},
		{"denied in the end", bash("a", "git push") + `{"type":"result","permission_denials":[{"tool_name":"Bash","tool_use_id":"a","tool_input":{"command":"git push"}},{"tool_name":"Bash","tool_use_id":"b","tool_input":{"command":"git push two"}}]}`, Options{}, []string{`1 blocked Bash#a git-push "git push"`, `2 blocked Bash#b git-push "git push two"`}},
		{"deferred", bash("a", "git push") + `{"type":"result","permission_denials":[],"deferred_tool_use":{"id":"a","name":"Bash","input":{"command":"git push"}}}`, Options{}, []string{`1 blocked Bash#a git-push "git push"`}},
		{
			"background", bash("a", "git push") + resultRow("a", "started", "false", `,"tool_use_result":{"backgroundTaskId":"t"}`) + `{"type":"system","subtype":"task_notification","tool_use_id":"a","status":"failed"}`, Options{},
			[]string{`1 executed/failed Bash#a git-push "git push"`},
		},
		{"a push that was called for", bash("a", "git push") + pushNotice + pushed("a"), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`}},
		{"a push that no call made", bash("a", "echo innocent") + pushNotice + pushed("a"), Options{}, []string{`2 executed/ok Bash#a client-vcs-push "push main"`}},
		{"a push seen only in the result", bash("a", "./x") + pushed("a"), Options{}, []string{`2 executed/ok Bash#a client-vcs-push "push"`}},
		{"a push without a call", pushNotice + said("x"), Options{}, []string{`1 executed/ok client-vcs-push "push main"`}},
		{"a push while another one is refused", bash("a", "./x") + bash("b", "git push") + pushNotice + denied("b", "no") + pushed("a"), Options{}, []string{`2 blocked Bash#b git-push "git push"`, `3 executed/ok Bash#a client-vcs-push "push main"`}},
		{"a push while something else goes out", bash("a", "./x") + bash("b", "rsync x") + pushNotice + plainDetail("b") + pushed("a"), Options{}, []string{`2 executed/ok Bash#b rsync "rsync x"`, `3 executed/ok Bash#a client-vcs-push "push main"`}},
		{"a push by a subagent", bash("a", "git push") + pushNotice + ok("a", ""), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`}},
		{"a push whose end is not seen", bash("a", "git push") + pushNotice, Options{}, []string{`1 executed/unknown Bash#a git-push "git push"`}},
		{"a commit is no push", `{"type":"system","subtype":"vcs_state_changed","kind":"commit"}`, Options{}, nil},
		{"a publication", `{"type":"system","subtype":"code_change_published","url":"https://e.example/pull/1"}`, Options{}, []string{`1 executed/ok client-vcs-push "published https://e.example/pull/1"`}},
		{"a publication told twice", strings.Repeat(`{"type":"system","subtype":"code_change_published","action":"created","url":"https://e.example/pull/1"}`+"\n", 2), Options{}, []string{`1 executed/ok client-vcs-push "published created https://e.example/pull/1"`}},
		{"a notice that comes late", bash("a", "git push") + pushed("a") + pushNotice + pushNotice, Options{}, []string{`1 executed/ok Bash#a git-push "git push"`, `4 executed/ok client-vcs-push "push main"`}},
		{
			"output that stands there twice", resultRow("a", strings.Repeat("some output\n", 200)+"git push", "false", `,"tool_use_result":{"stdout":`+quoted(strings.Repeat("some output\n", 200)+"git push")+`,"stderr":"x"}`), Options{},
			[]string{`1 mentioned #a say-push "git push"`},
		},
		{
			"words behind what stands there twice", resultRow("a", strings.Repeat("some output\n", 200), "false", `,"tool_use_result":{"stdout":`+quoted(strings.Repeat("some output\n", 200))+`,"stderr":"git push"}`), Options{},
			[]string{`1 mentioned say-push "git push"`},
		},
		{"MCP", tool("m", "mcp__slack__post_message", `{"text":"hi"}`) + ok("m", ""), Options{}, []string{`1 executed/ok mcp__slack__post_message#m mcp-write "mcp__slack__post_message {\"text\":\"hi\"}"`}},
		{"BOM and CRLF", "\ufeff" + strings.ReplaceAll(bash("a", "git push")+ok("a", ""), "\n", "\r\n"), Options{}, []string{`1 executed/ok Bash#a git-push "git push"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hits, stats := scanText(t, tt.in, tt.o)
			if diff := cmp.Diff(tt.want, briefs(hits)); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
			if stats.Hits != len(hits) || stats.Bytes != int64(len(tt.in)) {
				t.Errorf("stats %+v", stats)
			}
		})
	}
}
