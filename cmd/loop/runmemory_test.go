//go:build linux && (amd64 || arm64)

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/sim"
)

// BenchmarkRunMemory is the most memory that `loop run` itself ever held, its
// client and its gits apart, with a client that writes a transcript of 500 MB;
// beside it stands a run whose client says one word.
func BenchmarkRunMemory(b *testing.B) {
	const line, size = 60_000, 500 << 20
	long := make([]sim.Step, 0, size/line+40)
	for i := range size / line {
		long = append(long, sim.Step{Huge: line})
		if i%8 == 0 {
			long = append(long, sim.Bash("head -c 45000 /dev/zero | base64", ""))
		}
	}
	program := buildProgram(b, ".") // a test's is larger
	work := sim.Call("Write", map[string]string{"file_path": "s1.txt", "content": "work\n"})
	// What it claims is held against all that came before it.
	post := sim.Bash("curl -d 'All 41 tests pass in 3.2 s, 86 % covered' https://example.com", "")
	for name, steps := range map[string][]sim.Step{
		"one word": {work, {Text: "done"}},
		"500 MB":   append(long, work, post, sim.Step{Text: "done"}),
	} {
		b.Run(name, func(b *testing.B) {
			peak, took := 0.0, time.Duration(0)
			for b.Loop() {
				n := newLongNight(b, sim.Script{Schema: 1, Stories: map[string]sim.Part{"1": {Steps: steps}}}, []string{"Write"})
				loop := filepath.Join(n.root, "bin", "loop")
				if err := errors.Join(os.Remove(loop), os.Symlink(program, loop)); err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				peak = max(peak, n.peakOfRun())
				took += time.Since(began)
			}
			b.ReportMetric(peak, "MB-peak")
			b.ReportMetric(took.Seconds()/float64(b.N), "s/run")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// peakOfRun runs loop and gives the high-water mark of its memory, in MB.
func (n *longNight) peakOfRun() float64 {
	n.t.Helper()
	cmd, out := n.command("loop", "run")
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	kb := 0
	for {
		select {
		case <-ended:
			if code := cmd.ProcessState.ExitCode(); code != exitDone && code != exitWaiting || kb == 0 {
				n.t.Fatalf("exit %d\n%s", code, out)
			}
			return float64(kb) * 1024 / 1e6
		case <-tick.C:
			// What the kernel keeps of a process is never less than before.
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, mark, ok := strings.Cut(string(b), "VmHWM:"); ok {
				_, _ = fmt.Sscan(mark, &kb)
			}
		}
	}
}
