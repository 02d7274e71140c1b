package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	list := make([]queue.Action, 0, n)
	for i := range n {
		k := kinds[i%len(kinds)]
		command := fmt.Sprintf(k.command, i)
		input, err := json.Marshal(map[string]string{"command": command, "description": "Publish the work"})
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, queue.Action{
			Kind: queue.KindCall, Session: s.ID, Story: fmt.Sprint(i % 25), StoryTitle: "A story of the night", Tool: "Bash", ToolUseID: fmt.Sprintf("toolu_%d", i),
			Input: input, Command: command, Cwd: dir, GitBranch: "main", Rules: []string{k.rule}, Why: "It sends something.", Undo: k.undo, Family: k.family, Target: k.target,
			Tier: policy.External, Evidence: k.evidence, FoundBy: queue.ByScan, Said: &queue.Said{Text: "Now I publish what is done, so that it can be looked at."},
			DetectedAt: s.Started.Add(time.Duration(i) * time.Second),
		})
	}
	if err := store.PutSession(tb.Context(), s); err != nil {
		tb.Fatal(err)
	}
	if _, err := store.AddAll(tb.Context(), list); err != nil {
		tb.Fatal(err)
	}
	return env
}

// firstOutput is how long a process takes to its first byte.
func firstOutput(tb testing.TB, dir string, env []string, program string, args ...string) time.Duration {
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
	one := make([]byte, 1)
	_, err = out.Read(one)
	took := time.Since(from)
	if err != nil {
		tb.Errorf("%v: %v", args, err)
	}
	rest := make([]byte, 64<<10)
	for {
		if _, err := out.Read(rest); err != nil {
			break
		}
	}
	_ = cmd.Wait()
	return took
}

// BenchmarkFirstOutputOfTenThousand is how long a person waits for the first
// line when ten thousand actions wait; beside it, a process of loop that does nothing.
func BenchmarkFirstOutputOfTenThousand(b *testing.B) {
	program := buildProgram(b, ".")
	dir := b.TempDir()
	env := manyActions(b, dir, 10_000)
	median := func(args ...string) float64 {
		var all []time.Duration
		for range 11 {
			all = append(all, firstOutput(b, dir, env, program, args...))
		}
		slices.Sort(all)
		return milliseconds(all, 50)
	}
	for _, args := range [][]string{{"report"}, {"report", "--all"}, {"report", "--md"}, {"report", "--html"}, {"list"}, {"show", "5000"}, {"sessions"}, {"report", "--json"}} {
		b.Run(fmt.Sprint(args), func(b *testing.B) {
			for b.Loop() {
				firstOutput(b, dir, env, program, args...)
			}
			b.ReportMetric(median(args...), "ms-first")
			b.ReportMetric(median("--version"), "ms-nothing")
		})
	}
}
