//go:build unix

package scanner

import (
	"errors"
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
// `grep -ciE` with the nine classic patterns on the same file, in one run, in
// the kind of locale that people have.
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
	for _, callsOnly := range []bool{true, false} {
		b.Run(map[bool]string{true: "calls only", false: "with mentions"}[callsOnly], func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var ours, grep time.Duration
			for b.Loop() {
				before := spent(syscall.RUSAGE_SELF)
				in, err := os.Open(file)
				if err != nil {
					b.Fatal(err)
				}
				_, err = Scan(b.Context(), in, Options{Set: set, CallsOnly: callsOnly}, func(Hit) error { return nil })
				if err := errors.Join(err, in.Close()); err != nil {
					b.Fatal(err)
				}
				ours += spent(syscall.RUSAGE_SELF) - before
				before = spent(syscall.RUSAGE_CHILDREN)
				// Into a pipe: with /dev/null grep would stop at the first match.
				cmd := exec.CommandContext(b.Context(), "grep", "-ciE", classicPatterns, file)
				cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
				if _, err := cmd.Output(); err != nil {
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
