package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// manyActions makes of a folder a repository whose queue holds one session with n actions.
func manyActions(tb testing.TB, dir string, n int) (env []string) {
	tb.Helper()
	env = []string{"HOME=" + dir, "LOOP_HOME=" + filepath.Join(dir, "state"), "PATH=" + os.Getenv("PATH"), "TZ=UTC", "GIT_CONFIG_GLOBAL=/dev/null"}
	cmd := exec.CommandContext(tb.Context(), "git", "init", "-q", "-b", "main", ".")
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Skipf("git: %v %s", err, out)
	}
	w, err := workspace.Finder{Env: env, Now: time.Now}.At(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	store, err := queue.Open(w.State, queue.Options{Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	s := queue.Session{ID: "019ad0f2-7b3c-7e11-9a40-5d2f8c1b6e07", Started: time.Now().Add(-8 * time.Hour), Ended: time.Now(), Dir: dir, Level: "unattended"}
	kinds := []struct {
		command, rule, family, target, undo string
		evidence                            policy.Evidence
	}{
		{"git push origin feature/%d", "git-push", "git", "origin", policy.UndoCorrection, policy.Written},
		{"curl -X POST https://api.example.com/v1/orders/%d -d '{\"a\":1}'", "curl-send", "http", "api.example.com", policy.UndoNone, policy.Executed},
		{"npm publish --tag night-%d", "npm-publish", "package", "", policy.UndoNone, policy.Written},
		{"cd services/api && git add -A && git commit -m 'step %d of the plan' && git push -u origin HEAD", "git-push", "git", "origin", policy.UndoCorrection, policy.Executed},
	}
	said := &queue.Said{Text: "Now I publish what is done, so that it can be looked at."}
	claims := []queue.Claim{
		{Kind: "number", Text: "41200 slugs per second", Where: "-d", Source: queue.SourceNone},
		{Kind: "run", Text: "all tests pass", Where: "-d", Source: queue.SourceResult, Tool: "Bash", Command: "go test ./...", CallID: "toolu_01AbCdEf", Line: 81, Quote: "ok  \texample.com/slug\t0.412s"},
	}
	list := make([]queue.Action, 0, n)
	for i := range n {
		k := kinds[i%len(kinds)]
		command := fmt.Sprintf(k.command, i)
		input, err := json.Marshal(map[string]string{"command": command, "description": "Publish the work"})
		if err != nil {
			tb.Fatal(err)
		}
		a := queue.Action{
			Kind: queue.KindCall, Session: s.ID, Story: fmt.Sprint(i % 25), StoryTitle: "A story of the night", Tool: "Bash", ToolUseID: fmt.Sprintf("toolu_%d", i),
			Input: input, Command: command, Cwd: dir, GitBranch: "main", Rules: []string{k.rule}, Why: "It sends something.", Undo: k.undo, Family: k.family, Target: k.target,
			Tier: policy.External, Evidence: k.evidence, FoundBy: queue.ByScan, Said: said,
			Transcript: filepath.Join(w.State, "runs", s.ID, fmt.Sprint(i%25, "-1"), "transcript.jsonl"), Line: i + 1, Excerpt: command, Outcome: "ok",
			GitHead: "8b7371a5d1f0c2e4b6a8d0f2c4e6a8b0d2f4c6e8", DetectedAt: s.Started.Add(time.Duration(i) * time.Second),
		}
		if i%4 == 1 {
			a.Claims = claims
		}
		list = append(list, a)
	}
	if err := store.PutSession(tb.Context(), s); err != nil {
		tb.Fatal(err)
	}
	if _, err := store.AddAll(tb.Context(), list); err != nil {
		tb.Fatal(err)
	}
	return env
}

// firstOutput is how long a process takes to its first byte, and the most memory
// that it held, in MB, where the system tells.
func firstOutput(tb testing.TB, dir string, env []string, program string, args ...string) (took time.Duration, peak float64) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	from := time.Now()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	part := make([]byte, 1)
	for n := 0; err == nil; n++ {
		_, err = out.Read(part)
		if n == 0 {
			took, part = time.Since(from), make([]byte, 64<<10)
			if err != nil {
				tb.Errorf("%v: %v", args, err)
			}
		}
		peak = max(peak, peakOf(cmd.Process.Pid))
	}
	_ = cmd.Wait()
	return took, peak
}

// peakOf is the most memory that a process has held so far, in MB.
func peakOf(pid int) (peak float64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, mark, ok := strings.Cut(string(b), "VmHWM:"); ok {
		_, _ = fmt.Sscan(mark, &peak)
	}
	return peak * 1024 / 1e6
}

// BenchmarkFirstOutputOfTenThousand is how long a person waits for the first
// line when ten thousand actions wait, and the most memory that it takes; beside
// it, a process of loop that does nothing, begun in turn with the others, and how
// many such processes the first line takes.
func BenchmarkFirstOutputOfTenThousand(b *testing.B) {
	program := buildProgram(b, ".")
	dir := b.TempDir()
	env := manyActions(b, dir, 10_000)
	for _, args := range [][]string{
		{"list"}, {"list", "--search", "orders 9997"}, {"list", "--search", "nowhere"}, {"report"}, {"report", "--all"}, {"report", "--md"},
		{"report", "--html"}, {"report", "--json"}, {"report", "--since", "1d"}, {"sessions"}, {"export"}, {"show", "5000"},
	} {
		b.Run(strings.Join(args, " "), func(b *testing.B) {
			peak := 0.0
			var first, nothing []time.Duration
			for b.Loop() {
				for range 11 {
					took, held := firstOutput(b, dir, env, program, args...)
					first, peak = append(first, took), max(peak, held)
					took, _ = firstOutput(b, dir, env, program, "--version")
					nothing = append(nothing, took)
				}
			}
			slices.Sort(first)
			slices.Sort(nothing)
			b.ReportMetric(milliseconds(first, 50), "ms-first")
			b.ReportMetric(milliseconds(nothing, 50), "ms-nothing")
			b.ReportMetric(milliseconds(first, 50)/milliseconds(nothing, 50), "first/nothing")
			b.ReportMetric(peak, "MB-peak")
			b.ReportMetric(0, "ns/op")
		})
	}
}
