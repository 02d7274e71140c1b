package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
)

const helloSource = "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"\") }\n"

// BenchmarkHookAlone is one decision at the prompt as the client waits for it
// before nearly every call, one that may run: a process, start included. Beside it stands a Go process that does nothing.
// The medians are of calls one after the other, the 99th percentiles of bursts of
// eight, which a client with as many calls at once starts together.
func BenchmarkHookAlone(b *testing.B) {
	dir := b.TempDir()
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte(helloSource), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("LOOP_HOME", filepath.Join(dir, "state"))
	b.Setenv("HOME", dir)
	nothing := hookProcess{program: buildProgram(b, hello)}
	program := buildProgram(b, "../loop-hook")
	for name, call := range map[string]string{
		"read":  `"Read","tool_input":{"file_path":"README.md"}`,
		"local": `"Bash","tool_input":{"command":"go test ./..."}`,
		"words": `"Bash","tool_input":{"command":"git commit -m 'then git push'"}`,
		"write": `"Write","tool_input":{"file_path":"a.md","content":"some words of prose"}`,
	} {
		hook := hookProcess{
			program: program, args: []string{firewall.HookCommand, "--level", "interactive"},
			input: filepath.Join(dir, name),
		}
		text := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_use_id":"t","tool_name":%s}`, dir, call)
		if err := os.WriteFile(hook.input, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				hook.once(b)
			}
			one, eight := hook.times(b, 250, 1), hook.times(b, 400, 8)
			plain, plainEight := nothing.times(b, 250, 1), nothing.times(b, 400, 8)
			b.ReportMetric(milliseconds(one, 50), "ms-median")
			b.ReportMetric(milliseconds(plain, 50), "ms-nothing-median")
			b.ReportMetric(milliseconds(eight, 99), "ms-p99-of-8")
			b.ReportMetric(milliseconds(plainEight, 99), "ms-nothing-p99-of-8")
		})
	}
}

func buildProgram(b *testing.B, what string) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), "program")
	cmd := exec.CommandContext(b.Context(), "go", "build", "-o", out, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	return out
}

// hookProcess is a process that is started again and again.
type hookProcess struct {
	program, input string
	args           []string
}

func (p hookProcess) once(b *testing.B) time.Duration {
	cmd := exec.CommandContext(b.Context(), p.program, p.args...)
	if p.input != "" { // a file: a pipe would be this process' work
		in, err := os.Open(p.input)
		if err != nil {
			b.Error(err)
			return 0
		}
		defer in.Close()
		cmd.Stdin = in
	}
	from := time.Now()
	if err := cmd.Run(); err != nil {
		b.Error(err)
	}
	return time.Since(from)
}

// times are the durations of n runs in bursts of so many, in order.
func (p hookProcess) times(b *testing.B, n, atOnce int) []time.Duration {
	all := make([]time.Duration, n)
	for from := 0; from < n; from += atOnce {
		var wg sync.WaitGroup
		for i := from; i < min(from+atOnce, n); i++ {
			wg.Go(func() { all[i] = p.once(b) })
		}
		wg.Wait()
	}
	slices.Sort(all)
	return all
}

func milliseconds(sorted []time.Duration, percentile int) float64 {
	return float64(sorted[len(sorted)*percentile/100].Microseconds()) / 1000
}
