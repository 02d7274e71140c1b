//go:build linux || darwin

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// BenchmarkScanMemory is the peak memory of a whole `loop scan` process, for
// transcripts that are hard on it: MiB, and the share of what is promised, 64
// MiB and twice the longest line.
func BenchmarkScanMemory(b *testing.B) {
	text := strings.Repeat(`func main() { fmt.Println(\"x\") }\n\t// a line of code of some length\n`, 64)
	call := func(tool, before, after string, size int) transcriptOf {
		return func(w io.Writer) {
			fmt.Fprintf(w, `{"type":"assistant","uuid":"u","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":%q,"input":{%s`, tool, before)
			repeat(w, text, size)
			fmt.Fprintf(w, "%s\"}}]}}\n", after)
		}
	}
	tests := []struct {
		name    string
		longest int // MiB, of a line
		write   transcriptOf
	}{
		{"line of 64 MB", 64, func(w io.Writer) {
			fmt.Fprint(w, `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"`)
			repeat(w, text, 64<<20)
			fmt.Fprint(w, "\"}]}}\n")
		}},
		{"Write of 15 MB", 15, call("Write", `"file_path":"/p/a.go","content":"`, "", 15<<20)},
		{"script of 15 MB", 15, call("Write", `"file_path":"/p/a.sh","content":"`, `git push`, 15<<20)},
		{"command of 15 MB", 15, call("Bash", `"command":"cat > x <<'E'\n`, `\nE\ngit push`, 15<<20)},
		{"ordinary lines, 1 GB", 0, func(w io.Writer) {
			for n := 0; n < 1<<30; {
				k, _ := fmt.Fprintf(w, `{"type":"user","uuid":"%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"%s"}]}}`+"\n", n, text)
				m, _ := fmt.Fprintf(w, `{"type":"assistant","uuid":"%d","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"go test ./... # %d"}}]}}`+"\n", n, n, n)
				n += k + m
			}
		}},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "t.jsonl")
			tt.write.to(b, file)
			peak := 0.0
			for b.Loop() {
				peak = max(peak, peakOfScan(b, file))
			}
			b.ReportMetric(peak, "MiB-peak")
			b.ReportMetric(peak/float64(64+2*tt.longest), "of-promise")
		})
	}
}

// transcriptOf writes a transcript piece by piece: a child's peak begins with
// the size of the process that starts it, so this one has to stay small.
type transcriptOf func(io.Writer)

func (write transcriptOf) to(b *testing.B, file string) {
	b.Helper()
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	write(w)
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
}

func repeat(w io.Writer, text string, size int) {
	for n := 0; n+len(text) < size; n += len(text) {
		_, _ = io.WriteString(w, text) // Flush gives the error
	}
}

// peakOfScan is the most memory, in MiB, that a scan of the file held.
func peakOfScan(b *testing.B, file string) float64 {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), exe)
	cmd.Args = []string{"loop", "scan", "--json", file}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitWaiting) {
		b.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		b.Skip("no usage of the child")
	}
	unit := 1 << 10 // bytes that Maxrss counts in
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(usage.Maxrss) * float64(unit) / (1 << 20)
}
