package firewall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/firewall/port"
	"github.com/seed-b23e517c/loop/firewall/seal"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

// BenchmarkHook is one decision as the client waits for it: the way to the
// supervisor, the classifier, for a refused call the queue, and the way back.
func BenchmarkHook(b *testing.B) {
	set, err := policy.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	store, err := queue.Open(b.TempDir(), queue.Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	s, err := port.Listen(&firewall.Guard{Classifier: set, Queue: store, Level: policy.Unattended, Now: time.Now}, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	n := 0
	for name, command := range map[string]string{"allow": "go test ./...", "defer": "cd x && git push origin main"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n++
				in := fmt.Sprintf(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s # %d"},"tool_use_id":"t%d"}`, command, n, n)
				if out := ask(b, s, in); !strings.Contains(out, "permissionDecision") {
					b.Fatal(out)
				}
			}
		})
	}
}

// BenchmarkReceipt is what a result costs on its way to the model: the way to
// the supervisor, the receipt, its record on disk, and the way back. It tells
// the median of 250 calls, and its ratio to the start of a Go process that does
// nothing, which is what a hook that is a program costs at the least.
func BenchmarkReceipt(b *testing.B) {
	hello := helloWorld(b)
	nothing := median(b, func(int) {
		if err := exec.CommandContext(b.Context(), hello).Run(); err != nil {
			b.Fatal(err)
		}
	})
	for _, size := range []int{1 << 10, 50 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			key, err := receipt.NewKey(nil)
			if err != nil {
				b.Fatal(err)
			}
			defer key.Close()
			store, err := queue.Open(b.TempDir(), queue.Options{Now: time.Now})
			if err != nil {
				b.Fatal(err)
			}
			sealed := &seal.Seal{
				Book: receipt.NewBook(key, receipt.V2), Scope: "s/1-1", Now: time.Now, Wait: time.Minute,
				Keep: func(ctx context.Context, r receipt.Record) error {
					return store.AppendAudit(ctx, "s", r.Receipt.String(), r.Next)
				},
			}
			s, err := port.Listen(&firewall.Guard{Seal: sealed, Now: time.Now}, time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			input, output := json.RawMessage(`{"command":"make"}`), strings.Repeat("x", size)
			one := func(n int) {
				id := fmt.Sprintf("t%d", n)
				sealed.Shown(id, "Bash", "make", input)
				in := fmt.Sprintf(`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":%s,"tool_use_id":"%s","tool_response":{"stdout":"%s","stderr":"","interrupted":false,"isImage":false}}`, input, id, output)
				if out := ask(b, s, in); !strings.Contains(out, "zc-receipt") {
					b.Fatal(out)
				}
			}
			m := median(b, one)
			b.ReportMetric(float64(m.Microseconds()), "µs/median")
			b.ReportMetric(float64(m)/float64(nothing), "x-process")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// median is the median of 250 runs.
func median(b *testing.B, one func(n int)) time.Duration {
	b.Helper()
	took := make([]time.Duration, 250)
	for n := range took {
		start := time.Now()
		one(n)
		took[n] = time.Since(start)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// helloWorld builds a Go program that does nothing.
func helloWorld(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	path, source := filepath.Join(dir, "hello"), filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", path, source).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// ask calls the hook that the settings name.
func ask(b *testing.B, s *port.Server, in string) string {
	b.Helper()
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				URL     string
				Headers map[string]string
			}
		}
	}
	if err := json.Unmarshal(s.Settings(), &settings); err != nil {
		b.Fatal(err)
	}
	h := settings.Hooks[firewall.EventPreToolUse][0].Hooks[0]
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, h.URL, strings.NewReader(in))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", h.Headers["Authorization"])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(out)
}
