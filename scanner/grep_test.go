//go:build unix

package scanner

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/policy"
)

// classicPatterns is what people grep transcripts for.
const classicPatterns = `git push|gh pr create|gh pr merge|railway deploy|curl -X (POST|PUT|PATCH|DELETE)|npm publish`

// BenchmarkScanAgainstGrep is the processor time of a scan over that of
// `grep -ciE` with the nine classic patterns on the same bytes, in one run.
func BenchmarkScanAgainstGrep(b *testing.B) {
	data := night(128 << 20)
	file := filepath.Join(b.TempDir(), "night.jsonl")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		b.Fatal(err)
	}
	set, err := policy.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for name, callsOnly := range map[string]bool{"calls only": true, "with mentions": false} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var ours, grep time.Duration
			for b.Loop() {
				before := spent(syscall.RUSAGE_SELF)
				_, err := Scan(context.Background(), bytes.NewReader(data), Options{Set: set, CallsOnly: callsOnly}, func(Hit) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				ours += spent(syscall.RUSAGE_SELF) - before
				before = spent(syscall.RUSAGE_CHILDREN)
				// Into a pipe: with /dev/null grep would stop at the first match.
				if _, err := exec.Command("grep", "-ciE", classicPatterns, file).Output(); err != nil {
					b.Skip(err)
				}
				grep += spent(syscall.RUSAGE_CHILDREN) - before
			}
			b.ReportMetric(ours.Seconds()/grep.Seconds(), "x/grep")
		})
	}
}

// spent is the processor time so far, user and system.
func spent(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
