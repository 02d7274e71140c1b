package firewall_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
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
				if out := ask(b, s, in); !strings.Contains(out, "permissionDecision") {
					b.Fatal(out)
				}
			}
		})
	}
}

// ask calls the hook that the settings name.
func ask(b *testing.B, s *firewall.Server, in string) string {
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
