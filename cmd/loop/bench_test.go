package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/firewall"
)

const helloSource = "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"\") }\n"

// BenchmarkHookAlone is one decision at the prompt as the client waits for it
// before each call: a process, start included. Most calls may run; "asked" and
// "deferred" put a new action into the queue each time. Beside it stands a Go
// process that does nothing. The medians are of calls one after the other, the 99th
// percentiles of bursts of eight, which a client with as many calls at once starts
// together.
func BenchmarkHookAlone(b *testing.B) {
	dir := b.TempDir()
	hello := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(hello, []byte(helloSource), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("LOOP_HOME", filepath.Join(dir, "state"))
	b.Setenv("HOME", dir)
	repo := repository(b, filepath.Join(dir, "repo"))
	nothing := hookProcess{program: buildProgram(b, hello)}
	program := buildProgram(b, "../loop-hook")
	const (
		read   = `"Read","tool_input":{"file_path":"README.md"}`
		local  = `"Bash","tool_input":{"command":"go test ./..."}`
		words  = `"Bash","tool_input":{"command":"git commit -m 'then git push'"}`
		write  = `"Write","tool_input":{"file_path":"a.md","content":"some words of prose"}`
		push   = `"Bash","tool_input":{"command":"git push origin topic-NUMBER"}`
		create = `"Bash","tool_input":{"command":"gh pr create --title NUMBER --body 'All is done.'"}`
	)
	for _, row := range []struct {
		name, level string
		calls       []string
	}{
		{"read", "interactive", []string{read}},
		{"local", "interactive", []string{local}},
		{"words", "interactive", []string{words}},
		{"write", "interactive", []string{write}},
		{"asked", "interactive", []string{push}},
		{"deferred", "unattended", []string{create}},
		{"mixed", "unattended", []string{read, local, words, write, push, read, local, create}},
	} {
		hook := hookProcess{program: program, args: []string{firewall.HookCommand, "--level", row.level}, calls: filepath.Join(dir, row.name)}
		for _, call := range row.calls {
			hook.texts = append(hook.texts, fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_use_id":"NUMBER","tool_name":%s}`, repo, call))
		}
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				hook.times(b, 1, 1)
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

// repository makes dir a repository with one commit.
func repository(b *testing.B, dir string) string {
	b.Helper()
	for _, args := range [][]string{
		{"init", "-q", dir},
		{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "start"},
	} {
		if out, err := exec.CommandContext(b.Context(), "git", args...).CombinedOutput(); err != nil {
			b.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	return dir
}

// buildProgram builds a program and gives a copy of it: how the linker leaves a
// file in memory makes it slower to start than it is for whoever installs it.
func buildProgram(b *testing.B, what string) string {
	b.Helper()
	built, program := filepath.Join(b.TempDir(), "built"), filepath.Join(b.TempDir(), "program")
	cmd := exec.CommandContext(b.Context(), "go", "build", "-o", built, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	text, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(program, text, 0o700)
	}
	if err != nil {
		b.Fatal(err)
	}
	return program
}

// hookProcess is a process that is started again and again, each time with a
// call of its own.
type hookProcess struct {
	program, calls string // calls: a file for each begins with this
	args           []string
	texts          []string // the calls, one after the other; NUMBER in them is another each time
}

// times are the durations of n runs in bursts of so many, in order.
func (p hookProcess) times(b *testing.B, n, atOnce int) []time.Duration {
	all := make([]time.Duration, n)
	for from := 0; from < n; from += atOnce {
		var inputs []*os.File // a file: a pipe would be this process' work
		for i := range min(atOnce, n-from) {
			inputs = append(inputs, p.input(b, from+i))
		}
		var wg sync.WaitGroup
		for i, in := range inputs {
			wg.Go(func() { all[from+i] = p.once(b, in) })
		}
		wg.Wait()
	}
	slices.Sort(all)
	return all
}

// input is the i-th call, nil for a program that is given none.
func (p hookProcess) input(b *testing.B, i int) *os.File {
	if len(p.texts) == 0 {
		return nil
	}
	id := uuid.NewString()
	name := p.calls + "-" + id
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(p.texts[i%len(p.texts)], "NUMBER", id)), 0o600); err != nil {
		b.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	return in
}

func (p hookProcess) once(b *testing.B, in *os.File) time.Duration {
	cmd := exec.CommandContext(b.Context(), p.program, p.args...)
	if in != nil {
		defer in.Close()
		cmd.Stdin = in
	}
	from := time.Now()
	if err := cmd.Run(); err != nil {
		b.Error(err)
	}
	return time.Since(from)
}

func milliseconds(sorted []time.Duration, percentile int) float64 {
	return float64(sorted[len(sorted)*percentile/100].Microseconds()) / 1000
}
