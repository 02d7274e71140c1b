package scanner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

// TestAgents holds what is found in the records of other agents: each call
// that reaches outside, once, and how it went. LOOP_UPDATE=1 rewrites the
// golden file.
func TestAgents(t *testing.T) {
	files, err := filepath.Glob("../transcript/testdata/agents/*")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	set := builtin(t)
	var got strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "== %s\n", filepath.Base(file))
		_, err = Scan(context.Background(), bytes.NewReader(data), Options{Set: set}, func(h Hit) error {
			if h.Evidence != policy.Mentioned {
				fmt.Fprintf(&got, "%d %s %s %s: %s\n", h.Line, h.Evidence, h.Outcome, h.Rules[0], strings.Join(strings.Fields(h.Command), " "))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const golden = "testdata/agents.golden"
	if os.Getenv("LOOP_UPDATE") == "1" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}
