package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// BenchmarkHook is one decision as the client waits for it: the start of the
// hook process, the way to the supervisor, the classifier, for a refused call
// the queue, and the way back. BenchmarkProcess is the same process doing
// nothing, for the ratio.
func BenchmarkHook(b *testing.B) {
	set, err := policy.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	store, err := queue.Open(b.TempDir(), queue.Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	s, err := firewall.Listen(&firewall.Guard{Classifier: set, Queue: store, Level: policy.Unattended, Now: time.Now}, time.Minute)
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
				out := asLoop(b, in, hookCommand, "--socket", s.Socket(), "--event", firewall.EventPreToolUse)
				if !strings.Contains(out, "permissionDecision") {
					b.Fatal(out)
				}
			}
		})
	}
}

func BenchmarkProcess(b *testing.B) {
	for b.Loop() {
		asLoop(b, "", hookCommand, "--event", firewall.EventSessionStart)
	}
}

// asLoop runs this test binary as loop.
func asLoop(b *testing.B, in string, args ...string) string {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), exe)
	cmd.Args = append([]string{"loop"}, args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	return string(out)
}
