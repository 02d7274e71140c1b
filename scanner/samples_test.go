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

const samplesDir = "../transcript/testdata/samples"

// TestSamples scans every capture of the real client. LOOP_UPDATE=1 rewrites
// the golden file.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob(samplesDir + "/*")
	if err != nil || len(files) < 40 {
		t.Fatalf("samples: %d files, %v", len(files), err)
	}
	var got strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hits, stats := scanText(t, string(data), Options{})
		fmt.Fprintf(&got, "== %s: %d calls, %d shared\n", filepath.Base(file), stats.Calls, stats.Shared)
		for _, h := range hits {
			fmt.Fprintln(&got, brief(h))
		}
		if stats.Lines != bytes.Count(data, []byte("\n"))+lastLine(data) || stats.Bytes != int64(len(data)) {
			t.Errorf("%s: %+v does not match the file", file, stats)
		}
	}
	const golden = "testdata/samples.golden"
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

func lastLine(data []byte) int {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return 1
	}
	return 0
}

// builtin is the real rule set.
func builtin(t testing.TB) *policy.Set {
	t.Helper()
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func scanReal(t testing.TB, in string, o Options) ([]Hit, Stats) {
	t.Helper()
	if o.Set == nil {
		o.Set = builtin(t)
	}
	var hits []Hit
	stats, err := Scan(context.Background(), strings.NewReader(in), o, func(h Hit) error {
		hits = append(hits, h)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hits, stats
}

// TestRealRulesOnSamples holds what the captures show with the real rules:
// which pushes and posts ran and which were stopped.
func TestRealRulesOnSamples(t *testing.T) {
	tests := map[string]string{ // file: evidence/outcome of its pushes and posts
		"stream-bash-git-push":                   "executed/ok",
		"stream-subagent-hook-deny":              "blocked",
		"stream-subagent-foreground":             "executed/ok",
		"stream-subagent-background-two-results": "executed/ok",
		"stream-project-hook-rewrote-input":      "executed/ok",
		"stream-recommended-invocation":          "blocked blocked",
		"stream-background-bash-two-results":     "executed/ok",
		"stream-defer":                           "blocked",
		"stream-defer-resume-allow":              "executed/ok",
		"stream-mcp-tool":                        "executed/ok",
		"stream-mcp-tool-fails":                  "executed/failed",
		"stream-hook-deny-json":                  "",
		"stream-error-401":                       "",
		"transcript-main":                        "executed/ok",
		"transcript-subagent":                    "executed/ok",
		"transcript-main-with-subagent":          "",
	}
	for name, want := range tests {
		data, err := os.ReadFile(filepath.Join(samplesDir, name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		hits, _ := scanReal(t, string(data), Options{})
		for _, h := range hits {
			about := h.Tool + " " + h.Excerpt
			if h.Evidence != policy.Mentioned && (strings.Contains(about, "push") || strings.Contains(about, "twitter")) {
				got = append(got, strings.TrimSuffix(string(h.Evidence)+"/"+h.Outcome, "/"))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q\n%s", name, strings.Join(got, " "), want, strings.Join(briefs(hits), "\n"))
		}
	}
}
