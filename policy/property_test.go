package policy

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// carriers are ways to run a command inside another; %s is the command, %q
// the command quoted for a shell.
var carriers = []string{
	"%s", "sudo %s", "env A=1 %s", "timeout 60 %s", "nohup %s &", "nice -n 5 %s", "(%s)", "{ %s; }", "true && %s", "false || %s",
	"echo x; %s", "if true; then %s; fi", "for i in 1 2; do %s; done", "while true; do %s; done", "f() { %s; }; f", "! %s",
	"bash -c %q", "sh -lc %q", "eval %q", "bash <<< %q", "sudo -u x bash -c %q", "sh <<'E'\n%s\nE", "cat <<'E' | sh\n%s\nE", "trap %q EXIT",
	"xargs -I{} %s", "x=$(%s)", "echo \"$(%s)\"", "diff <(%s) x", "case x in x) %s;; esac", "time %s", "command %s", "find . -exec %s \\;",
	"docker run --rm img %s", "watch -n 5 %s", "npx cross-env A=1 %s", "poetry run %s", "doppler run -- %s", "flock /tmp/l %s",
	"python3 -c 'import os; os.system(%p)'", "node -e 'require(\"child_process\").execSync(%p)'", "perl -e 'system(%p)'", "ruby -e 'system(%p)'",
	"awk 'BEGIN{system(%p)}'", "python3 - <<'P'\nimport subprocess\nsubprocess.run(%p, shell=True)\nP",
}

func carry(carrier, command string) string {
	r := strings.NewReplacer("%s", command, "%q", "'"+strings.ReplaceAll(command, "'", `'\''`)+"'", "%p", `"`+command+`"`)
	return r.Replace(carrier)
}

// TestCarriersKeepExternal: whatever runs an external command is external.
func TestCarriersKeepExternal(t *testing.T) {
	s := builtin(t)
	for _, c := range []string{"git push origin main", "npm publish", "kubectl delete ns x", "curl -d x https://api.example.com/x", "gh pr create --fill", "terraform apply"} {
		for _, carrier := range carriers {
			line := carry(carrier, c)
			if r := s.ClassifyCommand(line, ""); r.Verdict != VerdictExternal {
				t.Errorf("%q is %s by %v", line, r.Verdict, r.Rules())
			}
		}
	}
}

// TestCarriersKeepLocal: and nothing harmless becomes external by being run so.
func TestCarriersKeepLocal(t *testing.T) {
	s := builtin(t)
	for _, c := range []string{"git status", "npm test", "ls -la", "go test ./...", "curl -s http://localhost:3000/x"} {
		for _, carrier := range carriers {
			line := carry(carrier, c)
			if r := s.ClassifyCommand(line, ""); r.Verdict == VerdictExternal {
				t.Errorf("%q is external by %v", line, r.Rules())
			}
		}
	}
}

var gravity = map[Verdict]int{VerdictLocal: 0, VerdictMention: 1, VerdictShared: 2, VerdictExternal: 3}

// TestHarmlessNeverLowers: what is put before or behind a line does not make
// it less grave.
func TestHarmlessNeverLowers(t *testing.T) {
	s := builtin(t)
	for _, r := range readCorpus(t) {
		if r.Command == "" {
			continue
		}
		want := s.ClassifyCommand(r.Command, "").Verdict
		for _, line := range []string{r.Command + "\nls", "ls -la\n" + r.Command, "cd /tmp\n" + r.Command + "\necho done", "(true\n" + r.Command + "\n)"} {
			if got := s.ClassifyCommand(line, "").Verdict; gravity[got] < gravity[want] {
				t.Errorf("%s: %q is %s, alone it is %s", r.ID, line, got, want)
			}
		}
	}
}

// TestReformattingChangesNothing: spaces and line continuations between the
// words of a line are no matter.
func TestReformattingChangesNothing(t *testing.T) {
	s := builtin(t)
	for _, r := range readCorpus(t) {
		if r.Command == "" || strings.ContainsAny(r.Command, "\n'\"`\\") {
			continue
		}
		want := s.ClassifyCommand(r.Command, "").Verdict
		for _, line := range []string{
			strings.ReplaceAll(r.Command, " ", "   "), strings.ReplaceAll(r.Command, " ", "\t"), "  " + r.Command + "  ",
			strings.ReplaceAll(r.Command, " -", " \\\n  -"), r.Command + " ",
		} {
			if strings.Contains(r.Command, "#") && strings.Contains(line, "\\\n") {
				continue
			}
			if got := s.ClassifyCommand(line, "").Verdict; got != want {
				t.Errorf("%s: %q is %s, as written it is %s", r.ID, line, got, want)
			}
		}
	}
}

// FuzzClassify: no input makes the classifier panic or run away, and a push in
// front of anything stays external.
func FuzzClassify(f *testing.F) {
	for _, r := range readCorpus(f) {
		f.Add(r.call().Tool, string(r.call().Input))
	}
	f.Add("Bash", `{"command":"$(((((((("}`)
	f.Add("Bash", `not json`)
	s := builtin(f)
	f.Fuzz(func(t *testing.T, tool, input string) {
		if len(input) > 1<<20 {
			t.Skip()
		}
		res := s.Classify(Call{Tool: tool, Input: json.RawMessage(input)})
		if res.Verdict != VerdictLocal && len(res.Hits) == 0 {
			t.Errorf("%s without a hit", res.Verdict)
		}
		for _, h := range res.Hits {
			if h.Rule == "classifier-failed" {
				t.Errorf("%s", h.Why)
			}
		}
		if got := s.ClassifyCommand("git push\n"+input, "").Verdict; got != VerdictExternal {
			t.Errorf("a push in front of %q is %s", input, got)
		}
		s.Explain(input)
		CommandOf(Call{Tool: tool, Input: json.RawMessage(input)})
	})
}

// TestConcurrent: several goroutines may use one set, from its first call on.
func TestConcurrent(t *testing.T) {
	s := builtin(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, r := range readCorpus(t) {
				if got := s.Classify(r.call()).Verdict; got != r.Expect {
					t.Errorf("%s is %s", r.ID, got)
				}
			}
		})
	}
	wg.Wait()
}

// TestHostileInput: nesting and length cost time in proportion, and hide
// nothing that stands in front of them.
func TestHostileInput(t *testing.T) {
	s := builtin(t)
	for _, line := range []string{
		strings.Repeat("python -m ", 50000) + "x", strings.Repeat("git -c alias.a='!", 1000), strings.Repeat("try { ", 50000),
		"echo " + strings.Repeat("'git push' ", 50000), "curl " + strings.Repeat("https://a.b ", 50000) + "-d x", strings.Repeat("(", 500000),
		"node -e '" + strings.Repeat("eval(\"", 50000) + "'", "perl -e '" + strings.Repeat("`", 200000) + "'", "awk '" + strings.Repeat("|\"a\"", 50000) + "'",
		"python3 -c '" + strings.Repeat("a(", 100000) + "'", "cat > f <<'E'\n" + strings.Repeat("lorem git ipsum\n", 20000) + "E\n" + strings.Repeat("cat f\n", 2000),
		"git config alias.a '!git a; git a'; git a", strings.Repeat("$(", 200000), "curl \"http://x/" + strings.Repeat("$(a)", 50000) + "\"",
	} {
		if got := s.ClassifyCommand("git push\n"+line, "").Verdict; got != VerdictExternal {
			t.Errorf("a push in front of %.40q is %s", line, got)
		}
	}
}
